"""Runs traces of vectors/schemes on a switch: each step is a packet, its decision comes back with it, and the state is read from registers."""

import gzip
import ipaddress
import json
import pathlib
from collections.abc import Callable
from typing import Any, Protocol

import frames
import state
from frames import ACK, CPU_PORT, HOST_PORT, LOCAL_HOST, OTHER_HOST, Answer, Given, Loads
from heddle_p4 import cflb, tokens
from heddle_p4.plan import COUNTERS, TOKEN_COPIES, WITH_PROBES
from heddle_p4.quantities import numbers
from heddle_p4.routes import Routes
from heddle_p4.settings import NO_LIMIT, SwitchSettings, hula_values, inverse, mp_hula_values, shuttle_values
from heddle_p4.switch import Prefix, Switch

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "schemes"
PORTS = 64
FABRIC_PORT = 0
ROLES = {"host": 1, "up": 2, "down": 3, "cpu": 4}
REASONS = ["alone", "controlled", "digit-too-high", "no-selector", "no-field"]
PROBE_FORWARDED, PROBE_SENT, OBSERVED, ASKED = 3, 4, 14, 15
Json = dict[str, Any]


class Bench(Protocol):
    """A switch under test: frames in, frames out, and its control plane."""

    @property
    def switch(self) -> Switch:
        """Its control plane."""

    def send(self, port: int, frame: bytes) -> None:
        """Gives the switch a frame."""

    def receive(self, port: int, timeout: float = ...) -> bytes | None:
        """The next frame that leaves by a port; None if none does, within a time if the switch has a clock."""


class Different(AssertionError):
    """A step at which the switch decided otherwise than the trace, or has another state."""


def read(name: str) -> list[Json]:
    """The traces of a file."""
    path = VECTORS / f"{name}.json"
    text = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(f"{name}.json.gz").read_bytes())
    traces: list[Json] = json.loads(text)["traces"]
    return traces


def same(frame: bytes, expected: bytes) -> None:
    """Raises Different."""
    if frame != expected:
        raise Different(f"the frame {frame.hex()}, not {expected.hex()}")


def with_tau(config: Json) -> Json:
    """The parameters of the estimator, of which other schemes' traces have none."""
    scheme, values = next(iter(config.items()))
    return dict(values) if scheme == "dre" else {"shift": 0, "full": 0}


