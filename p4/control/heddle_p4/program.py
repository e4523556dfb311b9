"""A compiled program, as p4c's JSON for BMv2 describes it: tables with the widths of their keys, actions with those of their parameters."""

import dataclasses
import hashlib
import io
import json
import os
import pathlib
import tarfile
import tempfile
from typing import Any

ARCHIVE = "compiled.tar.xz"
# Of ./x, which `./x clean` removes.
UNPACKED = pathlib.Path(__file__).resolve().parents[3] / "target" / "p4"


def unpacked(folder: pathlib.Path) -> pathlib.Path:
    """The folder with what p4c made of the sources in `folder`. It is unpacked once for each content of the archive."""
    archive = (folder / ARCHIVE).read_bytes()
    target = UNPACKED / f"{folder.name}-{hashlib.sha256(archive).hexdigest()[:16]}"
    if not target.is_dir():
        UNPACKED.mkdir(parents=True, exist_ok=True)
        # The switches of a lab start together: the first one to rename its folder wins.
        with tempfile.TemporaryDirectory(dir=UNPACKED, ignore_cleanup_errors=True) as parent:
            fresh = pathlib.Path(parent, "fresh")
            fresh.mkdir()
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                for file in files.getmembers():
                    content = files.extractfile(file)
                    assert content, f"{file.name} is no file"
                    (fresh / file.name).write_bytes(content.read())
            try:
                os.rename(fresh, target)
            except OSError:
                if not target.is_dir():
                    raise
    return target


@dataclasses.dataclass(frozen=True)
class Action:
    """An action: its full name, and name and bits of each parameter."""

    name: str
    parameters: tuple[tuple[str, int], ...]

    def data(self, values: dict[str, int]) -> list[bytes]:
        """The parameters' values, each in as many bytes as it has room for."""
        if set(values) != {name for name, _ in self.parameters}:
            raise ValueError(f"{self.name} takes {[name for name, _ in self.parameters]}, not {sorted(values)}")
        return [to_bytes(values[name], bits) for name, bits in self.parameters]


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: its full name, the kind and the bits of each part of its key, and its actions by their last names."""

    name: str
    keys: tuple[tuple[str, int], ...]
    actions: dict[str, Action]


def to_bytes(value: int, bits: int) -> bytes:
    """A number in network order. Raises OverflowError for one that does not fit."""
    if value >> bits:
        raise OverflowError(f"{value} has more than {bits} bits")
    return value.to_bytes((bits + 7) // 8, "big")


def last_name(name: str) -> str:
    """`set_port` of `SwitchIngress.configure.set_port`."""
    return name.rsplit(".", 1)[-1]


class Program:
    """Tables, counters and registers of a program by their last names, which are unique."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.json: dict[str, Any] = json.loads(path.read_text())
        actions = {entry["id"]: self._action(entry) for entry in self.json["actions"]}
        self.tables = {table.name: table for table in self._tables(actions)}
        self.counters = {last_name(entry["name"]): entry["name"] for entry in self.json["counter_arrays"]}
        self.registers = {last_name(entry["name"]): (entry["name"], entry["size"]) for entry in self.json["register_arrays"]}

    @staticmethod
    def _action(entry: dict[str, Any]) -> Action:
        return Action(entry["name"], tuple((parameter["name"], parameter["bitwidth"]) for parameter in entry["runtime_data"]))

    def _tables(self, actions: dict[int, Action]) -> list[Table]:
        widths = self._field_widths()
        return [
            Table(
                entry["name"],
                tuple((key["match_type"], widths[tuple(key["target"])]) for key in entry["key"]),
                {last_name(actions[number].name): actions[number] for number in entry["action_ids"]},
            )
            for pipeline in self.json["pipelines"]
            for entry in pipeline["tables"]
        ]

    def _field_widths(self) -> dict[tuple[str, ...], int]:
        types = {entry["name"]: {field[0]: field[1] for field in entry["fields"]} for entry in self.json["header_types"]}
        return {
            (header["name"], field): bits
            for header in self.json["headers"]
            for field, bits in types[header["header_type"]].items()
            if isinstance(bits, int)
        }

    def table(self, name: str) -> Table:
        """The table with this last name."""
        found = [table for table in self.tables.values() if last_name(table.name) == name]
        if len(found) != 1:
            raise KeyError(f"{self.path.name} has {len(found)} tables named {name}")
        return found[0]
