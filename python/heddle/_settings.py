"""Settings by name: the keys of a scenario file, with the section left out where one section alone has such a key."""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from heddle import _core
from heddle._scheme import Scheme

Settings = Mapping[str, object]


def dotted(name: str) -> str:
    """The dotted key of a setting: ``load`` is ``workload.load``, ``scheme.k`` is itself.

    Raises:
        TypeError: no key has this name, or several sections have one.
    """
    if "." in name or name in _sections():
        return name
    sections = _sections_of_keys().get(name, ())
    if len(sections) == 1:
        return f"{sections[0]}.{name}"
    if not sections:
        close = get_close_matches(name, [*_sections(), *_sections_of_keys()], 1)
        meant = f": did you mean {close[0]!r}?" if close else "; heddle.schema() lists all"
        raise TypeError(f"a scenario has no key {name!r}{meant}")
    choices = " or ".join(f"{{'{section}.{name}': ...}}" for section in sections)
    raise TypeError(f"several sections have a key {name!r}: give set={choices}")


def overrides(settings: Settings) -> list[tuple[str, str]]:
    """Each setting as its dotted key, and its value as TOML text; a section precedes its keys."""
    given = [(dotted(name), toml(value)) for name, value in settings.items()]
    return sorted(given, key=lambda setting: setting[0].count("."))


def toml(value: object) -> str:
    """A value as TOML text in one line; text stands as it is: ``40Gbps`` needs no quotes.

    Raises:
        TypeError: the value is of a type that TOML has not.
    """
    return value if isinstance(value, str) else _inline(value)


def label(value: object) -> str:
    """A value as tables and reports have it."""
    return value.__name__ if isinstance(value, type) else toml(value)


def _inline(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case type() if issubclass(value, Scheme):
            return _inline({"kind": "external", "library": f"python:{value.__name__}"})
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return f"[{', '.join(_inline(item) for item in value)}]"
        case dict():
            pairs = (f"{json.dumps(str(key))} = {_inline(item)}" for key, item in value.items())
            return f"{{ {', '.join(pairs)} }}"
    if hasattr(value, "item"):  # a number of NumPy's
        return _inline(value.item())
    raise TypeError(f"{value!r} is no number, text, list or dictionary, and no class that derives from heddle.Scheme")


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file, read once."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def _sections() -> dict[str, Any]:
    properties: dict[str, Any] = schema()["properties"]
    return properties


@cache
def _sections_of_keys() -> dict[str, tuple[str, ...]]:
    """The sections that have a key, by its name."""
    found: dict[str, list[str]] = {}
    for section, its_schema in _sections().items():
        for key in dict.fromkeys(_keys(its_schema)):
            found.setdefault(key, []).append(section)
    return {key: tuple(sections) for key, sections in found.items()}


def _keys(part: object) -> Iterator[str]:
    """Keys of the tables that a part of the schema describes, in any of its variants."""
    if not isinstance(part, dict):
        return
    yield from part.get("properties", {})
    if "$ref" in part:
        yield from _keys(schema()["$defs"][part["$ref"].rsplit("/", 1)[-1]])
    for choice in ("oneOf", "anyOf", "allOf"):
        for variant in part.get(choice, ()):
            yield from _keys(variant)
