"""Random frames for every path of the programs: all headers that their parser knows, in all orders that it knows, whole and cut short, with the
values at which the programs decide. One seed gives one sequence."""

import dataclasses
import ipaddress
import random
import struct
from collections.abc import Iterator

import frames
from frames import CPU_PORT, HOST_PORT, LOCAL_HOST, OTHER_HOST, Given, Loads
from heddle_p4 import tokens

FABRIC_PORT, DOWN_PORT, UNKNOWN_PORT = 3, 2, 77
PORTS = (HOST_PORT, HOST_PORT, FABRIC_PORT, FABRIC_PORT, DOWN_PORT, CPU_PORT, UNKNOWN_PORT)
SYN, RST, ACK, FIN = 2, 4, 16, 1
FLAGS = (SYN, SYN | ACK, ACK, ACK, ACK | FIN, RST)
TTLS = (0, 1, 2, 63, 64, 255)
PROTOCOLS = (frames.TCP, frames.TCP, frames.TCP, frames.UDP, 1)
KEYS = tuple(bytes([number]) * 8 for number in range(1, 5))
LOCAL_HOST_V6, OTHER_HOST_V6 = ipaddress.ip_address("fd00::1"), ipaddress.ip_address("fd00:1::1")
STRANDED_HOST = ipaddress.ip_address("172.18.0.1")  # at a ToR without next hops
UNKNOWN_HOST, UNKNOWN_HOST_V6 = ipaddress.ip_address("192.0.2.1"), ipaddress.ip_address("2001:db8::1")
FLOWS = 6
VLAN, ARP = 0x8100, 0x0806


