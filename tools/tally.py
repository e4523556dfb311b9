#!/usr/bin/env python3
"""Counts the tests in files of JUnit's format, and names those that were skipped with the reason.

A test of Rust that is skipped returns early, and says so in a line on standard error (crates/shared/testing): the runner counts it as passed,
this does not.
"""

import re
import sys
from collections.abc import Iterator
from xml.etree import ElementTree

SKIP = re.compile(r"^test skipped: (.*)$", re.MULTILINE)


def skip_of(case: ElementTree.Element) -> str | None:
    """The line of a test that was skipped."""
    name = f"{case.get('classname')} {case.get('name')}"
    skipped = case.find("skipped")
    if skipped is not None:
        return f"{name}: {skipped.get('message') or 'skipped'}"
    line = SKIP.search(case.findtext("system-err") or "")
    return line and f"{name}: {line.group(1).split(': ', 1)[-1]}"


def verdicts(path: str) -> Iterator[tuple[str, str]]:
    """The verdict of each test of a file, with its line if it was skipped."""
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield "failed", ""
        elif line := skip_of(case):
            yield "skipped", line
        else:
            yield "passed", ""


def main(paths: list[str]) -> None:
    """Prints a line for each test that was skipped, and the sum."""
    found = [verdict for path in paths for verdict in verdicts(path)]
    for verdict, line in found:
        if verdict == "skipped":
            print(f"test skipped: {line}")
    counts = [f"{sum(verdict == each for verdict, _ in found)} {each}" for each in ("passed", "failed", "skipped")]
    print(", ".join(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
