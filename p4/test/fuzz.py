"""Random steps on the compiled programs beside the Rust: `python3 fuzz.py SCHEME [--seed N] [--traces N] [--steps N] [--bmv2]`.

Traces with the Rust's decisions come from `cargo run --example random-traces`. A trace on which a program differs is printed by its seed, with the
first step that differs; the same seed draws it again."""

import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = {"ecmp": "ecmp", "dre": "hula", "hula": "hula", "mp-hula": "mp-hula", "cflb": "cflb"}


def drawn(scheme: str, seed: int, traces: int, steps: int) -> list[dict[str, Any]]:
    """Random traces with the Rust's decisions."""
    command = ("cargo", "run", "--quiet", "--package", "heddle-vectors", "--example", "random-traces", "--")
    done = subprocess.run((*command, scheme, str(seed), str(traces), str(steps)), check=True, cwd=ROOT, stdout=subprocess.PIPE)
    found: list[dict[str, Any]] = json.loads(done.stdout)["traces"]
    return found


def main() -> int:
    """Status 1 if a program differs from the Rust."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "control")]
    import bmv2
    import compiled
    import interpreted
    import traces

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scheme", choices=PROGRAMS)
    for name, default in (("seed", 1000), ("traces", 100), ("steps", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--bmv2", action="store_true", help="on simple_switch, not by interpreter.py")
    given = parser.parse_args()
    different = steps = 0
    with (bmv2.bench if given.bmv2 else interpreted.bench)(compiled.path(PROGRAMS[given.scheme], test=True)) as running:
        for trace in drawn(given.scheme, given.seed, given.traces, given.steps):
            try:
                traces.Run(running, trace).replay()
            except traces.Different as difference:
                different += 1
                print(str(difference)[:600], file=sys.stderr)
            steps += len(trace["steps"])
    print(f"{given.scheme}: {given.traces} traces, {steps} steps, {different} traces differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
