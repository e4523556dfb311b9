"""ICMP errors about packets that the switch drops and reports (p4/common/report.p4): "time exceeded" where the TTL or hop limit has ended,
"fragmentation needed" or "packet too big" where a packet is longer than the MTU of its port. The switch limits their rate, and an answer takes its
way from the CPU port by the switch's routes, as any packet. The rules are those of the eBPF switch (bpf/switch/expired.h, too_long.h)."""

import dataclasses
import ipaddress
import struct
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

ETHERTYPE_REPORT = 0x7402
REPORT = struct.Struct(">HI")  # type of the packet; MTU of its port, 0: its TTL has ended
MACS, ETHERNET, TAG, SHIM = 12, 14, 4, 12
IPV4, VLAN, IPV6, SHIMMED = 0x0800, 0x8100, 0x86DD, 0x88B5
ICMP, ICMPV6 = 1, 58
ECHO_REQUESTS = {4: 8, 6: 128}
# Hop-by-hop options, routing, fragment, destination options.
EXTENSIONS = (0, 43, 44, 60)
FRAGMENT = 44
LATER = 0x1FFF  # bits of IPv4's fragment offset
TTL = 64
INTERNETWORK_CONTROL = 0xC0  # RFC 1812, 4.3.2.5
DONT_FRAGMENT = 0x4000
LEAST_MTU = {4: 68, 6: 1280}  # RFC 791, RFC 8200
MOST = {4: 576, 6: 1280}  # bytes of an answer: RFC 1812, 4.3.2.3; RFC 4443, 2.4 c
HEADERS = {4: 20 + 8, 6: 40 + 8}
# Types and codes, where the TTL has ended and where a packet is too long.
EXPIRED = {4: (11, 0), 6: (3, 0)}
TOO_LONG = {4: (3, 4), 6: (2, 0)}


@dataclasses.dataclass(frozen=True)
class Dropped:
    """A packet that the switch has dropped: its header of the link, IP without padding, and the bytes of IP that fit; 0: its TTL has ended."""

    link: bytes
    packet: bytes
    mtu: int

    @classmethod
    def read(cls, frame: bytes) -> "Dropped | None":
        """From a report; None for another frame."""
        if len(frame) < ETHERNET + REPORT.size or _number(frame[MACS:ETHERNET]) != ETHERTYPE_REPORT:
            return None
        kind, mtu = REPORT.unpack_from(frame, ETHERNET)
        link, packet = frame[:MACS], frame[ETHERNET + REPORT.size :]
        if kind == VLAN:
            link, kind, packet = link + struct.pack(">H", VLAN) + packet[:2], _number(packet[2:TAG]), packet[TAG:]
        if kind == SHIMMED:  # which the switch has added
            kind, packet, mtu = _number(packet[SHIM - 2 : SHIM]), packet[SHIM:], max(mtu - SHIM, 0)
        if kind not in (IPV4, IPV6) or len(packet) < (20 if kind == IPV4 else 40):
            return None
        length = _number(packet[2:4]) if kind == IPV4 else 40 + _number(packet[4:6])
        return cls(link + struct.pack(">H", kind), packet[:length], mtu)

    @property
    def version(self) -> int:
        """Of IP."""
        return 4 if self.link.endswith(struct.pack(">H", IPV4)) else 6

    def ends(self) -> tuple[Address, Address]:
        """Source and destination."""
        if self.version == 4:
            return ipaddress.IPv4Address(self.packet[12:16]), ipaddress.IPv4Address(self.packet[16:20])
        return ipaddress.IPv6Address(self.packet[8:24]), ipaddress.IPv6Address(self.packet[24:40])

    def may_be_answered(self) -> bool:
        """False for ICMP that is no echo request, later fragments, sources that are no single host, and frames to a group (RFC 1122, 3.2.2; RFC 4443,
        2.4 e)."""
        upper, (source, _) = self._upper(), self.ends()
        if upper is None or self.link[0] & 1 or not _is_one_host(source):
            return False
        protocol, payload = upper
        return protocol not in (ICMP, ICMPV6) or payload[:1] == bytes([ECHO_REQUESTS[self.version]])

    def _upper(self) -> tuple[int, bytes] | None:
        """The protocol above IP, and what it has; None for a later fragment."""
        packet = self.packet
        if self.version == 4:
            return None if _number(packet[6:8]) & LATER else (packet[9], packet[(packet[0] & 15) * 4 :])
        kind, rest = packet[6], packet[40:]
        while kind in EXTENSIONS:
            if len(rest) < 8 or kind == FRAGMENT and _number(rest[2:4]) >> 3:
                return None
            kind, rest = rest[0], rest[8 if kind == FRAGMENT else 8 * (rest[1] + 1) :]
        return kind, rest


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _is_one_host(address: Address) -> bool:
    return not (address.is_multicast or address.is_unspecified or address.is_loopback or address.is_reserved)


