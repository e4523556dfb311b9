#!/usr/bin/env python3
"""Runs settings of HULA's set-up and prints settings.csv's rows: settings.py HEDDLE SETTING... >> settings.csv"""

import json
import subprocess
import sys
from pathlib import Path

SCENARIO = Path(__file__).parents[2] / "scenarios/hula-fig5.toml"
WINDOW = {"transport.receive_window": "30KB"}
SETTINGS = {
    "ns2-window": WINDOW,
    "window-15KB": {"transport.receive_window": "15KB"},
    "window-20KB": {"transport.receive_window": "20KB"},
    "window-64KB": {"transport.receive_window": "64KB"},
    "ns2-window+50-packets": WINDOW | {"fabric.port_packets": "50", "fabric.host_packets": "50"},
    "ns2-window+min-rto-200ms": WINDOW | {"transport.min_rto": "200ms", "transport.initial_rto": "3s"},
    "ns2-window+initial-window-2": WINDOW | {"transport.initial_window": "2"},
}
POINTS = {
    "whole-70": {"workload.load": "0.7"},
    "down-60": {"workload.load": "0.6", "fabric.failed": '["core-2 agg-4"]'},
}
MEASURE = {
    "measure.flows": "2000",
    "measure.warm_up": "200ms",
    "measure.sample_every": "100us",
    "measure.time_limit": "10s",
}
ONE_FRAME = 1518  # bytes


def result(heddle, changes):
    arguments = [part for change in changes.items() for part in ("--set", "=".join(change))]
    run = subprocess.run([heddle, "run", SCENARIO, *arguments, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def row(setting, point, scheme, seed, document):
    (run,) = document["runs"]
    means = {of["name"]: of["summary"]["seconds"]["mean"] * 1e3 for of in run["fct"]["classes"] if of["summary"]}
    port = next(port for port in run["ports"] if (port["from"], port["to"]) == ("core-2", "agg-3"))
    queue = port["queue"]
    empty = sum(size <= ONE_FRAME for size in queue) / len(queue)
    steadiness = document["over_seeds"]["steadiness"]
    first, second = run["batches"][:10], run["batches"][10:]
    every = run["fct"]["all"]["seconds"]
    fields = [
        setting, point, scheme, seed, document["over_seeds"]["flows"]["measured"], MEASURE["measure.warm_up"],
        f"{every['mean'] * 1e3:.3f}", f"{means['small']:.3f}", f"{means['large']:.3f}", f"{every['p99'] * 1e3:.3f}",
        f"{sum(second) / sum(first):.2f}", run["totals"]["dropped"], run["totals"]["timeouts"],
        f"{steadiness['busiest_link']:.3f}", port["dropped"], f"{empty:.3f}", f"{queue[round(0.95 * (len(queue) - 1))] / 1e3:.1f}",
    ]  # fmt: skip
    return ",".join(map(str, fields))


def main():
    heddle, *settings = sys.argv[1:]
    for setting in settings:
        for point, load in POINTS.items():
            for scheme in ("ecmp", "conga-prime", "hula"):
                for seed in range(1, 6):
                    changes = MEASURE | load | SETTINGS[setting] | {"scheme": scheme, "seeds": f"[{seed}]"}
                    print(row(setting, point, scheme, seed, result(heddle, changes)), flush=True)


main()
