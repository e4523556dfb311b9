"""A leaf-spine fabric of BMv2 switches in network namespaces: two leaves with a host each, any number of spines.

Needs root, Linux with MPTCP, iproute2. Each switch is one process of heddle_p4, as `heddle lab` starts it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from heddle_p4.patience import Deadline

CONTROL = pathlib.Path(__file__).resolve().parents[1] / "control"
START = 120.0
GATEWAY = "169.254.1.1"
HOST_MAC, LEAF_MAC, SPINE_MAC = 0x020000000100, 0x020000000200, 0x020000000300
TAU_SHIFT = 27
HOST_MTU, FABRIC_MTU = 1500, 1564
Json = dict[str, Any]


def ip(*words: str) -> None:
    """Runs iproute2."""
    subprocess.run(("ip", *words), check=True)


def mac(number: int) -> str:
    """An Ethernet address as text."""
    return ":".join(f"{byte:02x}" for byte in number.to_bytes(6, "big"))


class Fabric:
    """Leaves 0 and 1, spines 0 and up. A leaf's port n leads to spine n, its last one to its host; a spine's port n to leaf n.
    Host n has the addresses 10.n.0.1 and 10.n.0.2."""

    def __init__(self, spines: int, scheme: str, config: Json, rate: int) -> None:
        self.spines, self.scheme, self.config, self.rate = spines, scheme, config, rate
        self.prefix = f"heddle-p4-{os.getpid()}"

    def namespace(self, node: str) -> str:
        """Of a host, leaf or spine: `host-0`."""
        return f"{self.prefix}.{node}"

    def nodes(self) -> list[str]:
        """All names."""
        return ["host-0", "host-1", "leaf-0", "leaf-1", *(f"spine-{spine}" for spine in range(self.spines))]

    def build(self) -> None:
        """Makes namespaces and links."""
        for node in self.nodes():
            ip("netns", "add", self.namespace(node))
            ip("-n", self.namespace(node), "link", "set", "lo", "up")
            self.run(node, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
        for leaf in (0, 1):
            self._host(leaf)
            for spine in range(self.spines):
                ends = (f"leaf-{leaf}", f"eth{spine}", LEAF_MAC + 16 * leaf + spine), (f"spine-{spine}", f"eth{leaf}", SPINE_MAC + 16 * spine + leaf)
                self._link(*ends, mtu=FABRIC_MTU)

    def _link(self, one: tuple[str, str, int], other: tuple[str, str, int], mtu: int) -> None:
        words = ["link", "add"]
        for number, (node, device, address) in enumerate((one, other)):
            words += ["type", "veth", "peer"] if number else []
            words += ["name", device, "netns", self.namespace(node), "address", mac(address), "mtu", str(mtu)]
        ip(*words)
        for node, device, _ in (one, other):
            ip("-n", self.namespace(node), "link", "set", device, "up")

    def _host(self, leaf: int) -> None:
        node = f"host-{leaf}"
        near = LEAF_MAC + 16 * leaf + self.spines
        self._link((node, "eth0", HOST_MAC + leaf), (f"leaf-{leaf}", f"eth{self.spines}", near), mtu=HOST_MTU)
        self.run(node, "ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off", "gro", "off")
        namespace = self.namespace(node)
        for last in (1, 2):
            ip("-n", namespace, "address", "add", f"10.{leaf}.0.{last}/32", "dev", "eth0")
        ip("-n", namespace, "neighbour", "add", GATEWAY, "lladdr", mac(near), "dev", "eth0", "nud", "permanent")
        ip("-n", namespace, "route", "add", "default", "via", GATEWAY, "dev", "eth0", "onlink", "src", f"10.{leaf}.0.1")
        ip("-n", namespace, "mptcp", "limits", "set", "subflow", "1", "add_addr_accepted", "0")
        if leaf == 0:
            ip("-n", namespace, "mptcp", "endpoint", "add", "10.0.0.2", "dev", "eth0", "subflow")

    def run(self, node: str, *command: str) -> None:
        """Runs a program in a node's namespace."""
        ip("netns", "exec", self.namespace(node), *command)

    def start(self, node: str, *command: str, **options: Any) -> subprocess.Popen[bytes]:
        """Starts one."""
        return subprocess.Popen(("ip", "netns", "exec", self.namespace(node), *command), **options)

    def cut(self, leaf: int, spine: int) -> None:
        """A link loses everything from now on; its ends keep their carrier."""
        for node, device in ((f"leaf-{leaf}", f"eth{spine}"), (f"spine-{spine}", f"eth{leaf}")):
            self.run(node, "tc", "qdisc", "replace", "dev", device, "root", "blackhole")

    def plan(self, node: str) -> Json:
        """The document of a switch."""
        kind, number = node.split("-")
        is_leaf = kind == "leaf"
        ports = self._leaf_ports(int(number)) if is_leaf else self._spine_ports(int(number))
        up = tuple(range(self.spines))
        hops = [[] if is_leaf and leaf == int(number) else list(up) if is_leaf else [leaf] for leaf in (0, 1)]
        to = [(leaf, self.spines if is_leaf and leaf == int(number) else None) for leaf in (0, 1)]
        return {
            "node": node,
            "scheme": self.scheme,
            "config": self.config,
            "salt": hash_of(node),
            "tors": 2,
            "tor": int(number) if is_leaf else None,
            "tau_shift": TAU_SHIFT,
            "ports": ports,
            "next_hops": hops,
            "destinations": [{"address": f"10.{leaf}.0.{last}", "tor": leaf, "port": port} for leaf, port in to for last in (1, 2)],
        }

    def _port(self, number: int, role: str, own: int, peer: int, probe_ports: list[int]) -> Json:
        full = (self.rate << TAU_SHIFT) // 8 // 10**9
        port = {"number": number, "device": f"eth{number}", "role": role, "own_mac": own, "peer_mac": peer}
        return port | {"full": full, "mtu": HOST_MTU if role == "host" else FABRIC_MTU, "probe_ports": probe_ports}

    def _leaf_ports(self, leaf: int) -> list[Json]:
        own = LEAF_MAC + 16 * leaf
        up = [self._port(spine, "up", own + spine, SPINE_MAC + 16 * spine + leaf, []) for spine in range(self.spines)]
        return [*up, self._port(self.spines, "host", own + self.spines, HOST_MAC + leaf, [])]

    def _spine_ports(self, spine: int) -> list[Json]:
        own = SPINE_MAC + 16 * spine
        return [self._port(leaf, "down", own + leaf, LEAF_MAC + 16 * leaf + spine, [1 - leaf]) for leaf in (0, 1)]

    def remove(self) -> None:
        """Removes the namespaces, and with them the links."""
        for node in self.nodes():
            subprocess.run(("ip", "netns", "delete", self.namespace(node)), check=False, stderr=subprocess.DEVNULL)


