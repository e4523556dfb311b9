"""Writes the tables of "MP-HULA beyond its paper" on best hops and subflows: best-hops.csv, a row a run, and
best-hops.md, means over the seeds, with the half widths of 95 % intervals (Student's t). Ratios are taken seed by seed.

usage: bench/best_hops.py FOLDER OUT, with FOLDER of `heddle study paths --medium --out FOLDER`
"""

import csv
import json
import pathlib
import re
import statistics
import sys

from examples import half_width

SYSTEMS = ["ECMP", "HULA", "MP-HULA k = 1", "MP-HULA k = 2", "MP-HULA k = 3", "MP-HULA k = 4"]
LABEL = re.compile(r"paths: (?:TCP|MPTCP x (\d)), (.*) 40 % seed \d+")
HEADER = ["subflows", "system", "seed", "fct_mean_s", "samples", "samples_sharing_a_link"]


def rows(folder: pathlib.Path) -> list[list]:
    """Of each run the settings, the seed, the mean completion time and the samples of paths, TCP's without any."""
    found = []
    for path in folder.glob("runs/*.json"):
        run = json.loads(path.read_text())
        if label := LABEL.fullmatch(run["label"]):
            use = run["summary"]["path_use"] or {"samples": "", "shared": ""}
            mean = run["summary"]["fct"]["all"]["seconds"]["mean"]
            found.append([int(label[1] or 1), label[2], run["seed"], mean, use["samples"], use["shared"]])
    return sorted(found)


def tables(found: list[list]) -> str:
    """Means in ms with shares of samples, and ratios to HULA with as many subflows."""
    means: dict[tuple, list[float]] = {}
    shares: dict[tuple, list[float]] = {}
    for subflows, system, _, mean, samples, shared in found:
        means.setdefault((subflows, system), []).append(mean)
        if samples:
            shares.setdefault((subflows, system), []).append(100 * shared / samples)

    def cell(key: tuple) -> str:
        if key not in means:
            return ""
        ms = [1000 * mean for mean in means[key]]
        share = f"; {statistics.mean(shares[key]):.0f} %" if key in shares else ""
        return f"{statistics.mean(ms):.2f} ± {half_width(ms):.2f}{share}"

    def ratio(key: tuple, base: tuple) -> str:
        by_seed = [one / other for one, other in zip(means[key], means[base], strict=True)]
        return f"{statistics.mean(by_seed):.3f} ± {half_width(by_seed):.3f}"

    lines = ["| Subflows | " + " | ".join(SYSTEMS) + " |", "| --- " * (len(SYSTEMS) + 1) + "|"]
    for subflows in (1, 2, 4, 8):
        name = "TCP" if subflows == 1 else subflows
        lines.append(f"| {name} | " + " | ".join(cell((subflows, system)) for system in SYSTEMS) + " |")
    others = [system for system in SYSTEMS if system != "HULA"]
    lines += ["", "| Subflows | HULA over TCP on HULA | " + " | ".join(f"{system} over HULA" for system in others) + " |"]
    lines.append("| --- " * (len(others) + 2) + "|")
    for subflows in (2, 4, 8):
        hula = (subflows, "HULA")
        ratios = [ratio(hula, (1, "HULA")), *(ratio((subflows, system), hula) for system in others)]
        lines.append(f"| {subflows} | " + " | ".join(ratios) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    folder, out = map(pathlib.Path, sys.argv[1:])
    found = rows(folder)
    with (out / "best-hops.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *found])
    (out / "best-hops.md").write_text(tables(found))


if __name__ == "__main__":
    main()
