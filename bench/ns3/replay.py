#!/usr/bin/env python3
"""Replays lists of flows in Heddle and in ns-3, over the same paths, and compares completion times flow by flow.

It builds ns-3's program by run.sh. FOLDER (default results/ns3-replay) gets, after each point: rows of flows.csv.xz (every flow and its times), a row of
points.csv, and summary.md anew. Points that points.csv has are left out. How much of a difference is chance is measured by Heddle itself: the same list, its starts later by up to 99 ns.
"""

import argparse
import csv
import io
import itertools
import json
import lzma
import math
import pathlib
import random
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field, replace

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "target/ns3/replay"
MASK32, MASK64 = 2**32 - 1, 2**64 - 1
LAYOUT_STREAM = 3  # of Heddle's random numbers: the salts of switches
LOADS = (0.3, 0.5, 0.7)
CONTROLS = {"newreno": "NewReno", "dctcp": "DCTCP"}
LEAST_DELAY_PS, LARGEST_DELAY_PS = 1_000_000, 1_199_999
SHIFTS, LARGEST_SHIFT_NS = 3, 99
KEYS = ("fabric", "load", "control", "seed", "flows")
SIMULATORS = {"ns3": "none", "rfc": "all"}  # ns-3's TCP as it is, and by the RFCs: README.md's rules
HOST_RATE, SWITCH_RATE = 10_000_000_000, 40_000_000_000


@dataclass
class Fabric:
    """Hosts first, then ToRs, then the tiers above, with links and routes in Heddle's order.

    Links differ by picoseconds, so that no two packets reach a port at once: which of them a full queue drops would be each simulator's choice.
    """

    name: str
    toml: str
    hosts: int
    hosts_per_tor: int
    names: list[str]
    links: list[tuple[int, int, int]]
    next_hops: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    delays_ps: list[int] = field(default_factory=list)  # of each link

    def __post_init__(self) -> None:
        generator = random.Random(0)
        self.delays_ps = [generator.randint(LEAST_DELAY_PS, LARGEST_DELAY_PS) for _ in self.links]

    def table(self) -> str:
        """The scenario's table of this fabric."""
        ends = [f"{self.names[a]} {self.names[b]}" for a, b, _ in self.links]
        links = ", ".join(f'{{ between = "{between}", delay = "{delay}ps" }}' for between, delay in zip(ends, self.delays_ps))
        return f"[fabric]\n{self.toml}link = [{links}]\n"

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
            f'seeds = [{self.seed}]\nscheme = "ecmp"\n{fabric.table()}'
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

    def read(self, fabric: Fabric, file: pathlib.Path) -> list[Flow]:
        """Flows of a list as Heddle's replays have it: at_ns,from,to,size_bytes, by time from 0."""
        number = {name: i for i, name in enumerate(fabric.names)}
        rows = csv.DictReader(file.open())
        flows = [Flow(int(r["at_ns"]), number[r["from"]], number[r["to"]], int(r["size_bytes"])) for r in rows]
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
        """Completion times, and counts of the whole run."""
        lines = [f"nodes {len(fabric.names)} {fabric.hosts}"]
        lines += [f"link {a} {b} {rate} {delay}" for (a, b, rate), delay in zip(fabric.links, fabric.delays_ps)]
        comma = lambda nodes: ",".join(map(str, nodes))
        lines += [f"flow {f.start_ns} {f.source} {f.target} {f.size} {comma(f.path)} {comma(f.back)}" for f in flows]
        given, made = self.work / "ns3.txt", self.work / "ns3.csv"
        given.write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            [PROGRAM, f"--input={given}", f"--output={made}", f"--control={control}", *options],
            check=True, stderr=subprocess.PIPE, text=True,
        )
        rows = list(csv.DictReader(made.open()))
        counts = json.loads(done.stderr) | {key: sum(int(row[key]) for row in rows) for key in ("timeouts", "retransmissions")}
        return [float(row["fct_s"]) for row in rows], counts


def shifted(flows: list[Flow], seed: int) -> list[Flow]:
    """The same flows in the same order, each later by up to LARGEST_SHIFT_NS."""
    generator, earliest, result = random.Random(seed), 0, []
    for flow in flows:
        earliest = max(earliest, flow.start_ns + generator.randint(0, LARGEST_SHIFT_NS))
        result.append(replace(flow, start_ns=earliest))
    return result


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


def compare(heddle: list[float], other: list[float]) -> dict[str, float]:
    """The other's mean, median and 99th percentile over Heddle's, less 1, in percent; correlations by flow."""
    row = {}
    for name, of in (("mean", statistics.fmean), ("p50", lambda v: quantile(v, 0.5)), ("p99", lambda v: quantile(v, 0.99))):
        row[f"{name}_difference_percent"] = (of(other) / of(heddle) - 1) * 100
    logs = [[math.log(v) for v in values] for values in (heddle, other)]
    row["correlation"] = statistics.correlation(heddle, other)
    row["log_correlation"] = statistics.correlation(*logs)
    row["rank_correlation"] = statistics.correlation(ranks(heddle), ranks(other))
    return row


@dataclass
class Point:
    """One list of flows under one transport, in all simulators."""

    row: dict  # of points.csv
    flows: list[Flow]
    times: dict[str, list[float]]


