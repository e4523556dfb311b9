"""Sweeps: on threads, by executors, from and to the command line's store."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import polars
import pytest

import heddle as hd

CommandLine = Callable[..., str]

OVER: dict[str, Sequence[object]] = {"scheme": ["ecmp", "hula"], "load": [0.3, 0.6]}


def digests(sweep: hd.Sweep) -> list[str]:
    return [run.digest for _, runs in sweep for run in runs]


def files(store: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in store.iterdir()}


def test_a_sweep_is_every_combination_with_every_seed(small: Path, tmp_path: Path) -> None:
    sweep = hd.sweep(small, OVER, seeds=[1, 5], store=tmp_path)
    assert [c.settings for c in sweep] == [{"scheme": s, "load": l} for s in OVER["scheme"] for l in OVER["load"]]
    frame = polars.DataFrame(sweep.rows())
    assert frame["seed"].to_list() == [1, 5] * 4
    alone = hd.run(small, scheme="hula", load=0.3, seed=5)
    row = frame.filter(scheme="hula", load=0.3, seed=5)
    assert row["fct_mean_s"].item() == alone.summary["fct"]["all"]["seconds"]["mean"]
    assert "Sweep over scheme, workload.load" in sweep.report()


def test_an_executor_gives_the_same_results(small: Path, tmp_path: Path) -> None:
    here = hd.sweep(small, OVER, store=tmp_path / "here")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = hd.sweep(small, OVER, store=tmp_path / "there", executor=executor)
    assert digests(here) == digests(there)
    assert set(files(tmp_path / "here")) == set(files(tmp_path / "there"))


def test_the_command_line_goes_on_where_python_stopped(small: Path, tmp_path: Path, command_line: CommandLine) -> None:
    store = tmp_path / "out/runs"
    hd.sweep(small, OVER, store=store)
    kept = files(store)
    over = ["--over", "scheme=ecmp,hula", "--over", "workload.load=0.3,0.6"]
    command_line("sweep", small, *over, "--flows", "--out", tmp_path / "out", "--quiet")
    assert files(store) == kept


def test_python_goes_on_where_the_command_line_stopped(small: Path, tmp_path: Path, command_line: CommandLine) -> None:
    over = ["--over", "scheme=ecmp,hula", "--over", "workload.load=0.3,0.6"]
    command_line("sweep", small, *over, "--flows", "--out", tmp_path, "--quiet")
    kept = files(tmp_path / "runs")
    hd.sweep(small, OVER, store=tmp_path / "runs")
    assert files(tmp_path / "runs") == kept


def test_what_is_done_is_kept_when_a_run_fails(small: Path, tmp_path: Path) -> None:
    class Broken:
        """An executor whose second worker dies."""

        def __init__(self) -> None:
            self.pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            self.submitted = 0

        def submit(self, function: object, *arguments: object) -> object:
            self.submitted += 1
            if self.submitted == 2:
                return self.pool.submit(os._exit, 3)
            return self.pool.submit(function, *arguments)  # type: ignore[arg-type]

    store = tmp_path / "runs"
    with pytest.raises(BrokenProcessPool):
        hd.sweep(small, OVER, seeds=[1], store=store, executor=Broken())
    kept = files(store)
    hd.sweep(small, OVER, seeds=[1], store=store)
    assert len(files(store)) == 4 * 3, "summary, flows and links of each"
    assert kept.items() <= files(store).items()


def test_a_combination_that_cannot_be_is_refused_before_any_run(small: Path, tmp_path: Path) -> None:
    with pytest.raises(hd.ScenarioError, match="workload.load"):
        hd.sweep(small, {"load": [0.3, 7.0]}, store=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_schemes_of_switches_and_of_hosts_are_compared_as_variants(small: Path, tmp_path: Path, command_line: CommandLine) -> None:
    variants: dict[str, dict[str, object]] = {"hula": {"scheme": "hula"}, "reps": {"scheme": "ecmp", "entropy": "reps"}}
    marking: dict[str, object] = {"transport.control": "dctcp"}
    sweep = hd.sweep(small, {"load": [0.3, 0.6]}, variants=variants, seeds=[1], set=marking, store=tmp_path / "out/runs")
    assert [c.settings for c in sweep] == [{"variant": v, "load": l} for v in variants for l in OVER["load"]]
    assert [run.scenario.scheme for _, runs in sweep for run in runs] == ["hula", "hula", "ecmp", "ecmp"]
    assert polars.DataFrame(sweep.rows())["variant"].to_list() == ["hula", "hula", "reps", "reps"]
    assert "Sweep over variant, workload.load" in sweep.report()
    assert ">hula<" in sweep.plot["mean-by-workload.load"]
    kept = files(tmp_path / "out/runs")
    words = ["--variant", "hula=scheme=hula", "--variant", "reps=scheme=ecmp,entropy=reps", "--over", "workload.load=0.3,0.6"]
    words += ["--set", "seeds=[1]", "--set", "transport.control=dctcp"]
    command_line("sweep", small, *words, "--flows", "--out", tmp_path / "out", "--quiet")
    assert files(tmp_path / "out/runs") == kept, "the same runs"


def test_variants_of_a_file_are_swept(small: Path, tmp_path: Path) -> None:
    tables = '[[variant]]\nname = "light"\nworkload.load = 0.1\n[[variant]]\nname = "heavy"\nworkload.load = 0.7\n'
    small.write_text(small.read_text() + tables)
    sweep = hd.sweep(small, seeds=[1], store=tmp_path / "runs")
    assert [(c.settings["variant"], c.runs[0].scenario["workload"]["load"]) for c in sweep] == [("light", 0.1), ("heavy", 0.7)]
    assert len(hd.sweep(small, variants={}, seeds=[1], store=tmp_path / "runs")) == 1, "none of them"


@pytest.mark.parametrize(
    ("over", "variants", "fault", "fix"),
    [
        ({}, {"a": {"scheme": "hulla"}}, "scheme: in variant a: ", "did you mean `hula`?"),
        ({}, {"a": {}}, "variant a sets nothing", "give it a key"),
        ({"scheme": ["hula"]}, {"a": {"scheme.tau": "1ms"}}, "variant a sets scheme.tau, and scheme is swept as well", "leave scheme"),
    ],
)
def test_a_wrong_variant_is_refused_with_its_fix(
    small: Path, tmp_path: Path, over: dict[str, Sequence[object]], variants: dict[str, dict[str, object]], fault: str, fix: str
) -> None:
    with pytest.raises(hd.ScenarioError) as caught:
        hd.sweep(small, over, variants=variants, store=tmp_path / "runs")
    assert fault in str(caught.value)
    assert fix in (caught.value.fix or "")
    assert not (tmp_path / "runs").exists()


def test_the_worst_overload_is_named_in_a_warning_and_in_the_report(small: Path, tmp_path: Path) -> None:
    slow: dict[str, object] = {"fabric.link": [{"between": "leaf-1 spine-1", "rate": "2Gbps"}]}
    with pytest.warns(hd.HeddleWarning, match="2 of 3 combinations overload links; the worst is 0.9: ") as caught:
        sweep = hd.sweep(small, {"load": [0.1, 0.8, 0.9]}, scheme="ecmp", set=slow, store=tmp_path)
    [said] = [str(warning.message) for warning in caught if "overload links" in str(warning.message)]
    assert said.startswith("2 of 3 combinations overload links; the worst is 0.9: leaf-1 spine-1")
    assert "2 of 3 combinations overload links; the worst is 0.9: leaf-1 spine-1" in sweep.report()


def test_a_sweep_has_the_plots_of_its_report(small: Path, tmp_path: Path) -> None:
    sweep = hd.sweep(small, OVER, store=tmp_path)
    assert "mean-by-workload.load" in list(sweep.plot)
    svg = sweep.plot["mean-by-workload.load"]
    assert svg.startswith("<svg")
    assert ">ecmp<" in svg and ">hula<" in svg, "a curve for each scheme"


def test_seeds_and_values_may_be_iterators_but_no_texts_and_not_empty(small: Path, tmp_path: Path) -> None:
    sweep = hd.sweep(small, {"scheme": ["ecmp", "hula"]}, seeds=iter([1, 5]), store=tmp_path)
    assert [row["seed"] for row in sweep.rows()] == [1, 5, 1, 5]
    with pytest.raises(TypeError, match="the values of 'scheme': a list is expected, not 'ecmp'"):
        hd.sweep(small, {"scheme": "ecmp"})
    with pytest.raises(ValueError, match="seed: a whole number from 0 up, below .*, is expected, not -1"):
        hd.sweep(small, OVER, seeds=[1, -1])
    with pytest.raises(TypeError, match="seed: a whole number .* not 'a'"):
        hd.run(small, seed="a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seeds: give one at least"):
        hd.sweep(small, OVER, seeds=[])


def test_the_default_store_is_among_the_users_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert hd.default_store() == tmp_path / "heddle/runs"


def test_means_and_ratios_have_intervals_above_0(small: Path, tmp_path: Path) -> None:
    sweep = hd.sweep(small, OVER, seeds=[1, 2, 3], store=tmp_path)
    means = [row for row in sweep.means() if (row["statistic"], row["size_class"]) == ("fct_p99", "all")]
    assert [(row["scheme"], row["load"]) for row in means] == [(s, l) for s in OVER["scheme"] for l in OVER["load"]]
    assert all(0 < row["low"] < row["mean"] < row["high"] and row["seeds"] == 3 for row in means)  # type: ignore[operator]
    ratios = sweep.ratios("scheme", "ecmp")
    assert {(row["scheme"], row["load"]) for row in ratios} == {("hula", 0.3), ("hula", 0.6)}
    assert all(0 < row["low"] <= row["ratio"] <= row["high"] for row in ratios)  # type: ignore[operator]
    assert "Ratios to scheme = ecmp" in sweep.report(baseline=("scheme", "ecmp"))
    with pytest.raises(ValueError, match="its values are ecmp, hula"):
        sweep.ratios("scheme", "conga")


def test_a_sweep_so_far_has_the_finished_runs(small: Path, tmp_path: Path) -> None:
    sweeps = list(hd.sweep_live(small, OVER, jobs=1, store=tmp_path))
    assert [round(8 * sweep.part) for sweep in sweeps] == list(range(1, 9))
    assert len(sweeps[0].combinations[0].runs) == 1 and len(sweeps[0]) == 1
    assert "so far: 1 of 8 runs are finished" in sweeps[0].report()
    assert "so far" not in sweeps[-1].report()
    assert digests(sweeps[-1]) == digests(hd.sweep(small, OVER, store=tmp_path))
