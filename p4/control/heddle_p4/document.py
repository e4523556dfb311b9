"""Checks of a switch's document: a mistake in it is named with its place before anything runs. The keys are described in
docs/src/p4/control-plane.md, a scheme's parameters in vectors/schemes/README.md."""

import ipaddress
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from heddle_p4 import quantities

NUMBER, NUMBER_OR_NULL, TEXT, FLAG = "a number", "a number or null", "text", "true or false"
LIST, OBJECT, ETHERNET, FIELD, KEY = "a list", "an object", "an Ethernet address", "a field", "hex digits"
ROLES = ("host", "up", "down")
DIGITS = {"rc5": 32, "feistel": 32, "skip32": 20}
Kinds = dict[str, str | tuple[str, ...]]

SWITCH: Kinds = {"node": TEXT, "scheme": TEXT, "config": OBJECT, "salt": NUMBER, "tors": NUMBER, "tor": NUMBER_OR_NULL, "tau_shift": NUMBER}
SWITCH |= dict.fromkeys(("ports", "next_hops", "destinations"), LIST)
PORT: Kinds = {"number": NUMBER, "device": TEXT, "role": ROLES, "own_mac": ETHERNET, "peer_mac": ETHERNET, "full": NUMBER, "probe_ports": LIST}
DESTINATION: Kinds = {"address": TEXT, "tor": NUMBER, "port": NUMBER_OR_NULL}
HULA: Kinds = dict.fromkeys(("probe_period", "fail_after", "flowlet_gap", "flowlet_slots", "util_bits"), NUMBER)
HULA |= {"update": ("refresh", "listing"), "local_detection": FLAG}
TABLES: Kinds = HULA | dict.fromkeys(("best_k", "association_slots", "association_idle", "mapping_rows"), NUMBER)
SHUTTLE: Kinds = {"full_queue": NUMBER, "range": NUMBER, "draws": NUMBER, "choice": ("weighted", "least")}
SHUTTLE |= {"subflows": ("apart", "first-free", "alike")}
# Parameters of other planes, which the programs do not take.
OTHERS = ("tokens", "tau")
CFLB: Kinds = {"field": FIELD, "cipher": tuple(DIGITS), "radix": NUMBER, "rules": ("even", "as-published"), "key": KEY}
CONFIGS: dict[str, Kinds] = {
    "ecmp": {},
    "hula": HULA,
    "mp-hula": TABLES | {"long_flows": ("alike", "yield-best", "apart")},
    "shuttle": TABLES | SHUTTLE,
    "cflb": CFLB,
}


class BadPlan(ValueError):
    """A document that describes no switch."""


def ethernet_address(value: int | str) -> int:
    """Of a number, or of text as `02:00:00:00:00:01`."""
    return value if isinstance(value, int) else int(value.replace(":", ""), 16)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_ethernet(value: object) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", value))
    return _is_number(value) and ethernet_address(value) < 1 << 48  # type: ignore[arg-type]


def _is_field(value: object) -> bool:
    if not isinstance(value, dict):
        return value in ("ports", "flow-label")
    ports = value.get("source-port")
    return list(value) == ["source-port"] and isinstance(ports, list) and len(ports) == 2 and all(map(_is_number, ports))


IS: dict[str, Callable[[object], bool]] = {
    NUMBER: _is_number,
    NUMBER_OR_NULL: lambda value: value is None or _is_number(value),
    TEXT: lambda value: isinstance(value, str),
    FLAG: lambda value: isinstance(value, bool),
    LIST: lambda value: isinstance(value, list),
    OBJECT: lambda value: isinstance(value, dict),
    ETHERNET: _is_ethernet,
    FIELD: _is_field,
    KEY: lambda value: isinstance(value, str) and bool(re.fullmatch(r"([0-9a-fA-F]{2})+", value)),
}
MEANT = {ETHERNET: 'a number or text as "02:00:00:00:00:01"', FIELD: '"ports", "flow-label" or {"source-port": [low, high]}'}