class Run:
    """A trace on a switch that has forgotten what was before."""

    def __init__(self, bench: Bench, trace: Json) -> None:
        self.bench, self.trace = bench, trace
        self.switch: Switch = bench.switch
        self.switch.reset()
        self.scheme, config = next(iter(trace["config"].items()))
        self.config = numbers(config)
        self.up = (1 << PORTS) - 1
        self.least_mtu = NO_LIMIT
        self.routes = Routes(self.switch)
        self.towards: set[Any] = set()
        self.random = 0
        with self.switch.batch():
            self._configure()

    def _configure(self) -> None:
        self._settings()
        estimator = with_tau(self.trace["config"])
        for port in range(PORTS):
            values = {"role": ROLES["down"], "probe_group": 100 + port, "inverse": inverse(estimator["full"])}
            self.switch.set_entry("ports", (port,), "set_port", values)
        for port, role in ((HOST_PORT, "host"), (CPU_PORT, "cpu")):
            self.switch.set_entry("ports", (port,), "set_port", {"role": ROLES[role], "probe_group": 99, "inverse": 0})
        self._destination(LOCAL_HOST, "to_host", {"port": HOST_PORT})
        self._destination(OTHER_HOST, "to_tor", {"tor": 0})
        if self.scheme in WITH_PROBES:
            self.switch.set_default("hula_settings", "set_hula", hula_values(self.config))
        if self.scheme == "mp-hula":
            self.switch.set_default("mp_hula_settings", "set_mp_hula", mp_hula_values(self.config, state.BEST_HOPS))
            self.switch.set_copies(TOKEN_COPIES, CPU_PORT)
        if self.scheme == "shuttle":
            self.switch.set_default("shuttle_settings", "set_shuttle", shuttle_values(self.config, state.BEST_HOPS))
        if self.scheme == "cflb":
            cflb.configure(self.switch, cflb.Constants.of(self.config))

    def _settings(self) -> None:
        given = self.trace["switch"]
        tau = with_tau(self.trace["config"])["shift"]
        SwitchSettings(given["salt"], given["tors"], given["tor"], self.up, tau, CPU_PORT, self.least_mtu).apply(self.switch)

    def set_mtus(self, mtus: dict[int, int]) -> None:
        """Ports have an MTU."""
        self.least_mtu = min(mtus.values())
        self._settings()
        for port, mtu in mtus.items():
            self.switch.set_entry("mtus", (port,), "set_mtu", {"mtu": mtu})

    def _destination(self, address: frames.Address, action: str, values: dict[str, int]) -> None:
        if (address, action, tuple(values.values())) in self.towards:
            return
        self.towards.add((address, action, tuple(values.values())))
        prefix = Prefix(int(address), address.max_prefixlen)
        self.switch.set_entry(f"destinations_v{address.version}", (prefix,), action, values)

    def _exchange(self, given: Given, frame: bytes) -> Answer:
        self.bench.send(0, given.pack() + frame)
        answer = self.bench.receive(0)
        if answer is None:
            raise Different("the switch does not answer")
        return Answer.unpack(answer)

    def _set_up(self, down: list[int]) -> None:
        up = (1 << PORTS) - 1 & ~sum(1 << port for port in down)
        if up != self.up:
            self.up = up
            self._settings()

    def _loads(self, step: Json) -> Loads | None:
        """What Shuttle reads of its own ports. A probe tells the utilisation of its port beside them."""
        if self.scheme != "shuttle":
            return None
        loads = {port: (util, queue) for port, util, queue in step.get("load", [])}
        if "link_util" in step:
            _, queue = loads.get(step["port"], (0, 0))
            loads[step["port"]] = (step["link_util"], queue)
        return Loads(self.random, loads)

    def packet(self, now: int, step: Json) -> Json:
        """A data packet to another ToR."""
        self._set_up(step.get("down", []))
        self.routes.set(step["dst_tor"], tuple(step["next_hops"]), self.up)
        port = HOST_PORT if step["from"] == "host" else FABRIC_PORT
        given, kind, packet = self._data(now, port, step)
        answer = self._exchange(given, frames.ethernet(kind, packet, step.get("shim")))
        self._check_frame(answer, kind, packet)
        out: Json = {"port": answer.port}
        if answer.shim():
            out["shim"] = answer.shim()
        if self.scheme == "cflb" and "fields" in step:
            out["reason"] = REASONS[answer.reason]
            if out["reason"] in ("controlled", "digit-too-high"):
                out |= {"position": answer.position, "digit": answer.digit}
        return out

    def _check_frame(self, answer: Answer, kind: int, packet: bytes) -> None:
        """The frame is the one that came, but for TTL, checksum and shim. A TTL of 0, which routers drop, has no next one."""
        if answer.port == frames.NO_PORT or packet[8 if kind == frames.IPV4 else 7] == 0:
            return
        same(answer.frame, frames.ethernet(kind, frames.routed(kind, packet), answer.shim()))

    def _data(self, now: int, port: int, step: Json) -> tuple[Given, int, bytes]:
        fields = step.get("fields")
        if fields is None:
            destination = frames.address_of(step["dst_tor"])
            self._destination(destination, "to_tor", {"tor": step["dst_tor"]})
            payload = frames.tcp(1, 2, ACK, b"")
            kind, packet = frames.ip((ipaddress.ip_address("10.0.0.1"), destination), frames.TCP, payload)
            given = Given(now, port, "hash alone" if self.scheme == "cflb" else "packet", flow_hash=step["flow_hash"], loads=self._loads(step))
            return given, kind, packet
        source, target = (ipaddress.ip_address(fields[end]) for end in ("source", "destination"))
        self._destination(target, "to_tor", {"tor": step["dst_tor"]})
        ports = fields["ports"] or [0, 0]
        payload = frames.tcp(ports[0], ports[1], ACK, b"")
        kind, packet = frames.ip((source, target), fields["protocol"], payload, fields["ttl"], fields["flow_label"])
        has_ports = 1 if fields["ports"] else 2
        return Given(now, port, flow_hash=step["flow_hash"], ports=has_ports, any_ttl=1), kind, packet

    def egress(self, now: int, step: Json) -> Json:
        """A packet from the fabric at its destination ToR."""
        kind, packet = frames.ip((OTHER_HOST, LOCAL_HOST), frames.TCP, frames.tcp(1, 2, ACK, b""))
        answer = self._exchange(Given(now, FABRIC_PORT), frames.ethernet(kind, packet, step["shim"]))
        self._check_frame(answer, kind, packet)
        return {"shim": answer.shim()} if answer.shim() else {}

    def handshake(self, now: int, step: Json) -> Json:
        """A TCP packet that a ToR reads."""
        from_host = step["from"] == "host"
        options = bytes.fromhex(step["options"])
        # Padded in front: behind an option that is cut short, padding would complete it.
        options = b"\x01" * (-len(options) % 4) + options
        ends = (LOCAL_HOST, OTHER_HOST) if from_host else (OTHER_HOST, LOCAL_HOST)
        kind, packet = frames.ip(ends, frames.TCP, frames.tcp(1, 2, step["flags"], options))
        port = HOST_PORT if from_host else FABRIC_PORT
        frame = frames.ethernet(kind, packet)
        answer = self._exchange(Given(now, port, "handshake", flow_hash=step["out_hash"]), frame)
        asked = answer.frame if answer.verdict == ASKED else self.bench.receive(CPU_PORT) if answer.copied else None
        if answer.verdict == ASKED and answer.port != CPU_PORT:
            raise Different(f"a join goes to port {answer.port}")
        if answer.verdict != ASKED:
            same(answer.frame, frame)
        if asked is not None:
            self._send_back(now, step, asked, frame)
        return {}

    def _send_back(self, now: int, step: Json, asked: bytes, frame: bytes) -> None:
        """The control plane computes tokens for a frame."""
        back = tokens.answer(asked)
        if back is None:
            raise Different(f"the control plane is not asked by {asked.hex()}")
        same(frames.MACS + asked[14:16] + asked[14 + tokens.HEADER.size :], frame)
        answer = self._exchange(Given(now, CPU_PORT, "handshake", flow_hash=step["out_hash"]), back)
        if answer.verdict != OBSERVED:
            raise Different(f"what comes back with tokens has verdict {answer.verdict}")
        same(answer.frame, frame)

    def probe(self, now: int, step: Json) -> Json:
        """A received probe."""
        hops = (step["port"],) if step["next_hop"] else ()
        self.routes.set(step["tor"], hops, self.up)
        given = Given(now, step["port"], util=step["util"], link_util=step["link_util"], loads=self._loads(step))
        out = self._probe_of(self._exchange(given, frames.probe(step["tor"])), 100 + step["port"])
        if step["tor"] < self.trace["switch"]["tors"]:
            return out | {"best": state.best(self.switch, self.scheme, step["tor"])}
        return out | {"best": []}

    def _probe_of(self, answer: Answer, group: int) -> Json:
        if answer.verdict not in (PROBE_FORWARDED, PROBE_SENT):
            return {}
        if answer.group != group:
            raise Different(f"the probe goes to group {answer.group}, not {group}")
        tor = int.from_bytes(answer.frame[14:17], "big")
        same(answer.frame, frames.probe(tor))
        return {"probe": {"tor": tor, "util": answer.util}}

    def originate(self, now: int, _: Json) -> Json:
        """It is time for a probe: the control plane sends a frame for it."""
        return self._probe_of(self._exchange(Given(now, CPU_PORT), frames.probe(0)), 99)

    def sent(self, now: int, step: Json) -> Json:
        """A packet starts transmission."""
        self._exchange(Given(now, FABRIC_PORT, "sent", length=step["bytes"]), frames.probe(0))
        return {}

    def utilisation(self, now: int, _: Json) -> Json:
        """The estimator is read."""
        answer = self._exchange(Given(now, FABRIC_PORT, "utilisation"), frames.probe(0))
        return {"util": answer.util}

    def replay(self) -> None:
        """Runs the trace. Raises Different."""
        for number, step in enumerate(self.trace["steps"]):
            kind = next(iter(step["in"]))
            self.random = step.get("rnd", 0)
            handle: Callable[[int, Json], Json] = getattr(self, kind)
            self._compare(number, step, handle(step["now"], step["in"][kind]))
        self._compare_counters()

    def _compare(self, number: int, step: Json, out: Json) -> None:
        where = f"{self.trace['name']}: step {number}: {step['in']}"
        if out != step["out"]:
            raise Different(f"{where}: {out}, not {step['out']}")
        words = state.words(self.switch, self.trace)
        if state.digest(words) != step["state"]:
            raise Different(f"{where}: another state: {words}")

    def _compare_counters(self) -> None:
        if self.scheme in ("dre", "ecmp"):
            return
        counted = {name: self.switch.counter("scheme_counters", index) for index, name in enumerate(COUNTERS)}
        expected = dict.fromkeys(COUNTERS, 0) | self.trace.get("counters", {})
        if counted != expected:
            raise Different(f"{self.trace['name']}: counters {counted}, not {expected}")
