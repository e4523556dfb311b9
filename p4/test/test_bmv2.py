"""The tests of test_vectors.py, test_bad_input.py, test_external_tokens.py and test_paths.py on simple_switch. No network interfaces, no
privileges."""

import pathlib
import unittest
from contextlib import AbstractContextManager

import bmv2
import test_bad_input
import test_external_tokens
import test_paths
import test_vectors
import traces


class VectorsOnBmv2(test_vectors.Vectors):
    """The traces."""

    def bench(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        return bmv2.bench(program)


class BadInputOnBmv2(test_bad_input.BadInput):
    """Packets that no well-behaved host or switch sends."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        return bmv2.bench(program)


class BadHandshakesOnBmv2(test_bad_input.BadHandshakes):
    """The same on MP-HULA, and handshakes."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        return bmv2.bench(program)


class ExternalTokensOnBmv2(test_external_tokens.ExternalTokens):
    """Tokens by the control plane."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        return bmv2.bench(program)


class PathsOnBmv2(test_paths.Paths):
    """Random frames, answered as the interpreter answers them."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        return bmv2.bench(program)


if __name__ == "__main__":
    unittest.main()
