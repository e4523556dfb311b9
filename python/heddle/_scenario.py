"""Scenarios from files, text and dictionaries."""

import json
import operator
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from heddle import _core
from heddle._scheme import Scheme, is_scheme
from heddle._settings import Settings, overrides

Source = "str | PathLike[str] | dict[str, Any] | Scenario"


class Scenario:
    """A scenario, checked and complete. It does not change; :meth:`with_settings` gives another one.

    Args:
        source: a file's path, a scenario's text (recognised by a line break), a dictionary with the keys of a file, or a scenario.
        set: settings by key: ``{"scheme.k": 4}``.
        settings: the same by name where the name alone says it: ``load=0.6`` is ``workload.load``. ``scheme`` can be a class that derives from
            :class:`Scheme`, also in a dictionary.

    Raises:
        ScenarioError: something is wrong with it; the message names file, line and fix.
        OSError: the file cannot be read.
    """

    def __init__(
        self,
        source: "str | PathLike[str] | dict[str, Any] | Scenario",
        *,
        set: Settings | None = None,
        **settings: object,
    ) -> None:
        self._core = resolve(source, {**(set or {}), **settings})

    def with_settings(self, *, set: Settings | None = None, **settings: object) -> "Scenario":
        """The same scenario with other settings."""
        return Scenario(self, set=set, **settings)

    @property
    def title(self) -> str:
        """Its title."""
        return self._core.title

    @property
    def scheme(self) -> str:
        """The scheme's name."""
        return self._core.scheme

    @property
    def seeds(self) -> list[int]:
        """The seeds that it names."""
        return self._core.seeds

    def to_dict(self) -> dict[str, Any]:
        """The scenario with every default written out; ``Scenario(d)`` of it is the same scenario, if it names no other files."""
        complete: dict[str, Any] = json.loads(self._core.complete())
        return complete

    def to_toml(self) -> str:
        """The same as the text of a scenario file, as ``heddle show`` prints it."""
        return _core.toml_of_json(self._core.complete())

    def __getitem__(self, key: str) -> Any:
        """A section or key of :meth:`to_dict`."""
        return self.to_dict()[key]

    def __repr__(self) -> str:
        return f"<heddle.Scenario {self.title!r}, {self.scheme}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, self._core.parts()


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file: every key with its meaning, default and source."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def _remade(
    name: str, text: str, settings: list[tuple[str, str]], folder: str, scheme: type[Scheme] | None
) -> Scenario:
    return wrapped(_core.Scenario(name, text, settings, folder, scheme))


def wrapped(core: _core.Scenario) -> Scenario:
    """A scenario of the part in Rust."""
    scenario = object.__new__(Scenario)
    scenario._core = core
    return scenario


def resolve(
    source: "str | PathLike[str] | dict[str, Any] | Scenario", given: Settings, variant: str | None = None
) -> _core.Scenario:
    """The part in Rust of a scenario with some settings, which may be those of a variant."""
    name, text, before, folder, scheme = _parts(source)
    if is_scheme(other := given.get("scheme")):
        scheme = other
    return _core.Scenario(name, text, [*before, *overrides(given)], folder, scheme, variant)


def _parts(
    source: "str | PathLike[str] | dict[str, Any] | Scenario",
) -> tuple[str, str, list[tuple[str, str]], str, type[Scheme] | None]:
    """Name, text, settings, the folder of the files that it names, and its scheme if that is a class."""
    if isinstance(source, Scenario):
        return source._core.parts()
    if isinstance(source, dict):
        scheme = source.get("scheme")
        if is_scheme(scheme):
            rest = {key: value for key, value in source.items() if key != "scheme"}
            return "<dictionary>", _toml(rest), overrides({"scheme": scheme}), ".", scheme
        return "<dictionary>", _toml(source), [], ".", None
    if isinstance(source, str) and "\n" in source:
        return "<text>", source, [], ".", None
    path = Path(source)
    return str(path), path.read_text(encoding="utf-8"), [], str(path.parent), None


def _toml(source: dict[str, Any]) -> str:
    """A dictionary as the text of a file."""
    return _core.toml_of_json(json.dumps(_plain("", source)))


def _plain(key: str, value: Any) -> object:
    """The value of a dotted key in the types of JSON."""
    if isinstance(value, dict):
        return {str(name): _plain(f"{key}.{name}".removeprefix("."), item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(f"{key}.{number}", item) for number, item in enumerate(value)]
    if isinstance(value, PathLike):
        return str(value)
    if hasattr(value, "tolist"):  # a number or an array of NumPy's
        return _plain(key, value.tolist())
    if not isinstance(value, int | float | str) or (isinstance(value, float) and not isfinite(value)):
        raise TypeError(f"{key}: a finite number, a text, a list or a dictionary is expected, not {value!r}")
    return value


def checked_seed(value: Any) -> int:
    """A seed.

    Raises:
        TypeError, ValueError: the value is none.
    """
    wrong = f"seed: a whole number from 0 up, below 2**64, is expected, not {value!r}"
    try:
        seed = operator.index(value)
    except TypeError:
        raise TypeError(wrong) from None
    if not 0 <= seed < 2**64:
        raise ValueError(wrong)
    return seed
