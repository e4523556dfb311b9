"""Schemes written in Python: the runs of the simulator's own, to the bit; what goes wrong in one ends the run."""

import os
import pickle
import runpy
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from schemes import Ecmp, Hops, Hula

import heddle as hd

ROOT = Path(__file__).parents[2]

# Two pods with a link down: choices at every tier.
TWO_PODS: dict[str, Any] = {
    "scheme": "ecmp",
    "fabric": {"kind": "two-pod", "hosts_per_tor": 2, "core_rate": "10Gbps", "failed": ["core-1 agg-3"]},
    "workload": {"kind": "flows", "sizes": "websearch", "load": 0.6},
    "measure": {"flows": 20},
}

pytestmark = pytest.mark.filterwarnings("ignore::heddle.HeddleWarning")


def assert_same(own: object, in_python: type[hd.Scheme], **settings: object) -> None:
    """A scheme of the simulator and one in Python must have the same events, flows and counters."""
    theirs, ours = hd.run(TWO_PODS, scheme=own, seed=3), hd.run(TWO_PODS, scheme=in_python, seed=3, set=settings)
    assert ours.digest == theirs.digest, "events"
    assert ours.flows.to_dict() == theirs.flows.to_dict()
    assert ours.counters == theirs.counters


def test_ecmp_in_python_has_the_runs_of_ecmp() -> None:
    assert_same("ecmp", Ecmp)


def test_hula_in_python_has_the_runs_of_hula_also_with_parameters() -> None:
    assert_same("hula", Hula)
    own = {"kind": "hula", "flowlet_gap": "50us", "flowlet_slots": 256, "probe_period": "100us"}
    given = {name: own[name] for name in ("flowlet_gap", "flowlet_slots", "probe_period")}
    assert_same(own, Hula, **{"scheme.parameters": {**given, "tau": "200us"}})


def test_the_example_of_the_book_has_the_runs_of_drill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    example = runpy.run_path("python/examples/power_of_two.py")
    drill = {"kind": "drill", "samples": 2, "memory": 0}
    own = hd.run("scenarios/hula-fig5.toml", scheme=drill, warm_up="1ms", flows=20, seed=1)
    assert example["run"].digest == own.digest
    assert_same({**drill, "samples": 3}, example["PowerOfTwo"], **{"scheme.parameters.choices": 3})


def test_the_tutorials_scheme_has_the_same_runs_in_c(tmp_path: Path) -> None:
    example = runpy.run_path(str(ROOT / "python/examples/two_choices.py"))
    schemes, library = ROOT / "crates/schemes", tmp_path / "libtwo_choices.so"
    source = schemes / "example/c/two_choices.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-I", schemes / "abi/include", "-o", library, source], check=True)
    assert_same({"kind": "external", "library": str(library)}, example["TwoChoices"])


def test_the_measured_cost_is_a_warning() -> None:
    with pytest.warns(hd.HeddleWarning, match=r"Ecmp: a scheme in Python took \d+\.\d\d us .* for each of [\d,]+ packet-hops"):
        hd.run(TWO_PODS, scheme=Ecmp, flows=5)
    with warnings.catch_warnings(record=True) as caught:
        hd.run(TWO_PODS, flows=5)
    assert not any("in Python" in str(warning.message) for warning in caught), "the simulator's own"


def test_a_sweep_compares_a_class_with_the_simulators_own(tmp_path: Path) -> None:
    sweep = hd.sweep(TWO_PODS, {"scheme": ["ecmp", Ecmp]}, seeds=[1, 2], store=tmp_path)
    ours, theirs = ([run.digest for run in runs] for _, runs in sweep)
    assert ours == theirs
    assert [row["scheme"] for row in sweep.rows()] == ["ecmp", "ecmp", "Ecmp", "Ecmp"]
    assert ">Ecmp<" in sweep.report()
    assert len(list(tmp_path.glob("*.json"))) == 2, "runs of a class are not kept"


def test_a_class_goes_to_other_processes(tmp_path: Path) -> None:
    here = hd.run(TWO_PODS, scheme=Ecmp, seed=1)
    assert pickle.loads(pickle.dumps(here)).digest == here.digest
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        [there] = hd.sweep(TWO_PODS, {"scheme": [Ecmp]}, seeds=[1], store=tmp_path, executor=executor)
    assert there.runs[0].digest == here.digest


def test_a_dictionary_can_have_a_class_and_a_setting_replaces_it() -> None:
    scenario = hd.Scenario({**TWO_PODS, "scheme": Hula})
    assert scenario.scheme == "hula-in-python"
    assert scenario.with_settings(load=0.3).scheme == "hula-in-python"
    assert scenario.with_settings(scheme=Ecmp).scheme == "Ecmp"
    assert scenario.with_settings(scheme="drill").scheme == "drill"


def failing(forward: Callable[..., Any]) -> type[hd.Scheme]:
    return type("Failing", (hd.Scheme,), {"forward": forward})


