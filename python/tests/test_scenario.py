"""Scenarios: sources, settings, errors."""

import math
import pickle
from pathlib import Path

import pytest

import heddle as hd


def test_settings_are_found_by_their_name(small: Path) -> None:
    scenario = hd.Scenario(small, load=0.6, flows=20)
    assert scenario["workload"]["load"] == 0.6
    assert scenario["measure"]["flows"] == 20
    assert scenario.with_settings(scheme="ecmp").scheme == "ecmp"


def test_a_name_of_several_sections_asks_which(small: Path) -> None:
    with pytest.raises(TypeError, match="several sections have a key 'kind'.*'workload.kind'"):
        hd.Scenario(small, kind="flows")
    with pytest.raises(TypeError, match="no key 'lood': did you mean 'load'"):
        hd.Scenario(small, lood=0.6)


def test_text_dictionary_and_file_are_the_same_scenario(small: Path) -> None:
    of_file = hd.Scenario(small)
    of_text = hd.Scenario(small.read_text())
    of_dictionary = hd.Scenario(of_file.to_dict())
    assert of_file.to_dict() == of_text.to_dict() == of_dictionary.to_dict()
    assert hd.Scenario(of_file.to_toml()).to_dict() == of_file.to_dict()


def test_values_of_all_types_become_toml(small: Path) -> None:
    workload = {"kind": "flows", "sizes": "websearch", "load": 0.2, "connections": "per-flow"}
    scenario = hd.Scenario(small, seeds=[3, 4], sample_every="2ms", workload=workload)
    assert (scenario.seeds, scenario["measure"]["sample_every"]) == ([3, 4], "2ms")
    assert scenario["workload"]["connections"] == "per-flow"


def test_an_error_says_where_what_and_how_to_fix_it(small: Path) -> None:
    small.write_text(small.read_text().replace("load = 0.5", "load = 1.5"))
    with pytest.raises(hd.ScenarioError) as caught:
        hd.Scenario(small)
    error = caught.value
    line = small.read_text().splitlines().index("load = 1.5") + 1
    assert (error.file, error.line, error.key) == (str(small), line, "workload.load")
    assert error.reason in str(error) and f"{small}:{line}: workload.load" in str(error)


def test_a_subflow_has_a_window_and_requests_have_pairs() -> None:
    requests = {"kind": "requests", "sizes": "fixed:20KB", "pattern": "cross-pod-pairs"}
    transport = {"kind": "mptcp", "subflow_window": "30KB"}
    given = {"scheme": "ecmp", "fabric": {"kind": "two-pod"}, "transport": transport, "workload": requests, "measure": {"flows": 10}}
    scenario = hd.Scenario(given).to_dict()
    assert scenario["transport"]["subflow_window"] == "30KB"
    assert scenario["workload"]["pattern"] == "cross-pod-pairs"


def test_a_wrong_key_names_the_right_one() -> None:
    with pytest.raises(hd.ScenarioError) as caught:
        hd.Scenario({"shceme": "hula"})
    assert "scheme" in (caught.value.fix or ""), str(caught.value)
    for given in ({"scheem": "hula"}, {"fabric": {"kind": "two-pod"}, "scheem": "hula"}):
        with pytest.raises(hd.ScenarioError, match="did you mean `scheme`"):
            hd.Scenario(given)
    with pytest.raises(TypeError, match="no key 'scheem': did you mean 'scheme'"):
        hd.Scenario({"scheme": "ecmp"}, set={"scheem": "hula"})


def test_no_error_names_an_option_of_the_command_line(small: Path) -> None:
    for settings in ({"load": 7}, {"workload.laod": 1}, {"host_rate": "10Gb"}, {"seeds.9": 1}):
        with pytest.raises(hd.ScenarioError, match="from a setting") as caught:
            hd.Scenario(small, set=settings)
        assert "--" not in str(caught.value)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, {1}, object()])
def test_a_value_that_no_file_can_have_is_named_by_its_key(value: object) -> None:
    given = {"scheme": "ecmp", "event": [{"at": "1ms", "loss": value}]}
    with pytest.raises(TypeError, match=r"event\.0\.loss: a finite number, a text, a list or a dictionary is expected"):
        hd.Scenario(given)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hd.Scenario(tmp_path / "none.toml")


def test_a_scenario_goes_to_other_processes(small: Path) -> None:
    scenario = hd.Scenario(small, load=0.7)
    assert pickle.loads(pickle.dumps(scenario)).to_dict() == scenario.to_dict()


def test_the_schema_says_what_each_key_means() -> None:
    assert "description" in hd.schema()["properties"]["seeds"]
