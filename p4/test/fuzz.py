"""Random steps on the compiled programs beside the Rust:

python3 fuzz.py SCHEME [--seed N] [--traces N] [--steps N] [--bmv2 | --p4runtime] [--keep FILE]

Traces with the Rust's decisions come from `cargo run --example random-traces`. A trace on which a program differs is reduced to the steps that
show it, and printed with the first step that differs; --keep writes it as a file of traces, in the form of vectors/schemes."""

import argparse
import pathlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traces import Bench

HERE = pathlib.Path(__file__).resolve().parent
# The traces' scheme and the program of each choice.
PROGRAMS = {"ecmp": ("ecmp", "ecmp"), "dre": ("dre", "hula"), "hula": ("hula", "hula"), "mp-hula": ("mp-hula", "mp-hula")}
PROGRAMS |= {"mp-hula-external": ("mp-hula", "mp-hula-external"), "shuttle": ("shuttle", "shuttle"), "cflb": ("cflb", "cflb")}


def difference(running: "Bench", trace: dict[str, Any]) -> str:
    """The first step at which the switch decides otherwise; empty if there is none."""
    import traces

    try:
        traces.Run(running, trace).replay()
    except traces.Different as found:
        return str(found)
    return ""


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scheme", choices=PROGRAMS)
    for name, default in (("seed", 1000), ("traces", 100), ("steps", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--bmv2", action="store_true", help="on simple_switch, not by interpreter.py")
    where.add_argument("--p4runtime", action="store_true", help="on simple_switch_grpc")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE", help="write the traces that differ, minimised")
    return parser.parse_args()


def main() -> int:
    """Status 1 if a program differs from the Rust."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "control")]
    import bmv2
    import compiled
    import interpreted
    import reference

    given = arguments()
    scheme, program = PROGRAMS[given.scheme]
    kept = []
    bench = bmv2.bench if given.bmv2 else bmv2.p4runtime_bench if given.p4runtime else interpreted.bench
    with bench(compiled.path(program, test=True)) as running:
        drawn = reference.drawn(scheme, given.seed, given.traces, given.steps)
        for trace in drawn:
            if difference(running, trace):
                small = reference.smallest(trace, lambda shorter: bool(difference(running, shorter)))
                print(f"{len(small['steps'])} of {len(trace['steps'])} steps: {difference(running, small)[:1000]}", file=sys.stderr)
                kept.append(reference.as_vector(small))
    steps = sum(len(trace["steps"]) for trace in drawn)
    print(f"{given.scheme}: {given.traces} traces, {steps} steps, {len(kept)} traces differ")
    if given.keep and kept:
        given.keep.write_text('{\n  "traces": [\n' + ",\n".join(kept) + "\n  ]\n}\n")
    return 1 if kept else 0


if __name__ == "__main__":
    sys.exit(main())
