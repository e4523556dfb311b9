"""The Rust's decisions, and the shortest trace on which a program decides otherwise."""

import json
import pathlib
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ("cargo", "run", "--quiet", "--package", "heddle-vectors", "--example", "random-traces", "--")
Json = dict[str, Any]


def _traces(words: Sequence[str], given: str | None = None) -> list[Json]:
    done = subprocess.run((*COMMAND, *words), check=True, cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True)
    found: list[Json] = json.loads(done.stdout)["traces"]
    return found


def drawn(scheme: str, seed: int, traces: int, steps: int) -> list[Json]:
    """Random traces with the Rust's decisions."""
    return _traces((scheme, str(seed), str(traces), str(steps)))


def decided(trace: Json, steps: list[Json]) -> Json:
    """These steps on the trace's switch, with the Rust's decisions."""
    return _traces(("again",), json.dumps({"traces": [trace | {"steps": steps, "counters": {}}]}))[0]


def minimise(steps: list[Json], shows: Callable[[list[Json]], bool]) -> list[Json]:
    """Removes steps as long as `shows` holds, which it does for `steps`: first halves, then ever smaller parts (delta debugging; Zeller and
    Hildebrandt 2002, reduced to removal). No step can be removed from what is left."""
    best, part = steps, max((len(steps) + 1) // 2, 1)
    while True:
        before, start = len(best), 0
        while start < len(best):
            shorter = best[:start] + best[start + part :]
            if shows(shorter):
                best = shorter
            else:
                start += part
        if part == 1 and len(best) == before:
            return best
        part = max(part // 2, 1)


def smallest(trace: Json, differs: Callable[[Json], bool]) -> Json:
    """The trace with the fewest steps on which a program still differs."""

    def shows(steps: list[Json]) -> bool:
        return differs(decided(trace, steps))

    return decided(trace, minimise(trace["steps"], shows))


def as_vector(trace: Json) -> str:
    """A trace as vectors/schemes has it: a line for each step."""
    head = {"name": f"differs in P4: {trace['name']}", "source": "drawn at random and minimised (p4/test/fuzz.py)"}
    fields = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in (head | {key: trace[key] for key in ("switch", "config")}).items()]
    steps = ",\n".join(f"        {json.dumps(step)}" for step in trace["steps"])
    fields += [f'"steps": [\n{steps}\n      ]', f'"counters": {json.dumps(trace.get("counters", {}))}']
    return "    {\n      " + ",\n      ".join(fields) + "\n    }"
