"""ICMP errors: the report that the switch gives the control plane, the answer that goes into the CPU port, and as it leaves, each a whole frame."""

import ipaddress
import pathlib
import struct
import unittest
from contextlib import AbstractContextManager

import compiled
import frames
import interpreted
import traces
from frames import ACK, CPU_PORT, HOST_PORT, IPV4, IPV6, LOCAL_HOST, MACS, NO_PORT, OTHER_HOST, Answer, Given
from heddle_p4.icmp import Errors
from heddle_p4.settings import SwitchSettings
from heddle_p4.switch import Prefix
from test_bad_input import CAPABLE, DELIVERED, FABRIC_PORT, FORWARDED, SYN, TOKEN_A, TTL, join_option

TOO_BIG = 16
REPORT, VLAN = 0x7402, 0x8100
UPLINK = 1
MTU, HOST_MTU = 1500, 1400
SHIM = 12
MILLISECOND = 1_000_000
KINDS = (IPV4, IPV6)
ENDS = {IPV4: (LOCAL_HOST, OTHER_HOST), IPV6: (ipaddress.ip_address("fd00::1"), ipaddress.ip_address("fd00:1::1"))}
OWN = {IPV4: ipaddress.ip_address("198.18.0.7"), IPV6: ipaddress.ip_address("2001:2::7")}
PROTOCOL = {IPV4: 1, IPV6: 58}
HEAD = {IPV4: 20, IPV6: 40}
QUOTE = {IPV4: 548, IPV6: 1232}  # answers of 576 and 1280 bytes
EXPIRED = {IPV4: bytes((11, 0)), IPV6: bytes((3, 0))}
TOO_LONG = {IPV4: bytes((3, 4)), IPV6: bytes((2, 0))}
ECHO_REQUEST = {IPV4: 8, IPV6: 128}
UP = (1 << 64) - 1
SUBFLOW = 0x20000


def packet(kind: int, length: int = 60, ttl: int = 64, protocol: int = frames.UDP) -> bytes:
    """IP of so many bytes, from this ToR's host to another one's."""
    size = length - HEAD[kind]
    payload = struct.pack(">HHHH", 1000, 2000, size, 0) + bytes(at % 251 for at in range(size - 8))
    return frames.ip(ENDS[kind], protocol, payload, ttl)[1]


def icmp(kind: int, message: int, ttl: int = 1) -> bytes:
    """A message of ICMP with this type."""
    return frames.ip(ENDS[kind], PROTOCOL[kind], bytes([message]) + bytes(7), ttl)[1]


def anew(header: bytes) -> bytes:
    """IPv4 with the checksum of its changed header."""
    return header[:10] + struct.pack(">H", frames.checksum(header[:10] + header[12:20])) + header[12:]


def without_fragmentation(v4: bytes) -> bytes:
    """The packet with DF."""
    return anew(v4[:6] + b"\x40\0" + v4[8:])


def error(kind: int, about: bytes, source: frames.Address, first: bytes, mtu: int = 0) -> bytes:
    """The answer to a packet."""
    rest = struct.pack(">I", mtu) + about[: QUOTE[kind]]
    length, ends = 4 + len(rest), source.packed + ENDS[kind][0].packed
    if kind == IPV4:
        message = first + struct.pack(">H", frames.checksum(first + rest)) + rest
        return anew(struct.pack(">BBHHHBBH", 0x45, 0xC0, 20 + length, 0, 0x4000, 64, 1, 0) + ends) + message
    pseudo = ends + struct.pack(">II", length, 58)
    message = first + struct.pack(">H", frames.checksum(pseudo + first + rest)) + rest
    return struct.pack(">IHBB", 0x6C000000, length, 58, 64) + ends + message


def report(kind: int, about: bytes, mtu: int = 0) -> bytes:
    """The frame of the CPU port."""
    return MACS + struct.pack(">HHI", REPORT, kind, mtu) + about


def back(kind: int, answer: bytes) -> bytes:
    """An answer's frame."""
    return MACS[6:] + MACS[:6] + struct.pack(">H", kind) + answer


