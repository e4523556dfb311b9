"""heddle-p4-switch from start to end by P4Runtime, in a network namespace of the test's own. The server of p4runtime_server.py, whose switch is the
interpreter, is in the place of simple_switch_grpc. As root."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import fabric
from test_fabric import HULA, SHUTTLE, eventually

HERE = pathlib.Path(__file__).resolve().parent
PROBE_PERIOD = 20_000_000
SPINES = 3
SERVER = f"""#!{sys.executable}
import sys
sys.path[:0] = {[str(HERE), str(fabric.CONTROL)]!r}
import p4runtime_server
p4runtime_server.main()
"""


class Running(unittest.TestCase):
    """A leaf under HULA."""

    scheme, config = "hula", HULA | {"probe_period": PROBE_PERIOD}

    def setUp(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server = folder / "simple_switch_grpc"
        server.write_text(SERVER)
        server.chmod(0o755)
        self.path = folder / "leaf-0.json"
        self.plan = fabric.Fabric(SPINES, self.scheme, self.config, rate=10**9).plan("leaf-0")
        self.path.write_text(json.dumps(self.plan))
        self.environment = os.environ | {"PYTHONPATH": str(fabric.CONTROL), "PATH": f"{folder}:{os.environ['PATH']}"}
        self.log = folder / "log"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """The switch, which is ended with the test."""
        devices = " ".join(f"&& ip link add eth{number} type bridge" for number in range(SPINES + 1))
        run = f'ip link set lo up {devices} && exec "$@"'
        command = ("unshare", "--net", "sh", "-c", run, "sh", sys.executable, "-m", "heddle_p4", "--protocol", "p4runtime", str(self.path))
        with open(self.log, "wb") as log:
            process = subprocess.Popen(command, stderr=log, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.logs("the switch runs, controlled by p4runtime")
        return process

    def logs(self, line: str) -> None:
        """Waits for a line of its log. If it does not come the error has what the log has by then."""
        eventually(f'"{line}" in the log of heddle-p4-switch', lambda: line in self.log.read_text(), lambda: f", which has {self.log.read_text()!r}")

    def status(self, *options: str) -> str:
        """What heddle-p4-switch --status prints."""
        command = (sys.executable, "-m", "heddle_p4", str(self.path), "--status", *options)
        return subprocess.run(command, check=True, env=self.environment, capture_output=True, text=True).stdout

    def state(self) -> dict[str, Any]:
        """The same as JSON."""
        state: dict[str, Any] = json.loads(self.status("--json"))
        return state

    def test_it_sends_probes_tells_its_state_takes_new_next_hops_and_ends(self) -> None:
        eventually("probes are sent", lambda: self.state()["counters"]["probe_sent"] > 2)
        self.assertIn("eth0 eth1 eth2; best hops are not served: no Thrift", self.status())

        self.plan["next_hops"][1] = [2]
        self.path.write_text(json.dumps(self.plan))
        self.process.send_signal(signal.SIGHUP)
        eventually("the new next hops are taken", lambda: self.state()["routes"][0]["next_hops"] == ["eth2"])

        self.path.write_text("{")
        self.process.send_signal(signal.SIGHUP)
        self.logs("the next hops stay as they are")
        self.assertEqual(self.state()["routes"][0]["next_hops"], ["eth2"])

        counted = json.loads(self.path.with_suffix(".counters").read_text())
        self.assertEqual((counted["flowlets"], counted["probe_arrivals"]), (0, 0))
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(600), 0, self.log.read_text())


class RunningShuttle(Running):
    """The same under Shuttle."""

    scheme, config = "shuttle", SHUTTLE | {"probe_period": PROBE_PERIOD}


if __name__ == "__main__":
    unittest.main()
