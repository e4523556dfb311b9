"""Packets that no well-behaved host or switch sends. The switch must drop or forward them as said, and answer the next packet as before."""

import hashlib
import ipaddress
import pathlib
import unittest
from contextlib import AbstractContextManager
from typing import Any

import compiled
import frames
import interpreted
import traces
from frames import ACK, HOST_PORT, LOCAL_HOST, OTHER_HOST, Answer, Given
from heddle_p4.plan import COUNTERS

FORWARDED, DELIVERED, PROBE_TAKEN = 0, 1, 2
NO_ROUTE, TTL, MALFORMED, NOT_IP, HOST_PROBE, HOST_SHIM, BAD_PROBE, BAD_SHIM, NO_PORT = range(5, 14)
OBSERVED = 14
SYN = 2
FABRIC_PORT = 3
KEYS = bytes.fromhex("1e14018161626364656667684142434445464748")
Trace = dict[str, Any]


class BadInput(unittest.TestCase):
    """On HULA, which has probes."""

    scheme = "hula"

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def setUp(self) -> None:
        self.bench = self.enterContext(self.running(compiled.path(self.scheme, test=True)))
        trace = traces.read(self.scheme)[0]
        tor: Trace = {"salt": 1, "tor": 0, "ports": 4, "tors": 4}
        self.run_of = traces.Run(self.bench, trace | {"switch": tor})
        self.run_of.routes.set(0, (1, 2), (1 << 64) - 1)
        self.run_of.routes.set(3, (FABRIC_PORT,), (1 << 64) - 1)

    known = FABRIC_PORT + 1

    def best(self) -> list[int]:
        """A register's cell of each ToR, zero without a best hop, else `known`."""
        return [self.bench.switch.register("best_next_port", tor) for tor in range(4)]

    def ask(self, frame: bytes, port: int = HOST_PORT, now: int = 1) -> Answer:
        """The answer to a frame."""
        self.bench.send(0, Given(now, port).pack() + frame)
        answer = self.bench.receive(0)
        self.assertIsNotNone(answer)
        return Answer.unpack(answer or b"")

    def packet(self, payload: bytes, ttl: int = 64, protocol: int = frames.TCP, shim: Trace | None = None) -> bytes:
        """From this ToR's host to another one's."""
        return frames.ethernet(*frames.ip((LOCAL_HOST, OTHER_HOST), protocol, payload, ttl), shim)

    def test_a_packet_is_forwarded(self) -> None:
        self.assertEqual(self.ask(self.packet(frames.tcp(1, 2, ACK, b""))).verdict, FORWARDED)

    def test_ttl_0_and_1_are_dropped_and_2_arrives_as_1_with_its_checksum(self) -> None:
        for ttl in (0, 1):
            self.assertEqual(self.ask(self.packet(frames.tcp(1, 2, ACK, b""), ttl)).verdict, TTL)
        answer = self.ask(self.packet(frames.tcp(1, 2, ACK, b""), 2))
        self.assertEqual(answer.verdict, FORWARDED)
        self.assertEqual(answer.frame[22], 1)
        self.assertEqual(frames.checksum(answer.frame[14:34]), 0)

    def test_a_checksum_of_0xfeff_becomes_0_and_not_0xffff(self) -> None:
        frame = bytearray(self.packet(frames.tcp(1, 2, ACK, b"")))
        frame[18:20] = ((int.from_bytes(frame[24:26], "big") - 0xFEFF) % 0xFFFF).to_bytes(2, "big")
        frame[24:26] = b"\xfe\xff"
        self.assertEqual(frames.checksum(bytes(frame[14:34])), 0, "the identification makes it the header's")
        answer = self.ask(bytes(frame))
        self.assertEqual(answer.frame[24:26], bytes(2))
        self.assertEqual(answer.frame, bytes(frame[:14]) + frames.routed(frames.IPV4, bytes(frame[14:])))

    def test_an_address_without_a_route_is_dropped(self) -> None:
        ends = (LOCAL_HOST, ipaddress.ip_address("198.51.100.1"))
        self.assertEqual(self.ask(frames.ethernet(*frames.ip(ends, frames.UDP, bytes(8)))).verdict, NO_ROUTE)

    def test_frames_that_are_not_ip_are_dropped(self) -> None:
        self.assertEqual(self.ask(frames.ethernet(0x0806, bytes(28))).verdict, NOT_IP)

    def test_a_port_that_is_not_configured_is_dropped(self) -> None:
        self.assertEqual(self.ask(self.packet(frames.tcp(1, 2, ACK, b"")), port=120).verdict, NO_PORT)

    def test_packets_that_are_cut_short_are_malformed(self) -> None:
        whole = self.packet(frames.tcp(1, 2, ACK, KEYS))
        for length in range(15, len(whole)):
            with self.subTest(length):
                self.assertEqual(self.ask(whole[:length]).verdict, MALFORMED)
        self.assertEqual(self.ask(whole).verdict, FORWARDED)

    def test_a_header_length_below_five_words_is_malformed(self) -> None:
        packet = bytearray(self.packet(frames.tcp(1, 2, ACK, b"")))
        packet[14] = 0x44
        self.assertEqual(self.ask(bytes(packet)).verdict, MALFORMED)
        segment = bytearray(frames.tcp(1, 2, ACK, b""))
        segment[12] = 4 << 4
        self.assertEqual(self.ask(self.packet(bytes(segment))).verdict, MALFORMED)

    def test_options_with_impossible_lengths_end_the_walk(self) -> None:
        for option in (b"\x1e\x00", b"\x1e\x01", b"\x1e\x29", b"\x1e\xff", b"\x05\x00", b"\x05\xff", b"\x1e\x02", b"\x1e"):
            with self.subTest(option.hex()):
                frame = self.packet(frames.tcp(1, 2, ACK, option + bytes(2) + KEYS))
                answer = self.ask(frame)
                self.assertEqual(answer.verdict, FORWARDED)
                self.assertEqual(answer.frame[34:], frame[34:])

    def test_a_packet_full_of_options_leaves_as_it_came(self) -> None:
        options = b"\x01" * 38 + b"\x1e\x14"
        frame = self.packet(frames.tcp(1, 2, ACK, options))
        answer = self.ask(frame)
        self.assertEqual(answer.verdict, FORWARDED)
        self.assertEqual(answer.frame[34:], frame[34:])

    def test_probes_and_shims_of_hosts_are_dropped(self) -> None:
        self.assertEqual(self.ask(frames.probe(3, 0)).verdict, HOST_PROBE)
        shim = {"id": "0000000100000002", "subflow": 1}
        self.assertEqual(self.ask(self.packet(frames.tcp(1, 2, ACK, b""), shim=shim)).verdict, HOST_SHIM)
        self.assertEqual(self.best(), [0, 0, 0, 0])

    def test_probes_of_tors_at_the_ends_and_beyond_touch_no_other_cell(self) -> None:
        for tor, verdict in ((3, PROBE_TAKEN), (4, BAD_PROBE), (1023, BAD_PROBE), (1024, BAD_PROBE), (0xFFFFFF, BAD_PROBE)):
            with self.subTest(tor):
                self.assertEqual(self.ask(frames.probe(tor), FABRIC_PORT).verdict, verdict)
        self.assertEqual(self.best(), [0, 0, 0, self.known])

    def test_a_probe_that_is_cut_short_is_malformed(self) -> None:
        self.assertEqual(self.ask(frames.probe(3)[:16], FABRIC_PORT).verdict, MALFORMED)

    def test_a_shim_under_another_scheme_is_dropped(self) -> None:
        frame = self.packet(frames.tcp(1, 2, ACK, b""), shim={"id": "0000000100000002", "subflow": 1})
        self.assertEqual(self.ask(frame, FABRIC_PORT).verdict, BAD_SHIM)


