"""Checks of a switch's document: a mistake in it is named with its place before anything runs. The keys are described in
docs/src/p4/control-plane.md. `switch.schema.json` is the JSON Schema of what `heddle lab` writes, made of its types
(crates/emulation/src/plane/bmv2/document.rs); what a schema cannot say is checked here."""

import functools
import ipaddress
import json
import pathlib
from typing import TYPE_CHECKING, Any

from heddle_p4 import quantities

if TYPE_CHECKING:
    import jsonschema

Json = dict[str, Any]
SCHEMA: Json = json.loads(pathlib.Path(__file__).with_name("switch.schema.json").read_text())
# Digits of each cipher's key.
DIGITS = {"rc5": 32, "feistel": 32, "skip32": 20}
# A parameter of the control plane, which schemes of other planes have not: see `Plan.asks_for_tokens`.
TOKENS = "tokens"
MEANT = {
    "integer": "a number",
    "integer, null": "a number or null",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "string, integer": "a number, or a quantity with its unit,",
}
MEANT_BY_KEY = dict.fromkeys(("own_mac", "peer_mac"), 'a number or text as "02:00:00:00:00:01"')
MEANT_BY_KEY |= {"field": '"ports", "flow-label" or {"source-port": [low, high]}'}


class BadPlan(ValueError):
    """A document that describes no switch."""


def ethernet_address(value: int | str) -> int:
    """Of a number, or of text as `02:00:00:00:00:01`."""
    return value if isinstance(value, int) else int(value.replace(":", ""), 16)


def _is_whole(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@functools.cache
def _validators() -> dict[str, Any]:
    """For each scheme that has a program a validator of its switches' documents."""
    import jsonschema

    types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole)
    kind = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=types)
    common = {key: value for key, value in SCHEMA.items() if key not in ("oneOf", "unevaluatedProperties")}
    validators = {}
    for choice in SCHEMA["oneOf"]:
        parts = {"properties": common["properties"] | choice["properties"], "required": common["required"] + choice["required"]}
        validators[choice["properties"]["scheme"]["const"]] = kind(common | parts | {"additionalProperties": False})
    return validators


def _place(path: list[str | int]) -> str:
    """As `ports[1]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else step for step in path) or "the file"


def _mistake(error: "jsonschema.ValidationError") -> str:
    """In words."""
    path, rule, schema = list(error.absolute_path), error.validator, error.schema
    if rule == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f'{_place(path)}: "{missing}" is missing'
    if rule == "additionalProperties":
        known = [*dict.fromkeys([*schema.get("required", []), *schema.get("properties", [])])]
        unknown = next(key for key in error.instance if key not in known)
        return f'{_place(path)}: there is no key "{unknown}"; there are: {", ".join(known)}'
    key = path[-1] if path and isinstance(path[-1], str) else None
    what = f'{_place(path[:-1])}: "{key}"' if key else _place(path)
    if key == quantities.SECRET:  # which no message repeats
        return f"{what}: an even number of hex digits is meant"
    given = json.dumps(error.instance)
    return f"{what} is {given}: {_meant(error, key)} is meant" if key else f"{what}: {_meant(error, key)} is meant, not {given}"


def _meant(error: "jsonschema.ValidationError", key: str | int | None) -> str:
    """By the rule that a value breaks."""
    if key in MEANT_BY_KEY:
        return MEANT_BY_KEY[str(key)]
    if error.validator == "maximum":
        return f"at most {error.validator_value}"
    words = error.schema.get("enum") or [choice["const"] for choice in error.schema.get("oneOf", [])]
    if words:
        return f"one of {', '.join(words)}"
    types = error.schema["type"]
    return MEANT[types if isinstance(types, str) else ", ".join(types)]


def _power_of_two(where: str, given: dict[str, Any], key: str) -> None:
    if given[key].bit_count() != 1:
        raise BadPlan(f'{where}: "{key}" is {given[key]}: a power of two is meant')


def _config(scheme: str, config: dict[str, Any]) -> None:
    """A scheme's parameters, as numbers."""
    if scheme == "cflb":
        digits = DIGITS[config["cipher"]]
        if len(config["key"]) < digits:
            raise BadPlan(f'config: "key" has {len(config["key"])} hex digits: {config["cipher"]} takes {digits}')
    for key in ("association_slots", "mapping_rows", "flowlet_slots"):
        if key in config:
            _power_of_two("config", config, key)


