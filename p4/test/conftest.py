"""Skips the tests of P4 programs whose programs this machine lacks, each with what is missing."""

import importlib.util
import os
import pathlib
import shutil
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "control")]

PROGRAMS = {
    "test_compiled": "p4c-bm2-ss",
    "test_tna": "p4c-barefoot",
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
    program = PROGRAMS.get(module)
    if program and not shutil.which(program):
        return f"{program} is missing: ./x setup p4 says where it is to be had"
    for package in PACKAGES.get(program or "", ()):
        if importlib.util.find_spec(package) is None:
            return f"the Python package {package} is missing: run ./x setup p4"
    if module in AS_ROOT and os.geteuid() != 0:
        return "root is missing: network namespaces"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of a module that cannot run."""
    for item in items:
        if reason := missing(item.path.stem):
            item.add_marker(pytest.mark.skip(reason))
