"""The committed programs are those that the compiler makes of the sources."""

import pathlib
import tempfile
import unittest

import compiled


class Compiled(unittest.TestCase):
    """With p4c at hand."""

    def test_committed_programs_are_fresh(self) -> None:
        for program in compiled.PROGRAMS:
            for build in compiled.BUILDS:
                with self.subTest(program=program, build=build), tempfile.TemporaryDirectory() as folder:
                    info = pathlib.Path(folder, "info.txtpb")
                    committed = compiled.path(program, build != "")
                    fresh = compiled.compile_program(program, build, info)
                    self.assertEqual(committed.read_text(), fresh, "run p4/test/compiled.py")
                    if not build:
                        self.assertEqual(committed.with_suffix(".p4info.txtpb").read_text(), info.read_text())


if __name__ == "__main__":
    unittest.main()
