"""Runs the tests of the P4 programs, and says loudly which were skipped, and for want of what. Its lines are those of Rust's tests, so that
.ci/tally counts them."""

import argparse
import importlib.util
import os
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NEEDS = {
    "test_control": None,
    "test_p4info": None,
    "test_plan": None,
    "test_reference": None,
    "test_rules": None,
    "test_pages": None,
    "test_vectors": None,
    "test_bad_input": None,
    "test_loads": None,
    "test_external_tokens": None,
    "test_paths": None,
    "test_register_ends": None,
    "test_p4runtime_client": None,
    "test_cpu_port": None,
    "test_switch": None,
    "test_compiled": "p4c-bm2-ss",
    "test_tna": "p4c-barefoot",
    "test_tna_rounds": "p4c-bm2-ss",
    "test_bmv2": "simple_switch",
    "test_p4runtime": "simple_switch_grpc",
    "test_example": "simple_switch_grpc",
    "test_fabric": "simple_switch",
    "test_fabric_p4runtime": "simple_switch_grpc",
}
AS_ROOT = ("test_cpu_port", "test_switch", "test_example", "test_fabric", "test_fabric_p4runtime")
PACKAGES = {"simple_switch": ("ptf", "pynng", "thrift"), "simple_switch_grpc": ("ptf", "pynng", "thrift", "finsy")}


def missing(module: str) -> str | None:
    """The programs that a module of tests needs and this machine lacks."""
    program = NEEDS[module]
    if program and not shutil.which(program):
        return f"{program} is missing: ./x setup p4 says where it is to be had"
    for package in PACKAGES.get(program or "", ()):
        if importlib.util.find_spec(package) is None:
            return f"the Python package {package} is missing: run ./x setup p4"
    if module in AS_ROOT and os.geteuid() != 0:
        return "root is missing: network namespaces"
    return None


def names(suite: unittest.TestSuite) -> list[str]:
    """Names of the tests of a suite."""
    found: list[str] = []
    for test in suite:
        found += names(test) if isinstance(test, unittest.TestSuite) else [test.id()]
    return found


def wanted() -> list[str]:
    """The modules that the command line names, or all."""
    parser = argparse.ArgumentParser(
        prog="./x test p4",
        description="Runs the tests of the P4 programs. Those whose programs this machine lacks are skipped, and counted as such.",
        epilog="Modules: " + ", ".join(f"{module} ({program})" if program else module for module, program in NEEDS.items()) + ".",
    )
    parser.add_argument("module", nargs="*", metavar="MODULE", help="of p4/test; in parentheses the program that it takes (default: all)")
    named = parser.parse_args().module
    for module in named:
        if module not in NEEDS:
            parser.error(f'there is no module "{module}": --help lists them')
    return [module for module in NEEDS if not named or module in named]


def main() -> int:
    """Status 1 if a test fails."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "control")]
    failed = passed = skipped = 0
    for module in wanted():
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