def test_an_exception_of_a_step_ends_the_run_which_raises_it() -> None:
    calls = []

    def forward(self: hd.Scheme, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
        calls.append(step.now)
        if len(calls) == 100:
            raise ZeroDivisionError("the hundredth")
        return next_hops[0]

    with pytest.raises(ZeroDivisionError, match="the hundredth") as caught:
        hd.run(TWO_PODS, scheme=failing(forward))
    assert caught.traceback[-1].name == "forward", "the traceback leads to the line"
    assert len(calls) == 100, "no step after it"


@pytest.mark.parametrize("result", [10_000, -1, None, "up"])
def test_a_port_that_is_no_next_hop_ends_the_run(result: object) -> None:
    with pytest.raises(hd.SimulationError, match=rf"Failing.forward returned {result}, none of next_hops \["):
        hd.run(TWO_PODS, scheme=failing(lambda *_: result))


def test_ports_are_read_in_their_call_and_within_the_switch() -> None:
    kept = []

    def later(self: hd.Scheme, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
        kept.append(ports)
        return next_hops[0]

    class Keeps(hd.Scheme):
        forward = later

        def egress(self, step: hd.Step, packet: hd.Packet) -> None:
            kept[0].queue_bytes(0)

    with pytest.raises(RuntimeError, match="in the call to which they are passed"):
        hd.run(TWO_PODS, scheme=Keeps)
    with pytest.raises(IndexError, match="there is no port 99: the switch has"):
        hd.run(TWO_PODS, scheme=failing(lambda self, step, packet, next_hops, ports: ports.is_up(99)))


def test_probes_and_shims_that_cannot_be_end_the_run() -> None:
    class Lost(Hula):
        def originate(self, step: hd.Step) -> hd.Probe:
            return hd.Probe(77, 0)

    class Shim(Ecmp):
        def forward(self, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
            packet.subflow = 1
            return next_hops[0]

    with pytest.raises(hd.SimulationError, match="a probe is of ToR 77: the fabric has"):
        hd.run(TWO_PODS, scheme=Lost)
    with pytest.raises(hd.SimulationError, match="by schemes with `uses_shim = True`"):
        hd.run(TWO_PODS, scheme=Shim)


def test_shims_and_handshakes_reach_the_tors_of_both_ends() -> None:
    class Shim(Ecmp):
        uses_shim = True
        shims = set[tuple[int, int]]()
        opened = {True: 0, False: 0}

        def forward(self, step: hd.Step, packet: hd.Packet, next_hops: Hops, ports: hd.Ports) -> int:
            if packet.from_host:
                packet.subflow, packet.connection = 16, packet.flow_hash
            return super().forward(step, packet, next_hops, ports)

        def egress(self, step: hd.Step, packet: hd.Packet) -> None:
            self.shims.add((packet.subflow, packet.connection - packet.flow_hash))
            packet.subflow = 0

        def handshake(self, step: hd.Step, packet: hd.Handshake) -> None:
            kinds = {option["option"] for option in hd.mptcp.parse(packet.options)}
            self.opened[packet.from_host] += "mp_capable" in kinds and packet.flags == 2

    hd.run(TWO_PODS, scheme=Shim, set={"transport": {"kind": "mptcp", "subflows": 2}})
    assert Shim.shims == {(16, 0)}, "as the source ToR has written it"
    assert Shim.opened[True] == Shim.opened[False] >= 20, "a SYN of each connection, at both ends"


def test_a_sweep_over_a_parameter_of_a_class(tmp_path: Path) -> None:
    over = {"scheme.parameters.flowlet_gap": ["50us", "100us"]}
    sweep = hd.sweep(TWO_PODS, over, scheme=Hula, seeds=[3], store=tmp_path)
    first, second = (runs[0].digest for _, runs in sweep)
    assert first != second == hd.run(TWO_PODS, scheme="hula", seed=3).digest


def test_a_class_that_cannot_be_a_scheme_is_refused_before_the_run() -> None:
    class Nothing(hd.Scheme):
        pass

    class Period(Ecmp):
        probe_period = "200us"  # type: ignore[assignment]

    with pytest.raises(hd.ScenarioError, match="Nothing has no method `forward`"):
        hd.Scenario(TWO_PODS, scheme=Nothing)
    with pytest.raises(hd.ScenarioError, match="`Period.probe_period` is 200us"):
        hd.Scenario(TWO_PODS, scheme=Period)
    with pytest.raises(hd.ScenarioError, match="no parameter is called `gap`: Hula has flowlet_gap, flowlet_slots"):
        hd.Scenario(TWO_PODS, scheme=Hula, set={"scheme.parameters.gap": 1})
    with pytest.raises(TypeError, match="no class that derives from heddle.Scheme"):
        hd.Scenario(TWO_PODS, scheme=Path)
    with pytest.raises(hd.ScenarioError, match=r"a class of Python is in no file; give it anew: .*scheme=Ecmp"):
        hd.Scenario(hd.Scenario(TWO_PODS, scheme=Ecmp).to_toml())


def test_control_c_stops_a_run_of_hours(tmp_path: Path) -> None:
    program = (
        "import heddle, schemes\n"
        "class Says(schemes.Slow):\n"
        "    said = False\n"
        "    def forward(self, *given):\n"
        "        if not Says.said: print('begins', flush=True)\n"
        "        Says.said = True\n"
        "        return super().forward(*given)\n"
        f"heddle.run({TWO_PODS!r}, flows=10**9, scheme=Says)\n"
    )
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and child.returncode != 0
