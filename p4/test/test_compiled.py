"""The committed programs are those that the compiler makes of the sources."""

import unittest

import compiled
from heddle_p4.program import unpacked


class Compiled(unittest.TestCase):
    """With p4c at hand."""

    def test_committed_programs_are_fresh(self) -> None:
        for folder in sorted({compiled.folder_and_flags(program)[0] for program in compiled.PROGRAMS}):
            with self.subTest(folder=folder.name):
                committed = {file.name: file.read_text() for file in unpacked(folder).iterdir()}
                fresh = compiled.compile_folder(folder)
                self.assertEqual(committed.keys(), fresh.keys(), "run p4/test/compiled.py")
                for name, text in fresh.items():
                    self.assertEqual(committed[name], text, f"{name}: run p4/test/compiled.py")


if __name__ == "__main__":
    unittest.main()
