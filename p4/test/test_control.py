"""The control plane without a switch: arithmetic that it does for the pipeline."""

import random
import unittest

import traces
from heddle_p4.cflb import BadConstants, Constants, Feistel
from heddle_p4.program import to_bytes
from heddle_p4.quantities import numbers
from heddle_p4.settings import INVERSE_SHIFT, hula_values, inverse


class Arithmetic(unittest.TestCase):
    """Divisions by inverses, as the pipeline does them."""

    def test_inverse_divides_the_estimators_register_exactly(self) -> None:
        draw = random.Random(1)
        for _ in range(20_000):
            full = draw.randint(1, 2 ** draw.randint(1, 36))
            held = draw.choice([full, full - 1, full + 1, draw.getrandbits(36), 2**36 - 1])
            self.assertEqual((held << 16) * inverse(full) >> INVERSE_SHIFT, (held << 16) // full, (held, full))

    def test_inverses_divide_all_selectors_exactly(self) -> None:
        draw = random.Random(2)
        for radix in (2, 3, 7, 16, 255, 65_535):
            powers = Constants("ports", 0, 0, "rc5", radix, True, bytes(16)).powers()
            base_inverse = -(-(1 << 64) // radix)
            for power in powers:
                for selector in (0, 1, power, power - 1, 2**32 - 1, draw.getrandbits(32)):
                    above = selector * -(-(1 << 64) // power) >> 64
                    self.assertEqual(above, selector // power)
                    self.assertEqual(above - (above * base_inverse >> 64) * radix, selector // power % radix)


class Keys(unittest.TestCase):
    """Expanded keys."""

    def test_a_walk_ends_at_once_for_a_power_of_two(self) -> None:
        self.assertEqual(Feistel.expand(1 << 20, bytes(range(16))).longest_walk(), 1)

    def test_reversing_is_a_permutation(self) -> None:
        feistel = Feistel.expand(1 << 10, bytes(range(16)))
        self.assertEqual(sorted(feistel.reverse(value) for value in range(1 << 10)), list(range(1 << 10)))

    def test_constants_that_cannot_be_are_refused(self) -> None:
        with self.assertRaisesRegex(BadConstants, "feistel"):
            Constants("flow-label", 0, 0, "rc5", 4, True, bytes(16)).powers()
        with self.assertRaisesRegex(BadConstants, "radix 1"):
            Constants("ports", 0, 0, "rc5", 1, True, bytes(16)).powers()


class Settings(unittest.TestCase):
    """Parameters of actions."""

    def test_hula_of_the_first_trace(self) -> None:
        values = hula_values(numbers(traces.read("hula")[0]["config"]["hula"]))
        self.assertEqual(values["suppress_for"], 175_000)
        self.assertEqual(values["flowlet_mask"], 15)
        self.assertEqual(values["quantise"], 8)

    def test_values_fit_their_fields(self) -> None:
        self.assertEqual(to_bytes(0x1FF, 9), b"\x01\xff")
        with self.assertRaises(OverflowError):
            to_bytes(512, 9)


if __name__ == "__main__":
    unittest.main()
