"""Runs a program as p4c compiled it for BMv2, one packet at a time: parser, ingress, egress, deparser, tables, registers, counters.

No queues, no clock, no multicast, and only what Heddle's programs use: it is for machines without simple_switch, and no judge of BMv2."""

import json
import pathlib
import random
from typing import Any

from expressions import evaluate
from heddle_p4.switch import Prefix
from packet_state import Json, Layout, PacketState

DROP_PORT = 511
INGRESS_COPY = 1
# Of each program, by its name, the branches that packets have taken (branches.py).
BRANCHES: dict[str, set[tuple[Any, ...]]] = {}


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


class Machine:
    """A program with its tables and registers."""

    def __init__(self, path: pathlib.Path) -> None:
        self.program: Json = json.loads(path.read_text())
        self.layout = Layout(self.program)
        self.errors = dict(self.program["errors"])
        self.states = {state["name"]: state for state in self.program["parsers"][0]["parse_states"]}
        self.actions = {action["id"]: action for action in self.program["actions"]}
        self.field_lists = {entry["id"]: entry["elements"] for entry in self.program.get("field_lists", [])}
        self.branches = BRANCHES.setdefault(path.stem, set())
        self.pipelines = {pipeline["name"]: pipeline for pipeline in self.program["pipelines"]}
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
            self._parse(packet, reader)
        except ParseError as error:
            packet.set(("standard_metadata", "parser_error"), error.args[0])
        return packet, frame[reader.at // 8 :]

    def _egress(self, packet: PacketState, port: int) -> bytes:
        """The headers of a packet as it leaves by a port."""
        packet.set(("standard_metadata", "egress_port"), port)
        self._pipeline(packet, "egress")
        return packet.emit(self.program["deparsers"][0]["order"])

    def _parse(self, packet: PacketState, reader: Reader) -> None:
        name = self.program["parsers"][0]["init_state"]
        while name is not None:
            state = self.states[name]
            for step in state["parser_ops"]:
                self._parser_step(packet, reader, step["op"], step["parameters"])
            name = self._next_state(packet, state)

    def _parser_step(self, packet: PacketState, reader: Reader, operation: str, parameters: list[Json]) -> None:
        first = parameters[0]
        if operation == "extract":
            header = first["value"] if first["type"] == "regular" else packet.next_of_stack(first["value"])
            bits = sum(field[1] for field in self.layout.fields[header])
            value = reader.take(bits)
            for field, width in ((field[0], field[1]) for field in self.layout.fields[header]):
                bits -= width
                packet.set((header, field), value >> bits)
            packet.valid.add(header)
        elif operation == "extract_VL":
            bits = evaluate(parameters[1], packet)
            packet.variable[first["value"]] = (reader.take(bits), bits)
            packet.valid.add(first["value"])
        elif operation == "set":
            packet.set(first["value"], evaluate(parameters[1], packet))
        elif operation == "verify":
            if not evaluate(first, packet):
                raise ParseError(evaluate(parameters[1], packet))
        else:
            raise NotImplementedError(operation)

    def _next_state(self, packet: PacketState, state: Json) -> str | None:
        key = bits = 0
        for part in state["transition_key"]:
            width = self.layout.widths[tuple(part["value"])]
            key, bits = key << width | evaluate(part, packet), bits + width
        for number, transition in enumerate(state["transitions"]):
            next_state: str | None = transition["next_state"]
            mask = int(transition["mask"], 16) if transition["mask"] else (1 << bits) - 1
            if transition["type"] == "default" or key & mask == int(transition["value"], 16) & mask:
                self.branches.add(("transition", state["name"], number))
                return next_state
        return None

    def _pipeline(self, packet: PacketState, name: str) -> None:
        pipeline = self.pipelines[name]
        tables = {table["name"]: table for table in pipeline["tables"]}
        conditions = {condition["name"]: condition for condition in pipeline["conditionals"]}
        node = pipeline["init_table"]
        while node is not None:
            if node in conditions:
                holds = evaluate(conditions[node]["expression"], packet)
                self.branches.add(("condition", node, bool(holds)))
                node = conditions[node]["true_next" if holds else "false_next"]
            else:
                node = self._table(packet, tables[node])

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
        steps = self.actions[number]["primitives"]
        at = 0
        while at < len(steps):
            operation, parameters = steps[at]["op"], steps[at]["parameters"]
            at += 1
            if operation == "_jump":
                at = evaluate(parameters[0], packet, data)
            elif operation == "_jump_if_zero":
                holds = evaluate(parameters[0], packet, data)
                self.branches.add(("jump", number, at - 1, bool(holds)))
                at = at if holds else evaluate(parameters[1], packet, data)
            else:
                self._primitive(packet, operation, parameters, data)

    def _primitive(self, packet: PacketState, name: str, parameters: list[Json], data: list[int]) -> None:
        values = [parameter["value"] for parameter in parameters]
        if name == "assign":
            packet.set(values[0], evaluate(parameters[1], packet, data))
        elif name == "register_read":
            packet.set(values[0], self.registers[values[1]][1][evaluate(parameters[2], packet, data)])
        elif name == "register_write":
            width, cells = self.registers[values[0]]
            cells[evaluate(parameters[1], packet, data)] = evaluate(parameters[2], packet, data) & ((1 << width) - 1)
        elif name == "count":
            cell = (values[0], evaluate(parameters[1], packet, data))
            self.counters[cell] = self.counters.get(cell, 0) + 1
        elif name == "modify_field_rng_uniform":
            packet.set(values[0], self.random.randint(*(evaluate(parameter, packet, data) for parameter in parameters[1:])))
        elif name == "add_header":
            packet.valid.add(values[0])
        elif name == "remove_header":
            packet.valid.discard(values[0])
        elif name == "clone_ingress_pkt_to_egress":
            packet.copy = (int(values[0], 16), int(values[1], 16))
        elif name == "mark_to_drop":
            packet.set(("standard_metadata", "egress_spec"), DROP_PORT)
        else:
            raise NotImplementedError(name)
