"""Single runs."""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from os import PathLike
from pathlib import Path
from typing import Any

from heddle import _core
from heddle._progress import Bar
from heddle._scenario import Scenario, checked_seed, wrapped
from heddle._scheme import cost
from heddle._settings import Settings
from heddle._warnings import warn
from heddle._workers import Cell, run_cells


class Run:
    """Results of one scenario with one seed.

    Attributes:
        part: the completed share of the run, an estimate: 1, unless it is a run so far, of :func:`run_live`.
    """

    def __init__(self, core: _core.Run, part: float = 1.0) -> None:
        self._core, self.part = core, part

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return wrapped(self._core.scenario)

    @property
    def seed(self) -> int:
        """The seed."""
        return self._core.seed

    @property
    def digest(self) -> str:
        """Hash over all events: equal digests mean equal runs, here and on the command line."""
        return self._core.digest

    @property
    def summary(self) -> dict[str, Any]:
        """Means, percentiles and counts, as in ``summary.json``: seconds, bytes, bits per second."""
        loaded: dict[str, Any] = json.loads(self._core.summary_json())
        return loaded

    @property
    def counters(self) -> dict[str, int | float | bool]:
        """Sums over the run: packets, drops, retransmissions, timeouts, and the scheme's own."""
        totals: dict[str, int | float | bool] = self.summary["totals"]
        return totals

    @property
    def flows(self) -> _core.Table:
        """A row for each measured flow, unfinished ones among them (``status``)."""
        return self._core.flows

    @property
    def links(self) -> _core.Table | None:
        """A row for each sample of a port; None where the scenario takes none (``measure.sample_every``)."""
        return self._core.links

    @property
    def ports(self) -> _core.Table:
        """A row for each port between switches that was sampled: mean utilisation (0 to 1) and drops."""
        return self._core.ports

    @property
    def series(self) -> _core.Table:
        """Utilisation of each of those ports over time."""
        return self._core.series

    @property
    def steadiness(self) -> dict[str, Any]:
        """The measured steady state: ``state`` ("steady", "overloaded", "unknown"), ``growth``, ``busiest_link``, ``unfinished``."""
        loaded: dict[str, Any] = json.loads(self._core.steadiness_json())
        return loaded

    @property
    def remarks(self) -> list[str]:
        """Warnings that a reader needs before this run is compared with others: unfinished flows, means that still grow."""
        return self._core.remarks

    @property
    def plot(self) -> "Plots":
        """The report's plots, as SVG."""
        return Plots(self._core.plots())

    def report(self, path: str | PathLike[str] | None = None) -> str:
        """The HTML report, as ``heddle run`` writes it; also written to ``path`` if one is given."""
        html = self._core.report_html()
        if path is not None:
            Path(path).write_text(html, encoding="utf-8")
        return html

    def _repr_html_(self) -> str:
        return framed(self.report(), 640)

    def __repr__(self) -> str:
        return f"<heddle.Run of {self.scenario!r} with seed {self.seed}: {len(self.flows)} flows>"

    def __reduce__(self) -> tuple[Any, ...]:
        _, summary, flows, links = self._core.parts()
        return _remade, (self.scenario, summary, flows, links, self.part)


class Svg(str):
    """A picture as SVG text, shown by notebooks."""

    def _repr_svg_(self) -> str:
        return self


