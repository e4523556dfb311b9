"""The headers of a packet while a program works on it."""

from collections.abc import Sequence
from typing import Any, Protocol

Json = dict[str, Any]
# The width of a field whose length is in the packet.
VARIABLE = "*"


class Bits(Protocol):
    """Where the bits of headers come from."""

    def take(self, width: int) -> int:
        """The next bits."""


class Layout:
    """Headers of a program: their fields, widths in bits and numbers."""

    def __init__(self, program: Json) -> None:
        types = {entry["name"]: entry["fields"] for entry in program["header_types"]}
        self.fields: dict[str, list[Any]] = {header["name"]: types[header["header_type"]] for header in program["headers"]}
        self.widths = {(name, field[0]): field[1] for name, fields in self.fields.items() for field in fields}
        self.masks = {field: (1 << width) - 1 for field, width in self.widths.items() if width != VARIABLE}
        self.metadata = {header["name"] for header in program["headers"] if header["metadata"]}
        self.names: dict[int, str] = {header["id"]: header["name"] for header in program["headers"]}
        self.stacks = {stack["name"]: stack["header_ids"] for stack in program["header_stacks"]}


class PacketState:
    """Values of a packet's fields, those of metadata among them. All are zeros at first."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.values = dict.fromkeys(layout.widths, 0)
        self.valid = set(layout.metadata)
        self.filled = dict.fromkeys(layout.stacks, 0)
        self.variable: dict[str, tuple[int, int]] = {}
        self.copy: tuple[int, int] | None = None  # mirroring session and list of fields

    def field(self, header: str, name: str) -> int:
        """The value of a field; `$valid$` is whether the header is there."""
        return int(header in self.valid) if name == "$valid$" else self.values[header, name]

    def last_of_stack(self, stack: str, name: str) -> int:
        """A field of the header that was extracted last into a stack."""
        return self.values[self.layout.names[self.layout.stacks[stack][self.filled[stack] - 1]], name]

    def set(self, field: Sequence[str], value: int) -> None:
        """Sets a field, given by header and name; the value is cut to its width."""
        header, name = field
        self.values[header, name] = value & self.layout.masks[header, name]

    def extract(self, header: str, reader: Bits) -> None:
        """Takes the fields of a header from a packet."""
        fields = self.layout.fields[header]
        bits = sum(field[1] for field in fields)
        value = reader.take(bits)
        for field in fields:
            bits -= field[1]
            self.set((header, field[0]), value >> bits)
        self.valid.add(header)

    def next_of_stack(self, stack: str) -> str:
        """The header of a stack that is extracted next."""
        number = self.layout.stacks[stack][self.filled[stack]]
        self.filled[stack] += 1
        return self.layout.names[number]

    def emit(self, order: list[str]) -> bytes:
        """The headers that are there, in this order."""
        number = bits = 0
        for header in order:
            if header not in self.valid:
                continue
            parts = [self.variable[header]] if header in self.variable else self._parts(header)
            for value, width in parts:
                number, bits = number << width | value, bits + width
        return number.to_bytes(bits // 8, "big")

    def _parts(self, header: str) -> list[tuple[int, int]]:
        return [(self.values[header, field[0]], field[1]) for field in self.layout.fields[header]]
