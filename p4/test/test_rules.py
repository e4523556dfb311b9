"""The table of the papers' rules in p4/RULES.md names files and names that exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "crates/schemes/policy/src", ROOT / "bpf/switch", ROOT / "p4")


def rows() -> list[list[str]]:
    """The cells of the table."""
    lines = [line for line in (ROOT / "p4/RULES.md").read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def found(word: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """The files that a word of a cell names: one, or all Rust files below a folder."""
    for base in (folder, ROOT):
        path = base / word
        if path.is_file():
            return [path]
        if path.is_dir():
            return sorted(path.rglob("*.rs"))
    return []


class Rules(unittest.TestCase):
    """Each cell: files, and behind them in parentheses what is to be found in them."""

    def test_files_and_names_exist(self) -> None:
        cells = [(cell, folder) for row in rows() for cell, folder in zip(row[2:], FOLDERS, strict=True) if cell]
        self.assertGreater(len(cells), 60)
        for cell, folder in cells:
            with self.subTest(cell):
                words = re.findall(r"`([^`]+)`", cell)
                files = [file for word in words if "." in word or "/" in word for file in found(word, folder)]
                texts = "".join(file.read_text() for file in files)
                for word in words:
                    if "." in word or "/" in word:
                        self.assertTrue(found(word, folder), word)
                    else:
                        self.assertRegex(texts, rf"\b{word}\b")
                self.assertTrue(words or cell.startswith("none:"), cell)


if __name__ == "__main__":
    unittest.main()
