"""MP-HULA's part of state.py, which is Shuttle's, too."""

from collections.abc import Iterator
from typing import Any

from heddle_p4.switch import Switch
from state import BEST_HOPS, NONE

SUBFLOWS = 16
Json = dict[str, Any]


def _best_hops(switch: Switch, tor: int) -> Iterator[int]:
    known = switch.register("best_known", tor)
    yield known
    for place in range(tor * BEST_HOPS, tor * BEST_HOPS + known):
        yield switch.register("best_port", place)
        yield switch.register("best_util", place)
        yield switch.register("best_updated", place)
    yield switch.register("probe_sent_once", tor)
    yield switch.register("probe_sent", tor)


def _two(switch: Switch, upper: str, lower: str, index: int) -> int:
    """The word of 64 bits of which two registers have halves."""
    return switch.register(upper, index) << 32 | switch.register(lower, index)


def _flowlet(switch: Switch, slot: int) -> Iterator[int]:
    yield switch.register("flowlet_last", slot)
    yield (switch.register("flowlet_next_port", slot) - 1) & NONE
    yield _two(switch, "flowlet_token_a", "flowlet_token_b", slot)
    yield switch.register("flowlet_subflow", slot)
    yield switch.register("flowlet_tor", slot)


def _none_below(value: int) -> int:
    """A slot number that is stored + 1."""
    return (value - 1) & 0xFFFFFFFF


def _subflow(switch: Switch, slot: int) -> Iterator[int]:
    entry = switch.register("subflow_entry", slot)
    number = entry >> 16 & 0xFF
    yield number
    if number:
        yield entry >> 24
        yield _two(switch, "subflow_token_a", "subflow_token_b", slot)
        yield entry >> 8 & 0xFF
        yield switch.register("subflow_seen", slot)
        yield entry & 0xFF


def _key(switch: Switch, slot: int) -> Iterator[int]:
    entry = switch.register("key_entry", slot)
    yield entry >> 16
    if entry >> 16:
        yield entry & 0xFFFF
        yield _two(switch, "key_upper", "key_lower", slot)
        yield switch.register("key_since", slot)


def mp_hula_words(switch: Switch, trace: Json) -> Iterator[int]:
    """The words of vectors/schemes/README.md."""
    (config,) = trace["config"].values()
    for tor in range(trace["switch"]["tors"]):
        yield from _best_hops(switch, tor)
    for slot in range(config["flowlet_slots"]):
        yield from _flowlet(switch, slot)
    for place in range(config["mapping_rows"] * SUBFLOWS):
        yield _none_below(switch.register("mapping_next_slot", place))
    if trace["switch"]["tor"] is None:
        return
    slots = config["association_slots"]
    for slot in range(slots):
        yield from _subflow(switch, slot)
    for index in range(2 * slots):
        yield _none_below(switch.register("token_next_slot", index))
    for slot in range(slots):
        yield from _key(switch, slot)
