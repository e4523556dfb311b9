"""Sweeps: every combination of some values, with some seeds each."""

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from heddle import _core
from heddle._progress import Bar
from heddle._run import Plots, Run, framed
from heddle._scenario import Scenario, checked_seed, resolve
from heddle._settings import Settings, dotted, label, overrides
from heddle._scheme import cost
from heddle._warnings import warn
from heddle._workers import Cell, Submits, run_cells


class Combination(NamedTuple):
    """Values of a sweep's keys, and its variant's name under ``variant``, with the run of each seed."""

    settings: dict[str, object]
    runs: list[Run]


class Sweep:
    """Results of a sweep: its combinations, in the order of the values, the last key's turning fastest.

    Attributes:
        part: the share of the runs that are finished: 1, unless it is a sweep so far, of :func:`sweep_live`, whose combinations
            are those that have runs.
    """

    def __init__(self, base: Scenario, combined: "list[_Combined]", places: list[_core.Run | None], plan: _core.Plan) -> None:
        self.base, self._places, self._plan = base, places, plan
        self.part = sum(run is not None for run in places) / len(places)
        runs = iter(places)
        dealt = [(values, [run for run in itertools.islice(runs, len(seeds)) if run]) for values, _, seeds in combined]
        self.combinations = [Combination(values, [Run(run) for run in of_it]) for values, of_it in dealt if of_it]

    @property
    def remarks(self) -> list[str]:
        """Warnings that a reader needs before combinations are compared, such as different numbers of unfinished flows."""
        return self._report()[1]

    def __iter__(self) -> Iterator[Combination]:
        return iter(self.combinations)

    def __len__(self) -> int:
        return len(self.combinations)

    def rows(self) -> list[dict[str, object]]:
        """A row for each combination and seed: settings, seed, and the usual figures (seconds; slowdown; counts), for any data frame."""
        return [_row(settings, run) for settings, runs in self.combinations for run in runs]

    def means(self) -> list[dict[str, object]]:
        """A row for each combination and figure over the seeds, as in ``means.csv``: settings, ``workload``, ``size_class``, ``statistic``,
        ``mean``, ends of the 95 % interval (``low``, ``high``; None with one seed), ``seeds``, ``unit``."""
        figures = json.loads(self._plan.means_json(self._places))
        return [
            {**_labelled(settings), **_with_ends(figure, "workload", "size_class", "statistic", "mean", "seeds", "unit")}
            for (settings, _), of_it in zip(self.combinations, figures, strict=True)
            for figure in of_it
        ]

    def ratios(self, key: str, value: object) -> list[dict[str, object]]:
        """Ratios, seed by seed, to the combinations that have a value of a key, or to a variant (``"variant"``), as in ``ratios.csv``:
        settings, ``figure``, ``ratio`` (the geometric mean), ends of its 95 % interval, ``seeds``, ``overloaded``.

        Raises:
            ValueError: the sweep has no such key or value.
        """
        known = {tuple(map(label, settings.values())): _labelled(settings) for settings, _ in self.combinations}
        found = json.loads(self._plan.ratios_json(self._places, *_baseline(key, value)))
        return [
            {**known[tuple(ratio["settings"])], **_with_ends(ratio, "figure", "ratio", "seeds", "overloaded")}
            for ratio in found
        ]

    def report(self, path: str | PathLike[str] | None = None, *, baseline: tuple[str, object] | None = None) -> str:
        """The HTML report, as ``heddle sweep`` writes it; also written to ``path`` if one is given. A baseline is a key and its value."""
        html, _ = self._report(baseline)
        if path is not None:
            Path(path).write_text(html, encoding="utf-8")
        return html

    @property
    def plot(self) -> Plots:
        """The report's plots, as SVG: over the last key whose values are numbers, a curve for each value of the others."""
        return Plots(self._plan.plots(self._places))

    def _report(self, baseline: tuple[str, object] | None = None) -> tuple[str, list[str]]:
        return self._plan.report(self.base._core, self._places, baseline and _baseline(*baseline))

    def _repr_html_(self) -> str:
        return framed(self.report(), 640)


