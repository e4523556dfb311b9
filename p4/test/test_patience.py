"""Limits on waits count the share of a processor that a wait's program gets."""

import pathlib
import tempfile
import unittest
import unittest.mock

from heddle_p4.patience import MOST, Deadline, contenders


class Patience(unittest.TestCase):
    """With two processors, and a load of the test's own."""

    def setUp(self) -> None:
        self.load = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "loadavg")
        self.enterContext(unittest.mock.patch("heddle_p4.patience.LOAD", self.load))
        self.enterContext(unittest.mock.patch("os.cpu_count", lambda: 2))

    def test_a_machine_that_is_idle_or_does_not_say_has_no_contenders(self) -> None:
        self.assertEqual(contenders(), 1)
        self.load.write_text("0.10 0.20 0.30 1/115 10234\n")
        self.assertEqual(contenders(), 1)

    def test_a_second_of_a_limit_is_as_many_as_threads_share_a_processor(self) -> None:
        for running, expected in (18, 9), (1000, MOST):
            self.load.write_text(f"3.85 3.86 2.58 {running}/1150 10234\n")
            deadline = Deadline(60)
            deadline.last -= 60
            self.assertFalse(deadline.passed())
            self.assertAlmostEqual(deadline.spent, 60 / expected, delta=1)
            self.assertTrue(str(deadline).startswith("not within 60 s ("), str(deadline))


if __name__ == "__main__":
    unittest.main()
