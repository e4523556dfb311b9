"""Packets, byte by byte: what clients send, and what a balancer must make of it. Shares no code with the balancer."""

import hashlib
import ipaddress
import struct
import subprocess

CLIENT_MAC, BALANCER_MAC = bytes.fromhex("02000000000c"), bytes.fromhex("02000000000b")
SERVICE = {4: "192.0.2.80", 6: "2001:db8::80"}
CLIENT = {4: "198.18.0.1", 6: "2001:db8:1::1"}
OTHER_CLIENT = {4: "198.18.0.2", 6: "2001:db8:1::2"}
ROUTER = {4: "203.0.113.1", 6: "2001:db8:ffff::1"}
OWN = {4: "10.0.0.1", 6: "fd00::1"}
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
GUE_PORT, STEERING_PORT = 6080, 7000
SEED = (0x0123456789ABCDEF, 0xFEDCBA9876543210)
KEY = struct.pack("<QQ", 0x1122334444332211, 0x5566778888776655)


def packed(address):
    return ipaddress.ip_address(address).packed


def checksum(data):
    """RFC 1071."""
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def pseudo(source, destination, protocol, length):
    if len(packed(source)) == 4:
        return packed(source) + packed(destination) + struct.pack(">HH", protocol, length)
    return packed(source) + packed(destination) + struct.pack(">II", length, protocol)


def summed(source, destination, protocol, payload, at):
    """The payload with its checksum, which lies at byte `at`."""
    whole = checksum(pseudo(source, destination, protocol, len(payload)) + payload)
    if protocol == UDP:
        whole = whole or 0xFFFF
    return payload[:at] + struct.pack(">H", whole) + payload[at + 2:]


def ipv4(source, destination, protocol, payload, ip_options=b"", tos=0, fragment=0x4000, ident=0, ttl=64, length=None, ihl=None):
    words = 5 + len(ip_options) // 4 if ihl is None else ihl
    length = 20 + len(ip_options) + len(payload) if length is None else length
    header = struct.pack(">BBHHHBBH", 0x40 | words, tos, length, ident, fragment, ttl, protocol, 0)
    header += packed(source) + packed(destination) + ip_options
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def ipv6(source, destination, protocol, payload, tos=0, label=0, hops=64, length=None):
    length = len(payload) if length is None else length
    return struct.pack(">IHBB", 6 << 28 | tos << 20 | label, length, protocol, hops) + packed(source) + packed(destination) + payload


def ip(source, destination, protocol, payload, **fields):
    build = ipv6 if ":" in destination else ipv4
    return build(source, destination, protocol, payload, **fields)


def ethernet(packet, macs=BALANCER_MAC + CLIENT_MAC, tag=None):
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    return macs + (b"" if tag is None else b"\x81\0" + struct.pack(">H", tag)) + kind + packet


def tcp_bytes(source, destination, ports, flags, options=b"", data=b"", words=None, seq=1000):
    options += b"\0" * (-len(options) % 4)
    words = 5 + len(options) // 4 if words is None else words
    ack = 2000 if flags & ACK else 0
    header = struct.pack(">HHIIBBHHH", *ports, seq, ack, words << 4, flags, 64240, 0, 0)
    return summed(source, destination, TCP, header + options + data, 16)


def udp_bytes(source, destination, ports, data=b""):
    return summed(source, destination, UDP, struct.pack(">HHHH", *ports, 8 + len(data), 0) + data, 6)


# ---- TCP options ----

USUAL_SYN = bytes.fromhex("020405b40402080a00000001000000000103" "0307")
TIMESTAMPS = bytes.fromhex("0101080a0000000100000001")
KEY_A, KEY_B = bytes.fromhex("0001020304050607"), bytes.fromhex("fffefdfcfbfaf9f8")
TOKEN = {0: hashlib.sha1(KEY_B).digest()[:4], 1: hashlib.sha256(KEY_B).digest()[:4]}


def mptcp(subtype, nibble, rest=b"", length=None):
    return bytes([30, 3 + len(rest) if length is None else length, subtype << 4 | nibble]) + rest


def capable_syn(version=1, flags=0x01):
    return mptcp(0, version, bytes([flags]) + (KEY_A if version == 0 else b""))


def capable_keys(version=1, flags=0x01, rest=b""):
    return mptcp(0, version, bytes([flags]) + KEY_A + KEY_B + rest)


def join_syn(token=TOKEN[1], backup=0, address=1):
    return mptcp(1, backup, bytes([address]) + token + b"\1\2\3\4")


def join_ack():
    return mptcp(1, 0, b"\0" + b"\7" * 20)


def dss(ack=8, seq=0, check=False, fin=False):
    flags = fin << 4 | (seq == 8) << 3 | (seq > 0) << 2 | (ack == 8) << 1 | (ack > 0)
    rest = b"\x91\2\3\4\5\6\7\x08"[:ack] + b"\xa1\x12\x13\x14\x15\x16\x17\x18"[:seq]
    if seq:
        rest += struct.pack(">IH", 1, 5) + b"\xbe\xef"[:2 * check]
    return mptcp(2, 0, bytes([flags]) + rest)


# ---- whole packets of clients ----

def packet(family, flags, options=b"", data=b"", port=40000, to=443, client=None, service=None, words=None, seq=1000, **fields):
    source, destination = client or CLIENT[family], service or SERVICE[family]
    segment = tcp_bytes(source, destination, (port, to), flags, options, data, words, seq)
    return ip(source, destination, TCP, segment, **fields)


