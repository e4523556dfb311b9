"""Scenarios from functions: one for each section of a scenario file and each kind that it can have, with the names, defaults and explanations of the schema.

>>> import heddle as hd
>>> from heddle import build
>>> scenario = build.scenario(
...     fabric=build.fabric.leaf_spine(leaves=2, spines=2, hosts_per_leaf=2),
...     scheme=build.scheme.hula(flowlet_gap="50us"),
...     workload=build.workload.flows(sizes="websearch", load=0.3),
...     measure=build.measure(flows=20),
... )
>>> scenario["scheme"]
{'kind': 'hula', 'flowlet_gap': '50us'}
>>> hd.Scenario(scenario)["scheme"]["probe_period"]
'200us'

They give dictionaries with what was given, which :func:`heddle.run`, :func:`heddle.sweep` and :class:`heddle.Scenario` take; these check the values. ``help(build.scheme.hula)``
has the keys with their defaults, and editors complete names. A hyphen in a name is an underscore: ``build.scheme.mp_hula``.
"""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, Signature
from typing import Any, NoReturn

from heddle._settings import schema

Part = dict[str, Any]
Function = Callable[..., dict[str, Any]]


class Kinds:
    """A section that has kinds: a function for each."""

    def __init__(self, section: str, functions: dict[str, Function]) -> None:
        self._section, self._functions = section, functions

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_") or name not in self._functions:
            _unknown(f"{self._section} has no kind", name, self._functions)
        return self._functions[name]

    def __dir__(self) -> list[str]:
        return sorted(self._functions)

    def __repr__(self) -> str:
        return f"<kinds of {self._section}: {', '.join(self._functions)}>"


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in __dir__():
        _unknown("a scenario has no section", name, __dir__())
    return _scenario() if name == "scenario" else _section(name)


def __dir__() -> list[str]:
    sections = (name for name, part in schema()["properties"].items() if "properties" in (found := _part(part)) or "oneOf" in found)
    return sorted([*sections, "scenario"])


@cache
def _scenario() -> Function:
    return _function("scenario", schema(), {})


@cache
def _section(name: str) -> Any:
    described = schema()["properties"][name]
    part = _part(described)
    variants = list(_variants(part))
    if not variants:
        return _function(name, {"description": described.get("description", ""), **part}, {})
    return Kinds(name, {_identifier(kind): _function(_identifier(kind), variant, {"kind": kind}) for kind, variant in variants})


def _part(part: Part) -> Part:
    """The table that a part of the schema stands for: behind a reference, of a list, or the first of several forms."""
    while "properties" not in part and "oneOf" not in part:
        if "$ref" in part:
            part = schema()["$defs"][part["$ref"].rsplit("/", 1)[-1]]
        elif part.get("items"):
            part = part["items"]
        elif "anyOf" in part:
            part = part["anyOf"][0]
        else:
            break
    return part


def _variants(part: Part) -> Iterator[tuple[str, Part]]:
    """The kinds of a section, each with the keys that all have."""
    for variant in part.get("oneOf", ()):
        if kind := variant.get("properties", {}).get("kind", {}).get("const"):
            own = {key: described for key, described in variant["properties"].items() if key != "kind"}
            required = [key for key in variant.get("required", ()) if key != "kind"]
            yield kind, {**variant, "properties": {**own, **part.get("properties", {})}, "required": required}


def _function(name: str, part: Part, fixed: dict[str, str]) -> Function:
    """A function whose arguments are the keys of a table; it gives what it was given."""
    keys, required = part["properties"], part.get("required", [])

    def function(**given: Any) -> dict[str, Any]:
        for key in given:
            if key not in keys:
                _unknown(f"{name} has no key", key, keys, TypeError)
        if missing := [key for key in required if given.get(key) is None]:
            raise TypeError(f"{name} needs {', '.join(missing)}")
        return {**fixed, **{key: value for key, value in given.items() if value is not None}}

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _explanation(part, keys)
    setattr(function, "__signature__", _signature(keys, required))
    return function


def _explanation(part: Part, keys: dict[str, Part]) -> str:
    arguments = "\n".join(f"    {key}: {described.get('description', '')}" for key, described in keys.items())
    return f"{part.get('description', '')}\n\nArgs:\n{arguments}\n"


def _signature(keys: dict[str, Part], required: list[str]) -> Signature:
    ordered = [*required, *(key for key in keys if key not in required)]
    defaults = {key: Parameter.empty if key in required else keys[key].get("default") for key in ordered}
    arguments = [Parameter(key, Parameter.KEYWORD_ONLY, default=default) for key, default in defaults.items()]
    return Signature(arguments, return_annotation=dict[str, Any])


def _identifier(kind: str) -> str:
    return kind.replace("-", "_")


def _unknown(what: str, name: str, known: Any, error: type[Exception] = AttributeError) -> NoReturn:
    close = get_close_matches(name, known, 1)
    raise error(f"{what} {name!r}: {f'did you mean {close[0]!r}?' if close else ', '.join(known)}")
