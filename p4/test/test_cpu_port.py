"""The CPU port of a switch without packet-in: a pair of devices, in a network namespace of the test's own. As root."""

import pathlib
import socket
import struct
import subprocess
import sys
import unittest

import frames
from heddle_p4 import icmp, probes, tokens
from heddle_p4.answers import Answers
from heddle_p4.cpu_port import SWITCH_END, device_pair
from heddle_p4.probes import ETHERTYPE_PROBE

CONTROL = pathlib.Path(__file__).resolve().parents[1] / "control"
PERIOD = 10_000_000
WITHIN = 120.0
SOON = 0.2


def switch_end(ether_type: int) -> socket.socket:
    """The switch's side, on which frames of a type arrive."""
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ether_type))
    end.bind((SWITCH_END, ether_type))
    end.settimeout(WITHIN)
    return end


def asked(key: bytes) -> bytes:
    """A frame that asks for the tokens of a key."""
    header = tokens.HEADER.pack(0x0800, 3, 1, 4, 1, 0, key, key, bytes(4), bytes(4))
    return bytes(12) + tokens.ETHERTYPE_TOKENS.to_bytes(2, "big") + header + b"packet"


def dropped() -> bytes:
    """A report of a packet that was too long for its port."""
    kind, packet = frames.ip((frames.LOCAL_HOST, frames.OTHER_HOST), frames.UDP, bytes(9000))
    return frames.MACS + struct.pack(">H", icmp.ETHERTYPE_REPORT) + icmp.REPORT.pack(kind, 1500) + packet


def exchange() -> None:
    """Run in the namespace. Raises AssertionError."""
    with (
        device_pair() as port,
        switch_end(ETHERTYPE_PROBE) as probed,
        switch_end(tokens.ETHERTYPE_TOKENS) as answered,
        switch_end(frames.IPV4) as told,
    ):
        sent = probes.Probes(port, 5, PERIOD)
        errors = icmp.Errors(())
        answers = Answers(port, tokens.answer, errors.answer)
        for _ in range(3):
            assert probed.recv(2048) == probes.frame(5)
        answered.send(asked(b"12345678"))
        assert answered.recv(2048) == tokens.answer(asked(b"12345678"))
        # Longer than a device's usual MTU.
        answered.send(dropped())
        assert told.recv(2048) == icmp.Errors(()).answer(dropped())
        sent.close()
        answers.close()
        # Of what the switch sends by the port, frames of other types are nobody's.
        probed.send(probes.frame(6))
        assert port.receive(SOON) is None
    left = subprocess.run(("ip", "link", "show", SWITCH_END), check=False, capture_output=True)
    assert left.returncode != 0, "the devices are left"


class CpuPort(unittest.TestCase):
    """Frames both ways."""

    def test_probes_go_in_on_time_and_tokens_come_back(self) -> None:
        code = "import test_cpu_port; test_cpu_port.exchange()"
        command = ("unshare", "--net", sys.executable, "-c", code)
        environment = {"PYTHONPATH": f"{CONTROL}:{pathlib.Path(__file__).parent}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