def _members(where: str, given: object, kinds: Kinds, others: Iterable[str] = ()) -> dict[str, Any]:
    """The object, if it has these keys, each of its kind, and no others."""
    if not isinstance(given, dict):
        raise BadPlan(f"{where}: an object is meant, not {json.dumps(given)}")
    for key in kinds:
        if key not in given:
            raise BadPlan(f'{where}: "{key}" is missing')
    for key, value in given.items():
        if key not in kinds and key not in others:
            raise BadPlan(f'{where}: there is no key "{key}"; there are: {", ".join([*kinds, *others])}')
        _member(f'{where}: "{key}"', value, kinds.get(key, TEXT))
    return given


def _member(what: str, value: object, kind: str | tuple[str, ...]) -> None:
    if isinstance(kind, tuple):
        if value not in kind:
            raise BadPlan(f"{what} is {json.dumps(value)}: one of {', '.join(kind)} is meant")
    elif not IS[kind](value):
        if kind == KEY:  # a secret, which no message repeats
            raise BadPlan(f"{what}: an even number of hex digits is meant")
        raise BadPlan(f"{what} is {json.dumps(value)}: {MEANT.get(kind, kind)} is meant")


def _power_of_two(where: str, given: dict[str, Any], key: str) -> None:
    if given[key].bit_count() != 1:
        raise BadPlan(f'{where}: "{key}" is {given[key]}: a power of two is meant')


def _config(scheme: str, given: dict[str, Any]) -> None:
    """A scheme's parameters, as numbers."""
    if scheme not in CONFIGS:
        raise BadPlan(f'scheme "{scheme}": there are programs for {", ".join(CONFIGS)}')
    config = _members("config", given, CONFIGS[scheme], () if scheme == "ecmp" else OTHERS)
    if scheme == "cflb":
        digits = DIGITS[config["cipher"]]
        if len(config["key"]) < digits:
            raise BadPlan(f'config: "key" has {len(config["key"])} hex digits: {config["cipher"]} takes {digits}')
    for key in ("association_slots", "mapping_rows", "flowlet_slots"):
        if key in CONFIGS[scheme]:
            _power_of_two("config", config, key)


def _known(where: str, ports: object, numbers: set[int]) -> None:
    """Each of these is a port of the switch."""
    for port in ports if isinstance(ports, list) else [ports]:
        if port not in numbers:
            raise BadPlan(f"{where}: {json.dumps(port)} is no port of this switch; its ports: {', '.join(map(str, sorted(numbers)))}")


def _ports(given: list[Any]) -> set[int]:
    """The ports' numbers."""
    numbers = [_members(f"ports[{at}]", port, PORT)["number"] for at, port in enumerate(given)]
    for number in numbers:
        if numbers.count(number) > 1:
            raise BadPlan(f"ports: two have the number {number}")
    for at, port in enumerate(given):
        _known(f'ports[{at}]: "probe_ports"', port["probe_ports"], set(numbers))
    return set(numbers)


def _destination(where: str, given: object, tors: int, numbers: set[int]) -> None:
    to = _members(where, given, DESTINATION)
    try:
        ipaddress.ip_address(to["address"])
    except ValueError as error:
        raise BadPlan(f'{where}: "address": {error}') from error
    if to["tor"] >= tors:
        raise BadPlan(f'{where}: "tor" is {to["tor"]}: the fabric has {tors} ToRs, from 0')
    if to["port"] is not None:
        _known(f'{where}: "port"', to["port"], numbers)


def checked(given: object) -> dict[str, Any]:
    """The document. Raises BadPlan."""
    switch = _members("the file", given, SWITCH)
    switch["config"] = quantities.numbers(switch["config"])
    _config(switch["scheme"], switch["config"])
    numbers, tors = _ports(switch["ports"]), switch["tors"]
    if switch["tor"] is not None and switch["tor"] >= tors:
        raise BadPlan(f'"tor" is {switch["tor"]}: the fabric has {tors} ToRs, from 0')
    if len(switch["next_hops"]) != tors:
        raise BadPlan(f'"next_hops" has {len(switch["next_hops"])} lists: one for each of the {tors} ToRs is meant')
    for tor, hops in enumerate(switch["next_hops"]):
        _member(f"next_hops[{tor}]", hops, LIST)
        _known(f"next_hops[{tor}]", hops, numbers)
    for at, to in enumerate(switch["destinations"]):
        _destination(f"destinations[{at}]", to, tors, numbers)
    return switch
