"""MPTCP's options, keys and tokens (RFC 8684; version 0: RFC 6824).

>>> from heddle import mptcp
>>> [capable] = mptcp.parse(bytes.fromhex("1e0c 0081 6162636465666768"))
>>> capable["option"], capable["version"], capable["sender_key"]
('mp_capable', 0, b'abcdefgh')
>>> hex(mptcp.token(b"abcdefgh", version=1))
'0x9c56cc51'
"""

from typing import Any

from heddle import _core

__all__ = ["initial_data_seq", "parse", "token"]


def parse(options: bytes) -> list[dict[str, Any]]:
    """The MPTCP options in the option area of a TCP header, in order: fields by name, the option's own name under ``option``.

    Raises:
        ValueError: an option is malformed.
    """
    return _core.mptcp_parse(options)


def token(key: bytes, *, version: int = 1) -> int:
    """The token of a key of 8 bytes: the top 32 bits of its hash (section 3.2).

    Raises:
        ValueError: the key has another length, or there is no such version.
    """
    return _core.mptcp_token(_key(key), version)[0]


def initial_data_seq(key: bytes, *, version: int = 1) -> int:
    """The initial data sequence number of a key of 8 bytes: the low 64 bits of its hash (section 3.1).

    Raises:
        ValueError: as for :func:`token`.
    """
    return _core.mptcp_token(_key(key), version)[1]


def _key(key: bytes) -> bytes:
    if len(key) != 8:
        raise ValueError(f"a key has 8 bytes, not {len(key)}")
    return bytes(key)
