"""Warnings of the command line as Python's."""

import warnings


class HeddleWarning(UserWarning):
    """Results need care: links are offered more than they carry, flows are unfinished, or means still grow with the run's length."""


def warn(text: str) -> None:
    """Warns the caller of a function of this package."""
    warnings.warn(text, HeddleWarning, stacklevel=3)
