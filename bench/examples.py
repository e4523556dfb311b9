"""Writes summary.csv of the sweeps that bench/examples.sh has run, and tables of the book: means over the seeds, with
the half widths of 95 % intervals (Student's t).

usage: bench/examples.py FOLDER
"""

import csv
import math
import pathlib
import statistics
import sys

# By degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262}
SIZES = {"Mean FCT": "all", "Under 100 KB": "small", "100 KB to 10 MB": "medium", "Over 10 MB": "large"}
Key = tuple[str, ...]
Summary = dict[Key, dict[str, list[float]]]


def read(path: pathlib.Path) -> dict[Key, dict[Key, list[float]]]:
    """Of each setting of a sweep, and of each workload, class of sizes and statistic, the seeds' values in order."""
    found: dict[Key, dict[Key, list[float]]] = {}
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    keys = header.index("seed")
    for row in rows:
        figure = (row[keys + 1], row[keys + 2], row[keys + 3])
        found.setdefault(tuple(row[:keys]), {}).setdefault(figure, []).append(float(row[keys + 4]))
    return found


def figures(name: str, of: dict[Key, list[float]]) -> dict[str, list[float]]:
    """What the book quotes of a sweep, in its units."""
    goodput = of["", "", "goodput"]
    if name.startswith("dragonfly"):
        return {"% of 720 Gbps": [100 * value / 720e9 for value in goodput]}
    if name == "mptcp-beside-tcp":
        mptcp, tcp = (of[kind, "all", "long_flow_goodput_mean"] for kind in ("mptcp", "tcp"))
        return {"MPTCP over TCP": [one / other for one, other in zip(mptcp, tcp, strict=True)]}
    if name in ("one-queue", "short-flows-first"):
        means = {title: [1000 * value for value in of["", size, "fct_mean"]] for title, size in SIZES.items()}
        p99 = [1000 * value for value in of["", "all", "fct_p99"]]
        return means | {"Mean slowdown": of["", "all", "slowdown_mean"], "p99": p99}
    return {"Mbps": [value / 1e6 for value in goodput]}


def half_width(values: list[float]) -> float:
    """Of the mean's 95 % interval."""
    return STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))


def cell(values: list[float], decimals: int) -> str:
    """`9.22 ± 0.05`"""
    return f"{statistics.mean(values):.{decimals}f} ± {half_width(values):.{decimals}f}"


def only(found: dict[str, list[float]], decimals: int) -> str:
    """The cell of a setting with one figure."""
    (values,) = found.values()
    return cell(values, decimals)


def table(path: pathlib.Path, header: list[str], rows: list[list[str]]) -> None:
    """Writes a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    path.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))


def tables(folder: pathlib.Path, of: dict[str, Summary]) -> None:
    """The book's."""
    kinds = ("dragonfly-adversarial", "dragonfly-uniform")
    shares = [[f'`"{key[0]}"`', *(only(of[kind][key], 1) for kind in kinds)] for key in of[kinds[0]]]
    table(folder / "dragonfly.md", ["`routing`", "Adversarial, %", "Uniform, %"], shares)

    reactions = ("wait", "retransmit", "penalise")
    goodput = [
        [f'`"{key[0]}"`', only(alone, 2)] + [only(of["full-window"][key[0], reaction], 2) for reaction in reactions]
        for key, alone in of["full-window-wifi"].items()
    ]
    table(
        folder / "full-window.md",
        ["`receive_window`", "TCP over WiFi alone", *(f'`"{r}"`' for r in reactions)],
        goodput,
    )

    queues = {(scheme, "none"): values for (scheme,), values in of["one-queue"].items()} | of["short-flows-first"]
    decimals = [2, 3, 2, 1, 1, 0]
    rows = [
        [*key, *(cell(values, places) for values, places in zip(queues[key].values(), decimals, strict=True))]
        for key in sorted(queues, key=lambda key: key[0])
    ]
    table(folder / "short-flows-first.md", ["Switches", "`priority_bytes`", *SIZES, "Mean slowdown", "p99"], rows)


def main() -> None:
    """Reads all sweeps of the folder."""
    folder = pathlib.Path(sys.argv[1])
    sweeps = [path for path in sorted(folder.glob("*.csv")) if path.stem != "summary"]
    of: dict[str, Summary] = {
        path.stem: {key: figures(path.stem, values) for key, values in read(path).items()} for path in sweeps
    }
    with (folder / "summary.csv").open("w", newline="") as file:
        for name, settings in of.items():
            for key, found in settings.items():
                for figure, values in found.items():
                    line = [
                        name,
                        *key,
                        figure,
                        f"{statistics.mean(values):.6g}",
                        f"{half_width(values):.3g}",
                        len(values),
                    ]
                    csv.writer(file, lineterminator="\n").writerow(line)
    tables(folder, of)


if __name__ == "__main__":
    main()