class Reports(unittest.TestCase):
    """By MP-HULA, which adds shims, at a ToR."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def setUp(self) -> None:
        self.bench = self.enterContext(self.running(compiled.path("mp-hula", test=True)))
        tor = {"salt": 1, "tor": 0, "ports": 4, "tors": 4}
        self.run_of = traces.Run(self.bench, traces.read("mp-hula")[0] | {"switch": tor})
        self.run_of.routes.set(0, (UPLINK,), UP)
        self.run_of.set_mtus({UPLINK: MTU, HOST_PORT: HOST_MTU})
        local, other = ENDS[IPV6]
        self.bench.switch.set_entry("destinations_v6", (Prefix(int(local), 128),), "to_host", {"port": HOST_PORT})
        self.bench.switch.set_entry("destinations_v6", (Prefix(int(other), 128),), "to_tor", {"tor": 0})
        self.errors = Errors(OWN.values())

    def ask(self, frame: bytes, port: int = HOST_PORT, now: int = 1, given: Given | None = None) -> Answer:
        """Sends a frame, and returns the switch's answer to it."""
        self.bench.send(0, (given or Given(now, port)).pack() + frame)
        answer = self.bench.receive(0)
        self.assertIsNotNone(answer)
        return Answer.unpack(answer or b"")

    def reported(self, frame: bytes, verdict: int, given: Given | None = None) -> bytes:
        """The frame that the control plane gets for one of the host's."""
        answer = self.ask(frame, given=given)
        self.assertEqual((answer.verdict, answer.port), (verdict, CPU_PORT))
        return answer.frame

    def test_a_packet_whose_ttl_ends_is_answered_from_the_switchs_own_address(self) -> None:
        for kind in KINDS:
            for ttl in (0, 1):
                sent = packet(kind, ttl=ttl)
                told = self.reported(frames.ethernet(kind, sent), TTL)
                self.assertEqual(told, report(kind, sent))
                self.assertEqual(self.errors.answer(told), back(kind, error(kind, sent, OWN[kind], EXPIRED[kind])))
        self.assertEqual(self.errors.sent, {"answered": 0, "time_exceeded": 4})

    def test_an_answer_takes_the_route_to_the_sender(self) -> None:
        for kind in KINDS:
            answer = error(kind, packet(kind, ttl=1), OWN[kind], EXPIRED[kind])
            left = self.ask(back(kind, answer), CPU_PORT)
            self.assertEqual((left.verdict, left.port), (DELIVERED, HOST_PORT))
            self.assertEqual(left.frame, back(kind, frames.routed(kind, answer)))

    def test_a_packet_that_is_longer_than_the_mtu_of_its_port_is_answered_with_it(self) -> None:
        fits, longer = packet(IPV4, MTU), packet(IPV4, MTU + 1)
        for kind, sent in ((IPV4, longer), (IPV4, without_fragmentation(longer)), (IPV6, packet(IPV6, MTU + 1))):
            told = self.reported(frames.ethernet(kind, sent), TOO_BIG)
            self.assertEqual(told, report(kind, sent, MTU))
            expected = error(kind, sent, ENDS[kind][1], TOO_LONG[kind], MTU)
            self.assertEqual(self.errors.answer(told), back(kind, expected))
            left = self.ask(back(kind, expected), CPU_PORT)
            self.assertEqual((left.verdict, left.port, left.frame), (DELIVERED, HOST_PORT, back(kind, frames.routed(kind, expected))))
        for kind, sent in ((IPV4, fits), (IPV4, without_fragmentation(fits)), (IPV6, packet(IPV6, MTU))):
            left = self.ask(frames.ethernet(kind, sent))
            self.assertEqual((left.verdict, left.port, left.frame), (FORWARDED, UPLINK, frames.ethernet(kind, frames.routed(kind, sent))))
        self.assertEqual(self.errors.sent, {"answered": 3, "time_exceeded": 0})

    def test_each_port_has_its_own_mtu_and_one_without_an_mtu_has_no_limit(self) -> None:
        to_host = {kind: frames.ip(ENDS[kind][::-1], frames.UDP, bytes(HOST_MTU - HEAD[kind] + 1))[1] for kind in KINDS}
        for kind, sent in to_host.items():
            told = self.ask(frames.ethernet(kind, sent), FABRIC_PORT)
            self.assertEqual((told.verdict, told.port, told.frame), (TOO_BIG, CPU_PORT, report(kind, sent, HOST_MTU)))
        self.run_of.routes.set(0, (UPLINK + 1,), UP)
        self.assertEqual(self.ask(frames.ethernet(IPV4, packet(IPV4, 9000))).verdict, FORWARDED)

    def test_what_is_told_leaves_room_for_the_shim_that_the_switch_adds(self) -> None:
        handshake = frames.ip(ENDS[IPV4], frames.TCP, frames.tcp(1, 2, ACK, CAPABLE))
        self.ask(frames.ethernet(*handshake), given=Given(1, HOST_PORT, "handshake", flow_hash=1))
        join = frames.ip(ENDS[IPV4], frames.TCP, frames.tcp(1, 2, SYN, join_option(TOKEN_A)))
        self.ask(frames.ethernet(*join), given=Given(1, HOST_PORT, "handshake", flow_hash=SUBFLOW))
        given = Given(1, HOST_PORT, flow_hash=SUBFLOW)
        longer, fits = packet(IPV4, MTU - SHIM + 1), packet(IPV4, MTU - SHIM)
        for sent in (longer, without_fragmentation(longer)):
            told = self.reported(frames.ethernet(IPV4, sent), TOO_BIG, given)
            self.assertEqual(told[:20], report(frames.SHIM, b"", MTU))
            self.assertEqual(told[30:], struct.pack(">H", IPV4) + sent)
            expected = error(IPV4, sent, OTHER_HOST, TOO_LONG[IPV4], MTU - SHIM)
            self.assertEqual(self.errors.answer(told), back(IPV4, expected))
        left = self.ask(frames.ethernet(IPV4, fits), given=given)
        self.assertEqual((left.verdict, left.port), (FORWARDED, UPLINK))
        self.assertEqual(left.frame, frames.ethernet(IPV4, frames.routed(IPV4, fits), left.shim()))
        self.assertIsNotNone(left.shim())

    def test_a_packet_that_came_with_a_shim_is_dropped_and_not_reported(self) -> None:
        shim = {"id": "0000000100000002", "subflow": 1}
        for sent, verdict in ((packet(IPV4, MTU - SHIM + 1), TOO_BIG), (packet(IPV4, ttl=1), TTL)):
            answer = self.ask(frames.ethernet(IPV4, sent, shim), FABRIC_PORT)
            self.assertEqual((answer.verdict, answer.port), (verdict, NO_PORT))
        self.assertEqual(self.ask(frames.ethernet(IPV4, packet(IPV4, MTU - SHIM), shim), FABRIC_PORT).verdict, FORWARDED)

    def test_a_vlan_tag_is_kept(self) -> None:
        for kind in KINDS:
            tag = struct.pack(">HH", 5, kind)
            sent = packet(kind, ttl=1)
            told = self.reported(frames.ethernet(VLAN, tag + sent), TTL)
            self.assertEqual(told, report(VLAN, tag + sent))
            expected = error(kind, sent, OWN[kind], EXPIRED[kind])
            self.assertEqual(self.errors.answer(told), back(VLAN, tag + expected))
            left = self.ask(back(VLAN, tag + expected), CPU_PORT)
            self.assertEqual((left.verdict, left.frame), (DELIVERED, back(VLAN, tag + frames.routed(kind, expected))))

    def test_reports_of_each_kind_are_limited_to_a_burst_and_one_in_a_millisecond(self) -> None:
        expiring, longer = (frames.ethernet(IPV4, sent) for sent in (packet(IPV4, ttl=1), packet(IPV4, MTU + 1)))
        start = 10 * MILLISECOND
        for frame in (expiring, longer):
            ports = [self.ask(frame, now=start).port for _ in range(34)]
            self.assertEqual(ports, [CPU_PORT] * 32 + [NO_PORT] * 2)
        for passed, port in ((1, CPU_PORT), (2, NO_PORT), (MILLISECOND, NO_PORT), (MILLISECOND + 1, CPU_PORT), (MILLISECOND + 2, NO_PORT)):
            self.assertEqual(self.ask(expiring, now=start + passed).port, port, passed)
        self.assertEqual([self.ask(expiring, now=start + 60 * MILLISECOND).port for _ in range(33)], [CPU_PORT] * 32 + [NO_PORT])

    def test_a_switch_without_a_cpu_port_reports_nothing(self) -> None:
        SwitchSettings(1, 4, 0, UP, 0, least_mtu=MTU).apply(self.bench.switch)
        for sent, verdict in ((packet(IPV4, ttl=1), TTL), (packet(IPV4, MTU + 1), TOO_BIG)):
            answer = self.ask(frames.ethernet(IPV4, sent))
            self.assertEqual((answer.verdict, answer.port, answer.frame), (verdict, NO_PORT, frames.ethernet(IPV4, sent)))


