"""Writes what no current kernel sends, as a capture for tshark to read: handmade.py FILE.pcap

Version 0's handshakes in a VLAN, every form of DSS, ADD_ADDR of both versions, MP_PRIO with an address, MP_FAIL, and
the flags that Linux does not set. Hashes and HMACs come from Python's own hashlib and hmac.
"""

import hashlib
import hmac
import itertools
import ipaddress
import struct
import sys

A, B = ("10.0.0.1", 40000), ("10.0.0.2", 5000)
A6, B6 = ("fd00::1", 40006), ("fd00::2", 5006)
SYN, ACK, RST = 0x02, 0x10, 0x04
KEY_A, KEY_B = bytes.fromhex("0001020304050607"), bytes.fromhex("fffefdfcfbfaf9f8")
NONCE_A, NONCE_B = bytes.fromhex("01234567"), bytes.fromhex("89abcdef")


def option(subtype, nibble, rest=b""):
    return bytes([30, 3 + len(rest), subtype << 4 | nibble]) + rest


def tcp(source, destination, flags, options, data=b""):
    options += b"\x01" * (-len(options) % 4)
    words = (20 + len(options)) // 4
    header = struct.pack(">HHIIBBHHH", source[1], destination[1], 1000, 2000, words << 4, flags, 65535, 0, 0)
    return header + options + data


def ipv4(source, destination, payload):
    addresses = b"".join(ipaddress.ip_address(end[0]).packed for end in (source, destination))
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0x4000, 64, 6, 0) + addresses + payload


def ipv6(source, destination, payload):
    """With a hop-by-hop header of 8 bytes before TCP."""
    addresses = b"".join(ipaddress.ip_address(end[0]).packed for end in (source, destination))
    hop_by_hop = bytes([6, 0, 1, 4, 0, 0, 0, 0])
    return struct.pack(">IHBB", 6 << 28, 8 + len(payload), 0, 64) + addresses + hop_by_hop + payload


def frame(source, destination, flags, options, data=b"", vlan=None):
    version, ether_type = (ipv6, 0x86DD) if ":" in source[0] else (ipv4, 0x0800)
    macs = bytes.fromhex("020000000002") + bytes.fromhex("020000000001")
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, 3 << 13 | vlan)
    packet = version(source, destination, tcp(source, destination, flags, options, data))
    return (macs + tag + struct.pack(">H", ether_type) + packet).ljust(60, b"\0")


def version_0():
    """The handshakes of a connection (A's key, B's, both) and of a join, with HMAC-SHA1."""
    token_b = hashlib.sha1(KEY_B).digest()[:4]
    hmac_a = hmac.digest(KEY_A + KEY_B, NONCE_A + NONCE_B, "sha1")
    hmac_b = hmac.digest(KEY_B + KEY_A, NONCE_B + NONCE_A, "sha1")
    joining = (A[0], 40001)
    timestamps = bytes([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0])
    yield frame(A, B, SYN, bytes([2, 4, 5, 180]) + option(0, 0, b"\x81" + KEY_A), vlan=7)
    yield frame(B, A, SYN | ACK, timestamps + option(0, 0, b"\x01" + KEY_B), vlan=7)
    yield frame(A, B, ACK, timestamps + option(0, 0, b"\x01" + KEY_A + KEY_B), vlan=7)
    yield frame(joining, B, SYN, option(1, 0, b"\x02" + token_b + NONCE_A), vlan=7)
    yield frame(B, joining, SYN | ACK, option(1, 1, b"\x00" + hmac_b[:8] + NONCE_B), vlan=7)
    yield frame(joining, B, ACK, option(1, 0, b"\x00" + hmac_a), vlan=7)


def capable():
    """Version 1 with flag C, and a SYN of version 1 over IPv6."""
    yield frame(B6, A6, SYN | ACK, option(0, 1, b"\x21" + KEY_B))
    yield frame(A6, B6, SYN, option(0, 1, b"\x01"))


def dss():
    """Acknowledgment and mapping absent, short or long; with and without a checksum; with and without DATA_FIN."""
    for ack, seq, checksum, fin in itertools.product((0, 4, 8), (0, 4, 8), (0, 2), (0, 0x10)):
        if checksum and not seq:
            continue
        flags = fin | (seq == 8) << 3 | (seq > 0) << 2 | (ack == 8) << 1 | (ack > 0)
        fields = b"\x91\x02\x03\x04\x05\x06\x07\x08"[:ack] + b"\xa1\x12\x13\x14\x15\x16\x17\x18"[:seq]
        if seq:
            fields += struct.pack(">IH", 77, 5) + b"\xbe\xef"[:checksum]
        yield frame(A, B, ACK, option(2, 0, bytes([flags]) + fields), b"12345" if seq else b"")


def addresses():
    """ADD_ADDR: version 0, version 1 with its HMAC and its echo, each with and without a port."""
    key = KEY_A + KEY_B
    for address, port in itertools.product(("192.0.2.9", "2001:db8::9"), (b"", b"\x13\x88")):
        packed = ipaddress.ip_address(address).packed
        body = b"\x09" + packed + port
        proof = hmac.digest(key, b"\x09" + packed + (port or b"\0\0"), "sha256")[-8:]
        yield frame(A, B, ACK, option(3, 4 if len(packed) == 4 else 6, body))
        yield frame(A, B, ACK, option(3, 0, body + proof))
        yield frame(A, B, ACK, option(3, 1, body))
    yield frame(A, B, ACK, option(4, 0, b"\x01\x07\xff"))


def others():
    """MP_PRIO of version 0, MP_FAIL, MP_FASTCLOSE and MP_TCPRST."""
    yield frame(A, B, ACK, option(5, 1, b"\x03"))
    yield frame(A, B, ACK, option(5, 0))
    yield frame(A, B, ACK, option(6, 0, b"\x00" + b"\xa1\x12\x13\x14\x15\x16\x17\x18"))
    yield frame(A, B, ACK, option(7, 0, b"\x00" + KEY_B))
    yield frame(A, B, RST, option(8, 1, b"\x03"))
    yield frame(A, B, RST, option(8, 0b1110, b"\x06"))


with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for made in itertools.chain(version_0(), capable(), dss(), addresses(), others()):
        file.write(struct.pack("<IIII", 0, 0, len(made), len(made)) + made)
