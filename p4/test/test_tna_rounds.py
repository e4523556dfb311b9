"""RC5's rounds as the program for Tofino has them, compiled for BMv2 and run by interpreter.py: they undo RC5's encryption."""

import pathlib
import random
import struct
import subprocess
import tempfile
import unittest

import compiled
import interpreted
from heddle_p4 import cflb

ROUNDS = 12
STATE = struct.Struct(">BHH")
# The paper has no test vectors for words of 16 bits: blocks and the key are drawn, and encrypted by the definition.
BLOCKS = 50


def encrypt(block: int, words: list[int]) -> int:
    """RC5-32/12/16 of a block, by its definition (Rivest 1994, section 4.1)."""
    a, b = (block >> 16) + words[0] & 0xFFFF, (block & 0xFFFF) + words[1] & 0xFFFF
    for i in range(1, ROUNDS + 1):
        a = cflb.rotate_left(a ^ b, b) + words[2 * i] & 0xFFFF
        b = cflb.rotate_left(b ^ a, a) + words[2 * i + 1] & 0xFFFF
    return a << 16 | b


class Rounds(unittest.TestCase):
    """With p4c for BMv2."""

    def test_six_passes_of_two_rounds_undo_the_encryption(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "rounds.json")
            source = pathlib.Path(__file__).with_name("rc5_rounds.p4")
            subprocess.run([compiled.COMPILER, "--Wdisable", "--std", "p4-16", "-o", str(program), str(source)], check=True)
            switch = interpreted.InterpretedSwitch(program)
        drawn = random.Random(1)
        expanded = cflb.rc5_expand(drawn.randbytes(16))
        words = [expanded >> 16 * i & 0xFFFF for i in range(cflb.RC5_WORDS)]
        for left in range(ROUNDS, 0, -2):
            names = ("first", "second", "third", "fourth")
            keys = words[2 * left - 2 : 2 * left + 2][::-1]
            switch.set_entry("round_keys", (left,), "set_keys", dict(zip(names, keys, strict=True)))
        for _ in range(BLOCKS):
            block = drawn.getrandbits(32)
            encrypted = encrypt(block, words)
            a, b = encrypted >> 16, encrypted & 0xFFFF
            for left in range(ROUNDS, 0, -2):
                _, frame = switch.machine.process(0, STATE.pack(left, a, b))
                _, a, b = STATE.unpack(frame)
            self.assertEqual(((a - words[0]) & 0xFFFF) << 16 | (b - words[1]) & 0xFFFF, block)


if __name__ == "__main__":
    unittest.main()
