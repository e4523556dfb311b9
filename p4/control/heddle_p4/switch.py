"""One interface to a BMv2 switch, whichever protocol is behind it."""

import abc
import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Protocol

Values = dict[str, int]


@dataclasses.dataclass(frozen=True)
class Prefix:
    """A key of a longest-prefix match: the address and the number of its leading bits that count."""

    address: int
    bits: int


Key = int | Prefix


class NotConnected(Exception):
    """No switch answers yet: it is still starting, or has ended."""


class NotServed(Exception):
    """The switch does not offer this by its protocol."""


class CpuPort(Protocol):
    """The control plane's end of a switch's CPU port."""

    def send(self, frame: bytes) -> None:
        """Gives the switch a frame, as if it had arrived by the CPU port."""

    def receive(self, timeout: float) -> bytes | None:
        """The next frame that the switch has sent to its CPU port; None if none comes for so many seconds."""


class Switch(abc.ABC):
    """A running switch. Tables, actions, counters and registers are given by their last names in the P4 program."""

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """What is set in this context is in the switch at its end, and maybe not before. A key is set once in it."""
        yield

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
    def has_counter(self, name: str) -> bool:
        """True if its program has a counter of this name."""

    @abc.abstractmethod
    def now(self) -> int:
        """The switch's clock in ns, whose times its registers have. Raises NotServed."""

    @abc.abstractmethod
    def counter(self, name: str, index: int) -> int:
        """Packets that a counter has counted."""

    @abc.abstractmethod
    def register(self, name: str, index: int) -> int:
        """The unsigned value of a cell of a register. Raises NotServed."""

    @abc.abstractmethod
    def write_register(self, name: str, index: int, value: int) -> None:
        """Sets a cell of a register. Raises NotServed."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Sets registers and counters to zeros and empties tables and groups."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the session. The switch keeps its tables."""
