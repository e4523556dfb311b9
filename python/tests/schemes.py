"""Schemes in Python that the simulator has, too."""

from dataclasses import dataclass

import heddle as hd

Hops = tuple[int, ...]


class Ecmp(hd.Scheme):
    """Each flow by its hash."""

    def forward(self, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
        return next_hops[hd.pick(hd.mix(packet.flow_hash, self.switch.salt), len(next_hops))]


@dataclass
class Best:
    """The best hop towards a ToR."""

    port: int
    util: int
    updated: int
    sent: int | None = None


class Hula(hd.Scheme):
    """HULA: probes, utilisation, flowlets, parameters, counters; crates/schemes/example/c/hula.c line by line."""

    name = "hula-in-python"
    probe_period = 200_000
    tau = 400_000
    flowlet_gap = 100_000
    flowlet_slots = 65_536

    def __init__(self, switch: hd.Switch) -> None:
        super().__init__(switch)
        self.best: dict[int, Best] = {}
        self.flowlets: dict[int, tuple[int, int]] = {}
        self.counted = {"flowlets": 0, "moves": 0, "fallbacks": 0, "probes": 0}

    def forward(self, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
        if len(next_hops) == 1:
            return next_hops[0]
        hashed = hd.mix(packet.flow_hash, self.switch.salt)
        slot = hashed & (self.flowlet_slots - 1)
        last, old = self.flowlets.get(slot, (0, -1))
        port = old if step.now - last <= self.flowlet_gap and old in next_hops else -1
        if port < 0:
            port = self.choose(packet, next_hops, hashed)
            self.counted["flowlets"] += 1
            self.counted["moves"] += old not in (port, -1)
        self.flowlets[slot] = (step.now, port)
        return port

    def choose(self, packet: hd.Packet, next_hops: Hops, hashed: int) -> int:
        best = self.best.get(packet.dst_tor)
        if best and best.port in next_hops:
            return best.port
        self.counted["fallbacks"] += 1
        return next_hops[hd.pick(hashed, len(next_hops))]

    def originate(self, step: hd.Step) -> hd.Probe | None:
        return None if self.switch.tor is None else hd.Probe(self.switch.tor, 0)

    def probe(self, step: hd.Step, arrival: hd.ProbeArrival, ports: hd.Ports) -> hd.Probe | None:
        self.counted["probes"] += 1
        tor = arrival.probe.tor
        if tor == self.switch.tor or not arrival.is_next_hop:
            return None
        util = max(arrival.probe.util, ports.tx_util(arrival.port) >> 8)
        best = self.best.setdefault(tor, Best(arrival.port, util, step.now))
        stale = step.now - best.updated > 3 * self.probe_period
        if util < best.util or stale or best.port == arrival.port:
            best.port, best.util, best.updated = arrival.port, util, step.now
        too_soon = best.sent is not None and step.now - best.sent < self.probe_period - self.probe_period // 8
        if self.switch.tor is not None or too_soon:
            return None
        best.sent = step.now
        return hd.Probe(tor, best.util)

    def state_bytes(self) -> int:
        return self.switch.tors * 16 + self.flowlet_slots * 8

    def counters(self) -> dict[str, int]:
        return self.counted


class Slow(Ecmp):
    """ECMP that a test can interrupt."""

    def forward(self, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
        sum(range(1000))
        return super().forward(step, packet, next_hops, ports)
