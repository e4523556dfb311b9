"""Every path of the programs by random frames: the interpreter answers each as its verdict says, and, in test_bmv2.py, BMv2 answers as the
interpreter."""

import ipaddress
import pathlib
import unittest
from contextlib import AbstractContextManager

import compiled
import interpreted
import paths
import traces
from frames import CPU_PORT, HOST_PORT, NO_PORT, Answer, Given
from heddle_p4 import icmp, tokens
from heddle_p4.switch import Prefix

FRAMES = 600
SEED = 20261123
UP = (1 << 64) - 1
SCHEMES = {"ecmp": "ecmp", "hula": "hula", "mp-hula": "mp-hula", "mp-hula-external": "mp-hula", "shuttle": "shuttle", "cflb": "cflb"}
SENDS = {0, 1, 3, 4, 15}  # verdicts of packets that leave
REPORT = icmp.ETHERTYPE_REPORT.to_bytes(2, "big")
REPORTS = {6, 16}  # verdicts of packets that may be reported to the control plane
MTUS = {1: 52, 2: 1500, 4: 80, HOST_PORT: 60}
OWN = (ipaddress.ip_address("198.18.0.7"), ipaddress.ip_address("2001:2::7"))


def prepared(bench: traces.Bench, scheme: str, trace: int, tor: int | None) -> None:
    """A switch with the first parameters of a scheme's traces, and routes for paths.Paths."""
    given = {"salt": 1, "tor": tor, "ports": 4, "tors": 4}
    run = traces.Run(bench, traces.read(scheme)[trace] | {"switch": given})
    bench.switch.set_entry("ports", (paths.DOWN_PORT,), "set_port", {"role": traces.ROLES["down"], "probe_group": 7, "inverse": 1})
    bench.switch.set_entry("destinations_v6", (Prefix(int(paths.LOCAL_HOST_V6), 128),), "to_host", {"port": 4})
    bench.switch.set_entry("destinations_v6", (Prefix(int(paths.OTHER_HOST_V6), 128),), "to_tor", {"tor": 0})
    bench.switch.set_entry("destinations_v4", (Prefix(int(paths.STRANDED_HOST), 32),), "to_tor", {"tor": 2})
    bench.switch.set_entry("links", (0,), "set_macs", {"own": 0x020000000003, "peer": 0x020000000004})
    run.set_mtus(MTUS)
    run.routes.set(0, (1, 2, 40), UP)
    run.routes.set(3, (paths.FABRIC_PORT,), UP)


def exchange(bench: traces.Bench, given: Given, frame: bytes) -> list[bytes]:
    """The answers to a frame: its own, and that to what the control plane sends back for it."""
    bench.send(0, given.pack() + frame)
    first = bench.receive(0) or b""
    answer = Answer.unpack(first)
    asked = bench.receive(CPU_PORT) or b"" if answer.copied else answer.frame
    back = tokens.answer(asked) or icmp.Errors(OWN).answer(asked)
    if back is None:
        return [first]
    return [first, asked, *exchange(bench, Given(given.now, CPU_PORT, given.kind, given.flow_hash), back)]


class Paths(unittest.TestCase):
    """By the interpreter, at a ToR and at a switch that is none."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def walk(self, program: str) -> None:
        """All frames on a program."""
        path = compiled.path(program, test=True)
        with self.running(path) as bench, interpreted.bench(path) as judge:
            for trace, tor in enumerate((0, None)):
                for switch in (bench, judge):
                    prepared(switch, SCHEMES[program], trace, tor)
                for number, (given, frame) in enumerate(paths.Paths(SEED + trace, loaded=program == "shuttle").draw(FRAMES)):
                    self.compare(number, exchange(bench, given, frame), exchange(judge, given, frame), frame)

    def compare(self, number: int, answers: list[bytes], judged: list[bytes], frame: bytes) -> None:
        """The answers of both to a frame."""
        self.assertEqual(answers, judged, f"frame {number}: {frame.hex()}")
        answer = Answer.unpack(answers[0])
        self.assertLess(answer.verdict, 17)
        leaves = answer.port != NO_PORT or answer.group != 0
        if answer.verdict in REPORTS and leaves:
            self.assertEqual((answer.port, answer.frame[12:14]), (CPU_PORT, REPORT), f"frame {number}: {frame.hex()}: {answer}")
        else:
            self.assertEqual(leaves, answer.verdict in SENDS, f"frame {number}: {frame.hex()}: {answer}")

    def test_ecmp(self) -> None:
        self.walk("ecmp")

    def test_hula(self) -> None:
        self.walk("hula")

    def test_mp_hula(self) -> None:
        self.walk("mp-hula")

    def test_mp_hula_with_tokens_by_the_control_plane(self) -> None:
        self.walk("mp-hula-external")

    def test_shuttle(self) -> None:
        self.walk("shuttle")

    def test_cflb(self) -> None:
        self.walk("cflb")


if __name__ == "__main__":
    unittest.main()
