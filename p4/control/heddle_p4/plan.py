"""The tables of one switch of a fabric, from a JSON document as `heddle lab` writes it.

All numbers are as the programs have them: times in ns, `full` in bytes that the port's link carries in tau. `config` is as in vectors/schemes, its
quantities as numbers."""

import dataclasses
import ipaddress
import json
import pathlib
from typing import Any

from heddle_p4 import cflb, document, icmp
from heddle_p4.document import BadPlan
from heddle_p4.program import Program, unpacked
from heddle_p4.routes import Routes
from heddle_p4.settings import NO_LIMIT, SwitchSettings, capacity_values, hula_values, inverse, mp_hula_values, shuttle_values
from heddle_p4.switch import Prefix, Switch

EXAMPLE = "docs/src/p4/control-plane.md describes the keys, p4/examples/tor-0.json is such a file"
P4 = pathlib.Path(__file__).resolve().parents[2]
ROLES = {"host": 1, "up": 2, "down": 3, "cpu": 4}
WITH_PROBES = ("hula", "mp-hula", "shuttle")
BEST_HOPS = 8
SUBFLOWS = 16
PROBE_BITS = 8
# As in p4/common/metadata.p4.
COUNTERS = [
    *("flowlets", "moves", "fallbacks", "probes", "shims", "shared", "controlled", "hashed", "connections", "joins"),
    *("unknown_tokens", "token_collisions", "table_collisions", "wraps"),
]
CPU_PORT = 100
CPU_GROUP = 101
TOKEN_COPIES = 1  # COPY_SESSION of p4/mp-hula/external_tokens.p4
FIRST_GROUP = 1


@dataclasses.dataclass(frozen=True)
class Port:
    """A port: its device, the far end's role, the Ethernet addresses of both ends, the bytes that its link carries in tau, its MTU, the
    ports to which its probes are replicated."""

    number: int
    device: str
    role: str
    own_mac: int
    peer_mac: int
    full: int
    mtu: int
    probe_ports: tuple[int, ...]

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Port":
        """From a port of a document."""
        macs = {end: document.ethernet_address(given[end]) for end in ("own_mac", "peer_mac")}
        return cls(**(given | macs | {"probe_ports": tuple(given["probe_ports"])}))


@dataclasses.dataclass(frozen=True)
class Plan:
    """A switch. `next_hops[n]`: ports towards ToR n. `destinations`: address to ToR and, at this ToR, port. `icmp_source`: its own addresses,
    one of each family at most."""

    node: str
    scheme: str
    config: dict[str, Any]
    salt: int
    tors: int
    tor: int | None
    tau_shift: int
    ports: tuple[Port, ...]
    next_hops: tuple[tuple[int, ...], ...]
    destinations: tuple[tuple[str, int, int | None], ...]
    icmp_source: tuple[icmp.Address, ...] = ()

    @classmethod
    def read(cls, path: pathlib.Path) -> "Plan":
        """From a file. Raises BadPlan."""
        try:
            given = document.checked(json.loads(path.read_text()))
        except OSError as error:
            raise BadPlan(f"{path}: {error.strerror}\nhelp: {EXAMPLE}") from error
        except ValueError as error:
            raise BadPlan(f"{path}: {error}\nhelp: {EXAMPLE}") from error
        ports = tuple(Port.of(port) for port in given.pop("ports"))
        hops = tuple(tuple(hops) for hops in given.pop("next_hops"))
        destinations = tuple((to["address"], to["tor"], to["port"]) for to in given.pop("destinations"))
        sources = tuple(ipaddress.ip_address(source) for source in given.pop("icmp_source", []))
        return cls(ports=ports, next_hops=hops, destinations=destinations, icmp_source=sources, **given)

    def program(self) -> pathlib.Path:
        """The compiled form of the scheme's program. Raises BadPlan."""
        path = unpacked(P4 / self.scheme) / f"{self.scheme}.json"
        if not self.asks_for_tokens():
            return path
        external = path.with_stem(f"{self.scheme}-external")
        if not external.is_file():
            raise BadPlan(f'{self.node}: "tokens": "control-plane" needs scheme "mp-hula"; "{self.scheme}" has no such program')
        return external

    def check(self, program: Program) -> None:
        """Raises BadPlan for sizes that the program has no room for: BMv2 does not check the indices of registers."""
        wanted = {"meter_bytes": 1 + max((port.number for port in self.ports), default=0)}
        wanted |= {"probe_sent": self.tors, "flowlet_last": self.config.get("flowlet_slots", 0)}
        wanted |= {"mapping_next_slot": self.config.get("mapping_rows", 0) * SUBFLOWS}
        wanted |= {"subflow_entry": self.config.get("association_slots", 0)}
        for register, cells in wanted.items():
            room = program.registers[register][1] if register in program.registers else cells
            if cells > room:
                raise BadPlan(f"{self.node}: {cells} cells of {register}: the program has room for {room}")
        if self.config.get("util_bits", 0) > PROBE_BITS:
            raise BadPlan(f"{self.node}: util_bits = {self.config['util_bits']}: a probe has {PROBE_BITS}")

    def asks_for_tokens(self) -> bool:
        """True if the control plane computes MPTCP's tokens: `"tokens": "control-plane"` in the config. Raises BadPlan."""
        tokens: str = self.config.get("tokens", "data-plane")
        if tokens not in ("data-plane", "control-plane"):
            raise BadPlan(f'{self.node}: "tokens": "{tokens}": "data-plane" or "control-plane"')
        return tokens == "control-plane"

    def fills_registers(self) -> bool:
        """True if the control plane writes registers: Skip32 reads Skipjack's table from one."""
        return self.scheme == "cflb" and self.config.get("cipher") == "skip32"

    def probe_period(self) -> int | None:
        """Nanoseconds between two probes of this ToR; None if it sends none."""
        return self.config.get("probe_period") if self.tor is not None and self.scheme in WITH_PROBES else None

    def uplinks(self) -> tuple[int, ...]:
        """Ports to switches."""
        return tuple(port.number for port in self.ports if port.role != "host")


