"""Simulations of multipath load balancing in data-centre fabrics.

>>> import heddle as hd
>>> scenario = hd.Scenario('''
...     scheme = "ecmp"
...     fabric = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2 }
...     workload = { kind = "flows", sizes = "websearch", load = 0.3 }
...     measure = { flows = 20 }
... ''')
>>> run = hd.run(scenario, load=0.5, seed=2, progress=False)
>>> len(run.flows), run.scenario["workload"]["load"]
(20, 0.5)

The same scenario and seed give the same results as ``heddle run``, to the bit. Tables (:class:`Table`) are read by polars, pyarrow, pandas and
DuckDB without a copy; none of them is required.
"""

from heddle import build, mptcp
from heddle._core import (
    Handshake,
    HeddleError,
    Interrupted,
    Packet,
    Ports,
    Probe,
    ProbeArrival,
    ScenarioError,
    SimulationError,
    Step,
    Switch,
    Table,
    __version__,
    engine_digest,
    mix,
    pick,
)
from heddle._fabric import Fabric
from heddle._reproduce import reproduce
from heddle._run import Run, run, run_live
from heddle._scenario import Scenario, schema
from heddle._scheme import Scheme
from heddle._sweep import Sweep, default_store, sweep, sweep_live
from heddle._warnings import HeddleWarning

__all__ = [
    "Fabric",
    "Handshake",
    "HeddleError",
    "HeddleWarning",
    "Interrupted",
    "Packet",
    "Ports",
    "Probe",
    "ProbeArrival",
    "Run",
    "Scenario",
    "ScenarioError",
    "Scheme",
    "SimulationError",
    "Step",
    "Sweep",
    "Switch",
    "Table",
    "__version__",
    "build",
    "default_store",
    "engine_digest",
    "mix",
    "mptcp",
    "pick",
    "reproduce",
    "run",
    "run_live",
    "schema",
    "sweep",
    "sweep_live",
]
