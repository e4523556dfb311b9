"""Schemes written in Python: to try an idea before it is ported to Rust or C."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeGuard

from heddle import _core
from heddle._core import Handshake, Packet, Ports, Probe, ProbeArrival, Step, Switch


class Scheme:
    """A load-balancing scheme: derive a class, and give it to a scenario, ``hd.run(scenario, scheme=MyScheme)``.

    An object is one switch. The engine makes them, and calls the methods that the class has; :meth:`forward` is the least. They are the steps of the
    simulator's own schemes (``heddle_policy::Scheme``), and run in its order. An exception ends the run, which raises it.

    A seed gives the same run each time if the methods use nothing but their arguments and the object: no clock, no files, no ``random``
    (``step.random`` has random bits), no iteration over sets of texts.

    Attributes of the class that are whole numbers are its parameters: ``set={"scheme.parameters.choices": 3}`` sets ``choices``, and a quantity is
    nanoseconds, bytes or bits per second.

    Attributes:
        name: of the scheme in tables and reports; the class's unless given.
        probe_period: time between two probes of a ToR in nanoseconds; 0 without probes.
        tau: time constant of :meth:`Ports.tx_util` in nanoseconds, rounded up to a power of two.
        uses_shim: whether packets get a shim of 12 bytes between ToRs, by ``packet.subflow`` and ``packet.connection``.
        switch: this switch.
    """

    name: ClassVar[str] = ""
    probe_period: ClassVar[int] = 0
    tau: ClassVar[int] = 0
    uses_shim: ClassVar[bool] = False

    def __init__(self, switch: Switch) -> None:
        self.switch = switch

    def forward(self, step: Step, packet: Packet, next_hops: tuple[int, ...], ports: Ports) -> int:
        """One of ``next_hops``, of which there is at least one, for a data packet to another ToR."""
        raise NotImplementedError

    def egress(self, step: Step, packet: Packet) -> None:
        """A data packet from the fabric at its destination ToR."""

    def handshake(self, step: Step, packet: Handshake) -> None:
        """A packet that opens or closes a connection or a subflow, at a ToR of either end, before the packet itself."""

    def originate(self, step: Step) -> Probe | None:
        """The probe that a ToR sends on each uplink, once in a ``probe_period``."""

    def probe(self, step: Step, arrival: ProbeArrival, ports: Ports) -> Probe | None:
        """A received probe: returns the one to replicate to the multicast group, or None."""

    def state_bytes(self) -> int:
        """Bytes of state that this switch would hold in its tables."""
        return 0

    def counters(self) -> Mapping[str, int]:
        """Events so far by the names of the results' counters: ``flowlets``, ``moves``, ``fallbacks``, ``probes`` and so on."""
        return {}

    @classmethod
    def _configured(cls, parameters: Mapping[str, int]) -> "type[Scheme]":
        """The class with other values of its parameters."""
        known = sorted(name for name in dir(cls) if name[0] != "_" and isinstance(getattr(cls, name), int))
        for name in parameters:
            if name not in known:
                raise TypeError(f"no parameter is called `{name}`: {cls.__name__} has {', '.join(known)}")
        typed = {name: type(getattr(cls, name))(value) for name, value in parameters.items()}
        return type(cls.__name__, (cls,), typed)


def is_scheme(value: object) -> TypeGuard[type[Scheme]]:
    """Whether a value is a class that can be a scenario's scheme."""
    return isinstance(value, type) and issubclass(value, Scheme)


def cost(runs: Iterable[_core.Run]) -> str | None:
    """The warning of the measured cost of runs whose schemes are in Python; None if there are none."""
    slow = [run for run in runs if run.scenario.is_in_python]
    hops, seconds = sum(run.packet_hops for run in slow), sum(run.cpu_seconds for run in slow)
    if hops == 0:
        return None
    names = ", ".join(sorted({run.scenario.scheme for run in slow}))
    return (
        f"{names}: a scheme in Python took {1e6 * seconds / hops:.2f} us of processor time for each of {hops:,} packet-hops, and its runs are not kept; "
        "port it to Rust or C when the idea holds (docs: Add a scheme without forking)"
    )
