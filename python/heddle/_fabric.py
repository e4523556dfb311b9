"""Fabrics: their paths, and the header fields that name them (CFLB)."""

from os import PathLike
from typing import NamedTuple

from heddle import _core
from heddle._settings import Settings, toml


class Path(NamedTuple):
    """A path between two hosts."""

    number: int
    """Its number among the pair's paths, from 0, in the order of next hops."""
    nodes: list[str]
    """The sender, the routers, the receiver."""
    next_hops: list[int]
    """The next hop that each router chooses, from 0."""
    out_of: list[int]
    """The number of next hops at each router."""


class Encoded(NamedTuple):
    """Header fields that make a flow take a path."""

    source_port: int
    destination_port: int
    flow_label: int
    ttl: int


class Step(NamedTuple):
    """A router on a packet's way."""

    router: str
    ttl: int
    """The TTL with which the packet comes."""
    to: str
    next_hop: int
    next_hops: int


class Decoded(NamedTuple):
    """A packet's way through the fabric."""

    path: int | None
    """The number of its path; None if it is lost."""
    outcome: str
    """``delivered``, ``ttl-expired`` or ``no-route``."""
    steps: list[Step]


class Fabric:
    """A fabric whose routers read next hops from a packet's header fields by a key (CFLB), as ``heddle path`` has it.

    >>> import heddle as hd
    >>> fabric = hd.Fabric("scenarios/fabrics/fat-tree-8.toml", key="00" * 16)  # doctest: +SKIP
    >>> [path.number for path in fabric.disjoint("host-1", "host-128", 2)]  # doctest: +SKIP
    [0, 5]

    Args:
        file: a fabric file.
        key: the key in hexadecimal digits; that of the file's ``cflb.key_file`` unless given. Finding paths needs none.
        set: settings by key: ``{"fabric.failed": ["core-1"]}``.

    Raises:
        ScenarioError: something is wrong with the file; the message names line and fix.
        OSError: it cannot be read.
        ValueError: the key is none.
    """

    def __init__(self, file: str | PathLike[str], *, key: str | None = None, set: Settings | None = None) -> None:
        self._file = str(file)
        self._core = _core.Fabric(file, [(name, toml(value)) for name, value in (set or {}).items()], key)

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts."""
        return self._core.hosts

    def count(self, source: str, destination: str) -> int:
        """The number of load-balanced paths between two hosts, by name or address.

        Raises:
            ValueError: there is no such host, or no path.
        """
        return self._core.count(source, destination)

    def paths(self, source: str, destination: str, most: int = 64) -> list[Path]:
        """The first paths between two hosts, at most so many, in the order of their numbers.

        Raises:
            ValueError: as for :meth:`count`.
        """
        return [Path(*parts) for parts in self._core.paths(source, destination, most)]

    def disjoint(self, source: str, destination: str, most: int) -> list[Path]:
        """Paths that share no link between routers, at most so many.

        Raises:
            ValueError: as for :meth:`count`.
        """
        return [Path(*parts) for parts in self._core.disjoint(source, destination, most)]

    def encode(
        self,
        source: str,
        destination: str,
        path: int,
        *,
        protocol: int = 6,
        source_port: int = 0,
        destination_port: int = 0,
    ) -> Encoded:
        """Header fields that make a flow take the path of a number.

        Args:
            protocol: the protocol's number; TCP unless given.
            source_port, destination_port: the flow's own, where the fabric names no paths by them.

        Raises:
            HeddleError: the fabric has no key.
            ValueError: there is no such host or path, or no header fields name it.
        """
        return Encoded(*self._core.encode(source, destination, path, protocol, (source_port, destination_port)))

    def decode(
        self,
        source: str,
        destination: str,
        *,
        source_port: int,
        destination_port: int,
        protocol: int = 6,
        flow_label: int = 0,
        ttl: int | None = None,
    ) -> Decoded:
        """The way of a packet, router by router. Without a TTL it has the fabric's own.

        Raises:
            HeddleError, ValueError: as for :meth:`encode`.
        """
        ports = (source_port, destination_port)
        path, outcome, steps = self._core.decode(source, destination, protocol, ports, flow_label, ttl)
        return Decoded(path, outcome, [Step(*step) for step in steps])

    def __repr__(self) -> str:
        return f"<heddle.Fabric of {self._file}: {len(self.hosts)} hosts>"