CAPABLE = bytes.fromhex("1e160181") + bytes(range(1, 9)) + bytes(range(9, 17)) + bytes(2)
TOKEN_A, TOKEN_B = (int.from_bytes(hashlib.sha256(CAPABLE[at : at + 8]).digest()[:4], "big") for at in (4, 12))


def join_option(token: int, length: int = 12) -> bytes:
    """The MP_JOIN of a SYN, which may lie about its length."""
    return bytes([0x1E, length, 0x10, 0]) + token.to_bytes(4, "big") + bytes(4)


class BadHandshakes(BadInput):
    """On MP-HULA, which reads handshakes and shims."""

    scheme = "mp-hula"
    known = 1

    def best(self) -> list[int]:
        return [self.bench.switch.register("best_known", tor) for tor in range(4)]

    def counted(self, name: str) -> int:
        """A counter of the scheme."""
        return self.bench.switch.counter("scheme_counters", COUNTERS.index(name))

    def handshake(self, flow: int, flags: int, options: bytes) -> Answer:
        """A segment of the host's, with the hash of its flow."""
        frame = self.packet(frames.tcp(1, 2, flags, options))
        self.bench.send(0, Given(1, HOST_PORT, "handshake", flow_hash=flow).pack() + frame)
        answer = self.bench.receive(0)
        self.assertIsNotNone(answer)
        return Answer.unpack(answer or b"")

    def join(self, flow: int, token: int) -> None:
        """A SYN with MP_JOIN."""
        self.handshake(flow, SYN, join_option(token))

    def test_a_shim_under_another_scheme_is_dropped(self) -> None:
        """Here it is this scheme's: forwarded, as long as it wraps IP."""
        shim = {"id": "0000000100000002", "subflow": 16}
        frame = self.packet(frames.tcp(1, 2, ACK, b""), shim=shim)
        self.assertEqual(self.ask(frame, FABRIC_PORT).verdict, FORWARDED)
        self.assertEqual(self.ask(frames.ethernet(0x0806, bytes(28), shim), FABRIC_PORT).verdict, BAD_SHIM)

    def test_a_join_with_an_unknown_token_is_no_subflow(self) -> None:
        self.join(1, 0xFFFFFFFF)
        self.join(1, 0)
        self.assertEqual(self.counted("unknown_tokens"), 2)
        self.assertEqual(self.counted("joins"), 0)

    def test_joins_that_repeat_are_one_subflow_and_the_seventeenth_wraps(self) -> None:
        self.handshake(1, ACK, CAPABLE)
        for _ in range(3):
            self.join(0x20000, TOKEN_A)
        self.assertEqual(self.counted("joins"), 1)
        for flow in range(3, 18):
            self.join(flow << 16, TOKEN_A)
        self.assertGreaterEqual(self.counted("joins"), 2)
        self.assertEqual(self.counted("joins") + self.counted("table_collisions"), 16)

    def test_of_two_joins_in_one_packet_the_first_counts(self) -> None:
        self.handshake(1, ACK, CAPABLE)
        self.handshake(0x20000, SYN, join_option(0) + join_option(TOKEN_A))
        self.assertEqual((self.counted("joins"), self.counted("unknown_tokens")), (0, 1))
        self.handshake(0x30000, SYN, join_option(TOKEN_A) + join_option(0))
        self.assertEqual((self.counted("joins"), self.counted("unknown_tokens")), (1, 1))

    def test_a_join_that_reaches_into_the_next_one_is_none_and_hides_it(self) -> None:
        self.handshake(1, ACK, CAPABLE)
        # 16 and 24 are the lengths of MP_JOIN in a SYN/ACK and an ACK, which have no token; no other one is a join's.
        for length in (13, 16, 20, 24):
            self.handshake(length << 16, SYN, join_option(TOKEN_A, length) + join_option(TOKEN_B))
        self.assertEqual((self.counted("joins"), self.counted("unknown_tokens")), (0, 0))
        # A byte shorter than a join: the byte behind it, a zero, ends the options.
        self.handshake(0x50000, SYN, join_option(TOKEN_A, 11) + join_option(TOKEN_B))
        self.assertEqual((self.counted("joins"), self.counted("unknown_tokens")), (0, 0))

    def test_two_joins_of_one_flow_by_both_tokens_are_one_subflow(self) -> None:
        self.handshake(1, ACK, CAPABLE)
        self.join(0x20000, TOKEN_A)
        self.join(0x20000, TOKEN_B)
        self.assertEqual(self.counted("joins"), 1)

    def test_options_of_a_handshake_that_lie_about_their_length_open_nothing(self) -> None:
        for length in (0, 1, 2, 3, 4, 12, 21, 23, 40, 255):
            option = bytes([CAPABLE[0], length]) + CAPABLE[2:]
            self.assertEqual(self.handshake(1, ACK, option).verdict, OBSERVED)
        self.assertEqual(self.counted("connections"), 0)

    def test_a_handshake_that_is_cut_short_opens_nothing(self) -> None:
        whole = Given(1, HOST_PORT, "handshake").pack() + self.packet(frames.tcp(1, 2, ACK, CAPABLE))
        head = len(whole) - len(CAPABLE) - 2
        for length in range(head, len(whole)):
            self.bench.send(0, whole[:length])
            self.assertEqual(Answer.unpack(self.bench.receive(0) or b"").verdict, MALFORMED)
        self.assertEqual(self.counted("connections"), 0)


class BadInputOfShuttle(BadHandshakes):
    """The same on Shuttle."""

    scheme = "shuttle"


if __name__ == "__main__":
    unittest.main()
