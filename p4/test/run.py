"""Runs the tests of the P4 programs, and says loudly which were skipped, and for want of what. Its lines are those of Rust's tests, so that
.ci/tally counts them."""

import importlib.util
import os
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NEEDS = {
    "test_control": None,
    "test_plan": None,
    "test_reference": None,
    "test_rules": None,
    "test_vectors": None,
    "test_bad_input": None,
    "test_external_tokens": None,
    "test_paths": None,
    "test_compiled": "p4c-bm2-ss",
    "test_tna": "p4c-barefoot",
    "test_tna_rounds": "p4c-bm2-ss",
    "test_bmv2": "simple_switch",
    "test_fabric": "simple_switch",
}
PACKAGES = ("ptf", "pynng", "thrift")


def missing(module: str) -> str | None:
    """The programs that a module of tests needs and this machine lacks."""
    program = NEEDS[module]
    if program and not shutil.which(program):
        return f"{program} is missing: ./x setup p4 says where it is to be had"
    if program == "simple_switch":
        for package in PACKAGES:
            if importlib.util.find_spec(package) is None:
                return f"the Python package {package} is missing: run ./x setup p4"
    if module == "test_fabric" and os.geteuid() != 0:
        return "root is missing: network namespaces"
    return None


def names(suite: unittest.TestSuite) -> list[str]:
    """Names of the tests of a suite."""
    found: list[str] = []
    for test in suite:
        found += names(test) if isinstance(test, unittest.TestSuite) else [test.id()]
    return found


def main() -> int:
    """Status 1 if a test fails."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "control")]
    failed = passed = skipped = 0
    for module in NEEDS:
        tests = unittest.defaultTestLoader.loadTestsFromName(module)
        reason = missing(module)
        if reason:
            for name in names(tests):
                print(f"\ntest skipped: p4.{name}: {reason}")
            skipped += tests.countTestCases()
            continue
        result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(tests)
        bad = len({str(test).split(" [")[0] for test, _ in result.failures + result.errors})
        failed += bad
        passed += result.testsRun - bad
    verdict = "FAILED" if failed else "ok"
    print(f"test result: {verdict}. {passed + skipped} passed; {failed} failed; 0 ignored; {skipped} of those passed were skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
