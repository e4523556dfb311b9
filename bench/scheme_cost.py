#!/usr/bin/env python3
"""Cost of a scheme that is not in the simulator: in C by its interface, and in Python, beside the simulator's own. Prints a table in Markdown.

    ./x wheel && python3 -m venv venv && venv/bin/pip install out/wheels/heddle-*.whl
    venv/bin/python bench/scheme_cost.py

All run the same events; the script checks it. They run by turns, ROUNDS times each; figures are medians of processor time.
"""

import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "python/tests"))

import heddle as hd
from schemes import Ecmp, Hula

ROUNDS = 5
# HULA's fabric, web search at 60 %.
SETTINGS = {"load": 0.6, "flows": 300, "seed": 1, "progress": False}


def in_c(name: str, folder: Path) -> dict[str, str]:
    """A scheme of crates/schemes/example/c, compiled."""
    schemes, library = ROOT / "crates/schemes", folder / f"lib{name}.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-I", schemes / "abi/include", "-o", library, schemes / f"example/c/{name}.c"]
    subprocess.run(command, check=True)
    return {"kind": "external", "library": str(library)}


def nanoseconds(scheme: object) -> tuple[float, str]:
    """Processor time for a packet-hop, and the run's digest."""
    run = hd.run(ROOT / "scenarios/hula-fig5.toml", scheme=scheme, **SETTINGS)
    return 1e9 * run.summary["cpu_seconds"] / run.counters["packet_hops"], run.digest


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        cases = {}
        for name, python in (("ecmp", Ecmp), ("hula", Hula)):
            cases |= {(name, "own"): name, (name, "C"): in_c(name, Path(folder)), (name, "Python"): python}
        figures = {case: [nanoseconds(scheme)] for case, scheme in cases.items()}
        for _ in range(ROUNDS - 1):
            for case, scheme in cases.items():
                figures[case].append(nanoseconds(scheme))
    print("| Scheme | In | ns a packet-hop | least | over the simulator's own |\n| --- | --- | --- | --- | --- |")
    for (name, language), found in figures.items():
        assert {digest for _, digest in found} == {figures[name, "own"][0][1]}, "the same events"
        times, own = [time for time, _ in found], [time for time, _ in figures[name, "own"]]
        median = statistics.median(times)
        print(f"| {name} | {language} | {median:.0f} | {min(times):.0f} | {median / statistics.median(own):.2f} |")


if __name__ == "__main__":
    main()
