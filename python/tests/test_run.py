"""Runs: the command line's results, and tables for data frames."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.ipc
import pytest

import heddle as hd
from heddle import _core

CommandLine = Callable[..., str]


def contents(store: Path) -> dict[str, bytes]:
    """Tables of flows and links by name."""
    return {path.name: path.read_bytes() for path in store.glob("*.csv")}


def test_results_are_the_command_lines_to_the_bit(small: Path, tmp_path: Path, command_line: CommandLine) -> None:
    command_line("run", small, "--set", "workload.load=0.6", "--out", tmp_path / "out", "--quiet")
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    of_seed_2 = summary["runs"][1]
    run = hd.run(small, load=0.6, seed=2)
    assert run.seed == of_seed_2["seed"] == 2
    assert run.digest == of_seed_2["digest"]
    made, theirs = run.summary, dict(of_seed_2)
    assert made.pop("cpu_seconds") > 0 and theirs.pop("cpu_seconds") > 0
    assert made == theirs
    for name, table in (("flows", run.flows), ("links", run.links)):
        assert table is not None
        file = polars.read_csv(tmp_path / f"out/{name}.csv", schema_overrides={"workload": polars.String})
        file = file.filter(polars.col("seed") == 2)
        frame = polars.DataFrame(table)
        assert frame.columns == file.columns
        assert frame.cast(file.schema).equals(file)


def test_libraries_of_data_frames_read_a_table_as_it_is(small: Path) -> None:
    flows = hd.run(small).flows
    frame = polars.DataFrame(flows)
    assert frame.height == len(flows) == 60
    assert frame["fct_s"].dtype == polars.Float64 and frame["bytes"].dtype == polars.UInt64
    arrow = pyarrow.table(flows)
    assert arrow.column_names == flows.columns
    mean = frame["fct_s"].mean()
    assert pandas.DataFrame.from_arrow(flows)["fct_s"].mean() == pytest.approx(mean)
    averages = duckdb.connect().execute("select avg(fct_s) from arrow").fetchall()
    assert averages == [(pytest.approx(mean),)]


def test_a_table_needs_no_library(small: Path) -> None:
    flows = hd.run(small).flows
    assert flows["status"].count("finished") == 60
    assert set(flows.to_dict()) == set(flows.columns)
    assert flows["workload"] == [None] * 60, "one workload has no name"
    with pytest.raises(KeyError):
        flows["none"]


def test_ports_and_their_series_are_those_of_the_summary(small: Path) -> None:
    run = hd.run(small)
    ports = run.summary["ports"]
    assert run.ports["utilisation"] == [port["utilisation"] for port in ports]
    assert len(run.series) == sum(len(port["series"]) for port in ports) > 0


def test_the_steady_state_is_data(small: Path) -> None:
    measured = hd.run(small).steadiness
    assert set(measured) == {"state", "growth", "busiest_link", "unfinished", "overloaded_seeds"}
    assert measured["state"] in {"unknown", "steady"} and measured["unfinished"] == 0
    assert hd.sweep(small, {"load": [0.3]}).rows()[0]["state"] in {"unknown", "steady"}


def test_a_report_and_its_plots(small: Path, tmp_path: Path) -> None:
    run = hd.run(small)
    assert run.report(tmp_path / "report.html") == (tmp_path / "report.html").read_text()
    assert run.plot.fct().startswith("<svg") and "fct-cdf" in list(run.plot)
    assert "srcdoc" in run._repr_html_()


def test_what_the_command_line_warns_of_is_a_warning() -> None:
    with_a_link_down = Path(__file__).parents[2] / "scenarios/hula-fig6.toml"
    with pytest.warns(hd.HeddleWarning, match="is offered") as caught:
        run = hd.run(with_a_link_down, scheme="ecmp", load=0.8, flows=100, seed=1)
    said = [str(warning.message) for warning in caught]
    assert said[1:] == run.remarks
    assert "is offered" in run.report(), "as in the command line's report"


def test_a_run_that_is_kept_is_not_made_again(small: Path, tmp_path: Path) -> None:
    first = hd.run(small, store=tmp_path / "runs")
    second = hd.run(small, store=tmp_path / "runs")
    assert second.summary == first.summary, "with the processor time of the first"
    assert second.flows.to_dict() == first.flows.to_dict()


def test_a_run_goes_to_other_processes(small: Path) -> None:
    run = hd.run(small)
    copy = pickle.loads(pickle.dumps(run))
    assert (copy.digest, copy.flows.to_dict()) == (run.digest, run.flows.to_dict())


@pytest.mark.filterwarnings("ignore::heddle.HeddleWarning")
def test_tables_go_as_arrow_and_come_back_to_the_bit(small: Path, tmp_path: Path) -> None:
    ended_early = {"measure.time_limit": "25ms"}
    core = hd.run(small, load=0.9, set=ended_early)._core
    scenario, summary, flows, links = core.parts()
    assert links is not None
    assert pyarrow.ipc.open_file(flows).read_all() == pyarrow.table(core.flows)
    assert pyarrow.ipc.open_file(links).read_all() == pyarrow.table(core.links)
    assert None in core.flows["fct_s"], "unfinished flows have no completion time"
    for folder, run in [("made", core), ("came", _core.Run(scenario, summary, flows, links))]:
        _core.Store(tmp_path / folder).save(run)
    assert contents(tmp_path / "came") == contents(tmp_path / "made") != {}


def test_a_file_that_is_damaged_or_of_another_table_makes_no_run(small: Path) -> None:
    scenario, summary, flows, links = hd.run(small)._core.parts()
    assert links is not None
    with pytest.raises(ValueError, match="a table with the columns .*, not seed,flow,workload"):
        _core.Run(scenario, summary, links, None)
    for length in range(0, len(flows), 7):
        with pytest.raises(ValueError):
            _core.Run(scenario, summary, flows[:length], None)


def test_control_c_stops_a_run_of_hours(small: Path) -> None:
    program = f"import heddle, sys; print('begins', flush=True); heddle.run({str(small)!r}, flows=10**9)"
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and child.returncode != 0


def test_results_so_far_grow_to_the_run(small: Path, tmp_path: Path) -> None:
    looks = list(hd.run_live(small, every=0.0, seed=2, flows=800, load=0.3, store=tmp_path))
    assert len(looks) > 1
    counts = [len(look.flows) for look in looks]
    assert counts == sorted(counts) and looks[0].part < 1 == looks[-1].part
    assert "unfinished" in looks[0].report()
    alone = hd.run(small, seed=2, flows=800, load=0.3, progress=False)
    assert (looks[-1].digest, looks[-1].flows.to_dict()) == (alone.digest, alone.flows.to_dict())
    assert len(list(hd.run_live(small, seed=2, flows=800, load=0.3, store=tmp_path))) == 1, "it is kept"


def test_a_live_run_ends_with_its_loop(small: Path) -> None:
    for so_far in hd.run_live(small, every=0.1, flows=10**9):
        assert so_far.part < 1
        break
