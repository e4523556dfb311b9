"""The builder: its names and defaults are the schema's."""

import inspect

import pytest

import heddle as hd
from heddle import build


def test_what_is_built_is_the_scenario_of_the_file(small: object) -> None:
    built = build.scenario(
        title="Small",
        scheme=build.scheme.hula(),
        seeds=[1, 2],
        fabric=build.fabric.leaf_spine(leaves=2, spines=2, hosts_per_leaf=2),
        workload=build.workload.flows(sizes="websearch", load=0.5),
        measure=build.measure(flows=60, sample_every="1ms"),
    )
    assert hd.Scenario(built).to_dict() == hd.Scenario(str(small)).to_dict()


def test_every_section_and_kind_of_the_schema_is_there() -> None:
    assert dir(build) == ["entropy", "event", "fabric", "measure", "scenario", "scheme", "transport", "workload"]
    kinds = {variant["properties"]["kind"]["const"] for variant in hd.schema()["$defs"]["Scheme"]["oneOf"] if "properties" in variant}
    assert {name.replace("_", "-") for name in dir(build.scheme)} == kinds
    assert {"flow_graph", "requests"} <= set(dir(build.workload))


def test_defaults_are_those_of_the_scenario_that_runs() -> None:
    """Where the schema has a default, a scenario that is silent about the key has it."""
    made = hd.Scenario(
        build.scenario(
            fabric=build.fabric.two_pod(),
            scheme=build.scheme.mp_hula(),
            transport=build.transport.mptcp(),
            workload=build.workload.flows(sizes="websearch", load=0.5),
            measure=build.measure(flows=10),
        )
    )
    compared = 0
    for section, function in [("scheme", build.scheme.mp_hula), ("transport", build.transport.mptcp), ("fabric", build.fabric.two_pod)]:
        for key, argument in inspect.signature(function).parameters.items():
            if argument.default not in (None, argument.empty) and key in made[section]:
                assert made[section][key] == argument.default, key
                compared += 1
    assert compared > 25


def test_help_explains_keys() -> None:
    assert "ends a flowlet" in (inspect.getdoc(build.scheme.hula) or "")
    assert inspect.signature(build.scheme.hula).parameters["flowlet_gap"].default == "100us"
    assert inspect.signature(build.workload.flows).parameters["load"].default is inspect.Parameter.empty


def test_wrong_names_and_missing_keys_are_errors_that_say_what_is_right() -> None:
    with pytest.raises(AttributeError, match="scheme has no kind 'hulu': did you mean 'hula'"):
        build.scheme.hulu
    with pytest.raises(AttributeError, match="no section 'shceme': did you mean 'scheme'"):
        build.shceme
    with pytest.raises(TypeError, match="hula has no key 'flowlet_gop': did you mean 'flowlet_gap'"):
        build.scheme.hula(flowlet_gop="50us")
    with pytest.raises(TypeError, match="flows needs load"):
        build.workload.flows(sizes="websearch")


def test_what_is_not_given_is_not_written() -> None:
    assert build.scheme.ecmp() == {"kind": "ecmp"}
    assert build.measure(flows=5, duration=None) == {"flows": 5}