def _checksum(data: bytes) -> int:
    """The Internet checksum."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def _with_checksum(data: bytes, at: int, also: bytes = b"") -> bytes:
    """The bytes with their checksum in its place, of them and of what is `also` summed."""
    return data[:at] + struct.pack(">H", _checksum(also + data)) + data[at + 2 :]


def _from_to(source: Address, destination: Address, message: bytes) -> bytes:
    """A packet with a message of ICMP, whose checksum is left out."""
    ends = source.packed + destination.packed
    if source.version == 4:
        head = struct.pack(">BBHHHBBH", 0x45, INTERNETWORK_CONTROL, 20 + len(message), 0, DONT_FRAGMENT, TTL, ICMP, 0)
        return _with_checksum(head + ends, 10) + _with_checksum(message, 2)
    head = struct.pack(">IHBB", 6 << 28 | INTERNETWORK_CONTROL << 20, len(message), ICMPV6, TTL)
    return head + ends + _with_checksum(message, 2, ends + struct.pack(">II", len(message), ICMPV6))


class Errors:
    """The answers of a switch, with an address of its own for each family at most, and their number by the names of `heddle-switch status`."""

    def __init__(self, sources: Iterable[Address]) -> None:
        self.sources = {source.version: source for source in sources}
        self.sent = {"answered": 0, "time_exceeded": 0}

    def answer(self, frame: bytes) -> bytes | None:
        """The frame to send for a report; None where there is no answer."""
        dropped = Dropped.read(frame)
        if dropped is None or not dropped.may_be_answered():
            return None
        packet = self._too_long(dropped) if dropped.mtu else self._expired(dropped)
        if packet is None:
            return None
        self.sent["answered" if dropped.mtu else "time_exceeded"] += 1
        return dropped.link[6:12] + dropped.link[:6] + dropped.link[12:] + packet

    def _expired(self, dropped: Dropped) -> bytes | None:
        """None without an address of the switch's own."""
        version = dropped.version
        return _error(dropped, self.sources[version], EXPIRED[version], 0) if version in self.sources else None

    @staticmethod
    def _too_long(dropped: Dropped) -> bytes | None:
        """From the address that was asked, as the switch may have none. None where the sender can do nothing: IPv6 has a least MTU that no sender
        goes below (RFC 8201, 4), and so has IPv4."""
        least = LEAST_MTU[dropped.version]
        if len(dropped.packet) <= least or dropped.version == 4 and dropped.mtu < least:
            return None
        return _error(dropped, dropped.ends()[1], TOO_LONG[dropped.version], max(dropped.mtu, least))


def _error(dropped: Dropped, source: Address, kind: tuple[int, int], mtu: int) -> bytes:
    """The packet quotes as much as may be."""
    quote = dropped.packet[: MOST[dropped.version] - HEADERS[dropped.version]]
    return _from_to(source, dropped.ends()[0], struct.pack(">BBHI", *kind, 0, mtu) + quote)
