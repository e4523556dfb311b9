"""The lines by which docs/src/p4/control-plane.md runs a first switch, on BMv2. As root; their namespaces are the test's own."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "src" / "p4" / "control-plane.md"


def lines() -> str:
    """Of the page, without the set-up, which has run."""
    section = PAGE.read_text().split("## A first switch")[1]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found
    return found[1].replace("./x setup p4\n", "")


class Example(unittest.TestCase):
    """A switch between two hosts."""

    def test_a_ping_crosses_the_switch_and_its_state_is_told(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        # Names of namespaces are files of /run/netns, which is empty in a mount namespace of the test's own.
        script = f"set -e; mkdir -p /run/netns; mount -t tmpfs none /run/netns\n{lines()}".replace("/tmp/", f"{folder}/")
        command = ("unshare", "--mount", "bash", "-c", script)
        environment = os.environ | {"HEDDLE_P4_PYTHON": sys.executable}
        done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 received", done.stdout)
        self.assertRegex(done.stdout, r"eth0 +host +up")
        delivered = re.search(r"^delivered +(\d+)$", done.stdout, re.MULTILINE)
        self.assertGreaterEqual(int(delivered[1]) if delivered else 0, 2, done.stdout)


if __name__ == "__main__":
    unittest.main()
