"""Writes the tables of "MP-HULA beyond its paper": of best hops and subflows, and of the priority of short flows each a
CSV file, a row a run, and a Markdown file of means over the seeds, with the half widths of 95 % intervals (Student's t).
Ratios are taken seed by seed.

usage: bench/mp_hula_study.py FOLDER OUT, with FOLDER of `heddle study paths priorities --medium --out FOLDER`
"""

import csv
import json
import pathlib
import re
import statistics
import sys

from examples import half_width

SYSTEMS = ["ECMP", "HULA", "MP-HULA k = 1", "MP-HULA k = 2", "MP-HULA k = 3", "MP-HULA k = 4"]
PATHS = re.compile(r"paths: (?:TCP|MPTCP x (\d)), (.*) 40 % seed \d+")
PRIORITIES = re.compile(r"priorities: (.*) (\d+) % seed \d+")
PATHS_HEADER = ["subflows", "system", "seed", "fct_mean_s", "samples", "samples_sharing_a_link"]
# Completion times in seconds, of all flows and by size.
PRIORITIES_HEADER = ["load_percent", "setting", "seed", "all", "small", "large"]
RATIOS = [
    ("MP-HULA over HULA, all", "MP-HULA, alike", "HULA", "all"),
    ("yield-best over alike, under 100 KB", "MP-HULA, yield-best", "MP-HULA, alike", "small"),
    ("yield-best over alike, over 10 MB", "MP-HULA, yield-best", "MP-HULA, alike", "large"),
    ("yield-best over alike, all", "MP-HULA, yield-best", "MP-HULA, alike", "all"),
]


def runs(folder: pathlib.Path, label: re.Pattern) -> list[tuple[re.Match, dict]]:
    """The runs with such a label."""
    read = [json.loads(path.read_text()) for path in folder.glob("runs/*.json")]
    return [(found, run) for run in read if (found := label.fullmatch(run["label"]))]


def paths(folder: pathlib.Path) -> list[list]:
    """Of each run the settings, the seed, the mean completion time and the samples of paths, TCP's without any."""
    rows = []
    for label, run in runs(folder, PATHS):
        use = run["summary"]["path_use"] or {"samples": "", "shared": ""}
        mean = run["summary"]["fct"]["all"]["seconds"]["mean"]
        rows.append([int(label[1] or 1), label[2], run["seed"], mean, use["samples"], use["shared"]])
    return sorted(rows)


def priorities(folder: pathlib.Path) -> list[list]:
    """Of each run the load, the setting, the seed and mean completion times."""
    rows = []
    for label, run in runs(folder, PRIORITIES):
        fct = run["summary"]["fct"]
        by_size = {group["name"]: group["summary"]["seconds"]["mean"] for group in fct["classes"]}
        all_flows = fct["all"]["seconds"]["mean"]
        rows.append([int(label[2]), label[1], run["seed"], all_flows, by_size["small"], by_size["large"]])
    return sorted(rows)


def ratio(means: list[float], base: list[float]) -> str:
    by_seed = [one / other for one, other in zip(means, base, strict=True)]
    return f"{statistics.mean(by_seed):.3f} ± {half_width(by_seed):.3f}"


def paths_tables(rows: list[list]) -> str:
    """Means in ms with shares of samples, and ratios to HULA with as many subflows."""
    means: dict[tuple, list[float]] = {}
    shares: dict[tuple, list[float]] = {}
    for subflows, system, _, mean, samples, shared in rows:
        means.setdefault((subflows, system), []).append(mean)
        if samples:
            shares.setdefault((subflows, system), []).append(100 * shared / samples)

    def cell(key: tuple) -> str:
        if key not in means:
            return ""
        ms = [1000 * mean for mean in means[key]]
        share = f"; {statistics.mean(shares[key]):.0f} %" if key in shares else ""
        return f"{statistics.mean(ms):.2f} ± {half_width(ms):.2f}{share}"

    lines = ["| Subflows | " + " | ".join(SYSTEMS) + " |", "| --- " * (len(SYSTEMS) + 1) + "|"]
    for subflows in (1, 2, 4, 8):
        name = "TCP" if subflows == 1 else subflows
        lines.append(f"| {name} | " + " | ".join(cell((subflows, system)) for system in SYSTEMS) + " |")
    others = [system for system in SYSTEMS if system != "HULA"]
    lines += ["", "| Subflows | HULA over TCP on HULA | " + " | ".join(f"{system} over HULA" for system in others) + " |"]
    lines.append("| --- " * (len(others) + 2) + "|")
    for subflows in (2, 4, 8):
        hula = means[subflows, "HULA"]
        ratios = [ratio(hula, means[1, "HULA"]), *(ratio(means[subflows, system], hula) for system in others)]
        lines.append(f"| {subflows} | " + " | ".join(ratios) + " |")
    return "\n".join(lines) + "\n"


def priorities_table(rows: list[list]) -> str:
    """Ratios of means, by load."""
    means: dict[tuple, list[float]] = {}
    for load, setting, _, *seconds in rows:
        for size, mean in zip(("all", "small", "large"), seconds, strict=True):
            means.setdefault((load, setting, size), []).append(mean)
    lines = ["| Load | " + " | ".join(name for name, *_ in RATIOS) + " |", "| --- " * (len(RATIOS) + 1) + "|"]
    for load in sorted({load for load, *_ in means}):
        ratios = [ratio(means[load, setting, size], means[load, base, size]) for _, setting, base, size in RATIOS]
        lines.append(f"| {load} % | " + " | ".join(ratios) + " |")
    return "\n".join(lines) + "\n"


def write(out: pathlib.Path, name: str, rows: list[list], table: str) -> None:
    """Writes the runs and their table."""
    with (out / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    (out / f"{name}.md").write_text(table)


def main() -> None:
    folder, out = map(pathlib.Path, sys.argv[1:])
    rows = paths(folder)
    write(out, "best-hops", [PATHS_HEADER, *rows], paths_tables(rows))
    rows = priorities(folder)
    write(out, "priorities", [PRIORITIES_HEADER, *rows], priorities_table(rows))


if __name__ == "__main__":
    main()