def hash_of(name: str) -> int:
    """A salt that no other switch has."""
    return int.from_bytes(name.encode()[-4:], "big")


@contextlib.contextmanager
def running(fabric: Fabric, folder: pathlib.Path, protocol: str) -> Iterator[Fabric]:
    """Builds a fabric and runs its switches, controlled by a protocol, until the context ends."""
    switches = []
    try:
        fabric.build()
        environment = os.environ | {"PYTHONPATH": str(CONTROL)}
        for node in fabric.nodes()[2:]:
            plan = folder / f"{node}.json"
            plan.write_text(json.dumps(fabric.plan(node)))
            with open(folder / f"{node}.log", "wb") as log:
                command = (sys.executable, "-m", "heddle_p4", "--protocol", protocol, str(plan))
                switches.append(fabric.start(node, *command, stderr=log, env=environment))
        for node, switch in zip(fabric.nodes()[2:], switches, strict=True):
            wait_until_running(folder / f"{node}.log", switch)
        yield fabric
    finally:
        for switch in switches:
            switch.send_signal(signal.SIGTERM)
        for switch in switches:
            switch.wait()
        fabric.remove()


def wait_until_running(log: pathlib.Path, switch: subprocess.Popen[bytes]) -> None:
    """Waits for a switch. Raises RuntimeError if it has ended, or does not run after two minutes of an idle machine."""
    deadline = Deadline(START)
    while b"the switch runs" not in log.read_bytes():
        if switch.poll() is not None:
            raise RuntimeError(f"{log.name}: the switch has ended with status {switch.returncode}; its log: {log.read_text()!r}")
        if deadline.passed():
            raise RuntimeError(f'{log.name}: no line "the switch runs" {deadline}; the log: {log.read_text()!r}')
        time.sleep(0.05)
