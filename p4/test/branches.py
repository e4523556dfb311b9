"""The branches of the programs that the tests take by the interpreter: transitions of parsers, conditions, actions of tables, jumps of loops.

python3 branches.py [PROGRAM...]    # the shares, and each branch that no packet takes; with p4c at hand, with its line"""

import json
import pathlib
import sys
import tempfile
import unittest
from typing import Any

import compiled
import interpreter
import test_bad_input
import test_external_tokens
import test_icmp
import test_loads
import test_paths
import test_vectors

Branch = tuple[Any, ...]
Json = dict[str, Any]
SUITES = (
    *(test_vectors.Vectors, test_bad_input.BadInput, test_bad_input.BadHandshakes, test_bad_input.BadInputOfShuttle),
    *(test_external_tokens.ExternalTokens, test_icmp.Reports, test_loads.Loads, test_paths.Paths),
)


def of_parser(program: Json) -> dict[Branch, str]:
    """The transitions of the parser's states."""
    found = {}
    for state in program["parsers"][0]["parse_states"]:
        for number, transition in enumerate(state["transitions"]):
            found["transition", state["name"], number] = f"parser: {state['name']} to {transition['next_state']}"
    return found


def of_pipelines(program: Json) -> dict[Branch, str]:
    """Both sides of each condition, and the actions of each table."""
    found = {}
    for pipeline in program["pipelines"]:
        for condition in pipeline["conditionals"]:
            for holds in (True, False):
                found["condition", condition["name"], holds] = f"{where(condition)}: {'holds' if holds else 'does not hold'}"
        for table in pipeline["tables"]:
            for action, name in zip(table["action_ids"], table["actions"], strict=True):
                found["table", table["name"], action] = f"{where(table)}: {name}"
    return found


def of_actions(program: Json) -> dict[Branch, str]:
    """Both sides of each jump that loops and conditions in actions are made of."""
    found = {}
    for action in program["actions"]:
        for at, step in enumerate(action["primitives"]):
            if step["op"] == "_jump_if_zero":
                for holds in (True, False):
                    found["jump", action["id"], at, holds] = f"{where(step)}: {'holds' if holds else 'does not hold'}"
    return found


def where(part: Json) -> str:
    """The place and text of a part of a program, if its compiler has left them; else its name."""
    source = part.get("source_info")
    if not source:
        return str(part.get("name", part.get("op")))
    return f"{pathlib.Path(source['filename']).name}:{source['line']}: {source['source_fragment']}"


def all_branches(program: Json) -> dict[Branch, str]:
    """All branches of a program, with words for them."""
    return of_parser(program) | of_pipelines(program) | of_actions(program)


def run_tests() -> None:
    """Runs the suites."""
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in SUITES)
    if not unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite).wasSuccessful():
        sys.exit(1)


def with_lines(program: str) -> Json:
    """The committed test build of a program, or the same with the lines of its source if p4c is at hand."""
    if not compiled.compiler():
        committed: Json = json.loads(compiled.path(program, test=True).read_text())
        return committed
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        compiled.compile_to(program, "-test", out)
        fresh: Json = json.loads(out.read_text())
        return fresh


def main() -> None:
    """Prints the shares, and what is not reached."""
    run_tests()
    for program in sys.argv[1:] or compiled.PROGRAMS:
        reached = interpreter.BRANCHES.get(compiled.path(program, test=True).stem, set())
        known = all_branches(with_lines(program))
        print(f"{program}: {len(known.keys() & reached)} of {len(known)} branches")
        for branch in known.keys() - reached:
            print(f"  {known[branch]}")


if __name__ == "__main__":
    main()