class Plots:
    """Plots of a report by name: iterate over the names, index by one."""

    def __init__(self, svgs: list[tuple[str, str]]) -> None:
        self._svgs = dict(svgs)

    def fct(self) -> Svg:
        """The distribution of flow completion times."""
        return self["fct-cdf"]

    def __getitem__(self, name: str) -> Svg:
        return Svg(self._svgs[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._svgs)

    def __len__(self) -> int:
        return len(self._svgs)


def run(
    scenario: "str | PathLike[str] | dict[str, Any] | Scenario",
    *,
    seed: int | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool | None = None,
    set: Settings | None = None,
    **settings: object,
) -> Run:
    """Simulates a scenario with one seed.

    Args:
        scenario: as for :class:`Scenario`.
        seed: the seed; the first of the scenario's unless given.
        store: folder that keeps the run; it is read if it is there. Nothing is kept unless given.
        progress: whether a bar shows; on terminals and in notebooks unless given.
        set, settings: as for :class:`Scenario`.

    Raises:
        ScenarioError, OSError: as for :class:`Scenario`.
        SimulationError: the scenario cannot be run.
        KeyboardInterrupt: Ctrl-C stops the run within a second.

    Warns:
        HeddleWarning: lines of a file are left out, links are overloaded, flows are unfinished, or means still grow; what a scheme in Python costs for each packet-hop.
    """
    cell = _prepared(Scenario(scenario, set=set, **settings), seed)
    kept = None if store is None else _core.Store(store)
    with Bar(1, progress) as bar:
        [(_, done)] = run_cells([cell], kept, jobs=1, bar=bar)
    _warn_of(done)
    return Run(done)


def run_live(
    scenario: "str | PathLike[str] | dict[str, Any] | Scenario",
    *,
    every: float = 1.0,
    seed: int | None = None,
    store: str | PathLike[str] | None = None,
    set: Settings | None = None,
    **settings: object,
) -> Iterator[Run]:
    """Simulates a scenario as :func:`run` does, and gives its results so far; the last :class:`Run` is the whole.

    Results so far are of the flows that have finished until then, of long ones too few. Looking changes nothing in the run, which ends with
    the loop over them::

        for so_far in hd.run_live("scenarios/hula-fig5.toml"):
            print(f"{so_far.part:.0%}", so_far.summary["fct"]["all"])

    Args:
        every: seconds between two results so far, of which there are none in a shorter run.
        scenario, seed, store, set, settings: as for :func:`run`.

    Raises:
        as :func:`run`.

    Warns:
        as :func:`run`, before the run and after it.
    """
    cell = _prepared(Scenario(scenario, set=set, **settings), seed)
    return _live(cell, None if store is None else _core.Store(store), every)


def _live(cell: Cell, kept: _core.Store | None, every: float) -> Iterator[Run]:
    done = kept.load(*cell) if kept else None
    if done is None:
        watch = _core.Watch()
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(cell.scenario.run, cell.seed, watch)
            try:
                while so_far := _look(cell.scenario, watch, running, every):
                    part, core = so_far
                    yield Run(core, part)
            finally:
                watch.stop()
        done = running.result()
        if kept:
            kept.save(done)
    _warn_of(done)
    yield Run(done)


def _look(
    scenario: _core.Scenario, watch: _core.Watch, running: "Future[_core.Run]", every: float
) -> tuple[float, _core.Run] | None:
    """The results so far after a time; None if the run ends before."""
    wait([running], every)
    watch.look()
    while not running.done():
        if so_far := scenario.so_far(watch):
            return so_far
        wait([running], 0.02)
    return None


def _prepared(scenario: Scenario, seed: int | None) -> Cell:
    """The run of a scenario, with the warnings that precede it."""
    for notice in scenario._core.notices:
        warn(notice)
    if overload := scenario._core.overload():
        warn(overload)
    return Cell(scenario._core, scenario.seeds[0] if seed is None else checked_seed(seed))


def _warn_of(done: _core.Run) -> None:
    if slow := cost([done]):
        warn(slow)
    for remark in done.remarks:
        warn(remark)


def _remade(scenario: Scenario, summary: str, flows: bytes, links: bytes | None, part: float) -> Run:
    return Run(_core.Run(scenario._core, summary, flows, links), part)


def framed(html: str, height: int) -> str:
    """A whole page inside another one, which its styles do not touch."""
    escaped = html.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe srcdoc="{escaped}" style="width:100%;height:{height}px;border:0"></iframe>'
