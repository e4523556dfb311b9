"""Runs a program as p4c compiled it for BMv2, one packet at a time: parser, ingress, egress, deparser, tables, registers, counters.

No queues, no clock, no multicast, and only what Heddle's programs use: it is for machines without simple_switch, and no judge of BMv2."""

import dataclasses
import json
import pathlib
import random
from collections.abc import Callable, Sequence
from typing import Any

from expressions import Function, function
from heddle_p4.switch import Prefix
from packet_state import Json, Layout, PacketState
from parsing import ParseError, Parser, Reader

DROP_PORT = 511
INGRESS_COPY = 1
# Of each program, by its name, the branches that packets have taken (branches.py).
BRANCHES: dict[str, set[tuple[Any, ...]]] = {}
# A primitive operation of an action.
Primitive = Callable[[PacketState, Sequence[int]], None]


@dataclasses.dataclass(frozen=True)
class Jump:
    """A jump to a primitive operation of an action, unless an expression holds."""

    to: int
    unless: Function | None


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition of a pipeline, and the next nodes, by whether it holds."""

    holds: Function
    following: dict[bool, str | None]


class Pipeline:
    """The nodes of a pipeline by their names."""

    def __init__(self, pipeline: Json) -> None:
        self.first: str | None = pipeline["init_table"]
        self.tables = {table["name"]: table for table in pipeline["tables"]}
        self.conditions = {condition["name"]: self._condition(condition) for condition in pipeline["conditionals"]}

    @staticmethod
    def _condition(condition: Json) -> Condition:
        following = {True: condition["true_next"], False: condition["false_next"]}
        return Condition(function(condition["expression"]), following)


class Machine:
    """A program with its tables and registers."""

    def __init__(self, path: pathlib.Path) -> None:
        self.program: Json = json.loads(path.read_text())
        self.layout = Layout(self.program)
        self.errors = dict(self.program["errors"])
        self.actions = {action["id"]: action for action in self.program["actions"]}
        self.field_lists = {entry["id"]: entry["elements"] for entry in self.program.get("field_lists", [])}
        self.branches = BRANCHES.setdefault(path.stem, set())
        self.parser = Parser(self.program["parsers"][0], self.layout, self.branches)
        self.pipelines = {pipeline["name"]: Pipeline(pipeline) for pipeline in self.program["pipelines"]}
        self.steps: dict[int, list[Primitive | Jump]] = {}  # of the actions that packets have taken
        self.reset()

    def reset(self) -> None:
        """As if it had just been started; its random numbers are the same each time."""
        self.random = random.Random(1)
        registers = self.program["register_arrays"]
        self.registers = {entry["name"]: (entry["bitwidth"], [0] * entry["size"]) for entry in registers}
        self.copy_ports: dict[int, int] = {}
        self.copies: list[tuple[int, bytes]] = []
        self.counters: dict[tuple[str, int], int] = {}
        self.entries: dict[str, dict[Any, tuple[int, list[int]]]] = {}
        self.defaults: dict[str, tuple[int, list[int]]] = {}
        for pipeline in self.program["pipelines"]:
            for table in pipeline["tables"]:
                self.entries[table["name"]] = {self._constant_key(entry): self._constant_action(entry) for entry in table.get("entries", [])}
                default = table.get("default_entry")
                if default:
                    self.defaults[table["name"]] = (default["action_id"], [int(value, 16) for value in default["action_data"]])

    def _constant_key(self, entry: Json) -> tuple[int, ...]:
        return tuple(int(part["key"], 16) for part in entry["match_key"])

    def _constant_action(self, entry: Json) -> tuple[int, list[int]]:
        action = entry["action_entry"]
        return action["action_id"], [int(value, 16) for value in action["action_data"]]

    def process(self, port: int, frame: bytes) -> tuple[int, bytes]:
        """The port by which a frame leaves, DROP_PORT for none, and the frame as it leaves. `copies` has the copies that the program made of it."""
        self.copies.clear()
        packet, rest = self._parsed(port, frame)
        self._pipeline(packet, "ingress")
        if packet.copy:
            self._copy(packet, packet.copy, port, frame)
        egress_port = packet.field("standard_metadata", "egress_spec")
        return egress_port, self._egress(packet, egress_port) + rest

    def _copy(self, packet: PacketState, wanted: tuple[int, int], port: int, frame: bytes) -> None:
        """A copy of a packet as it came, with some of its metadata, by the port of a mirroring session."""
        session, fields = wanted
        if session not in self.copy_ports:
            return
        copy, rest = self._parsed(port, frame)
        for element in self.field_lists[fields]:
            copy.set(element["value"], packet.field(*element["value"]))
        copy.set(("standard_metadata", "instance_type"), INGRESS_COPY)
        self.copies.append((self.copy_ports[session], self._egress(copy, self.copy_ports[session]) + rest))

    def _parsed(self, port: int, frame: bytes) -> tuple[PacketState, bytes]:
        """A frame's headers, and what is behind them."""
        packet = PacketState(self.layout)
        reader = Reader(frame, self.errors["PacketTooShort"])
        packet.set(("standard_metadata", "ingress_port"), port)
        try:
            self.parser.parse(packet, reader)
        except ParseError as error:
            packet.set(("standard_metadata", "parser_error"), error.args[0])
        return packet, frame[reader.at // 8 :]

    def _egress(self, packet: PacketState, port: int) -> bytes:
        """The headers of a packet as it leaves by a port."""
        packet.set(("standard_metadata", "egress_port"), port)
        self._pipeline(packet, "egress")
        return packet.emit(self.program["deparsers"][0]["order"])

    def _pipeline(self, packet: PacketState, name: str) -> None:
        pipeline = self.pipelines[name]
        node = pipeline.first
        while node is not None:
            if node in pipeline.conditions:
                condition = pipeline.conditions[node]
                holds = bool(condition.holds(packet, ()))
                self.branches.add(("condition", node, holds))
                node = condition.following[holds]
            else:
                node = self._table(packet, pipeline.tables[node])

    def _table(self, packet: PacketState, table: Json) -> str | None:
        """Applies a table; returns the next node."""
        found = self._lookup(packet, table)
        chosen = found or self.defaults.get(table["name"])
        if chosen:
            self.branches.add(("table", table["name"], chosen[0]))
            self._action(packet, *chosen)
        following: dict[str, str | None] = table["next_tables"]
        if "__HIT__" in following:
            return following["__HIT__" if found else "__MISS__"]
        return following[self.actions[chosen[0]]["name"]] if chosen else table["base_default_next"]

    def _lookup(self, packet: PacketState, table: Json) -> tuple[int, list[int]] | None:
        key = tuple(packet.field(*part["target"]) for part in table["key"])
        entries = self.entries[table["name"]]
        if not table["key"] or table["key"][0]["match_type"] != "lpm":
            return entries.get(key)
        width = self.layout.widths[tuple(table["key"][0]["target"])]
        for bits in range(width, -1, -1):
            found = entries.get((Prefix(key[0] >> (width - bits) << (width - bits), bits),))
            if found:
                return found
        return None

    def _action(self, packet: PacketState, number: int, data: list[int]) -> None:
        if number not in self.steps:
            self.steps[number] = [self._step(step["op"], step["parameters"]) for step in self.actions[number]["primitives"]]
        steps, at = self.steps[number], 0
        while at < len(steps):
            step = steps[at]
            if isinstance(step, Jump):
                holds = step.unless is not None and bool(step.unless(packet, data))
                if step.unless is not None:
                    self.branches.add(("jump", number, at, holds))
                at = at + 1 if holds else step.to
            else:
                step(packet, data)
                at += 1

    def _step(self, name: str, parameters: list[Json]) -> Primitive | Jump:
        values = [parameter["value"] for parameter in parameters]
        makers: dict[str, Callable[[], Primitive | Jump]] = {
            "_jump": lambda: Jump(int(values[0], 16), None),
            "_jump_if_zero": lambda: Jump(int(values[1], 16), function(parameters[0])),
            "assign": lambda: self._assignment(values[0], function(parameters[1])),
            "register_read": lambda: self._register_read(values[0], values[1], function(parameters[2])),
            "register_write": lambda: self._register_write(values[0], function(parameters[1]), function(parameters[2])),
            "count": lambda: self._count(values[0], function(parameters[1])),
            "modify_field_rng_uniform": lambda: self._random(values[0], function(parameters[1]), function(parameters[2])),
            "add_header": lambda: lambda packet, _: packet.valid.add(values[0]),
            "remove_header": lambda: lambda packet, _: packet.valid.discard(values[0]),
            "clone_ingress_pkt_to_egress": lambda: self._clone(int(values[0], 16), int(values[1], 16)),
            "mark_to_drop": lambda: lambda packet, _: packet.set(("standard_metadata", "egress_spec"), DROP_PORT),
        }
        if name not in makers:
            raise NotImplementedError(name)
        return makers[name]()

    def _assignment(self, field: Sequence[str], value: Function) -> Primitive:
        header, name = field
        mask = self.layout.masks[header, name]

        def step(packet: PacketState, data: Sequence[int]) -> None:
            packet.values[header, name] = value(packet, data) & mask

        return step

    def _register_read(self, field: Sequence[str], register: str, index: Function) -> Primitive:
        return self._assignment(field, lambda packet, data: self.registers[register][1][index(packet, data)])

    def _register_write(self, register: str, index: Function, value: Function) -> Primitive:
        def step(packet: PacketState, data: Sequence[int]) -> None:
            width, cells = self.registers[register]
            cells[index(packet, data)] = value(packet, data) & ((1 << width) - 1)

        return step

    def _count(self, counter: str, index: Function) -> Primitive:
        def step(packet: PacketState, data: Sequence[int]) -> None:
            cell = (counter, index(packet, data))
            self.counters[cell] = self.counters.get(cell, 0) + 1

        return step

    @staticmethod
    def _clone(session: int, fields: int) -> Primitive:
        def step(packet: PacketState, _: Sequence[int]) -> None:
            packet.copy = (session, fields)

        return step

    def _random(self, field: Sequence[str], least: Function, most: Function) -> Primitive:
        return self._assignment(field, lambda packet, data: self.random.randint(least(packet, data), most(packet, data)))