def sweep(
    scenario: "str | PathLike[str] | dict[str, Any] | Scenario",
    over: Mapping[str, Sequence[object]] = MappingProxyType({}),
    *,
    variants: Mapping[str, Settings] | None = None,
    seeds: Iterable[int] | None = None,
    jobs: int | None = None,
    executor: Submits | None = None,
    store: str | PathLike[str] | None = None,
    progress: bool | None = None,
    set: Settings | None = None,
    **settings: object,
) -> Sweep:
    """Simulates every combination of some values.

    Runs are kept as they are done, in the same format as the command line's: interrupted work goes on where it stopped, and either goes on
    where the other stopped (``store="out/sweep-NAME/runs"``, of ``heddle sweep --flows``).

    Args:
        scenario: as for :class:`Scenario`.
        over: values by key: ``{"scheme": ["ecmp", "hula"], "load": [0.3, 0.6]}``.
        variants: settings by name, which are compared with each other, before the values of ``over``:
            ``{"hula": {"scheme": "hula"}, "reps": {"scheme": "ecmp", "entropy": "reps"}}``; the scenario's ``[[variant]]`` unless given.
        seeds: seeds of each combination; the scenario's unless given.
        jobs: threads; as many as processors unless given.
        executor: runs work elsewhere: any ``concurrent.futures.Executor``, or a Dask client.
        store: folder of finished runs; :func:`default_store` unless given.
        progress: whether a bar shows; on terminals and in notebooks unless given.
        set, settings: of all combinations, as for :class:`Scenario`.

    Raises:
        ScenarioError, OSError, SimulationError: as for :func:`run`; before anything runs if a combination cannot.
        KeyboardInterrupt: Ctrl-C stops the runs of this process within a second; what is done is kept.

    Warns:
        HeddleWarning: links are overloaded, or combinations differ in their unfinished flows.
    """
    begun = _begin(Scenario(scenario, set=set, **settings), over, variants, seeds)
    with Bar(len(begun.places), progress) as bar:
        for place, made in begun.runs(store, jobs, bar, executor):
            begun.places[place] = made
    return begun.ended()


def sweep_live(
    scenario: "str | PathLike[str] | dict[str, Any] | Scenario",
    over: Mapping[str, Sequence[object]] = MappingProxyType({}),
    *,
    variants: Mapping[str, Settings] | None = None,
    seeds: Iterable[int] | None = None,
    jobs: int | None = None,
    executor: Submits | None = None,
    store: str | PathLike[str] | None = None,
    set: Settings | None = None,
    **settings: object,
) -> Iterator[Sweep]:
    """Simulates every combination as :func:`sweep` does, and gives the sweep so far after each run; the last :class:`Sweep` is the whole.

    Runs end with the loop over them; what is done is kept::

        for so_far in hd.sweep_live("scenarios/hula-fig5.toml", {"scheme": ["ecmp", "hula"]}, seeds=range(5)):
            so_far.report("sweep.html")

    Args, Raises, Warns: as for :func:`sweep`.
    """
    begun = _begin(Scenario(scenario, set=set, **settings), over, variants, seeds)
    return _live(begun, store, jobs, executor)


_Combined = tuple[dict[str, object], _core.Scenario, list[int]]
"""Settings, scenario and seeds of a combination."""


class _Begun(NamedTuple):
    """A sweep whose runs are made."""

    base: Scenario
    combined: list[_Combined]
    plan: _core.Plan
    places: list[_core.Run | None]

    def runs(
        self, store: str | PathLike[str] | None, jobs: int | None, bar: Bar, executor: Submits | None
    ) -> Iterator[tuple[int, _core.Run]]:
        kept = _core.Store(default_store() if store is None else store)
        cells = [Cell(made, seed) for _, made, its_seeds in self.combined for seed in its_seeds]
        return run_cells(cells, kept, jobs=jobs or os.cpu_count(), bar=bar, executor=executor)

    def so_far(self) -> Sweep:
        return Sweep(self.base, self.combined, list(self.places), self.plan)

    def ended(self) -> Sweep:
        made = self.so_far()
        if slow := cost(run for run in self.places if run):
            warn(slow)
        for remark in made.remarks:
            warn(remark)
        return made


