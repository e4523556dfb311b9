#!/usr/bin/env python3
"""Means of the seeds in results/uet-medium/measured.json.xz, as CSV: the page's tables.

    python3 bench/uet_means.py > results/uet-medium/means.csv
"""

import json
import lzma
from pathlib import Path
from statistics import mean

FOLDER = Path(__file__).parent.parent / "results/uet-medium"
PROGRAMS = ("heddle", "htsim")


def main() -> None:
    rows = json.loads(lzma.open(FOLDER / "measured.json.xz").read())
    cells: dict[str, list[dict]] = {}
    for row in rows:
        cells.setdefault(f"{row['claim']},{row['selection']}", []).append(row)
    print("claim,selection,heddle_mean,heddle_worst,htsim_mean,htsim_worst,ratio_of_means,ratio_of_worst")
    for cell, seeds in cells.items():
        heddle, htsim = (
            [mean(seed[program][figure] for seed in seeds) for figure in ("mean", "worst")] for program in PROGRAMS
        )
        ratios = [ours / theirs for ours, theirs in zip(heddle, htsim)]
        print(",".join([cell, *(f"{value:.4f}" for value in heddle + htsim + ratios)]))


if __name__ == "__main__":
    main()
