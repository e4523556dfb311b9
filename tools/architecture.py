#!/usr/bin/env python3
"""Holds ARCHITECTURE.md's list of crates, and the walls between them, against `cargo metadata`.

usage: tools/architecture.py [--print]

The list is the block of ARCHITECTURE.md between ```crates and ```: a line for each crate with the crates of the workspace
that it is built from directly (tests and benches aside). --print writes it as it should be.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Groups (folders of crates/), or single crates, that a group's crates may be built from, through however many others.
WALLS = {
    "shared": {"shared"},
    "schemes": {"shared", "schemes"},
    "simulator": {"shared", "schemes", "simulator"},
    "paths": {"shared", "schemes", "simulator", "paths"},
    "bpf": {"shared", "bpf"},
    "balancer": {"shared", "bpf", "balancer", "evaluation"},
    "switch": {"shared", "bpf", "schemes", "simulator", "paths", "switch"},
    "evaluation": {"shared", "schemes", "simulator", "paths", "evaluation"},
    "lab": {"shared", "bpf", "lab", "balancer/api"},
    "emulation": {"shared", "schemes", "simulator", "paths", "evaluation", "bpf", "lab", "balancer/api", "emulation"},
    "cli": {"shared", "schemes", "simulator", "paths", "evaluation", "cli"},
    "python": {"shared", "schemes", "simulator", "paths", "evaluation", "python"},
    "browser": {"shared", "schemes", "simulator", "paths", "evaluation", "browser"},
}

# Crates that must not be built from others, though their groups may.
NEVER = [
    ("evaluation/claims", {"schemes", "simulator", "paths"}),
    ("evaluation/report", {"schemes", "simulator", "paths"}),
    ("evaluation/driver", {"schemes", "simulator", "paths"}),
    ("balancer/api", {"shared", "bpf", "evaluation"}),
    ("balancer/*", {"evaluation/study", "evaluation/papers", "simulator", "paths", "schemes"}),
    ("switch/*", {"simulator/sim", "paths/service", "shared/hashing"}),
    ("schemes/*", {"shared/hashing", "shared/config"}),
    ("simulator/*", {"shared/hashing"}),
    ("cli", {"shared/hashing"}),
    ("python", {"shared/hashing", "shared/daemon"}),
    ("browser/*", {"shared/hashing", "shared/daemon", "shared/program"}),
    ("lab", {"shared/wire"}),
]


def workspace():
    """Each crate's folder below crates/, with the folders of the crates that it is built from directly; the fuzz targets aside."""
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    packages = json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]
    packages = [p for p in packages if Path(p["manifest_path"]).is_relative_to(ROOT / "crates")]
    folders = {p["name"]: str(Path(p["manifest_path"]).parent.relative_to(ROOT / "crates")) for p in packages}
    return {
        folders[p["name"]]: sorted(
            {folders[d["name"]] for d in p["dependencies"] if d["kind"] != "dev" and d["name"] in folders}
        )
        for p in packages
    }


def levels(crates):
    """The crates from the bottom up: each behind all that it is built from."""
    order, rest = [], dict(sorted(crates.items()))
    while rest:
        ready = [crate for crate in rest if all(need in order for need in rest[crate])]
        order += ready
        for crate in ready:
            del rest[crate]
    return order


def listing(crates):
    """The block of ARCHITECTURE.md."""
    width = max(len(crate) for crate in crates)
    lines = (f"{crate:{width}}  <-  {', '.join(crates[crate])}" for crate in levels(crates))
    return [line.removesuffix("  <-  ").rstrip() for line in lines]


def written():
    """The block as it stands."""
    lines = (ROOT / "ARCHITECTURE.md").read_text().splitlines()
    if "```crates" not in lines:
        sys.exit("error: ARCHITECTURE.md has no block ```crates")
    rest = lines[lines.index("```crates") + 1 :]
    return rest[: rest.index("```")]


def group(crate):
    return crate.split("/")[0]


def built_from(crate, crates):
    """All that a crate is built from, itself aside."""
    found, todo = set(), list(crates[crate])
    while todo:
        need = todo.pop()
        if need not in found:
            found.add(need)
            todo += crates[need]
    return found


def breaches(crates):
    """The imports that break a wall, a line each."""
    for crate in crates:
        needs = built_from(crate, crates)
        if group(crate) not in WALLS:
            yield f"crates/{crate}: tools/architecture.py has no wall for the group {group(crate)}"
            continue
        for need in sorted(needs):
            if not {need, group(need)} & WALLS[group(crate)]:
                yield f"crates/{crate} is built from crates/{need}: {group(crate)} must not know {group(need)}"
            for who, never in NEVER:
                if who in (crate, f"{group(crate)}/*") and never & {need, group(need)}:
                    yield f"crates/{crate} is built from crates/{need}, which it must not know"


def main():
    crates = workspace()
    if "--print" in sys.argv:
        print("\n".join(listing(crates)))
        return
    errors = list(breaches(crates))
    if written() != listing(crates):
        errors.append("ARCHITECTURE.md's list of crates is not what cargo metadata says: tools/architecture.py --print")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
