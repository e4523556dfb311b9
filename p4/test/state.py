"""The state of a switch as words of vectors/schemes/README.md, read from its registers, and their digest."""

from collections.abc import Iterator
from typing import Any

from heddle_p4 import status
from heddle_p4.switch import Switch

BEST_HOPS = 8
NONE = 0xFFFF
Json = dict[str, Any]


def digest(words: list[int]) -> str:
    """64-bit FNV-1a over the words' bytes, the lowest first."""
    value = 0xCBF29CE484222325
    for word in words:
        for byte in word.to_bytes(8, "little"):
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def best(switch: Switch, scheme: str, tor: int) -> list[list[int]]:
    """The next hops known towards a ToR, best first: port and utilisation."""
    return [[port, util] for port, util, _ in status.best_hops(switch, scheme, tor)]


def _suppression(switch: Switch, tor: int) -> list[int]:
    return [switch.register("probe_sent_once", tor), switch.register("probe_sent", tor)]


def _hula(switch: Switch, trace: Json) -> Iterator[int]:
    for tor in range(trace["switch"]["tors"]):
        port = switch.register("best_next_port", tor)
        yield (port - 1) % 2**16
        yield switch.register("best_util", tor) if port else NONE
        yield switch.register("best_updated", tor)
        yield from _suppression(switch, tor)
    for slot in range(trace["config"]["hula"]["flowlet_slots"]):
        yield from _flowlet(switch, slot)


def _flowlet(switch: Switch, slot: int) -> list[int]:
    return [switch.register("flowlet_last", slot), (switch.register("flowlet_next_port", slot) - 1) % 2**16]


def _dre(switch: Switch) -> list[int]:
    return [switch.register("meter_bytes", 0), switch.register("meter_last", 0)]


def words(switch: Switch, trace: Json) -> list[int]:
    """All words of a trace's scheme."""
    scheme = next(iter(trace["config"]))
    if scheme == "hula":
        return list(_hula(switch, trace))
    if scheme in ("mp-hula", "shuttle"):
        from mp_hula_state import mp_hula_words

        return list(mp_hula_words(switch, trace))
    return _dre(switch) if scheme == "dre" else []
