"""Every trace of vectors/schemes on simple_switch: decisions, state after each step, counters. No network interfaces, no privileges."""

import unittest

import compiled
import traces
from bmv2 import bench


class Vectors(unittest.TestCase):
    """One test for each file of traces."""

    def replay(self, program: str, name: str) -> None:
        """All traces of a file on one switch, which forgets between them."""
        with bench(compiled.path(program, test=True)) as running:
            for trace in traces.read(name):
                with self.subTest(trace["name"]):
                    traces.Run(running, trace).replay()

    def test_ecmp(self) -> None:
        self.replay("ecmp", "ecmp")

    def test_ecmp_random(self) -> None:
        self.replay("ecmp", "ecmp-random")

    def test_dre(self) -> None:
        self.replay("hula", "dre")

    def test_dre_random(self) -> None:
        self.replay("hula", "dre-random")

    def test_hula(self) -> None:
        self.replay("hula", "hula")

    def test_hula_random(self) -> None:
        self.replay("hula", "hula-random")


if __name__ == "__main__":
    unittest.main()
