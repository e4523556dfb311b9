"""One interface to a BMv2 switch, whichever protocol is behind it."""

import abc
import dataclasses

Values = dict[str, int]


@dataclasses.dataclass(frozen=True)
class Prefix:
    """A key of a longest-prefix match: the address and the number of its leading bits that count."""

    address: int
    bits: int


Key = int | Prefix


class Switch(abc.ABC):
    """A running switch. Tables, actions, counters and registers are given by their last names in the P4 program."""

    @abc.abstractmethod
    def has_table(self, table: str) -> bool:
        """True if its program has a table of this name."""

    @abc.abstractmethod
    def set_default(self, table: str, action: str, values: Values) -> None:
        """Sets the action of a table for packets without an entry."""

    @abc.abstractmethod
    def set_entry(self, table: str, key: tuple[Key, ...], action: str, values: Values) -> None:
        """Adds an entry, or changes the action of the one with this key."""

    @abc.abstractmethod
    def delete_entry(self, table: str, key: tuple[Key, ...]) -> None:
        """Removes an entry; none is no error."""

    @abc.abstractmethod
    def set_group(self, group: int, ports: tuple[int, ...]) -> None:
        """Makes a multicast group of these ports, or changes the group with this number."""

    @abc.abstractmethod
    def set_copies(self, session: int, port: int) -> None:
        """Sends the copies that the program makes for a mirroring session to a port."""

    @abc.abstractmethod
    def counter(self, name: str, index: int) -> int:
        """Packets that a counter has counted."""

    @abc.abstractmethod
    def register(self, name: str, index: int) -> int:
        """The unsigned value of a cell of a register."""

    @abc.abstractmethod
    def write_register(self, name: str, index: int, value: int) -> None:
        """Sets a cell of a register."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Sets registers and counters to zeros and empties tables and groups."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the session. The switch keeps its tables."""
