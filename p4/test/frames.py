"""Frames of the traces' inputs: the header of the test build (p4/common/headers.p4), and behind it a packet as a host or a switch would send it."""

import dataclasses
import ipaddress
import struct
from typing import Any

INPUT = struct.Struct(">QIIHHHBB")
OUTPUT = struct.Struct(">HHHHBBBB")
NO_PORT = 0xFFFF
HOST_PORT = 100
CPU_PORT = 101
LOCAL_HOST = ipaddress.ip_address("172.16.0.1")
OTHER_HOST = ipaddress.ip_address("172.17.0.1")
MACS = bytes.fromhex("020000000002020000000001")
IPV4, IPV6, SHIM, PROBE = 0x0800, 0x86DD, 0x88B5, 0x88B6
TCP, UDP = 6, 17
ACK = 0x10
KINDS = {"packet": 0, "handshake": 1, "sent": 2, "utilisation": 3, "hash alone": 4, "loaded": 5}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclasses.dataclass(frozen=True)
class Given:
    """The inputs of the test build beside the packet."""

    now: int
    port: int
    kind: str = "packet"
    flow_hash: int = 0
    length: int = 0
    util: int = 0
    link_util: int = 0
    ports: int = 0
    any_ttl: int = 0
    loads: "Loads | None" = None

    def pack(self) -> bytes:
        """The header, and that of loads if there are any."""
        kind = KINDS["loaded" if self.loads else self.kind]
        last = self.ports << 4 | self.any_ttl
        first = INPUT.pack(self.now, self.flow_hash, self.length, self.port, self.util, self.link_util, kind, last)
        return first + (self.loads.pack() if self.loads else b"")


@dataclasses.dataclass(frozen=True)
class Loads:
    """Shuttle's inputs: random bits, and utilisation and queue by port. Ports that are not given have 0 and 0."""

    random: int = 0
    ports: dict[int, tuple[int, int]] = dataclasses.field(default_factory=dict)

    def pack(self) -> bytes:
        """The header."""
        utils = sum(util << 16 * port for port, (util, _) in self.ports.items())
        queues = sum(queue << 32 * port for port, (_, queue) in self.ports.items())
        return self.random.to_bytes(4, "big") + utils.to_bytes(128, "big") + queues.to_bytes(256, "big")


@dataclasses.dataclass(frozen=True)
class Answer:
    """The outputs of the test build, and the frame as it would have left."""

    port: int
    group: int
    util: int
    digit: int
    position: int
    reason: int
    verdict: int
    copied: int
    frame: bytes

    @classmethod
    def unpack(cls, data: bytes) -> "Answer":
        """Of a frame that came back."""
        port, group, util, digit, position, reason, verdict, copied = OUTPUT.unpack_from(data)
        return cls(port, group, util, digit, position, reason, verdict, copied, data[OUTPUT.size :])

    def shim(self) -> dict[str, Any] | None:
        """The shim of the frame."""
        if struct.unpack_from(">H", self.frame, 12)[0] != SHIM:
            return None
        identity, subflow = struct.unpack_from(">QH", self.frame, 14)
        return {"id": f"{identity:016x}", "subflow": (subflow >> 12) + 1}


def address_of(tor: int) -> ipaddress.IPv4Address:
    """The address of a host at a ToR of the fabric."""
    return ipaddress.IPv4Address(10 << 24 | tor << 8 | 1)


def checksum(data: bytes) -> int:
    """The Internet checksum of an even number of bytes."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ip(ends: tuple[Address, Address], protocol: int, payload: bytes, ttl: int = 64, flow_label: int = 0) -> tuple[int, bytes]:
    """EtherType and packet, from the first end to the second."""
    source, destination = ends
    if source.version == 6:
        head = struct.pack(">IHBB", 6 << 28 | flow_label, len(payload), protocol, ttl)
        return IPV6, head + source.packed + destination.packed + payload
    head = struct.pack(">BBHIBBH", 0x45, 0, 20 + len(payload), 0, ttl, protocol, 0) + source.packed + destination.packed
    return IPV4, head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def routed(kind: int, packet: bytes) -> bytes:
    """A packet as a router sends it on: TTL or hop limit one lower, the checksum computed anew."""
    at = 7 if kind == IPV6 else 8
    packet = packet[:at] + bytes([packet[at] - 1]) + packet[at + 1 :]
    if kind == IPV6:
        return packet
    return packet[:10] + struct.pack(">H", checksum(packet[:10] + packet[12:20])) + packet[12:]


def tcp(source: int, destination: int, flags: int, options: bytes) -> bytes:
    """A segment without data; its options are padded as a host pads them."""
    options += bytes(-len(options) % 4)
    return struct.pack(">HHIIBBHHH", source, destination, 0, 0, (5 + len(options) // 4) << 4, flags, 0, 0, 0) + options


def ethernet(kind: int, payload: bytes, shim: dict[str, Any] | None = None) -> bytes:
    """A frame, with a shim if there is one."""
    if shim:
        payload = struct.pack(">QHH", int(shim["id"], 16), (shim["subflow"] - 1) << 12, kind) + payload
        kind = SHIM
    return MACS + struct.pack(">H", kind) + payload


def probe(tor: int, util: int = 0) -> bytes:
    """A probe, padded to Ethernet's minimum."""
    return ethernet(PROBE, struct.pack(">I", tor << 8 | util) + bytes(42))
