"""Runs on threads of this process, or by any executor."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

from heddle import _core
from heddle._progress import Bar
from heddle._scheme import Scheme

Parts = tuple[str, str, list[tuple[str, str]], str, type[Scheme] | None]
"""A scenario's name, text, settings, folder and class."""


class Cell(NamedTuple):
    """One scenario with one seed."""

    scenario: _core.Scenario
    seed: int


class Submits(Protocol):
    """An executor of concurrent.futures, or a client of Dask's."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any: ...


def run_cells(
    cells: Sequence[Cell],
    store: _core.Store | None,
    *,
    jobs: int | None,
    bar: Bar,
    executor: Submits | None = None,
) -> Iterator[tuple[int, _core.Run]]:
    """The run of each cell with its place, as they are done.

    Those that the store has are not made again; each new one is kept as soon as it is done.

    Without an executor, runs take ``jobs`` threads. On an error or Ctrl-C the others are stopped, and what is done is kept.
    """
    missing = []
    for index, cell in enumerate(cells):
        kept = store.load(*cell) if store else None
        if kept is None:
            missing.append(index)
        else:
            bar.done()
            yield index, kept
    todo = [cells[index] for index in missing]
    for place, made in _local(todo, jobs, bar, store) if executor is None else _remote(todo, executor, bar, store):
        yield missing[place], made


def _local(
    cells: Sequence[Cell], jobs: int | None, bar: Bar, store: _core.Store | None
) -> Iterable[tuple[int, _core.Run]]:
    """Runs on threads: the part in Rust runs without the interpreter's lock."""

    def simulate(cell: Cell) -> _core.Run:
        watch = bar.watch()
        try:
            made = cell.scenario.run(cell.seed, watch)
        finally:
            bar.ended(watch)
        if store:
            store.save(made)
        return made

    pool = ThreadPoolExecutor(jobs)
    try:
        for place, made in _as_done(pool, simulate, [(cell,) for cell in cells], bar):
            bar.done()
            yield place, made
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        bar.stop()
        raise
    finally:
        pool.shutdown()


def _remote(
    cells: Sequence[Cell], executor: Submits, bar: Bar, store: _core.Store | None
) -> Iterable[tuple[int, _core.Run]]:
    """Runs wherever the executor has its workers: scenarios go there as text, tables of results come back as Apache Arrow."""
    work = [(cell.scenario.parts(), cell.seed, _core.engine_digest) for cell in cells]
    for place, (summary, flows, links) in _as_done(executor, simulate_parts, work, bar):
        made = _core.Run(cells[place].scenario, summary, flows, links)
        if store:
            store.save(made)
        bar.done()
        yield place, made


def simulate_parts(parts: Parts, seed: int, engine: str) -> tuple[str, bytes, bytes | None]:
    """A run in a worker, whose engine must be the caller's: its summary as JSON, flows and links as files of Apache Arrow."""
    if engine != _core.engine_digest:
        here = f"heddle {_core.__version__} of engine {_core.engine_digest}"
        raise _core.SimulationError(f"a worker has {here}, and the sweep's engine is {engine}: install the same wheel there")
    _, summary, flows, links = _core.Scenario(*parts).run(seed, _core.Watch()).parts()
    return summary, flows, links


def _as_done(executor: Any, function: Any, work: Sequence[tuple[Any, ...]], bar: Bar) -> Iterable[tuple[int, Any]]:
    """Results with their places, as they are done. Futures are those of concurrent.futures or of Dask."""
    finished = SimpleQueue[tuple[int, Any]]()
    left: dict[int, Any] = {}
    try:
        for place, arguments in enumerate(work):
            left[place] = executor.submit(function, *arguments)
            left[place].add_done_callback(partial(_note, finished, place))
        while left:
            bar.update()
            try:
                place, future = finished.get(timeout=0.1)
            except Empty:
                continue
            # Let go, so that a cluster does not keep its result.
            del left[place]
            yield place, future.result()
    except BaseException:
        for future in left.values():
            future.cancel()
        raise


def _note(finished: "SimpleQueue[tuple[int, Any]]", place: int, future: Any) -> None:
    finished.put((place, future))
