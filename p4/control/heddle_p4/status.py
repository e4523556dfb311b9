"""A switch's state as people and scripts read it, in the words of `heddle-switch status`: ports, routes with their best hops, counters."""

from typing import Any

from heddle_p4.plan import BEST_HOPS, COUNTERS, Plan, Port
from heddle_p4.switch import NotServed, Switch

Json = dict[str, Any]
# As in p4/common/metadata.p4.
VERDICTS = [
    *("forwarded", "delivered", "probe_taken", "probe_forwarded", "probe_sent", "dropped_no_route", "dropped_ttl", "dropped_malformed"),
    *("dropped_not_ip", "dropped_host_probe", "dropped_host_shim", "dropped_bad_probe", "dropped_bad_shim", "dropped_no_port", "observed", "asked"),
    "dropped_too_big",
]
# Verdicts of packets about which the control plane may tell the sender, and what it counts then.
TOLD = {"dropped_too_big": "answered", "dropped_ttl": "time_exceeded"}


def scheme_counters(switch: Switch) -> dict[str, int]:
    """The scheme's events by name; none for ECMP."""
    if not switch.has_counter("scheme_counters"):
        return {}
    return {name: switch.counter("scheme_counters", index) for index, name in enumerate(COUNTERS)}


def lab_counters(switch: Switch) -> dict[str, int]:
    """All counters of schemes by name, those that this scheme has not as 0, and the probes that have arrived from switches: what `heddle lab`
    adds up."""
    arrivals = sum(switch.counter("verdicts", VERDICTS.index(verdict)) for verdict in ("probe_taken", "probe_forwarded"))
    return dict.fromkeys(COUNTERS, 0) | scheme_counters(switch) | {"probe_arrivals": arrivals}


def best_hops(switch: Switch, scheme: str, tor: int) -> list[tuple[int, int, int]]:
    """Port, utilisation and time of the last probe of each best hop towards a ToR, best first; of Shuttle all hops known. Raises NotServed."""
    if scheme == "hula":
        port = switch.register("best_next_port", tor)
        return [(port - 1, switch.register("best_util", tor), switch.register("best_updated", tor))] if port else []
    if scheme in ("mp-hula", "shuttle"):
        places = range(tor * BEST_HOPS, tor * BEST_HOPS + switch.register("best_known", tor))
        return [tuple(switch.register(name, place) for name in ("best_port", "best_util", "best_updated")) for place in places]  # type: ignore[misc]
    return []


def _best(plan: Plan, switch: Switch, tor: int, now: int) -> list[Json]:
    devices = {port.number: port.device for port in plan.ports}
    hops = best_hops(switch, plan.scheme, tor)
    return [{"peer": devices.get(port, ""), "util": util, "age_ms": (now - updated) / 1e6} for port, util, updated in hops]


def _routes(plan: Plan, switch: Switch) -> list[Json]:
    """`best` is null where the switch's registers cannot be read."""
    devices = {port.number: port.device for port in plan.ports}
    routes: list[Json] = []
    for tor, ports in enumerate(plan.next_hops):
        if tor == plan.tor:
            continue
        route: Json = {"tor": tor, "next_hops": [devices[port] for port in ports]}
        try:
            route["best"] = _best(plan, switch, tor, switch.now())
        except NotServed:
            route["best"] = None
        routes.append(route)
    return routes


def _utilisation(plan: Plan, switch: Switch, port: Port) -> float | None:
    """Of the link's rate, as the port's estimator has it (p4/common/meter.p4); null where the switch's registers cannot be read."""
    try:
        idle = min(max(switch.now() - switch.register("meter_last", port.number), 0), 1 << plan.tau_shift)
        left = switch.register("meter_bytes", port.number) * (1 - idle / (1 << plan.tau_shift))
    except NotServed:
        return None
    return left / max(port.full, 1)


def _port(plan: Plan, switch: Switch, port: Port, up: int) -> Json:
    state: Json = {"number": port.number, "device": port.device, "role": port.role, "up": bool(up >> port.number & 1)}
    return state | {"sent": switch.counter("sent", port.number), "utilisation": _utilisation(plan, switch, port)}


def _counters(switch: Switch, told: dict[str, int]) -> dict[str, int]:
    """Packets by verdict. One whose sender was told is in that count alone, for which `told` is read before the switch."""
    told = dict(told)
    counters = {name: switch.counter("verdicts", index) for index, name in enumerate(VERDICTS)}
    return counters | {dropped: counters[dropped] - told[name] for dropped, name in TOLD.items()} | told


def read(plan: Plan, switch: Switch, up: int, told: dict[str, int]) -> Json:
    """The state now: neighbours by the devices that lead to them, ToRs by their numbers. Bit i of `up` says that port i is up. `told`: ICMP errors by
    name."""
    ports = [_port(plan, switch, port, up) for port in plan.ports]
    counters = _counters(switch, told)
    state: Json = {"node": plan.node, "scheme": plan.scheme, "ports": ports, "counters": counters}
    return state | {"scheme_counters": scheme_counters(switch), "routes": _routes(plan, switch)}


def _port_line(port: Json) -> str:
    util = "-" if port["utilisation"] is None else f"{port['utilisation'] * 100:.1f}%"
    return f"{port['device']:<12} {port['role']:<5} {'up' if port['up'] else 'DOWN':<5} {util:>7} {port['sent']:>14}"


def _route_line(route: Json) -> str:
    best = route["best"]
    if best is None:
        found = "; best hops are not served: no Thrift"
    else:
        found = "".join(f"; best {rank}: {hop['peer']} (util {hop['util']}, {hop['age_ms']:.1f} ms ago)" for rank, hop in enumerate(best, 1))
    return f"{route['tor']:<12} {' '.join(route['next_hops'])}{found}"


def text(state: Json) -> str:
    """The state as a table; counters that are 0 are left out."""
    lines = [f"{state['node']}: {state['scheme']}", "", f"{'device':<12} {'role':<5} {'state':<5} {'util':>7} {'sent':>14}"]
    lines += [_port_line(port) for port in state["ports"]]
    lines += ["", f"{'towards ToR':<12} next hops", *(_route_line(route) for route in state["routes"]), ""]
    lines += [f"{name:<20} {count:>14}" for name, count in state["counters"].items() if count]
    lines += [f"scheme {name:<13} {count:>14}" for name, count in state["scheme_counters"].items() if count]
    return "\n".join(lines)
