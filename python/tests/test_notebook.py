"""The notebook of the documentation, executed as Jupyter does."""

import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def test_ten_lines_make_hulas_figure_in_under_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    notebook = nbformat.read(NOTEBOOKS / "hula.ipynb", as_version=4)
    [code] = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code.source == (NOTEBOOKS / "hula.py").read_text().rstrip("\n"), "the book has hula.py"
    assert len(code.source.splitlines()) <= 10
    start = time.process_time()
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    assert time.process_time() - start < 60
    svg = code.outputs[-1]["data"]["image/svg+xml"]
    assert "hula" in svg and "ecmp" in svg
