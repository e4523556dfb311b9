"""Every trace of vectors/schemes as packets through the compiled programs: decisions, state after each step, counters. Here by interpreter.py, in
test_bmv2.py by simple_switch."""

import pathlib
import unittest
from contextlib import AbstractContextManager

import compiled
import interpreted
import traces


class Vectors(unittest.TestCase):
    """One test for each file of traces."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def replay(self, program: str, name: str) -> None:
        """All traces of a file on one switch, which forgets between them."""
        with self.running(compiled.path(program, test=True)) as running:
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

    def test_mp_hula(self) -> None:
        self.replay("mp-hula", "mp-hula")

    def test_mp_hula_random(self) -> None:
        self.replay("mp-hula", "mp-hula-random")

    def test_mp_hula_with_tokens_by_the_control_plane(self) -> None:
        self.replay("mp-hula-external", "mp-hula")

    def test_mp_hula_random_with_tokens_by_the_control_plane(self) -> None:
        self.replay("mp-hula-external", "mp-hula-random")

    def test_shuttle(self) -> None:
        self.replay("shuttle", "shuttle")

    def test_shuttle_random(self) -> None:
        self.replay("shuttle", "shuttle-random")

    def test_cflb(self) -> None:
        self.replay("cflb", "cflb")

    def test_cflb_random(self) -> None:
        self.replay("cflb", "cflb-random")


if __name__ == "__main__":
    unittest.main()
