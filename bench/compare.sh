#!/usr/bin/env bash
# Runs benchmark case (a) in Heddle and in Debian's ns-3 by turns, then Heddle's other cases, and records all.
#
# usage: bench/compare.sh [--rounds N] [--seconds S] [OUTPUT-FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=3
seconds=1
folder="results/$(date +%Y-%m-%d)-bench"
while [ $# -gt 0 ]; do
    case "$1" in
        --rounds) rounds=$2; shift 2 ;;
        --seconds) seconds=$2; shift 2 ;;
        -h | --help) sed -n '2,4p' "$0" | cut -c3-; exit 0 ;;
        -*) echo "error: unknown option $1" >&2; exit 2 ;;
        *) folder=$1; shift ;;
    esac
done

# Prints a run of Heddle, a line for each case.
heddle() {
    target/dist/heddle bench "$@" --quiet --json |
        python3 -c 'import json, sys; [print(json.dumps(s)) for s in json.load(sys.stdin)]'
}

./x build simulator >&2
mkdir -p "$folder"
: >"$folder/heddle.jsonl"
: >"$folder/ns3.jsonl"
for round in $(seq "$rounds"); do
    echo "round $round of $rounds" >&2
    heddle a --runs 1 --after 0s --time "${seconds}s" >>"$folder/heddle.jsonl"
    bench/ns3/run.sh --seconds "$seconds" >>"$folder/ns3.jsonl"
done
for case in b c d; do
    echo "case $case" >&2
    heddle "$case" --runs "$rounds" >>"$folder/heddle.jsonl"
done
echo "MPTCP and MP-HULA" >&2
heddle a a2 a4 a8 --runs "$rounds" >"$folder/mptcp.jsonl"
heddle m-ecmp m-mp-hula --runs "$rounds" >>"$folder/mptcp.jsonl"

python3 - "$folder" <<'PY'
import json, pathlib, platform, statistics, subprocess, sys

folder = pathlib.Path(sys.argv[1])
read = lambda name: [json.loads(line) for line in (folder / name).read_text().splitlines()]
speed = lambda runs: statistics.median(run["packet_hops_per_cpu_second"] for run in runs) / 1e6
heddle, ns3 = read("heddle.jsonl"), read("ns3.jsonl")
cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown")
commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
lines = [
    "# Speed of the simulator", "",
    "Command: `bench/compare.sh`. Heddle and ns-3 run by turns on one machine; medians.", "",
    f"- Heddle {heddle[0]['version']}, commit {commit}; ns-3 {ns3[0]['version']} (Debian's package, release build)",
    f"- Machine: {cpu}, {platform.machine()}, Linux {platform.release()}", "",
    "| Simulator | Case | Million packet-hops per CPU second | Packet-hops | Simulated seconds | Peak memory (MB) |",
    "| --- | --- | --- | --- | --- | --- |",
]
row = lambda name, case, runs: (
    f"| {name} | {case} | {speed(runs):.2f} | {runs[0]['packet_hops']:,} "
    f"| {runs[0]['simulated_seconds']:.3g} | {runs[0]['peak_memory_bytes'] / 1e6:.0f} |"
)
lines.append(row("ns-3", "a", ns3))
for case in "abcd":
    runs = [run for run in heddle if run["case"] == case]
    if runs:
        lines.append(row("Heddle", case, runs))
ratio = speed([run for run in heddle if run["case"] == "a"]) / speed(ns3)
lines += ["", f"On case (a) Heddle does {ratio:.0f} times as many packet-hops per CPU second as ns-3.", ""]
lines += [
    "A packet-hop of MPTCP beside one of TCP, and of MP-HULA beside one of ECMP; each group in one run:", "",
    "| Case | Million packet-hops per CPU second | Time of a packet-hop | over that of |", "| --- | --- | --- | --- |",
]
over = lambda run: f"{run['over_baseline']:.2f}x | {run['baseline']}" if run["baseline"] else "1 | "
lines += [f"| {run['case']} | {run['packet_hops_per_cpu_second'] / 1e6:.2f} | {over(run)} |" for run in read("mptcp.jsonl")]
lines.append("")
(folder / "README.md").write_text("\n".join(lines))
print((folder / "README.md").read_text())
PY
