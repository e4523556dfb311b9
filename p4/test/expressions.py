"""Expressions of BMv2's JSON as functions of Python's, over unbounded integers as BMv2 computes them: p4c cuts results to their widths."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from packet_state import PacketState

Json = dict[str, Any]
# Of a packet and the parameters of the action.
Function = Callable[[PacketState, Sequence[int]], int]

# What Python writes as BMv2 does.
BINARY = {"+", "-", "*", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "and", "or"}
UNARY = {"~": "~{}", "not": "not {}", "d2b": "{} != 0", "b2d": "+{}"}


def function(expression: Json) -> Function:
    """An expression, compiled. Raises KeyError for an operation that is not known."""
    return compiled(text(expression))


@functools.cache
def compiled(body: str) -> Function:
    """The function whose value is that of a text of Python. Programs have many in common."""
    made: Function = eval(f"lambda packet, data: {body}")
    return made


def text(expression: Json) -> str:
    """An expression in Python, of `packet` and `data`."""
    kind, value = expression["type"], expression["value"]
    if kind == "expression":
        return operation(value) if "op" in value else text(value)
    if kind in ("hexstr", "bool"):
        return str(int(value, 16) if kind == "hexstr" else int(value))
    if kind == "field":
        header, name = value
        return f"({header!r} in packet.valid)" if name == "$valid$" else f"packet.values[{header!r}, {name!r}]"
    if kind == "stack_field":
        return f"packet.last_of_stack({value[0]!r}, {value[1]!r})"
    if kind in ("local", "runtime_data"):
        return f"data[{value}]"
    raise KeyError(kind)


def operation(value: Json) -> str:
    """An operation on expressions, in Python."""
    name, right = value["op"], text(value["right"])
    if name == "?":
        return f"({text(value['left'])} if {text(value['cond'])} else {right})"
    if name in BINARY:
        return f"({text(value['left'])} {name} {right})"
    return f"({UNARY[name].format(right)})"
