"""MP-HULA's program whose tokens the control plane computes: what it asks, what it takes back, and from whom."""

import pathlib
import struct
import unittest
from contextlib import AbstractContextManager

import compiled
import frames
import interpreted
import traces
from frames import ACK, CPU_PORT, HOST_PORT, LOCAL_HOST, OTHER_HOST, Answer, Given
from heddle_p4 import tokens
from heddle_p4.plan import COUNTERS
from traces import ASKED, OBSERVED

FORWARDED, NOT_IP = 0, 8
FABRIC_PORT = 3
HEADERS = 14 + tokens.HEADER.size  # in front of a packet on the CPU port
CAPABLE = bytes.fromhex("1e160181") + bytes(range(1, 9)) + bytes(range(9, 17)) + bytes(2)
JOIN = bytes.fromhex("1e0c1000")
SYN = 2


def flow_of(key: bytes) -> int:
    """The hash of the subflow that joins by a key's token."""
    return key[0] << 16


class ExternalTokens(unittest.TestCase):
    """On a ToR."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def setUp(self) -> None:
        self.bench = self.enterContext(self.running(compiled.path("mp-hula-external", test=True)))
        tor = {"salt": 1, "tor": 0, "ports": 4, "tors": 4}
        self.run_of = traces.Run(self.bench, traces.read("mp-hula")[0] | {"switch": tor})
        self.run_of.routes.set(0, (1, 2), (1 << 64) - 1)

    def send(self, frame: bytes, port: int, flow: int = 1) -> Answer:
        """The answer to a frame."""
        self.bench.send(0, Given(1, port, flow_hash=flow).pack() + frame)
        answer = self.bench.receive(0)
        self.assertIsNotNone(answer)
        return Answer.unpack(answer or b"")

    def packet(self, flags: int, options: bytes) -> bytes:
        """From this ToR's host to another one's."""
        payload = frames.tcp(1, 2, flags, options + b"\1" * (-len(options) % 4)) + b"data"
        return frames.ethernet(*frames.ip((LOCAL_HOST, OTHER_HOST), frames.TCP, payload))

    def count(self, name: str) -> int:
        """A counter of the scheme."""
        return self.bench.switch.counter("scheme_counters", COUNTERS.index(name))

    def asked(self) -> bytes:
        """The copy of a packet with keys that has just been forwarded."""
        sent = self.send(self.packet(ACK, CAPABLE), HOST_PORT)
        self.assertEqual((sent.verdict, sent.copied), (FORWARDED, 1))
        return self.bench.receive(CPU_PORT) or b""

    def answered(self, asked: bytes, flow: int = 1) -> Answer:
        """The end of what has been to the control plane."""
        back = tokens.answer(asked)
        assert back
        return self.send(back, CPU_PORT, flow)

    def join(self, key: bytes) -> Answer:
        """The end of a subflow's first packet, with a key's token."""
        return self.send(self.packet(SYN, JOIN + tokens.token(1, key) + bytes(4)), HOST_PORT, flow_of(key))

    def test_a_packet_with_keys_goes_its_way_at_once_and_a_copy_opens_a_connection_that_can_be_joined(self) -> None:
        packet = self.packet(ACK, CAPABLE)
        sent = self.send(packet, HOST_PORT)
        self.assertEqual(sent.verdict, FORWARDED)
        self.assertIn(sent.port, (1, 2))
        # But for the TTL and its checksum.
        self.assertEqual(sent.frame[:22] + sent.frame[26:], packet[:22] + packet[26:])
        self.assertEqual(frames.checksum(sent.frame[14:34]), 0)
        self.assertEqual(self.count("connections"), 0)
        copy = self.bench.receive(CPU_PORT) or b""
        self.assertEqual(copy[HEADERS:], packet[14:])
        self.assertEqual(self.answered(copy).verdict, OBSERVED)
        self.assertEqual(self.count("connections"), 1)
        for key in (CAPABLE[4:12], CAPABLE[12:20]):
            self.assertEqual(self.join(key).verdict, FORWARDED)
        self.assertEqual((self.count("joins"), self.count("unknown_tokens")), (2, 0))

    def test_a_join_that_comes_before_the_tokens_waits_for_them(self) -> None:
        asked = self.asked()
        join = self.join(CAPABLE[12:20])
        self.assertEqual((join.verdict, join.port), (ASKED, CPU_PORT))
        self.answered(asked)
        self.assertEqual(self.answered(join.frame, flow_of(CAPABLE[12:20])).verdict, FORWARDED)
        self.assertEqual((self.count("joins"), self.count("unknown_tokens")), (1, 0))

    def test_a_join_by_a_token_of_nobody_waits_once(self) -> None:
        join = self.join(CAPABLE[12:20])
        self.assertEqual(self.answered(join.frame, flow_of(CAPABLE[12:20])).verdict, FORWARDED)
        self.assertEqual((self.count("joins"), self.count("unknown_tokens")), (0, 1))

    def test_packets_without_keys_are_not_copied(self) -> None:
        for flags, options in ((ACK, b""), (SYN, b"\2\4\5\xb4")):
            sent = self.send(self.packet(flags, options), HOST_PORT)
            self.assertEqual((sent.verdict, sent.copied), (FORWARDED, 0))

    def test_answers_are_taken_from_the_cpu_port_alone(self) -> None:
        asked = self.asked()
        back = tokens.answer(asked)
        assert back
        for port in (HOST_PORT, FABRIC_PORT):
            self.assertEqual(self.send(back, port).verdict, NOT_IP)
        self.assertEqual(self.send(asked, CPU_PORT).verdict, NOT_IP, "a question is no answer")
        self.assertEqual(self.count("connections"), 0)

    def test_the_control_plane_answers_questions_alone(self) -> None:
        asked = self.asked()
        back = tokens.answer(asked)
        assert back
        self.assertIsNone(tokens.answer(back), "its own answer")
        self.assertIsNone(tokens.answer(asked[:45]), "cut short")
        self.assertIsNone(tokens.answer(frames.probe(1)))
        self.assertEqual(struct.unpack_from(">4s4s", back, 38), (tokens.token(1, CAPABLE[4:12]), tokens.token(1, CAPABLE[12:20])))


if __name__ == "__main__":
    unittest.main()