def measure(runs: Runs, fabric: Fabric, load: float, control: str, flows: list[Flow], simulators: list[str]) -> Point:
    heddle = runs.replay_in_heddle(fabric, flows, control)
    again = [compare(heddle, runs.replay_in_heddle(fabric, shifted(flows, k), control)) for k in range(SHIFTS)]
    row = {"fabric": fabric.name, "load": load, "control": control, "seed": runs.seed, "flows": len(flows)}
    row |= {"mean_ms": statistics.fmean(heddle) * 1e3, "p99_ms": quantile(heddle, 0.99) * 1e3}
    for key in ("mean_difference_percent", "p99_difference_percent"):
        row[f"shifted_{key}"] = max((a[key] for a in again), key=abs)
    row["shifted_correlation"] = min(a["correlation"] for a in again)
    times = {"heddle": heddle}
    for name in simulators:
        times[name], counts = runs.replay_in_ns3(fabric, flows, control, f"--rules={SIMULATORS[name]}")
        row |= {f"{name}_{key}": value for key, value in (compare(heddle, times[name]) | counts).items()}
    return Point(row, flows, times)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default="target/dist/heddle", help="the program (default %(default)s)")
    parser.add_argument("--flows", type=int, default=1000)
    parser.add_argument("--list", type=pathlib.Path, metavar="FILE", help="flows as at_ns,from,to,size_bytes instead of drawn ones")
    parser.add_argument("--seed", type=int, action="append", help="can be repeated (default 1, 2 and 3)")
    parser.add_argument("--fabric", choices=("leaf-spine", "hula"), help="this fabric only")
    parser.add_argument("--load", type=float, action="append", help="this load only; can be repeated")
    parser.add_argument("--control", choices=CONTROLS, help="this transport only")
    parser.add_argument("--simulator", choices=SIMULATORS, action="append", help="of ns-3's TCPs this only: as it is, or by the RFCs")
    parser.add_argument("--rules", default="all", help="of README.md's rules those that 'rfc' has (default %(default)s)")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE.parent.parent / "results/ns3-replay")
    return parser.parse_args()


def main() -> None:
    options = parse()
    SIMULATORS["rfc"] = options.rules
    build()
    options.folder.mkdir(parents=True, exist_ok=True)
    known = {tuple(row[key] for key in KEYS) for row in read_points(options.folder)}
    with tempfile.TemporaryDirectory() as work:
        fabrics = [f for f in (leaf_spine(), two_pod()) if options.fabric in (None, f.name)]
        for seed, fabric, load in itertools.product(options.seed or (1, 2, 3), fabrics, options.load or LOADS):
            runs = Runs(options.heddle, seed, pathlib.Path(work))
            controls = [options.control] if options.control else list(CONTROLS)
            controls = [c for c in controls if (fabric.name, str(load), c, str(seed), str(options.flows)) not in known]
            if not controls:
                continue
            flows = runs.read(fabric, options.list) if options.list else runs.draw(fabric, load, options.flows)
            runs.check_paths(fabric, flows)
            for control in controls:
                point = measure(runs, fabric, load, control, flows, options.simulator or list(SIMULATORS))
                print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in point.row.items()}), flush=True)
                add(options.folder, point)


def build() -> None:
    newest = max(file.stat().st_mtime for file in HERE.glob("*.[ch]*"))
    """Builds ns-3's program if a source is newer."""
    if not PROGRAM.exists() or PROGRAM.stat().st_mtime < newest:
        subprocess.run([HERE / "run.sh", "--build", "replay"], check=True)


def read_points(folder: pathlib.Path) -> list[dict]:
    file = folder / "points.csv"
    return list(csv.DictReader(file.open())) if file.exists() else []


def add(folder: pathlib.Path, point: Point) -> None:
    rows = [*read_points(folder), {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in point.row.items()}]
    with (folder / "points.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    details = io.StringIO()
    if len(rows) == 1:
        print(",".join([*KEYS, "flow", "start_ns", "from", "to", "bytes", "simulator", "fct_ns"]), file=details)
    head = ",".join(str(point.row[key]) for key in KEYS)
    for name, times in point.times.items():
        for i, (flow, time) in enumerate(zip(point.flows, times)):
            print(f"{head},{i},{flow.start_ns},{flow.source},{flow.target},{flow.size},{name},{time * 1e9:.0f}", file=details)
    with (folder / "flows.csv.xz").open("ab") as file:  # xz files may follow each other
        file.write(lzma.compress(details.getvalue().encode()))
    (folder / "summary.md").write_text(summary(rows))


def summary(rows: list[dict]) -> str:
    """A line for each fabric, load, transport and number of flows: medians over the seeds, with ranges."""
    lines = [
        "| Fabric, load, transport, flows | Mean: Heddle, shifted | ns-3 | by RFCs | p99: shifted | ns-3 | by RFCs | Correlation: shifted | ns-3 | by RFCs |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    key = lambda row: (int(row["flows"]), row["control"], row["fabric"], float(row["load"]))
    for of in sorted(set(map(key, rows))):
        cells = [f"{of[2]}, {of[3]:.0%}, {CONTROLS[of[1]]}, {of[0]}".replace("%", " %")]
        for figure, form in (("mean_difference_percent", "+.1f"), ("p99_difference_percent", "+.1f"), ("correlation", ".3f")):
            for name in ("shifted", *SIMULATORS):
                values = [float(r[f"{name}_{figure}"]) for r in rows if key(r) == of and r.get(f"{name}_{figure}") not in (None, "")]
                cells.append(spread(values, form, " %" if "percent" in figure else ""))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def spread(values: list[float], form: str, unit: str) -> str:
    if not values:
        return ""
    middle = f"{statistics.median(values):{form}}{unit}"
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}} to {max(values):{form}})"


if __name__ == "__main__":
    main()