def _live(begun: _Begun, store: str | PathLike[str] | None, jobs: int | None, executor: Submits | None) -> Iterator[Sweep]:
    with Bar(len(begun.places), False) as bar:
        for place, made in begun.runs(store, jobs, bar, executor):
            begun.places[place] = made
            if None in begun.places:
                yield begun.so_far()
    yield begun.ended()


def _begin(
    base: Scenario,
    over: Mapping[str, Sequence[object]],
    variants: Mapping[str, Settings] | None,
    seeds: Iterable[int] | None,
) -> _Begun:
    over = {key: _several(f"the values of {key!r}", values) for key, values in over.items()}
    seeds = None if seeds is None else _several("seeds", seeds)
    of_file = {name: dict(given) for name, given in base._core.variants()}
    named: Mapping[str, Settings] = of_file if variants is None else variants
    choices: list[tuple[str | None, Settings]] = [*named.items()] or [(None, {})]
    combined = [
        _combined(base, name, given, dict(zip(over, values, strict=True)), seeds)
        for name, given in choices
        for values in itertools.product(*over.values())
    ]
    plan = _core.Plan(
        [(dotted(key), [label(value) for value in values]) for key, values in over.items()],
        [(name, overrides(given)) for name, given in named.items()],
        [([label(value) for value in values.values()], made, its_seeds) for values, made, its_seeds in combined],
    )
    if overload := plan.overload():
        warn(overload)
    return _Begun(base, combined, plan, [None for _, _, its_seeds in combined for _ in its_seeds])


def _several(what: str, values: Iterable[Any]) -> list[Any]:
    """A list of what is taken more than once, as an iterator cannot be."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: a list is expected, not {values!r}")
    if not (listed := list(values)):
        raise ValueError(f"{what}: give one at least")
    return listed


def default_store() -> Path:
    """The folder that keeps the runs of sweeps: ``heddle/runs`` in the user's folder of caches (``XDG_CACHE_HOME``)."""
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "heddle" / "runs"


def _combined(
    base: Scenario, variant: str | None, given: Settings, values: dict[str, object], seeds: Iterable[int] | None
) -> tuple[dict[str, object], _core.Scenario, list[int]]:
    scenario = resolve(base, {**given, **values}, variant)
    name: dict[str, object] = {} if variant is None else {"variant": variant}
    return {**name, **values}, scenario, scenario.seeds if seeds is None else [checked_seed(seed) for seed in seeds]


def _baseline(key: str, value: object) -> tuple[str, str]:
    return key if key == "variant" else dotted(key), label(value)


def _labelled(settings: dict[str, object]) -> dict[str, object]:
    return {key: label(value) if isinstance(value, type) else value for key, value in settings.items()}


def _with_ends(figure: dict[str, Any], *names: str) -> dict[str, object]:
    low, high = figure.get("interval") or (None, None)
    return {**{name: figure[name] for name in names}, "low": low, "high": high}


def _row(settings: dict[str, object], run: Run) -> dict[str, object]:
    summary = run.summary
    everything = summary["fct"]["all"] or {}
    times, slowdown = everything.get("seconds", {}), everything.get("slowdown", {})
    totals = summary["totals"]
    return {
        **_labelled(settings),
        "seed": run.seed,
        "fct_mean_s": times.get("mean"),
        "fct_p50_s": times.get("p50"),
        "fct_p99_s": times.get("p99"),
        "slowdown_mean": slowdown.get("mean"),
        "slowdown_p99": slowdown.get("p99"),
        "goodput_bps": totals["goodput_bps"],
        "state": run.steadiness["state"],
        "measured": totals["measured"],
        "unfinished": totals["unfinished"],
        "dropped": totals["dropped"],
        "timeouts": totals["timeouts"],
    }