def syn(family, mptcp_option=b"", **fields):
    return packet(family, SYN, USUAL_SYN + mptcp_option, **fields)


def ack(family, mptcp_option=b"", data=b"", **fields):
    return packet(family, ACK, TIMESTAMPS + mptcp_option, data, **fields)


def datagram(family, data=b"hello", port=40000, to=443, **fields):
    source, destination = CLIENT[family], SERVICE[family]
    return ip(source, destination, UDP, udp_bytes(source, destination, (port, to), data), **fields)


def icmp(family, kind, code, rest, body, source=None):
    source, destination = source or ROUTER[family], SERVICE[family]
    message = struct.pack(">BBHI", kind, code, 0, rest) + body
    if family == 6:
        return ip(source, destination, ICMPV6, summed(source, destination, ICMPV6, message, 2))
    return ip(source, destination, ICMP, message[:2] + struct.pack(">H", checksum(message)) + message[4:])


def extended(family_packet, *headers):
    """An IPv6 packet with extension headers: (number, bytes behind the first one)."""
    chain, following = b"", family_packet[6]
    for number, body in reversed(headers):
        chain, following = bytes([following]) + body + chain, number
    payload = chain + family_packet[40:]
    return family_packet[:4] + struct.pack(">HB", len(payload), following) + family_packet[7:40] + payload


def fragments(whole, first, ident):
    """Two fragments, the first with `first` bytes (a multiple of 8) behind the IP header."""
    if whole[0] >> 4 == 6:
        def part(offset, more, body):
            header = struct.pack(">BBHI", whole[6], 0, offset | more, ident)
            return whole[:4] + struct.pack(">HB", 8 + len(body), 44) + whole[7:40] + header + body
        return part(0, 1, whole[40:40 + first]), part(first, 0, whole[40 + first:])
    source, destination = (str(ipaddress.ip_address(whole[at:at + 4])) for at in (12, 16))

    def part(fragment, body):
        return ipv4(source, destination, whole[9], body, fragment=fragment, ident=ident)
    return part(0x2000, whole[20:20 + first]), part(first // 8, whole[20 + first:])


# ---- what a balancer makes of them ----

def flow_hash(client, port, service):
    """The keyed hash of a flow as the documentation has it: its lower bits spread what is encapsulated."""
    whole, golden, half = (1 << 64) - 1, 0x9E3779B97F4A7C15, (1 << 32) - 1
    core = lambda a, b: (SEED[0] + a) * (SEED[1] + b) & whole
    parts = [int.from_bytes(packed(client)[at:at + 4], "big") for at in range(0, len(packed(client)), 4)]
    if len(parts) == 4:
        parts = [core(core(*parts[:2]) >> 32, core(*parts[2:]) >> 32) >> 32]
    product = core(parts[0], service << 16 | port)
    product = (product ^ product >> 32) * golden & whole
    return (product ^ product >> 32) & half


def siphash(key, message):
    """SipHash-2-4, by OpenSSL."""
    command = ["openssl", "mac", "-macopt", "hexkey:" + key.hex(), "-macopt", "size:8", "-in", "-", "SIPHASH"]
    return bytes.fromhex(subprocess.run(command, input=message, check=True, capture_output=True, text=False).stdout.decode())


def wide(address):
    """An address as IPv6, IPv4 mapped."""
    octets = packed(address)
    return octets if len(octets) == 16 else bytes(10) + b"\xff\xff" + octets


def subject(inner):
    """The fields of the packet behind a steering header that its tag covers: ports or id, addresses, protocol. No extension headers but a
    fragment's. Of nothing, zeros."""
    if not inner:
        return bytes(4), bytes(16), bytes(16), 0
    if inner[0] >> 4 == 6:
        source, destination, protocol, rest = inner[8:24], inner[24:40], inner[6], inner[40:]
        ports = rest[:4]
        if protocol == 44:
            protocol, offset = rest[0], struct.unpack(">H", rest[2:4])[0] & 0xFFF8
            ports = rest[4:8] if offset else rest[8:12]
        return ports if protocol in (TCP, UDP) else bytes(4), source, destination, protocol
    source, destination = (bytes(10) + b"\xff\xff" + inner[at:at + 4] for at in (12, 16))
    protocol = inner[9]
    if struct.unpack(">H", inner[6:8])[0] & 0x1FFF:
        return inner[4:6] + bytes(2), source, destination, protocol
    header = (inner[0] & 15) * 4
    return inner[header:header + 4] if protocol in (TCP, UDP) else bytes(4), source, destination, protocol


def signed(header, sender, inner, key=KEY):
    """The steering header with its tag."""
    ports, source, destination, protocol = subject(inner)
    return header + siphash(key, header + ports + wide(sender) + source + destination + bytes([protocol]) + bytes(7))


def traffic_class(inner):
    return inner[1] if inner[0] >> 4 == 4 else struct.unpack(">H", inner[:2])[0] >> 4 & 0xFF


def outer(destination, protocol, inner, payload, spread):
    tos, v6 = traffic_class(inner), ":" in destination
    if v6:
        return ipv6(OWN[6], destination, protocol, payload, tos=tos, label=spread & 0xFFFFF)
    return ipv4(OWN[4], destination, protocol, payload, tos=tos)


def udp_outer(destination, port, inner, payload, spread):
    header = struct.pack(">HHHH", 49152 | spread & 0x3FFF, port, 8 + len(payload), 0)
    return outer(destination, UDP, inner, header + payload, spread)
