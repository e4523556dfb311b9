"""Ultra Ethernet's hosts in Heddle and, where a program is given, in the public uet-htsim: the same pairs of hosts.

python3 compare.py HEDDLE [HTSIM_UEC TOPOLOGY]

Writes runs.csv: a row for each run, with the mean and the worst completion time of its flows over that of the flow alone. HTSIM_UEC is uet-htsim's
program htsim_uec, TOPOLOGY its topologies/fat_tree_128_1os.topo. Heddle's flows end with the last byte at the receiver, uet-htsim's with the last
acknowledgement at the sender, so each program has its own times of flows alone.
"""

import csv
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCENARIO = HERE.parent.parent / "scenarios" / "uet-permutation.toml"
HOSTS = 128
SEEDS = range(1, 6)
PER_FOUR = "reps-4=entropy=reps,transport.packets_per_ack=4,fabric.trim_above=178KB"
FINISHED = re.compile(r"^Flow \S*?Uec_(\d+)_(\d+) .* finished at ([\d.]+) ")

# uet-htsim's options: a host's acknowledgements by bytes, path selection, and how many entropy values.
HTSIM = {
    "ecmp": ["-sack_threshold", "4000", "-load_balancing_algo", "oblivious", "-paths", "1"],
    "oblivious": ["-sack_threshold", "4000", "-load_balancing_algo", "oblivious", "-paths", "128"],
    "bitmap": ["-sack_threshold", "4000", "-load_balancing_algo", "bitmap", "-paths", "128"],
    "reps": ["-sack_threshold", "4000", "-load_balancing_algo", "reps", "-paths", "128"],
    "reps-4": ["-sack_threshold", "16000", "-load_balancing_algo", "reps", "-paths", "128"],
}


def permutation(chance):
    """No host sends to itself."""
    while True:
        to = list(range(HOSTS))
        chance.shuffle(to)
        if all(sender != receiver for sender, receiver in enumerate(to)):
            return list(enumerate(to))


def incast(chance, senders):
    """Several hosts send to one."""
    receiver, *others = chance.sample(range(HOSTS), senders + 1)
    return [(sender, receiver) for sender in others]


def all_to_all(chance, hosts):
    """Each of some hosts sends to each other one, all at once."""
    chosen = chance.sample(range(HOSTS), hosts)
    return [(sender, receiver) for sender in chosen for receiver in chosen if sender != receiver]


# Pairs by a generator of chance, bytes of a flow, and whether Heddle's other variants run as well.
WORKLOADS = {
    "permutation, 2 MB": (permutation, 2_000_000, True),
    "permutation, 8 MB": (permutation, 8_000_000, False),
    "incast, 8 to 1, 2 MB": (lambda chance: incast(chance, 8), 2_000_000, False),
    "incast, 32 to 1, 2 MB": (lambda chance: incast(chance, 32), 2_000_000, False),
    "all to all of 16, 2 MB": (lambda chance: all_to_all(chance, 16), 2_000_000, False),
}


def variants(others):
    """The scenario's, by name, and REPS with an acknowledgement for four packets."""
    names = re.findall(r'^name = "(.*?)"', SCENARIO.read_text(), re.MULTILINE)
    return [*(name for name in names if others or name in HTSIM), PER_FOUR]


def heddle(program, folder, pairs, size, seed, others):
    """Completion times over the ideal ones, by variant."""
    flows = folder / "flows.csv"
    rows = [f"0us,host-{sender + 1},host-{receiver + 1},{size}B" for sender, receiver in pairs]
    flows.write_text("\n".join(["at,from,to,size", *rows, ""]))
    out = folder / "out"
    sets = ["--set", f"workload.file={flows}", "--set", f"seeds=[{seed}]"]
    chosen = [word for name in variants(others) for word in ("--variant", name)]
    words = [program, "sweep", SCENARIO, *sets, *chosen, "--flows", "--quiet", "--out", out]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    ratios = {}
    with open(out / "flows.csv", newline="") as file:
        for row in csv.DictReader(file):
            ratios.setdefault(row["variant"], []).append(float(row["fct_s"]) / float(row["ideal_fct_s"]))
    return ratios


def htsim_run(words, folder, pairs, size, seed):
    """Completion times in microseconds, by pair."""
    matrix = folder / "matrix.cm"
    lines = [f"{sender}->{receiver} id {number} start 0 size {size}" for number, (sender, receiver) in enumerate(pairs, 1)]
    matrix.write_text("\n".join([f"Nodes {HOSTS}", f"Connections {len(pairs)}", *lines, ""]))
    words = [*words, "-tm", matrix, "-sender_cc_only", "-end", "100000", "-seed", str(seed)]
    said = subprocess.run(words, check=True, capture_output=True, text=True, cwd=folder).stdout
    found = [FINISHED.match(line) for line in said.splitlines()]
    times = {(int(one[1]), int(one[2])): float(one[3]) for one in found if one}
    if len(times) != len(pairs):
        sys.exit(f"uet-htsim, seed {seed}: {len(times)} of {len(pairs)} flows finished")
    return times


def htsim(program, topology, folder, pairs, size, seed):
    """Completion times over those of the flows alone, by path selection."""
    ratios = {}
    for name, options in HTSIM.items():
        words = [program, "-topo", topology, *options]
        # Hosts below the same ToR, in the same pod, and in two pods.
        alone = {hosts: max(htsim_run(words, folder, [(0, other)], size, seed).values()) for hosts, other in [(4, 1), (16, 4), (HOSTS, 16)]}
        times = htsim_run(words, folder, pairs, size, seed)
        near = {pair: min(hosts for hosts in alone if pair[0] // hosts == pair[1] // hosts) for pair in times}
        ratios[name] = [time / alone[near[pair]] for pair, time in times.items()]
    return ratios


def main():
    program, reference = pathlib.Path(sys.argv[1]).resolve(), [pathlib.Path(word).resolve() for word in sys.argv[2:4]]
    with open(HERE / "runs.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["workload", "program", "selection", "seed", "mean", "worst"])
        for workload, (draw, size, others) in WORKLOADS.items():
            for seed in SEEDS:
                pairs = draw(random.Random(seed))
                with tempfile.TemporaryDirectory() as name:
                    folder = pathlib.Path(name)
                    runs = [("heddle", heddle(program, folder, pairs, size, seed, others))]
                    if reference:
                        runs.append(("uet-htsim", htsim(*reference, folder, pairs, size, seed)))
                for simulator, selections in runs:
                    for selection, ratios in selections.items():
                        figures = sum(ratios) / len(ratios), max(ratios)
                        rows.writerow([workload, simulator, selection, seed, *(f"{figure:.4f}" for figure in figures)])


main()