class Paths:
    """A sequence of frames. `loaded`: with Shuttle's inputs, without which it would draw random bits of its own."""

    def __init__(self, seed: int, loaded: bool = False) -> None:
        self.random, self.loaded = random.Random(seed), loaded
        self.now = 1

    def draw(self, number: int) -> Iterator[tuple[Given, bytes]]:
        """The next frames, and the inputs of the test build for each."""
        for _ in range(number):
            self.now += self.random.choice((1, 1000, 50_000, 150_000, 5_000_000))
            frame = self._frame()
            if self.random.random() < 0.1:
                frame = frame[: self.random.randrange(14, len(frame) + 1)]
            yield self._given(), frame

    def _given(self) -> Given:
        """Ports, hashes and utilisations, a few of each."""
        draw = self.random
        kind = draw.choices(("packet", "handshake"), (9, 1))[0]
        flow = draw.randrange(FLOWS) * 0x01010101
        util, link_util = draw.choice((0, 1, 100, 255)), draw.choice((0, 30_000, 65_535))
        given = Given(self.now, draw.choice(PORTS), kind, flow, util=util, link_util=link_util)
        return dataclasses.replace(given, loads=self._loads()) if self.loaded and kind == "packet" else given

    def _loads(self) -> Loads:
        """Of the ports that next hops have."""
        load = {port: (self.random.choice((0, 30_000, 65_535)), self.random.choice((0, 1500, 70_000))) for port in (1, 2, FABRIC_PORT, 40)}
        return Loads(self.random.getrandbits(32), load)

    def _frame(self) -> bytes:
        kind, packet = self.random.choice((self._v4, self._v4, self._v4, self._v6, self._probe, self._other))()
        shimmed = self.random.random() < 0.2
        if shimmed:
            identity = tokens.token(1, KEYS[0]) + tokens.token(1, KEYS[1])
            packet = identity + struct.pack(">HH", self.random.randrange(16) << 12, kind) + packet
            kind = frames.SHIM
        if self.random.random() < 0.15:
            kind, packet = VLAN, struct.pack(">HH", 5, kind) + packet
        return frames.MACS + struct.pack(">H", kind) + packet

    def _probe(self) -> tuple[int, bytes]:
        tor = self.random.choice((0, 1, 2, 3, 4, 0xFFFFFF))
        return frames.PROBE, struct.pack(">I", tor << 8 | self.random.choice((0, 40, 255))) + bytes(42)

    def _other(self) -> tuple[int, bytes]:
        return ARP, bytes(46)

    def _v4(self) -> tuple[int, bytes]:
        protocol = self.random.choice(PROTOCOLS)
        ends = self._ends(LOCAL_HOST, OTHER_HOST, self.random.choice((UNKNOWN_HOST, STRANDED_HOST)))
        kind, packet = frames.ip(ends, protocol, self._payload(protocol), self.random.choice(TTLS))
        head = bytearray(packet[:20])
        options = self.random.choice((0, 0, 0, 0, 4, 40)) if self.random.random() < 0.5 else 0
        head[0] = self.random.choice((0x45, 0x45, 0x45, 0x45, 0x44, 0x65)) if not options else 0x45 + options // 4
        head[6:8] = struct.pack(">H", self.random.choice((0, 0, 0, 0x4000, 0x2000, 0x00B9)))
        return kind, bytes(head) + b"\1" * options + packet[20:]

    def _v6(self) -> tuple[int, bytes]:
        protocol = self.random.choice((*PROTOCOLS, 44))
        ends = self._ends(LOCAL_HOST_V6, OTHER_HOST_V6, UNKNOWN_HOST_V6)
        return frames.ip(ends, protocol, self._payload(protocol), self.random.choice(TTLS), self.random.getrandbits(20))

    def _ends(self, local: frames.Address, other: frames.Address, unknown: frames.Address) -> tuple[frames.Address, frames.Address]:
        return self.random.choice(((local, other), (local, other), (other, local), (other, local), (local, unknown)))

    def _payload(self, protocol: int) -> bytes:
        source, destination = self.random.choice((1, 1, 1024, 65535)), self.random.choice((2, 80))
        if protocol == frames.TCP:
            segment = frames.tcp(source, destination, self.random.choice(FLAGS), self._options())
            if self.random.random() < 0.05:
                offset = self.random.choice((0, 4, 15)) << 4
                segment = segment[:12] + bytes([offset]) + segment[13:]
            return segment + bytes(self.random.choice((0, 10)))
        return struct.pack(">HHHH", source, destination, 8, 0) + bytes(12)

    def _options(self) -> bytes:
        """Options of TCP, those of MPTCP among them, right and wrong, at most 40 bytes."""
        options = b""
        for _ in range(self.random.randrange(4)):
            more = self._option()
            if len(options + more) <= 40:
                options += more
        return options

    def _option(self) -> bytes:
        draw = self.random
        kind = draw.randrange(11)
        if kind == 0:
            return draw.choice((b"\1", b"\0", b"\2\4\5\xb4", b"\3\3\7", b"\4\2", b"\x08\x0a" + bytes(8)))
        if kind == 1:
            return bytes([draw.choice((30, 8, 99)), draw.choice((0, 1, 3, 41, 255))])
        if kind == 2:
            return bytes((30, 12, 0x10, 0)) + tokens.token(draw.choice((0, 1)), draw.choice(KEYS)) + bytes(4)
        if kind == 3:
            return bytes((30, draw.choice((16, 24)), 0x10, 0)) + bytes(12)
        if kind in (4, 5, 6):
            return self._other_mptcp()
        return self._capable()

    def _other_mptcp(self) -> bytes:
        """An option of MPTCP that opens and joins nothing, of a length that it has or has not."""
        length = self.random.choice((3, 4, 8, 9, 10, 12, 16, 18, 20, 26, 28))
        return bytes((30, length, self.random.randrange(2, 10) << 4 | self.random.randrange(16))) + self.random.randbytes(length - 3)

    def _capable(self) -> bytes:
        """MP_CAPABLE with up to two keys."""
        draw = self.random
        keys = draw.sample(KEYS, draw.choice((0, 1, 2, 2)))
        version = draw.choice((0, 1, 1, 2))
        length = 4 + 8 * len(keys)
        return bytes((30, length, version, draw.choice((0x81, 0x01)))) + b"".join(keys)