class ControlPlane(unittest.TestCase):
    """What is answered, and what is not (RFC 1122, 3.2.2; RFC 4443, 2.4)."""

    def setUp(self) -> None:
        self.errors = Errors(OWN.values())

    def refuse(self, frame: bytes, why: str) -> None:
        """No answer, and none is counted."""
        self.assertIsNone(self.errors.answer(frame), why)
        self.assertEqual(self.errors.sent, {"answered": 0, "time_exceeded": 0}, why)

    def test_of_icmp_echo_requests_alone_are_answered(self) -> None:
        for kind in KINDS:
            for message in {*range(256)} - {ECHO_REQUEST[kind]}:
                self.refuse(report(kind, icmp(kind, message)), f"type {message}")
            for mtu, first, source in ((0, EXPIRED, OWN), (MTU, TOO_LONG, {kind: ENDS[kind][1]})):
                sent = icmp(kind, ECHO_REQUEST[kind]) if not mtu else packet(kind, MTU + 2, protocol=PROTOCOL[kind])
                sent = sent[: HEAD[kind]] + bytes([ECHO_REQUEST[kind]]) + sent[HEAD[kind] + 1 :]
                expected = error(kind, sent, source[kind], first[kind], mtu)
                self.assertEqual(self.errors.answer(report(kind, sent, mtu)), back(kind, expected))
            self.errors = Errors(OWN.values())

    def test_later_fragments_are_not_answered_and_first_ones_are(self) -> None:
        for mtu in (0, MTU):
            for offset, is_first in ((0x0001, False), (0x2001, False), (0x1FFF, False), (0x2000, True), (0x4000, True)):
                sent = packet(IPV4, MTU + 2)
                sent = anew(sent[:6] + struct.pack(">H", offset) + sent[8:])
                self.assertEqual(self.errors.answer(report(IPV4, sent, mtu)) is not None, is_first, hex(offset))
                fragment = struct.pack(">BBHI", frames.UDP, 0, (offset & 0x1FFF) << 3 | 1, 7)
                sent = frames.ip(ENDS[IPV6], 44, fragment + bytes(MTU))[1]
                self.assertEqual(self.errors.answer(report(IPV6, sent, mtu)) is not None, is_first, hex(offset))

    def test_an_error_behind_extension_headers_is_not_answered(self) -> None:
        for chain in ((0,), (60,), (43, 60), (0, 44)):
            for message in (1, 3, 135, ECHO_REQUEST[IPV6]):
                payload = bytes([message]) + bytes(7)
                following = 58
                for kind in reversed(chain):
                    payload, following = bytes([following, 0]) + bytes(6) + payload, kind
                sent = frames.ip(ENDS[IPV6], following, payload, 1)[1]
                answer = self.errors.answer(report(IPV6, sent))
                self.assertEqual(answer is not None, message == ECHO_REQUEST[IPV6], (chain, message))
        self.errors = Errors(OWN.values())
        self.refuse(report(IPV6, frames.ip(ENDS[IPV6], 60, b"\x3a", 1)[1]), "an extension header that is cut short")

    def test_sources_that_are_no_single_host_and_frames_to_a_group_are_not_answered(self) -> None:
        for source in ("0.0.0.0", "127.0.0.1", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "::", "::1", "ff02::1"):
            ends = ipaddress.ip_address(source), OTHER_HOST if "." in source else ENDS[IPV6][1]
            for mtu in (0, MTU):
                self.refuse(report(*frames.ip(ends, frames.UDP, bytes(MTU), 1), mtu), source)
        for kind in KINDS:
            for group in ("ffffffffffff", "01005e000001", "333300000001"):
                self.refuse(bytes.fromhex(group) + report(kind, packet(kind, ttl=1))[6:], group)

    def test_a_family_without_an_own_address_is_told_of_mtus_alone(self) -> None:
        for kind in KINDS:
            self.errors = Errors(address for of, address in OWN.items() if of != kind)
            self.refuse(report(kind, packet(kind, ttl=1)), "no address")
            self.assertIsNotNone(self.errors.answer(report(kind, packet(kind, MTU + 1), MTU)))

    def test_no_sender_is_told_less_than_the_least_mtu(self) -> None:
        for kind, least in ((IPV4, 68), (IPV6, 1280)):
            self.refuse(report(kind, packet(kind, least), least - 1), "it cannot be shorter")
        self.refuse(report(IPV4, packet(IPV4, 100), 67), "no sender goes below 68")
        sent = packet(IPV6, 1300)
        expected = error(IPV6, sent, ENDS[IPV6][1], TOO_LONG[IPV6], 1280)
        self.assertEqual(self.errors.answer(report(IPV6, sent, 1000)), back(IPV6, expected))

    def test_padding_is_not_quoted_and_options_are(self) -> None:
        for kind in KINDS:
            sent = packet(kind, HEAD[kind] + 10, ttl=1)
            expected = error(kind, sent, OWN[kind], EXPIRED[kind])
            self.assertEqual(self.errors.answer(report(kind, sent + bytes(20))), back(kind, expected))
        sent = icmp(IPV4, ECHO_REQUEST[IPV4])
        sent = anew(b"\x46" + sent[1:2] + struct.pack(">H", len(sent) + 4) + sent[4:20]) + b"\1\1\1\0" + sent[20:]
        self.assertEqual(self.errors.answer(report(IPV4, sent)), back(IPV4, error(IPV4, sent, OWN[IPV4], EXPIRED[IPV4])))

    def test_frames_that_are_no_reports_are_not_answered(self) -> None:
        whole = report(IPV4, packet(IPV4, ttl=1))
        others = frames.probe(1), report(0x0806, bytes(46)), report(VLAN, b"\0"), report(frames.SHIM, bytes(11))
        for frame in (b"", whole[:14], whole[:19], whole[:39], *others):
            self.refuse(frame, frame.hex())


if __name__ == "__main__":
    unittest.main()