def _known(where: str, ports: object, numbers: set[int]) -> None:
    """Each of these is a port of the switch."""
    for port in ports if isinstance(ports, list) else [ports]:
        if port not in numbers:
            raise BadPlan(f"{where}: {json.dumps(port)} is no port of this switch; its ports: {', '.join(map(str, sorted(numbers)))}")


def _ports(given: list[Any]) -> set[int]:
    """The ports' numbers."""
    numbers = [port["number"] for port in given]
    for number in numbers:
        if numbers.count(number) > 1:
            raise BadPlan(f"ports: two have the number {number}")
    for at, port in enumerate(given):
        _known(f'ports[{at}]: "probe_ports"', port["probe_ports"], set(numbers))
    return set(numbers)


def _destination(where: str, to: dict[str, Any], tors: int, numbers: set[int]) -> None:
    try:
        ipaddress.ip_address(to["address"])
    except ValueError as error:
        raise BadPlan(f'{where}: "address": {error}') from error
    if to["tor"] >= tors:
        raise BadPlan(f'{where}: "tor" is {to["tor"]}: the fabric has {tors} ToRs, from 0')
    if to["port"] is not None:
        _known(f'{where}: "port"', to["port"], numbers)


def _sources(given: list[str], hosts: list[str]) -> None:
    """Addresses of the switch's own, for ICMP."""
    try:
        sources = [ipaddress.ip_address(source) for source in given]
    except ValueError as error:
        raise BadPlan(f'the file: "icmp_source": {error}') from error
    if len({source.version for source in sources}) < len(sources):
        raise BadPlan('the file: "icmp_source" has two addresses of one family')
    for source in sources:
        if source in map(ipaddress.ip_address, hosts):
            raise BadPlan(f'the file: "icmp_source": {source} is a host\'s address')


def checked(given: object) -> dict[str, Any]:
    """The document, its quantities as numbers. Raises BadPlan."""
    if not isinstance(given, dict):
        raise BadPlan(f"the file: an object is meant, not {json.dumps(given)}")
    scheme, config, validators = given.get("scheme", "ecmp"), given.get("config"), _validators()
    if not isinstance(scheme, str) or scheme not in validators:
        raise BadPlan(f"scheme {json.dumps(scheme)}: there are programs for {', '.join(validators)}")
    if scheme != "ecmp" and isinstance(config, dict):
        config = {key: value for key, value in config.items() if key != TOKENS}
    for error in validators[scheme].iter_errors(given | ({"config": config} if "config" in given else {})):
        raise BadPlan(_mistake(error))
    switch = given | {"config": quantities.numbers(given["config"])}
    _config(scheme, switch["config"])
    numbers, tors = _ports(switch["ports"]), switch["tors"]
    if switch["tor"] is not None and switch["tor"] >= tors:
        raise BadPlan(f'"tor" is {switch["tor"]}: the fabric has {tors} ToRs, from 0')
    if len(switch["next_hops"]) != tors:
        raise BadPlan(f'"next_hops" has {len(switch["next_hops"])} lists: one for each of the {tors} ToRs is meant')
    for tor, hops in enumerate(switch["next_hops"]):
        _known(f"next_hops[{tor}]", hops, numbers)
    for at, to in enumerate(switch["destinations"]):
        _destination(f"destinations[{at}]", to, tors, numbers)
    _sources(switch.get("icmp_source", []), [to["address"] for to in switch["destinations"]])
    return switch
