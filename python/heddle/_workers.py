"""Runs on threads of this process, or by any executor."""

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, Protocol

from heddle import _core
from heddle._progress import Bar

Parts = tuple[str, str, list[tuple[str, str]], str]
"""A scenario's name, text, settings and folder."""


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
) -> list[_core.Run]:
    """The run of each cell, in their order. Those that the store has are not made again; each new one is kept as soon as it is done.

    Without an executor, runs take ``jobs`` threads. On an error or Ctrl-C the others are stopped, and what is done is kept.
    """
    done: dict[int, _core.Run] = {}
    for index, cell in enumerate(cells):
        kept = store.load(*cell) if store else None
        if kept is not None:
            done[index] = kept
            bar.done()
    missing = [index for index in range(len(cells)) if index not in done]
    todo = [cells[index] for index in missing]
    for place, made in _local(todo, jobs, bar, store) if executor is None else _remote(todo, executor, bar, store):
        done[missing[place]] = made
    return [done[index] for index in range(len(cells))]


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
    """Runs wherever the executor has its workers: scenarios go there as text, results come back as text."""
    work = [(cell.scenario.parts(), cell.seed) for cell in cells]
    for place, (summary, flows, links) in _as_done(executor, simulate_parts, work, bar):
        made = _core.Run(cells[place].scenario, summary, flows, links)
        if store:
            store.save(made)
        bar.done()
        yield place, made


def simulate_parts(parts: Parts, seed: int) -> tuple[str, str, str | None]:
    """A run in a worker: summary, flows and links as text."""
    _, summary, flows, links = _core.Scenario(*parts).run(seed, _core.Watch()).parts()
    return summary, flows, links


def _as_done(executor: Any, function: Any, work: Sequence[tuple[Any, ...]], bar: Bar) -> Iterable[tuple[int, Any]]:
    """Results with their places, as they are done."""
    futures: dict[Any, int] = {executor.submit(function, *arguments): place for place, arguments in enumerate(work)}
    left = set(futures)
    try:
        while left:
            finished, left = wait(left, timeout=0.1, return_when=FIRST_COMPLETED)
            bar.update()
            for future in finished:
                yield futures[future], future.result()
    except BaseException:
        for future in left:
            future.cancel()
        raise
