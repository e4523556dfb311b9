"""Expressions of BMv2's JSON, over unbounded integers as BMv2 computes them: p4c cuts results to their widths."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Json = dict[str, Any]

BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "<<": lambda left, right: left << right,
    ">>": lambda left, right: left >> right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
    "and": lambda left, right: int(bool(left) and bool(right)),
    "or": lambda left, right: int(bool(left) or bool(right)),
}
UNARY: dict[str, Callable[[int], int]] = {
    "~": lambda value: ~value,
    "not": lambda value: int(not value),
    "d2b": lambda value: int(value != 0),
    "b2d": lambda value: value,
}


class Fields(Protocol):
    """Where values of fields come from."""

    def field(self, header: str, name: str) -> int:
        """The value of a field; `$valid$` is whether the header is there."""

    def last_of_stack(self, stack: str, name: str) -> int:
        """A field of the header that was extracted last into a stack."""


def evaluate(expression: Json, fields: Fields, data: Sequence[int] = ()) -> int:
    """The value of an expression; `data` are the parameters of its action. Raises KeyError for an operation that is not known."""
    kind, value = expression["type"], expression["value"]
    if kind == "expression":
        return operation(value, fields, data) if "op" in value else evaluate(value, fields, data)
    if kind in ("hexstr", "bool"):
        return int(value, 16) if kind == "hexstr" else int(value)
    if kind == "field":
        return fields.field(*value)
    if kind == "stack_field":
        return fields.last_of_stack(*value)
    return data[{"local": value, "runtime_data": value}[kind]]


def operation(value: Json, fields: Fields, data: Sequence[int]) -> int:
    """An operation on expressions."""
    name = value["op"]
    if name == "?":
        return evaluate(value["left" if evaluate(value["cond"], fields, data) else "right"], fields, data)
    right = evaluate(value["right"], fields, data)
    if name in UNARY:
        return UNARY[name](right)
    return BINARY[name](evaluate(value["left"], fields, data), right)
