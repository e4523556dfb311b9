"""Quantities with units, as scenario files have them, as whole numbers of nanoseconds and bytes."""

import re
from fractions import Fraction
from typing import Any

UNITS: dict[str, int | Fraction] = {"ps": Fraction(1, 1000), "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
UNITS |= {"m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
UNITS |= {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
QUANTITY = re.compile(rf" *([0-9]+(?:\.[0-9]*)?) *({'|'.join(UNITS)}) *")
SECRET = "key"


def number(value: object) -> object:
    """A quantity as a number, rounded down; what is none as it is."""
    found = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return int(Fraction(found[1]) * UNITS[found[2]]) if found else value


def numbers(config: dict[str, Any]) -> dict[str, Any]:
    """A scheme's parameters with their quantities as numbers."""
    return {key: value if key == SECRET else number(value) for key, value in config.items()}
