"""Parsers of BMv2's JSON."""

import dataclasses
from collections.abc import Callable
from typing import Any

from expressions import Function, function
from packet_state import Json, Layout, PacketState


class ParseError(Exception):
    """The parser's verdict on a packet: number of the error."""


class Reader:
    """Bits of a packet from the front."""

    def __init__(self, data: bytes, too_short: int) -> None:
        self.number, self.bits, self.at, self.too_short = int.from_bytes(data, "big"), 8 * len(data), 0, too_short

    def take(self, width: int) -> int:
        """The next bits. Raises ParseError if there are fewer."""
        if self.at + width > self.bits:
            raise ParseError(self.too_short)
        self.at += width
        return self.number >> (self.bits - self.at) & ((1 << width) - 1)


Step = Callable[[PacketState, Reader], None]


@dataclasses.dataclass(frozen=True)
class Transition:
    """A state that follows for some values of the key; for any without a mask."""

    value: int
    mask: int
    to: str | None


class State:
    """A state of the parser."""

    def __init__(self, state: Json, layout: Layout) -> None:
        self.name: str = state["name"]
        self.steps = [_step(step["op"], step["parameters"]) for step in state["parser_ops"]]
        self.key = [(function(part), layout.widths[tuple(part["value"])]) for part in state["transition_key"]]
        bits = sum(width for _, width in self.key)
        self.transitions = [_transition(transition, bits) for transition in state["transitions"]]

    def next(self, packet: PacketState) -> tuple[int, str | None] | None:
        """The number of the transition that a packet takes, and the next state."""
        key = 0
        for part, width in self.key:
            key = key << width | part(packet, ())
        for number, transition in enumerate(self.transitions):
            if key & transition.mask == transition.value:
                return number, transition.to
        return None


class Parser:
    """A program's parser. `branches` gets the transitions that packets take."""

    def __init__(self, parser: Json, layout: Layout, branches: set[tuple[Any, ...]]) -> None:
        self.first: str = parser["init_state"]
        self.states = {state["name"]: State(state, layout) for state in parser["parse_states"]}
        self.branches = branches

    def parse(self, packet: PacketState, reader: Reader) -> None:
        """Reads the headers of a packet. Raises ParseError."""
        name: str | None = self.first
        while name is not None:
            state = self.states[name]
            for step in state.steps:
                step(packet, reader)
            taken = state.next(packet)
            if taken is None:
                return
            self.branches.add(("transition", name, taken[0]))
            name = taken[1]


def _transition(transition: Json, bits: int) -> Transition:
    if transition["type"] == "default":
        return Transition(0, 0, transition["next_state"])
    mask = int(transition["mask"], 16) if transition["mask"] else (1 << bits) - 1
    return Transition(int(transition["value"], 16) & mask, mask, transition["next_state"])


def _step(operation: str, parameters: list[Json]) -> Step:
    first = parameters[0]
    if operation == "extract" and first["type"] == "regular":
        return lambda packet, reader: packet.extract(first["value"], reader)
    if operation == "extract":
        return lambda packet, reader: packet.extract(packet.next_of_stack(first["value"]), reader)
    if operation == "extract_VL":
        return _extract_variable(first["value"], function(parameters[1]))
    if operation == "set":
        value = function(parameters[1])
        return lambda packet, _: packet.set(first["value"], value(packet, ()))
    if operation == "verify":
        return _verify(function(first), function(parameters[1]))
    raise NotImplementedError(operation)


def _extract_variable(header: str, width: Function) -> Step:
    def step(packet: PacketState, reader: Reader) -> None:
        bits = width(packet, ())
        packet.variable[header] = (reader.take(bits), bits)
        packet.valid.add(header)

    return step


def _verify(condition: Function, error: Function) -> Step:
    def step(packet: PacketState, _: Reader) -> None:
        if not condition(packet, ()):
            raise ParseError(error(packet, ()))

    return step