class Tables:
    """A plan's tables in a switch."""

    def __init__(self, plan: Plan, switch: Switch) -> None:
        self.plan, self.switch = plan, switch
        self.routes = Routes(switch)

    def write(self, up: int) -> None:
        """Writes all; bit i of `up` says that port i is up."""
        with self.switch.batch():
            self._ports()
            self._scheme()
            self._destinations()
        self.set_up(up)

    def set_up(self, up: int) -> None:
        """Ports have come up or gone down."""
        plan = self.plan
        with self.switch.batch():
            least_mtu = min((port.mtu for port in plan.ports), default=NO_LIMIT)
            SwitchSettings(plan.salt, plan.tors, plan.tor, up, plan.tau_shift, CPU_PORT, least_mtu).apply(self.switch)
            for tor, ports in enumerate(plan.next_hops):
                self.routes.set(tor, ports, up)

    def _destinations(self) -> None:
        for address, tor, port in self.plan.destinations:
            ip = ipaddress.ip_address(address)
            key = (Prefix(int(ip), ip.max_prefixlen),)
            action, values = ("to_tor", {"tor": tor}) if port is None else ("to_host", {"port": port})
            self.switch.set_entry(f"destinations_v{ip.version}", key, action, values)

    def reroute(self, plan: Plan, up: int) -> None:
        """The control plane has found other next hops."""
        self.plan = plan
        self.set_up(up)

    def _ports(self) -> None:
        for port in self.plan.ports:
            group = FIRST_GROUP + port.number
            self.switch.set_group(group, port.probe_ports)
            values = {"role": ROLES[port.role], "probe_group": group, "inverse": inverse(port.full)}
            self.switch.set_entry("ports", (port.number,), "set_port", values)
            self.switch.set_entry("links", (port.number,), "set_macs", {"own": port.own_mac, "peer": port.peer_mac})
            self.switch.set_entry("mtus", (port.number,), "set_mtu", {"mtu": port.mtu})
        self.switch.set_group(CPU_GROUP, self.plan.uplinks())
        self.switch.set_entry("ports", (CPU_PORT,), "set_port", {"role": ROLES["cpu"], "probe_group": CPU_GROUP, "inverse": 0})

    def _scheme(self) -> None:
        plan = self.plan
        if plan.scheme in WITH_PROBES:
            self.switch.set_default("hula_settings", "set_hula", hula_values(plan.config))
        if plan.scheme == "mp-hula":
            self.switch.set_default("mp_hula_settings", "set_mp_hula", mp_hula_values(plan.config, BEST_HOPS))
        if plan.scheme == "shuttle":
            self.switch.set_default("shuttle_settings", "set_shuttle", shuttle_values(plan.config, BEST_HOPS))
            for port in plan.ports:
                self.switch.set_entry("capacities", (port.number,), "set_capacity", capacity_values(port.full))
        if plan.asks_for_tokens():
            self.switch.set_copies(TOKEN_COPIES, CPU_PORT)
        if plan.scheme == "cflb":
            cflb.configure(self.switch, cflb.Constants.of(plan.config))
