"""CFLB's constants as a router's tables have them: expanded keys, powers of the radix and their inverses. The same as bpf/switch/cflb_prepare.h."""

import dataclasses
from typing import Any

from heddle_p4.switch import Switch

MASK = 0xFFFFFFFF
RC5_WORDS = 26
SKIP32_ROUNDS = 24
SKIP32_KEY = 10
FEISTEL_ROUNDS = 6
LONGEST_WALK = 32
FIELDS = {"ports": 0, "source-port": 1, "flow-label": 2}
CIPHERS = {"rc5": 0, "skip32": 1, "feistel": 2}
TTLS = 256

# Skipjack's F table (NIST 1998).
SKIPJACK_F = bytes.fromhex(
    "a3d70983f848f6f4b321157899b1aff9e72d4d8ace4cca2e5295d91e4e3844280adf02a017f1606812b77ac3e9fa3d5396846bbaf2639a197caee5f5f7166aa2"
    "39b67b0fc193811beeb41aead0912fb855b9da853f41bfe05a58805f660bd89035d5c0a733066569450094566d989b7697fcb2c2b0fedb20e1ebd6e4dd474a1d"
    "42ed9e6e493ccd4327d207d4dec7671889cb301f8dc68faac874dcc95d5c31a47088612c9f0d2b8750825464267d0340344b1c73d1c4fd3bccfb7fabe63e5ba5"
    "ad04239c145122f02979717eff8c0ee20cefbc72756f37a1ecd38e628b8610e8087711be924f24c532369dcff3a6bbac5e6ca9135725b5e3bda83a0105592a46"
)


class BadConstants(ValueError):
    """Constants that no router can have."""


def mix(value: int, salt: int) -> int:
    """The finaliser of MurmurHash3."""
    value ^= salt
    value = (value ^ value >> 16) * 0x85EBCA6B & MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & MASK
    return value ^ value >> 16


def rotate_left(word: int, bits: int) -> int:
    """Of 16 bits."""
    bits &= 15
    return (word << bits | word >> (16 - bits)) & 0xFFFF


def rc5_expand(key: bytes) -> int:
    """Rivest 1994, section 4.3; word i at bit 16 * i."""
    words = [key[2 * i] | key[2 * i + 1] << 8 for i in range(8)]
    table = [(0xB7E1 + 0x9E37 * i) & 0xFFFF for i in range(RC5_WORDS)]
    a = b = 0
    for i in range(3 * RC5_WORDS):
        a = table[i % RC5_WORDS] = rotate_left((table[i % RC5_WORDS] + a + b) & 0xFFFF, 3)
        b = words[i % 8] = rotate_left((words[i % 8] + a + b) & 0xFFFF, a + b)
    return sum(word << 16 * i for i, word in enumerate(table))


def skip32_expand(key: bytes) -> int:
    """The bytes of the key in turn, four for each round; those of round i at bit 32 * i, the first in front."""
    taken = bytes(key[i % SKIP32_KEY] for i in range(4 * SKIP32_ROUNDS))
    return sum(int.from_bytes(taken[4 * i : 4 * i + 4], "big") << 32 * i for i in range(SKIP32_ROUNDS))


