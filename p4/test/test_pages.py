"""p4/STATE.md has tables and registers with the bytes that the compiled programs declare."""

import pathlib
import re
import unittest
from collections.abc import Iterator

import compiled
from heddle_p4.program import Program, Table, last_name

P4 = pathlib.Path(__file__).resolve().parents[1]
TEXT = (P4 / "STATE.md").read_text()
COMMON = ["All programs"]
SECTIONS = {
    "ecmp": [],
    "hula": ["HULA"],
    "mp-hula": ["MP-HULA"],
    "mp-hula-external": ["MP-HULA"],
    "shuttle": ["MP-HULA", "Shuttle"],
    "cflb": ["CFLB"],
}
Row = tuple[tuple[str, ...], list[str]]


def rows(sections: list[str]) -> Iterator[Row]:
    """Rows of some sections: the names in the first cell, and the other cells."""
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE):
        title, *lines = section.splitlines()
        for line in lines if title in sections else []:
            first, *others = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("| `"):
                yield tuple(re.findall(r"`(\w+)`", first)), others


def described(program: str) -> dict[str, list[str]]:
    """Of each table and register of a program, the cells beside its name; joined rows by their first name."""
    found = rows(COMMON + SECTIONS[program])
    return {name: ([*others, ",".join(names)] if name == names[0] else []) for names, others in found for name in names}


def number(cell: str) -> float:
    """`65,536`"""
    return float(cell.replace(",", ""))


class Pages(unittest.TestCase):
    """Bytes an entry, entries, KB."""

    def check(self, cells: list[str], bits: int, entries: int) -> None:
        """The cells of a row: bytes and entries are exact, KB are rounded."""
        at = next(index for index, cell in enumerate(cells) if re.fullmatch(r"[\d.,]+", cell))
        each, count, total = (number(cell) for cell in cells[at : at + 3])
        self.assertEqual((each, count), (bits / 8, entries), cells)
        exact = bits * entries / 8 / 1024
        self.assertLessEqual(abs(total - exact), max(0.05, exact / 1000), cells)

    def entry_bits(self, table: Table) -> int:
        """Of the key, and of the parameters of the largest action."""
        largest = max(sum(bits for _, bits in action.parameters) for action in table.actions.values())
        return sum(bits for _, bits in table.keys) + largest

    def test_tables_and_registers_are_described_with_their_bytes(self) -> None:
        for name in compiled.PROGRAMS:
            program, page = Program(compiled.path(name, test=False)), described(name)
            sizes = {table["name"]: table["max_size"] for pipeline in program.json["pipelines"] for table in pipeline["tables"]}
            bits = {last_name(entry["name"]): entry["bitwidth"] for entry in program.json["register_arrays"]}
            for table in program.tables.values():
                short = last_name(table.name)
                if not short.startswith("tbl_"):
                    with self.subTest(program=name, table=short):
                        self.check(page[short], self.entry_bits(table), sizes[table.name] if table.keys else 1)
            for short, (_, size) in program.registers.items():
                with self.subTest(program=name, register=short):
                    if page[short]:
                        self.check(page[short][:-1], sum(bits[part] for part in page[short][-1].split(",")), size)


if __name__ == "__main__":
    unittest.main()
