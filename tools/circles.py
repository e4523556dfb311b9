#!/usr/bin/env python3
"""Finds circles of files within a crate: files that take names from each other, straight or through others.

usage: tools/circles.py [--arrows] [FOLDER...]

A file takes a name from another if a path in it (`crate::`, `super::`, `self::`, a child module, or what a `use` has
bound) leads to an item there; a `pub use` on the way hands the name on and is no end. What a module takes from those of
which it is a part does not count: they are one idea in several files. Tests are left out. It reads text, not types:
methods tie no files, and macros are not expanded. --arrows lists what ties each circle. Below FOLDERs only; without one
all of crates/.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Comments, texts and characters, of which nothing is read.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\\\'])\'', re.DOTALL
)
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*")
ITEM = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+\S*\s*)*"
    r"(?:struct|enum|union|trait|fn|const|static(?:\s+mut)?|type|macro_rules!)\s+(\w+)",
    re.MULTILINE,
)
USE = re.compile(r"(pub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:.])(?:[a-z_]\w*|[A-Z]\w*)(?:\s*::\s*\w+)+")
# A path with as many parts is none of ours.
LONGEST_PATH = 12
NAMES = re.compile(r"(?<![\w:.'])[A-Za-z_]\w*(?!\w)")


def end_of_item(text, start):
    """The end of the item that begins at `start`: its semicolon, or the brace that closes it."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "{[(":
            depth += 1
        elif text[at] in "}])":
            depth -= 1
            if depth == 0 and text[at] == "}":
                return at + 1
        elif text[at] == ";" and depth == 0:
            return at + 1
    return len(text)


def code(path):
    """A file's text without comments, texts, and items for tests."""
    text = NO_CODE.sub(lambda found: '""' if '"' in found[0] else " ", path.read_text())
    while found := TEST.search(text):
        text = text[: found.start()] + text[end_of_item(text, found.end()) :]
    return text


def leaves(tree, before=()):
    """The paths of a `use` tree, each with the name that it binds; `*` binds all."""
    tree = tree.strip()
    if "{" in tree:
        head, rest = tree.split("{", 1)
        before += tuple(part for part in re.split(r"\s*::\s*", head.strip()) if part)
        depth, part = 0, ""
        for sign in rest.rstrip()[:-1] + ",":
            if sign == "," and depth == 0:
                if part.strip():
                    yield from leaves(part, before)
                part = ""
                continue
            depth += {"{": 1, "}": -1}.get(sign, 0)
            part += sign
        return
    tree, _, alias = tree.partition(" as ")
    path = before + tuple(part for part in re.split(r"\s*::\s*", tree.strip()) if part)
    if path[-1] == "self":
        path = path[:-1]
    yield path, alias.strip() or path[-1]


class File:
    """A module in a file of its own."""

    def __init__(self, path, parent):
        self.path, self.parent, self.text = path, parent, code(path)
        self.children, self.found = {}, {}
        self.items = set(ITEM.findall(self.text))
        self.bound, self.globs = {}, []
        for _, tree in USE.findall(self.text):
            for leaf, name in leaves(tree):
                if name == "*":
                    self.globs.append(leaf[:-1])
                else:
                    self.bound[name] = leaf

    def root(self):
        return self.parent.root() if self.parent else self

    def ancestors(self):
        """This file and those whose submodule it is."""
        return [self, *(self.parent.ancestors() if self.parent else [])]

    def module(self, path):
        """The module that a path names, seen from here; none if it is no module, or another crate's."""
        at = self
        for part in path:
            step = {"crate": at.root(), "self": at, "super": at.parent, **at.children}
            at = step.get(part)
            if at is None:
                return None
        return at

    def find(self, path):
        """The file that defines what a path names, seen from here, and the name; none if it is another crate's."""
        if (self, path) not in self.found:
            # Until it is known: a path that leads back to itself, or grows on its way, is another crate's.
            self.found[self, path] = None
            self.found[self, path] = self.look(path) if 0 < len(path) < LONGEST_PATH else None
        return self.found[self, path]

    def look(self, path):
        first, rest = path[0], path[1:]
        if first in ("crate", "self", "super"):
            at = self.module((first,))
            return at and at.find(rest)
        if first in self.children:
            return self.children[first].find(rest)
        if first in self.items:
            return self, first
        if first in self.bound:
            return self.find(self.bound[first] + rest)
        modules = (self.module(glob) for glob in self.globs)
        return next((found for module in modules if module and (found := module.find(path))), None)

    def takes(self):
        """The names that this file takes from others, by file."""
        taken = defaultdict(set)
        paths = [leaf for exported, tree in USE.findall(self.text) if not exported for leaf, _ in leaves(tree)]
        text = USE.sub(" ", self.text)
        paths += [tuple(re.split(r"\s*::\s*", path)) for path in PATH.findall(text)]
        if any(self.module(glob) for glob in self.globs):
            paths += [(name,) for name in set(NAMES.findall(text)) - self.items]
        for path in paths:
            found = self.find(path)
            if found and found[0] not in self.ancestors():
                taken[found[0]].add(found[1])
        return taken


def modules(path, parent=None):
    """The file and those of its modules."""
    file = File(path, parent)
    yield file
    is_folder = parent is None or path.name == "mod.rs"
    folder = path.parent if is_folder else path.with_suffix("")
    for name in re.findall(r"\bmod\s+(\w+)\s*;", file.text):
        for place in (folder / f"{name}.rs", folder / name / "mod.rs"):
            if place.exists():
                below = list(modules(place, file))
                file.children[name] = below[0]
                yield from below


def circles(arrows):
    """The strongly connected parts of a graph that have more than one node (Tarjan 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for to in arrows[node]:
            if to not in number:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], number[to])
        if low[node] == number[node]:
            part = stack[stack.index(node) :]
            del stack[-len(part) :]
            if len(part) > 1:
                found.append(part)

    for node in arrows:
        if node not in number:
            visit(node)
    return found


def roots(folder):
    """The first file of each library and program of the crates."""
    listed = subprocess.check_output(["git", "ls-files", f"{folder}/**/src/*.rs"], cwd=ROOT, text=True)
    for name in listed.split():
        inside = name.split("/src/", 1)[1]
        if inside in ("lib.rs", "main.rs") or re.fullmatch(r"bin/(\w|-)+(/main)?\.rs", inside):
            yield ROOT / name


# Circles that are left: a change makes this list shorter, never longer.
LEFT = [
    {"python/src/run.rs", "python/src/scenario.rs"},
]


def main():
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    unexpected, left = [], []
    for root in [root for folder in given or ["crates"] for root in roots(folder)]:
        arrows = {file: file.takes() for file in list(modules(root))}
        for circle in circles(arrows):
            names = {str(file.path.relative_to(ROOT / "crates")) for file in circle}
            (left if names in LEFT else unexpected).append(names)
            for file in circle if "--arrows" in sys.argv else []:
                for to in arrows[file].keys() & set(circle):
                    what = ", ".join(sorted(arrows[file][to]))
                    print(f"{file.path.relative_to(ROOT)} -> {to.path.relative_to(ROOT)}: {what}")
    errors = [f"these files take names from each other: {', '.join(sorted(names))}" for names in unexpected]
    if not given:
        gone = [names for names in LEFT if names not in left]
        errors += [f"tools/circles.py lists a circle that is gone: {', '.join(sorted(names))}" for names in gone]
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
