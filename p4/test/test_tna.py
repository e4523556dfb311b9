"""Programs for Tofino fit its pipeline, where the compiler for it is found: p4c's `p4c-barefoot`, with TNA's definitions beside it."""

import pathlib
import subprocess
import tempfile
import unittest

import compiled

COMPILER = "p4c-barefoot"
PROGRAMS = ("ecmp", "cflb")


class Tofino(unittest.TestCase):
    """With p4c's Tofino backend at hand. Its reports (resources, stages) are in the folder `logs` of its output."""

    def test_programs_compile(self) -> None:
        for program in PROGRAMS:
            with self.subTest(program=program), tempfile.TemporaryDirectory() as folder:
                source = compiled.P4 / "tna" / f"{program}.p4"
                target = ["--target", "tofino", "--arch", "tna", "--std", "p4-16", "-D__TARGET_TOFINO__=1"]
                command = [COMPILER, *target, "-o", str(pathlib.Path(folder, program)), str(source)]
                done = subprocess.run(command, check=False, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
