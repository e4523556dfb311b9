"""Six BMv2 switches in network namespaces, and an MPTCP connection of two subflows between kernels across them, while a link is cut."""

import json
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable

import fabric
from heddle_p4.patience import Deadline

SPINES = 4
PORT = 5001
PROBE_PERIOD = 200_000_000
MOST_PERIODS = 10  # from the cut of a link until data goes another way: three until its entries are stale, and the sender's timeout
MPTCP_ID = 262  # IPPROTO_MPTCP of Linux
LIMIT = 60.0
HULA = {
    "probe_period": PROBE_PERIOD,
    "fail_after": 3 * PROBE_PERIOD,
    "flowlet_gap": PROBE_PERIOD // 2,
    "flowlet_slots": 1024,
    "util_bits": 8,
    "update": "refresh",
    "local_detection": False,
}
MP_HULA = HULA | {
    "best_k": 4,
    "mapping_rows": 1024,
    "association_slots": 1024,
    "association_idle": 60 * 10**9,
    "long_flows": "apart",
}
SHUTTLE = {key: value for key, value in MP_HULA.items() if key != "long_flows"}
SHUTTLE |= {"full_queue": 1 << 16, "range": 2, "draws": 1, "choice": "weighted", "subflows": "apart"}

# A host's part: what it sends is paced, so that subflows are not idle for a flowlet gap, and switches are not busy.
RECEIVE = f"""
import socket
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, {MPTCP_ID})
listener.bind(("10.1.0.1", {PORT}))
listener.listen()
print("listening", flush=True)
connection, _ = listener.accept()
while connection.recv(65536):
    pass
"""
SEND = f"""
import socket, time
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, {MPTCP_ID})
connection.connect(("10.1.0.1", {PORT}))
# Many segments at once: none may overtake the first, which has keys.
while True:
    connection.sendall(bytes(20000))
    time.sleep(0.02)
"""


class Observer:
    """Data frames from host 0 that leaf 1 receives: sender's last byte, spine, time."""

    def __init__(self, namespace: str) -> None:
        self.seen: list[tuple[int, int, float]] = []
        folders = [str(pathlib.Path(__file__).parent), str(fabric.CONTROL)]
        code = f"import sys; sys.path[:0] = {folders!r}; import test_fabric; test_fabric.observe()"
        command = ("ip", "netns", "exec", namespace, sys.executable, "-c", code)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            last, spine, at = line.split()
            self.seen.append((int(last), int(spine), float(at)))

    def links(self, begin: float) -> dict[int, set[int]]:
        """Spines by subflow since a time."""
        found: dict[int, set[int]] = {}
        for last, spine, at in list(self.seen):
            if at >= begin:
                found.setdefault(last, set()).add(spine)
        return found

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        self.thread.join()
        if self.process.stdout:
            self.process.stdout.close()


def observe() -> None:
    """Prints a line for each data frame that a spine has sent to this leaf."""
    every = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    ours = bytes.fromhex(f"{fabric.LEAF_MAC + 16:012x}")[:5]
    while True:
        frame = every.recv(2048)
        kind = struct.unpack_from(">H", frame, 12)[0]
        at = 26 if kind == 0x88B5 else 14
        is_data = kind in (0x88B5, 0x0800) and len(frame) > 500 and frame[at + 12 : at + 15] == bytes((10, 0, 0))
        if is_data and frame[:5] == ours and frame[6:10] == fabric.SPINE_MAC.to_bytes(6, "big")[:4]:
            print(frame[at + 15], (int.from_bytes(frame[10:12], "big") - 0x300) // 16, time.monotonic(), flush=True)


def eventually(what: str, holds: object, state: Callable[[], str] = str) -> None:
    """Waits until `holds()`. Raises AssertionError after a minute of an idle machine; `state` is what was seen instead."""
    assert callable(holds)
    deadline = Deadline(LIMIT)
    while not holds():
        if deadline.passed():
            raise AssertionError(f"{deadline}: {what}{state()}")
        time.sleep(0.02)


class Fabric(unittest.TestCase):
    """As root, with simple_switch."""

    scheme, config = "mp-hula", MP_HULA
    protocol = "thrift"

    def setUp(self) -> None:
        folder = self.folder = self.enterContext(tempfile.TemporaryDirectory())
        network = fabric.Fabric(SPINES, self.scheme, self.config, rate=20_000_000)
        self.fabric = self.enterContext(fabric.running(network, pathlib.Path(folder), self.protocol))
        self.observer = Observer(self.fabric.namespace("leaf-1"))
        self.addCleanup(self.observer.close)
        receiver = self.fabric.start("host-1", sys.executable, "-c", RECEIVE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, receiver)
        assert receiver.stdout
        receiver.stdout.readline()
        self.addCleanup(self.end, self.fabric.start("host-0", sys.executable, "-c", SEND, stderr=subprocess.DEVNULL))

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends a host's program."""
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()

    def parted(self) -> bool:
        """True if both subflows had data in the last period, on different spines each."""
        links = self.observer.links(time.monotonic() - PROBE_PERIOD / 1e9)
        return len(links) == 2 and all(len(spines) == 1 for spines in links.values()) and links[1] != links[2]

    def adds_shims(self) -> bool:
        """True if the sender's leaf has found the connection and its second subflow."""
        counted = json.loads(pathlib.Path(self.folder, "leaf-0.counters").read_text())
        return all(counted[name] for name in ("connections", "joins", "shims"))

    def test_subflows_take_different_spines_and_leave_a_link_that_is_cut(self) -> None:
        eventually("the leaf adds shims", self.adds_shims)
        eventually("two subflows on different spines", self.parted)
        links = self.observer.links(time.monotonic() - PROBE_PERIOD / 1e9)
        spine = next(iter(links[1]))
        at = time.monotonic()
        self.fabric.cut(1, spine)
        moved: list[float] = []

        def has_moved() -> bool:
            moved[:] = [when for last, link, when in list(self.observer.seen) if last == 1 and link != spine and when > at][:1]
            return bool(moved)

        eventually("data of the subflow on another spine", has_moved)
        periods = (moved[0] - at) * 1e9 / PROBE_PERIOD
        print(f"spine {spine} cut: the subflow moved after {periods:.1f} probe periods", file=sys.stderr)
        self.assertLess(periods, MOST_PERIODS)
        eventually("two subflows on different spines again", self.parted)


class FabricWithExternalTokens(Fabric):
    """The same with tokens by the control plane: without its answers no subflow has a shim, and nothing keeps the two apart."""

    config = MP_HULA | {"tokens": "control-plane"}


class FabricUnderShuttle(Fabric):
    """The same under Shuttle, whose hops are drawn: its rule for subflows keeps the two apart."""

    scheme, config = "shuttle", SHUTTLE


if __name__ == "__main__":
    unittest.main()
