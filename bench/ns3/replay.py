#!/usr/bin/env python3
"""Replays lists of flows in Heddle and in ns-3, over the same paths, and compares completion times flow by flow.

It builds ns-3's program by run.sh. FOLDER (default results/ns3-replay) gets flows.csv.xz (every flow, both times), summary.csv and summary.md.
"""

import argparse
import csv
import io
import itertools
import json
import lzma
import math
import pathlib
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "target/ns3/replay"
MASK32, MASK64 = 2**32 - 1, 2**64 - 1
LAYOUT_STREAM = 3  # of Heddle's random numbers: the salts of switches
LOADS = (0.3, 0.5, 0.7)
CONTROLS = ("newreno", "dctcp")
LINK_DELAY_NS = 1000
HOST_RATE, SWITCH_RATE = 10_000_000_000, 40_000_000_000


@dataclass
class Fabric:
    """Hosts first, then ToRs, then the tiers above, with links and routes in Heddle's order."""

    name: str
    toml: str
    hosts: int
    hosts_per_tor: int
    names: list[str]
    links: list[tuple[int, int, int]]
    next_hops: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def find_next_hops(self) -> None:
        """The neighbours on shortest paths from each switch to each ToR, in the order of the links."""
        neighbours: dict[int, list[int]] = {}
        for a, b, _ in self.links:
            if a >= self.hosts:
                neighbours.setdefault(a, []).append(b)
                neighbours.setdefault(b, []).append(a)
        for tor in range(self.hosts, self.hosts + self.hosts // self.hosts_per_tor):
            distance, edge = {tor: 0}, [tor]
            while edge:
                reached = [n for s in edge for n in neighbours[s] if n not in distance]
                distance |= {n: distance[edge[0]] + 1 for n in reached}
                edge = list(dict.fromkeys(reached))
            for switch, around in neighbours.items():
                self.next_hops[switch, tor] = [n for n in around if distance[n] < distance[switch]]

    def path(self, source: int, target: int, generation: int, salts: list[int]) -> list[int]:
        """The nodes that ECMP's hash takes, both hosts included (Heddle's five_tuple.rs and ecmp.rs)."""
        flow_hash = mix(mix(source << 16 | target, mix(generation, 0x5BD1E995)), 0x1B873593)
        tor = self.hosts + target // self.hosts_per_tor
        nodes = [source, self.hosts + source // self.hosts_per_tor]
        while nodes[-1] != tor:
            hops = self.next_hops[nodes[-1], tor]
            nodes.append(hops[mix(flow_hash, salts[nodes[-1] - self.hosts]) * len(hops) >> 32])
        return [*nodes, target]


def leaf_spine() -> Fabric:
    leaves = spines = 4
    hosts = leaves * 16
    links = [(h, hosts + h // 16, HOST_RATE) for h in range(hosts)]
    links += [(hosts + l, hosts + leaves + s, SWITCH_RATE) for l in range(leaves) for s in range(spines)]
    names = [f"host-{h + 1}" for h in range(hosts)]
    names += [f"leaf-{l + 1}" for l in range(leaves)] + [f"spine-{s + 1}" for s in range(spines)]
    toml = 'kind = "leaf-spine"\nleaves = 4\nspines = 4\nhosts_per_leaf = 16\nparallel_links = 1\n'
    return Fabric("leaf-spine", toml, hosts, 16, names, links)


def two_pod() -> Fabric:
    """HULA's figure 4."""
    hosts = 32
    tors, aggs, cores = range(hosts, 36), range(36, 40), range(40, 42)
    links = [(h, hosts + h // 8, HOST_RATE) for h in range(hosts)]
    for pod in range(2):
        links += [(t, a, SWITCH_RATE) for t in tors[2 * pod : 2 * pod + 2] for a in aggs[2 * pod : 2 * pod + 2]]
    links += [(a, c, SWITCH_RATE) for a in aggs for c in cores]
    names = [f"host-{h + 1}" for h in range(hosts)]
    names += [f"{kind}-{i + 1}" for kind, n in (("tor", 4), ("agg", 4), ("core", 2)) for i in range(n)]
    return Fabric("hula", 'kind = "two-pod"\n', hosts, 8, names, links)


def mix(flow_hash: int, salt: int) -> int:
    """The finaliser of MurmurHash3, as Heddle's switches use it."""
    h = flow_hash ^ salt
    h = (h ^ h >> 16) * 0x85EBCA6B & MASK32
    h = (h ^ h >> 13) * 0xC2B2AE35 & MASK32
    return h ^ h >> 16


def xoshiro256pp(seed: int):
    """xoshiro256++, seeded by SplitMix64: an endless stream of 64-bit numbers."""
    state = []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK64
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK64
        state.append(z ^ z >> 31)
    a, b, c, d = state
    rotate = lambda x, k: (x << k | x >> 64 - k) & MASK64
    while True:
        yield (rotate((a + d) & MASK64, 23) + a) & MASK64
        t = b << 17 & MASK64
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c, d = c ^ t, rotate(d, 45)


def salts(seed: int, count: int) -> list[int]:
    """Salts of Heddle's switches (random.rs, switching.rs)."""
    stream = next(itertools.islice(xoshiro256pp(seed), LAYOUT_STREAM - 1, None))
    return [mix(word >> 32, switch) for switch, word in enumerate(itertools.islice(xoshiro256pp(stream), count))]


@dataclass
class Flow:
    start_ns: int
    source: int
    target: int
    size: int
    path: list[int] = field(default_factory=list)
    back: list[int] = field(default_factory=list)


class Runs:
    """What all runs of one seed share."""

    def __init__(self, heddle: str, seed: int, work: pathlib.Path):
        self.heddle, self.seed, self.work = heddle, seed, work

    def run_heddle(self, fabric: Fabric, workload: str, transport: str, *options: str, measure: str = "") -> pathlib.Path:
        """Runs Heddle; the folder of its results."""
        scenario = self.work / "scenario.toml"
        scenario.write_text(
            f'seeds = [{self.seed}]\nscheme = "ecmp"\n[fabric]\n{fabric.toml}link_delay = "{LINK_DELAY_NS}ns"\n'
            f"[transport]\n{transport}[workload]\n{workload}[measure]\nwarm_up = \"0s\"\n{measure}"
        )
        out = self.work / "heddle"
        subprocess.run(["rm", "-rf", out], check=True)
        subprocess.run(
            [self.heddle, "run", scenario, "--out", out, "--quiet", "--json", "--jobs", "1", *options],
            check=True, stdout=subprocess.DEVNULL,
        )
        return out

    def draw(self, fabric: Fabric, load: float, count: int) -> list[Flow]:
        """Web search flows from Heddle's own workload, of an ECMP run, with the paths of a replay."""
        pattern = "cross-pod" if fabric.name == "hula" else "all-to-all"
        workload = f'kind = "flows"\nsizes = "websearch"\nload = {load}\nconnections = "per-flow"\npattern = "{pattern}"\n'
        out = self.run_heddle(fabric, workload, 'kind = "tcp"\n', measure=f"flows = {count}\n")
        rows = list(csv.DictReader((out / "flows.csv").open()))
        origin = min(float(row["start_s"]) for row in rows)
        number = {name: i for i, name in enumerate(fabric.names)}
        flows = [
            Flow(round((float(r["start_s"]) - origin) * 1e9), number[r["from"]], number[r["to"]], int(r["bytes"])) for r in rows
        ]
        flows.sort(key=lambda flow: flow.start_ns)
        self.find_paths(fabric, flows)
        return flows

    def find_paths(self, fabric: Fabric, flows: list[Flow]) -> None:
        fabric.find_next_hops()
        salt = salts(self.seed, len(fabric.names) - fabric.hosts)
        for index, flow in enumerate(flows):
            flow.path = fabric.path(flow.source, flow.target, index + 1, salt)
            flow.back = fabric.path(flow.target, flow.source, index + 1, salt)

    def replay_in_heddle(self, fabric: Fabric, flows: list[Flow], control: str, *options: str) -> list[float]:
        names = fabric.names
        lines = [f"{f.start_ns},{names[f.source]},{names[f.target]},{f.size}" for f in flows]
        (self.work / "flows.csv").write_text("\n".join(["at_ns,from,to,size_bytes", *lines]) + "\n")
        transport = f'kind = "tcp"\ncontrol = "{control}"\nreceive_window = "400KB"\n'
        out = self.run_heddle(fabric, 'kind = "replay"\nfile = "flows.csv"\n', transport, *options)
        rows = sorted(csv.DictReader((out / "flows.csv").open()), key=lambda row: float(row["start_s"]))
        if len(rows) != len(flows) or any(row["status"] != "finished" for row in rows):
            raise SystemExit("error: a flow of the replay has not finished in Heddle")
        return [float(row["fct_s"]) for row in rows]

    def check_paths(self, fabric: Fabric, flows: list[Flow], count: int = 12) -> None:
        """The computed paths are those that Heddle's traces show."""
        chosen = range(0, len(flows), max(1, len(flows) // count))
        self.replay_in_heddle(fabric, flows, "newreno", *itertools.chain(*(("--trace", str(i + 1)) for i in chosen)))
        for trace in (self.work / "heddle").glob("flow-*.csv"):
            flow = flows[int(trace.name.split("-")[1]) - 1]
            path = list(csv.DictReader(trace.open()))[-1]["path"].split()
            expected = [fabric.names[node] for node in flow.path[1:-1]]
            if path and path != expected:
                raise SystemExit(f"error: {trace.name}: Heddle's path is {path}, not {expected}")

    def replay_in_ns3(self, fabric: Fabric, flows: list[Flow], control: str, *options: str) -> tuple[list[float], dict]:
        lines = [f"nodes {len(fabric.names)} {fabric.hosts}"]
        lines += [f"link {a} {b} {rate} {LINK_DELAY_NS}" for a, b, rate in fabric.links]
        comma = lambda nodes: ",".join(map(str, nodes))
        lines += [f"flow {f.start_ns} {f.source} {f.target} {f.size} {comma(f.path)} {comma(f.back)}" for f in flows]
        given, made = self.work / "ns3.txt", self.work / "ns3.csv"
        given.write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            [PROGRAM, f"--input={given}", f"--output={made}", f"--control={control}", *options],
            check=True, stderr=subprocess.PIPE, text=True,
        )
        return [float(row["fct_s"]) for row in csv.DictReader(made.open())], json.loads(done.stderr)


def quantile(values: list[float], q: float) -> float:
    ordered, at = sorted(values), q * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def ranks(values: list[float]) -> list[float]:
    result = [0.0] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        result[index] = rank
    return result


def compare(heddle: list[float], ns3: list[float]) -> dict[str, float]:
    """Means and 99th percentiles in ms, ns-3 over Heddle less 1 in percent, correlations by flow."""
    row = {}
    for name, of in (("mean", statistics.fmean), ("p50", lambda v: quantile(v, 0.5)), ("p99", lambda v: quantile(v, 0.99))):
        ours, theirs = of(heddle), of(ns3)
        row |= {f"{name}_heddle_ms": ours * 1e3, f"{name}_ns3_ms": theirs * 1e3, f"{name}_difference_percent": (theirs / ours - 1) * 100}
    logs = [[math.log(v) for v in values] for values in (heddle, ns3)]
    row["correlation"] = statistics.correlation(heddle, ns3)
    row["log_correlation"] = statistics.correlation(*logs)
    row["rank_correlation"] = statistics.correlation(ranks(heddle), ranks(ns3))
    row["within_1_percent"] = sum(abs(b / a - 1) < 0.01 for a, b in zip(heddle, ns3)) / len(heddle) * 100
    return row


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default="target/dist/heddle", help="the program (default %(default)s)")
    parser.add_argument("--flows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fabric", choices=("leaf-spine", "hula"), help="this fabric only")
    parser.add_argument("--load", type=float, action="append", help="this load only; can be repeated")
    parser.add_argument("--control", choices=CONTROLS, help="this transport only")
    parser.add_argument("--ns3", action="append", default=[], metavar="OPTION", help="for ns-3's program, as --ns3=--recovery=prr")
    parser.add_argument("--heddle-set", action="append", default=[], metavar="KEY=VALUE", help="for Heddle's replay")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE.parent.parent / "results/ns3-replay")
    return parser.parse_args()


def main() -> None:
    options = parse()
    subprocess.run([HERE / "run.sh", "--build", "replay"], check=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    rows, details = [], io.StringIO()
    print("fabric,load,control,seed,flow,start_ns,from,to,bytes,heddle_ns,ns3_ns", file=details)
    sets = [word for value in options.heddle_set for word in ("--set", value)]
    with tempfile.TemporaryDirectory() as work:
        runs = Runs(options.heddle, options.seed, pathlib.Path(work))
        fabrics = [f for f in (leaf_spine(), two_pod()) if options.fabric in (None, f.name)]
        for fabric, load in itertools.product(fabrics, options.load or LOADS):
            flows = runs.draw(fabric, load, options.flows)
            runs.check_paths(fabric, flows)
            for control in [options.control] if options.control else CONTROLS:
                heddle = runs.replay_in_heddle(fabric, flows, control, *sets)
                ns3, counts = runs.replay_in_ns3(fabric, flows, control, *options.ns3)
                row = {"fabric": fabric.name, "load": load, "control": control, "flows": len(flows)}
                rows.append(row | compare(heddle, ns3) | {f"ns3_{key}": counts[key] for key in ("drops", "marks")})
                print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()}), flush=True)
                for i, (flow, ours, theirs) in enumerate(zip(flows, heddle, ns3)):
                    ends = f"{flow.start_ns},{fabric.names[flow.source]},{fabric.names[flow.target]},{flow.size}"
                    print(f"{fabric.name},{load},{control},{options.seed},{i},{ends},{ours * 1e9:.0f},{theirs * 1e9:.0f}", file=details)
    write(options.folder, rows, details.getvalue())


def write(folder: pathlib.Path, rows: list[dict], details: str) -> None:
    with (folder / "summary.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    lines = [
        "| Fabric | Load | Control | Mean, Heddle | ns-3 | Difference | p99, Heddle | ns-3 | Difference | Correlation | of logarithms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in rows:
        figures = [f"{r[f'{n}_heddle_ms']:.2f} ms | {r[f'{n}_ns3_ms']:.2f} ms | {r[f'{n}_difference_percent']:+.1f} %" for n in ("mean", "p99")]
        name = {"newreno": "NewReno", "dctcp": "DCTCP"}[r["control"]]
        lines.append(
            f"| {r['fabric']} | {r['load']:.0%} | {name} | {figures[0]} | {figures[1]} | {r['correlation']:.3f} | {r['log_correlation']:.3f} |"
        )
    (folder / "summary.md").write_text("\n".join(lines).replace("%", " %").replace("  %", " %") + "\n")
    (folder / "flows.csv.xz").write_bytes(lzma.compress(details.encode(), preset=9))


if __name__ == "__main__":
    main()
