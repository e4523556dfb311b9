"""A switch that interpreter.py runs, behind the interface of the control plane and that of a bench."""

import contextlib
import pathlib
from collections.abc import Iterator

from heddle_p4.program import Program
from heddle_p4.switch import Key, Switch, Values
from interpreter import Machine


class InterpretedSwitch(Switch):
    """Tables are written by the same code as a switch's by Thrift."""

    def __init__(self, path: pathlib.Path) -> None:
        self.program = Program(path)
        self.machine = Machine(path)
        self.groups: dict[int, tuple[int, ...]] = {}
        self.clock = 0  # ns: the interpreter has none of its own

    def _action(self, table: str, action: str, values: Values) -> tuple[str, tuple[int, list[int]]]:
        found = self.program.table(table)
        chosen = found.actions[action]
        chosen.data(values)
        numbers = {entry["name"]: entry["action_ids"] for pipe in self.program.json["pipelines"] for entry in pipe["tables"]}
        number = next(number for number in numbers[found.name] if self.machine.actions[number]["name"] == chosen.name)
        return found.name, (number, [values[name] for name, _ in chosen.parameters])

    def set_default(self, table: str, action: str, values: Values) -> None:
        name, entry = self._action(table, action, values)
        self.machine.defaults[name] = entry

    def set_entry(self, table: str, key: tuple[Key, ...], action: str, values: Values) -> None:
        name, entry = self._action(table, action, values)
        self.machine.entries[name][key] = entry

    def delete_entry(self, table: str, key: tuple[Key, ...]) -> None:
        self.machine.entries[self.program.table(table).name].pop(key, None)

    def set_group(self, group: int, ports: tuple[int, ...]) -> None:
        self.groups[group] = ports

    def set_copies(self, session: int, port: int) -> None:
        self.machine.copy_ports[session] = port

    def has_counter(self, name: str) -> bool:
        return name in self.program.counters

    def now(self) -> int:
        return self.clock

    def counter(self, name: str, index: int) -> int:
        return self.machine.counters.get((self.program.counters[name], index), 0)

    def register(self, name: str, index: int) -> int:
        return self.machine.registers[self.program.registers[name][0]][1][index]

    def write_register(self, name: str, index: int, value: int) -> None:
        self.machine.registers[self.program.registers[name][0]][1][index] = value

    def reset(self) -> None:
        self.machine.reset()
        self.groups.clear()

    def close(self) -> None:
        """Nothing is open."""


class InterpretedBench:
    """Frames in, frames out, as bmv2.Bench."""

    def __init__(self, switch: InterpretedSwitch) -> None:
        self.switch = switch
        self.left: list[tuple[int, bytes]] = []

    def send(self, port: int, frame: bytes) -> None:
        """Gives the switch a frame."""
        self.left.append(self.switch.machine.process(port, frame))
        self.left += self.switch.machine.copies

    def receive(self, port: int, _timeout: float = 0) -> bytes | None:
        """The next frame that has left by a port; None if there is none."""
        for number, (left_by, frame) in enumerate(self.left):
            if left_by == port:
                del self.left[number]
                return frame
        return None


@contextlib.contextmanager
def bench(json_file: pathlib.Path) -> Iterator[InterpretedBench]:
    """Loads a program."""
    yield InterpretedBench(InterpretedSwitch(json_file))
