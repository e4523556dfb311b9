"""Sweeps on a cluster: a scheduler and workers of Dask's, processes on this machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from distributed import Client
from schemes import Ecmp

import heddle as hd
from heddle._workers import simulate_parts
from heddle.cluster import make

CommandLine = Callable[..., str]

OVER: dict[str, Sequence[object]] = {"scheme": ["ecmp", "hula"], "load": [0.3, 0.6]}

pytestmark = pytest.mark.filterwarnings("ignore::heddle.HeddleWarning")


def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for a condition."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


class Cluster:
    """A scheduler without workers."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.processes = list[subprocess.Popen[bytes]]()
        self.log = (folder / "log").open("wb")
        self._start("scheduler", "--port", "0", "--interface", "lo", "--no-dashboard", "--scheduler-file", self.file)
        until(self.file.exists, "the scheduler starts")
        self.client = Client(scheduler_file=str(self.file), set_as_default=False)

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Starts a worker and waits until the scheduler knows it."""
        name = f"worker-{len(self.processes)}"
        options = ["--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--interface", "lo"]
        worker = self._start("worker", *options, "--scheduler-file", self.file)
        until(lambda: name in self.workers(), "the worker starts")
        return worker

    def workers(self) -> list[str]:
        return [worker["name"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values()]

    def close(self) -> None:
        self.client.close()
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()

    def _start(self, *arguments: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *map(str, arguments)]
        paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment, cwd=self.file.parent)
        self.processes.append(process)
        return process


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.close()


def digests(sweep: hd.Sweep) -> list[str]:
    return [run.digest for _, runs in sweep for run in runs]


def contents(store: Path) -> dict[str, bytes]:
    """Tables of flows and links by name; summaries have the processor time of their run."""
    return {path.name: path.read_bytes() for path in store.glob("*.csv")}


def summaries(store: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in store.glob("*.json")}


def test_two_workers_give_the_same_results(small: Path, tmp_path: Path, cluster: Cluster) -> None:
    cluster.add_worker()
    cluster.add_worker()
    here = hd.sweep(small, OVER, store=tmp_path / "here")
    there = hd.sweep(small, OVER, store=tmp_path / "there", executor=cluster.client)
    assert digests(there) == digests(here)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_worker_that_dies_loses_its_run_which_another_one_makes(
    small: Path, tmp_path: Path, cluster: Cluster
) -> None:
    victim, there = cluster.add_worker(), tmp_path / "there"

    def change_workers() -> int:
        until(lambda: len(summaries(there)) >= 2, "two runs are done")
        victim.kill()
        victim.wait()
        done = len(summaries(there))
        cluster.add_worker()
        return done

    with ThreadPoolExecutor(1) as thread:
        change = thread.submit(change_workers)
        made = hd.sweep(small, OVER, seeds=range(8), store=there, executor=cluster.client)
    assert change.result() < 32, "in mid-sweep"
    assert digests(made) == digests(hd.sweep(small, OVER, seeds=range(8), store=tmp_path / "here"))
    assert contents(there) == contents(tmp_path / "here")


def test_an_interrupted_sweep_goes_on_from_the_store(small: Path, tmp_path: Path, cluster: Cluster) -> None:
    worker, store = cluster.add_worker(), tmp_path / "there"
    program = (
        "import heddle, distributed\n"
        f"client = distributed.Client(scheduler_file={str(cluster.file)!r})\n"
        f"heddle.sweep({str(small)!r}, {OVER!r}, seeds=range(8), store={str(store)!r}, executor=client)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    until(lambda: len(summaries(store)) >= 2, "two runs are done")
    worker.send_signal(signal.SIGSTOP)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    worker.send_signal(signal.SIGCONT)
    assert "KeyboardInterrupt" in errors
    kept = summaries(store)
    assert 2 <= len(kept) < 32
    made = hd.sweep(small, OVER, seeds=range(8), store=store, executor=cluster.client)
    assert kept.items() <= summaries(store).items(), "what is kept is not made again"
    assert len(summaries(store)) == 32
    assert digests(made)[0] == hd.run(small, scheme="ecmp", load=0.3, seed=0).digest


def test_a_scheme_in_python_goes_to_a_cluster(small: Path, tmp_path: Path, cluster: Cluster) -> None:
    cluster.add_worker()
    sweep = hd.sweep(small, {"scheme": ["ecmp", Ecmp]}, seeds=[1], store=tmp_path / "runs", executor=cluster.client)
    own, in_python = digests(sweep)
    assert own == in_python


def test_the_command_line_has_a_cluster_make_its_runs(
    small: Path, tmp_path: Path, cluster: Cluster, command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.add_worker()
    monkeypatch.setenv("HEDDLE_PYTHON", sys.executable)
    address = cluster.client.scheduler.address.replace("tcp://", "dask://")
    sweep = ["sweep", small, "--over", "scheme=ecmp,hula", "--over", "workload.load=0.3,0.6", "--quiet"]
    command_line(*sweep, "--out", tmp_path / "here", "--flows")
    command_line(*sweep, "--out", tmp_path / "there", "--on", address)
    assert (tmp_path / "there/sweep.csv").read_text() == (tmp_path / "here/sweep.csv").read_text()
    assert contents(tmp_path / "there/runs") == contents(tmp_path / "here/runs"), "the cluster keeps flows, too"
    kept = summaries(tmp_path / "there/runs")
    command_line(*sweep, "--out", tmp_path / "there", "--on", address)
    assert summaries(tmp_path / "there/runs") == kept, "nothing is made again"


def test_another_engine_is_refused(small: Path) -> None:
    with pytest.raises(hd.SimulationError, match="`heddle` and the package have different engines"):
        make({"engine": "another"})
    parts = hd.Scenario(small)._core.parts()
    with pytest.raises(hd.SimulationError, match="and the sweep's engine is another: install the same wheel there"):
        simulate_parts(parts, 1, "another")
