"""Scenarios small enough to run in a blink, and the command line to compare with."""

import os
import subprocess
from pathlib import Path

import pytest

SMALL = """\
title = "Small"
scheme = "hula"
seeds = [1, 2]

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2

[workload]
kind = "flows"
sizes = "websearch"
load = 0.5

[measure]
flows = 60
sample_every = "1ms"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


class CommandLine:
    """The program `heddle` that was built from the same sources."""

    def __init__(self, program: str) -> None:
        self.program = program

    def __call__(self, *arguments: object) -> str:
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


@pytest.fixture(scope="session")
def command_line() -> CommandLine:
    """The command line, by HEDDLE: what runs these tests sets it."""
    program = os.environ.get("HEDDLE")
    assert program, "set HEDDLE to the program `heddle`, or run `./x test python`, which does"
    return CommandLine(program)