@dataclasses.dataclass(frozen=True)
class Feistel:
    """A permutation of the numbers up to `last`."""

    last: int
    right_bits: int
    left_mask: int
    right_mask: int
    keys: tuple[int, ...]

    @classmethod
    def expand(cls, values: int, key: bytes) -> "Feistel":
        """The words of the key are taken in rotation, each mixed into the state before."""
        bits = (values - 1).bit_length()
        state, keys = 0, []
        for i in range(FEISTEL_ROUNDS):
            state = mix(state ^ int.from_bytes(key[i % 4 * 4 : i % 4 * 4 + 4], "little"), i + 1)
            keys.append(state)
        right_bits = (bits + 1) // 2
        return cls(values - 1, right_bits, (1 << bits // 2) - 1, (1 << right_bits) - 1, tuple(keys))

    def reverse(self, block: int) -> int:
        """One step of a walk."""
        left, right = block >> self.right_bits & self.left_mask, block & self.right_mask
        for pair in (2, 1, 0):
            right ^= mix(left, self.keys[2 * pair + 1]) & self.right_mask
            left ^= mix(right, self.keys[2 * pair]) & self.left_mask
        return left << self.right_bits | right

    def longest_walk(self) -> int:
        """Steps of the longest walk of any value; 1 if the numbers are a power of two, where the first step ends it."""
        if self.last & (self.last + 1) == 0:
            return 1
        return max(self._walk(value) for value in range(self.last + 1))

    def _walk(self, value: int) -> int:
        steps = 1
        value = self.reverse(value)
        while value > self.last and steps <= LONGEST_WALK:
            value = self.reverse(value)
            steps += 1
        return steps

    def values(self) -> dict[str, int]:
        """The parameters of action set_feistel."""
        keys = sum(key << 32 * i for i, key in enumerate(self.keys))
        return {
            "largest": self.last,
            "bits": self.right_bits,
            "mask_left": self.left_mask,
            "mask_right": self.right_mask,
            "expanded": keys,
        }


@dataclasses.dataclass(frozen=True)
class Constants:
    """The constants of a network."""

    field: str
    low: int
    high: int
    cipher: str
    radix: int
    even: bool
    key: bytes

    @classmethod
    def of(cls, config: dict[str, Any]) -> "Constants":
        """From vectors/schemes/README.md's keys."""
        field = config["field"]
        low, high = field["source-port"] if isinstance(field, dict) else (0, 0)
        name = "source-port" if isinstance(field, dict) else field
        return cls(name, low, high, config["cipher"], config["radix"], config["rules"] == "even", bytes.fromhex(config["key"]))

    def values(self) -> int:
        """Values of the controllable field."""
        return {"ports": 1 << 32, "flow-label": 1 << 20}.get(self.field, self.high - self.low + 1)

    def powers(self) -> list[int]:
        """B^0 to B^(L - 1). Raises BadConstants."""
        if not 2 <= self.radix <= self.values():
            raise BadConstants(f"radix {self.radix}: 2 to {self.values()} fit the field")
        if self.cipher != "feistel" and self.field != "ports":
            raise BadConstants(f'cipher "{self.cipher}" has blocks of 32 bits: take "feistel" for field "{self.field}"')
        powers = [1]
        while powers[-1] * self.radix * self.radix <= self.values():
            powers.append(powers[-1] * self.radix)
        return powers


def configure(switch: Switch, constants: Constants) -> None:
    """Writes all tables of CFLB. Raises BadConstants."""
    powers = constants.powers()
    settings = {
        "field": FIELDS[constants.field],
        "cipher": CIPHERS[constants.cipher],
        "even": int(constants.even),
        "low": constants.low,
        "high": constants.high,
        "base": constants.radix,
        "base_inverse": -(-(1 << 64) // constants.radix),
        "selectors": powers[-1] * constants.radix,
    }
    switch.set_default("cflb_settings", "set_cflb", settings)
    for ttl in range(TTLS):
        position = ttl % len(powers)
        values = {"position": position, "power_inverse": -(-(1 << 64) // powers[position])}
        switch.set_entry("positions", (ttl,), "set_position", values)
    configure_key(switch, constants)


def configure_key(switch: Switch, constants: Constants) -> None:
    """Writes the expanded key of the cipher."""
    if constants.cipher == "rc5":
        switch.set_default("rc5_key", "set_rc5", {"expanded": rc5_expand(constants.key)})
    elif constants.cipher == "skip32":
        for index, value in enumerate(SKIPJACK_F):
            switch.write_register("skipjack_f", index, value)
        switch.set_default("skip32_key", "set_skip32", {"expanded": skip32_expand(constants.key)})
    else:
        feistel = Feistel.expand(constants.values(), constants.key)
        if feistel.longest_walk() > LONGEST_WALK:
            raise BadConstants(f"with this key a walk has more than {LONGEST_WALK} steps: take another key")
        switch.set_default("feistel_key", "set_feistel", feistel.values())
