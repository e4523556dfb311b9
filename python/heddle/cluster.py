"""Runs of ``heddle sweep --on``, by the workers of a scheduler of Dask's: what to run comes on standard input, as JSON."""

import json
import sys
from typing import Any

from heddle import _core
from heddle._progress import Bar
from heddle._workers import Cell, run_cells


def make(work: dict[str, Any]) -> None:
    """Makes the runs, which go to the store.

    Raises:
        HeddleError: a scenario cannot be run, or the command line has another engine than this package.
        OSError: no scheduler answers.
    """
    from distributed import Client

    if work["engine"] != _core.engine_digest:
        raise _core.SimulationError("`heddle` and the package have different engines: install both from the same sources")
    cells = [
        Cell(_core.Scenario(cell["name"], cell["text"], list(map(tuple, cell["settings"])), cell["folder"]), cell["seed"])
        for cell in work["cells"]
    ]
    with Client(work["scheduler"]) as client, Bar(len(cells), False if work["quiet"] else None) as bar:
        for _ in run_cells(cells, _core.Store(work["store"]), jobs=None, bar=bar, executor=client):
            pass


def main() -> None:
    """Reads what to run, and ends the process with 130 after Ctrl-C, with 1 after an error."""
    try:
        make(json.load(sys.stdin))
    except KeyboardInterrupt:
        sys.exit(130)
    except (_core.HeddleError, ImportError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
