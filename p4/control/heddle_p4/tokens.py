"""Tokens of MPTCP's keys for a switch whose program does not hash. Copies of packets of handshakes come by the CPU port with their keys, and go
back with the tokens, in the order in which they came; joins by unknown tokens come and go behind them (p4/mp-hula/external_tokens.p4). A token is the
top 32 bits of a key's hash: SHA-1 in version 0 (RFC 6824), SHA-256 in version 1 (RFC 8684)."""

import hashlib
import struct

ETHERTYPE_TOKENS = 0x7401
ETHERNET = 14
# Type of the packet, port, role, task, version, answered; keys; tokens.
HEADER = struct.Struct(">HHBBBB8s8s4s4s")


def token(version: int, key: bytes) -> bytes:
    """Four bytes."""
    return (hashlib.sha256 if version else hashlib.sha1)(key).digest()[:4]


def answer(frame: bytes) -> bytes | None:
    """The frame to send back; None for one that asks for no tokens."""
    if len(frame) < ETHERNET + HEADER.size or struct.unpack_from(">H", frame, 12)[0] != ETHERTYPE_TOKENS:
        return None
    *packet, version, answered, key_a, key_b, _, _ = HEADER.unpack_from(frame, ETHERNET)
    if answered:
        return None
    header = HEADER.pack(*packet, version, 1, key_a, key_b, token(version, key_a), token(version, key_b))
    return frame[:ETHERNET] + header + frame[ETHERNET + HEADER.size :]
