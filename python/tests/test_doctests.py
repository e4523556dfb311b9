"""The examples in the documentation of the package's modules, as printed."""

import doctest
import importlib
import pkgutil

import pytest

import heddle

MODULES = ["heddle", *(f"heddle.{module.name}" for module in pkgutil.iter_modules(heddle.__path__) if module.name != "_core")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    tests = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in tests) > 10
