"""The control plane by P4Runtime, on the server of p4runtime_server.py; test_p4runtime.py runs the same on simple_switch_grpc."""

import contextlib
import pathlib
import unittest
from collections.abc import Iterator
from contextlib import AbstractContextManager

import compiled
import frames
import p4runtime_server
import traces
from frames import ACK, CPU_PORT, LOCAL_HOST, OTHER_HOST
from heddle_p4 import tokens
from heddle_p4.p4runtime_switch import P4RuntimeSwitch
from heddle_p4.plan import COUNTERS, ROLES, TOKEN_COPIES
from heddle_p4.program import Program
from heddle_p4.settings import SwitchSettings, mp_hula_values
from heddle_p4.switch import NotServed, Prefix
from test_fabric import MP_HULA, eventually

WITHIN = 600.0
SOON = 0.5  # seconds in which a frame that is wrong would have left
UP = (1 << 64) - 1
FABRIC_PORT, HOST_PORT, OTHER_PORT = 0, 1, 2
CAPABLE = bytes.fromhex("1e160181") + bytes(range(1, 9)) + bytes(range(9, 17)) + bytes(2)


class ServedBench:
    """The interpreter, controlled by P4Runtime. Its registers are read past the server."""

    def __init__(self, server: p4runtime_server.Server, switch: P4RuntimeSwitch) -> None:
        self.server, self.switch = server, switch

    def send(self, port: int, frame: bytes) -> None:
        """Gives the switch a frame."""
        self.server.send(port, frame)

    def receive(self, port: int, timeout: float = SOON) -> bytes | None:
        """The next frame that has left by a port."""
        return self.switch.receive(timeout) if port == CPU_PORT else self.server.bench.receive(port)


@contextlib.contextmanager
def bench(json_file: pathlib.Path) -> Iterator[ServedBench]:
    """Loads a program through P4Runtime."""

    class Readable(P4RuntimeSwitch):
        """A switch by P4Runtime with the interpreter's registers."""

        def register(self, name: str, index: int) -> int:
            return server.bench.switch.register(name, index)

        def write_register(self, name: str, index: int, value: int) -> None:
            server.bench.switch.write_register(name, index, value)

    with contextlib.ExitStack() as ends:
        server, address = ends.enter_context(p4runtime_server.running())
        switch = ends.enter_context(contextlib.closing(Readable(Program(json_file), address, compiled.p4info(json_file))))
        yield ServedBench(server, switch)


class Traces(unittest.TestCase):
    """Traces of the programs with the widest values, and with copies: what they have in them goes through P4Runtime."""

    def replay(self, program: str, name: str) -> None:
        """All traces of a file on one switch, which is reset between them."""
        with bench(compiled.path(program, test=True)) as running:
            for trace in traces.read(name):
                with self.subTest(trace["name"]):
                    traces.Run(running, trace).replay()

    def test_cflb(self) -> None:
        self.replay("cflb", "cflb")

    def test_mp_hula_with_tokens_by_the_control_plane(self) -> None:
        self.replay("mp-hula-external", "mp-hula")

    def test_shuttle(self) -> None:
        self.replay("shuttle", "shuttle")


class SlowServer(unittest.TestCase):
    """On a busy machine."""

    def test_a_switch_may_take_longer_than_finsys_own_limit_to_load_a_program(self) -> None:
        program = compiled.path("ecmp", test=False)
        with p4runtime_server.running() as (server, address):
            server.load_time = 11.0
            with contextlib.closing(P4RuntimeSwitch(Program(program), address)) as switch:
                self.assertTrue(switch.has_counter("verdicts"))


class Session(unittest.TestCase):
    """MP-HULA's program with tokens by the control plane, as it runs in production, at ToR 1."""

    def running(self) -> AbstractContextManager[traces.Bench]:
        """A switch with the program."""
        return bench(compiled.path("mp-hula-external", test=False))

    def setUp(self) -> None:
        self.bench = self.enterContext(self.running())
        assert isinstance(self.bench.switch, P4RuntimeSwitch)
        self.switch = self.bench.switch
        self.configure()

    def configure(self) -> None:
        """Settings and ports."""
        SwitchSettings(1, 4, 1, UP, 20, CPU_PORT).apply(self.switch)
        self.switch.set_default("mp_hula_settings", "set_mp_hula", mp_hula_values(MP_HULA, 8))
        for port, role in ((FABRIC_PORT, "up"), (HOST_PORT, "host"), (OTHER_PORT, "host"), (CPU_PORT, "cpu")):
            self.switch.set_entry("ports", (port,), "set_port", {"role": ROLES[role], "probe_group": 5, "inverse": 0})

    def expect(self, by: tuple[int, ...], start: bytes = b"") -> None:
        """A frame with these bytes behind its addresses leaves by each of these ports, and none by the others."""
        for port in by:
            self.assertEqual((self.bench.receive(port, WITHIN) or b"")[12:][: len(start)], start, f"port {port}")
        for port in {FABRIC_PORT, HOST_PORT, OTHER_PORT} - set(by):
            self.assertIsNone(self.bench.receive(port, SOON), f"port {port}")

    def deliver(self, address: frames.Address, *by: int) -> None:
        """A packet from the fabric leaves by these ports."""
        kind, packet = frames.ip((OTHER_HOST, address), frames.UDP, bytes(8))
        self.bench.send(FABRIC_PORT, frames.ethernet(kind, packet))
        self.expect(by, kind.to_bytes(2, "big"))

    def test_an_entry_is_added_changed_and_removed(self) -> None:
        key = (Prefix(int(LOCAL_HOST), 32),)
        self.deliver(LOCAL_HOST)
        for port in (HOST_PORT, OTHER_PORT):
            self.switch.set_entry("destinations_v4", key, "to_host", {"port": port})
            self.deliver(LOCAL_HOST, port)
        for _ in range(2):
            self.switch.delete_entry("destinations_v4", key)
            self.deliver(LOCAL_HOST)

    def test_a_default_route_counts_for_what_no_longer_prefix_matches(self) -> None:
        self.switch.set_entry("destinations_v4", (Prefix(0, 0),), "to_host", {"port": OTHER_PORT})
        self.switch.set_entry("destinations_v4", (Prefix(int(LOCAL_HOST) & ~0xFFFF, 16),), "to_host", {"port": HOST_PORT})
        self.deliver(LOCAL_HOST, HOST_PORT)
        self.deliver(frames.address_of(3), OTHER_PORT)

    def test_counters_are_read_and_a_reset_forgets_them_and_all_entries(self) -> None:
        key = (Prefix(int(LOCAL_HOST), 32),)
        for _ in range(2):
            self.switch.set_entry("destinations_v4", key, "to_host", {"port": HOST_PORT})
            self.deliver(LOCAL_HOST, HOST_PORT)
            self.assertEqual(self.switch.counter("verdicts", 1), 1)
            self.switch.reset()
            self.configure()
            self.deliver(LOCAL_HOST)
            self.assertEqual(self.switch.counter("verdicts", 1), 0)

    def test_keys_come_as_a_packet_in_and_tokens_go_back_as_a_packet_out(self) -> None:
        self.switch.set_copies(TOKEN_COPIES, CPU_PORT)
        self.switch.set_entry("destinations_v4", (Prefix(int(OTHER_HOST), 32),), "to_tor", {"tor": 0})
        packet = frames.ethernet(*frames.ip((LOCAL_HOST, OTHER_HOST), frames.TCP, frames.tcp(1, 2, ACK, CAPABLE + bytes(2))))
        self.bench.send(HOST_PORT, packet)
        back = tokens.answer(self.switch.receive(WITHIN) or b"")
        assert back
        self.switch.send(back)
        connections = COUNTERS.index("connections")
        eventually("the connection is counted", lambda: self.switch.counter("scheme_counters", connections) == 1)

    def test_values_that_do_not_fit_their_fields_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            self.switch.set_entry("ports", (1 << 16,), "no_port", {})
        with self.assertRaises(ValueError):
            self.switch.set_entry("ports", (9,), "set_port", {"role": 256, "probe_group": 0, "inverse": 0})

    def test_registers_and_the_clock_are_not_served_by_p4runtime_alone(self) -> None:
        beside, self.switch.beside = self.switch.beside, None
        try:
            self.assertRaises(NotServed, self.switch.now)
            self.assertRaisesRegex(NotServed, "not supported", P4RuntimeSwitch.register, self.switch, "best_known", 0)
            self.assertRaisesRegex(NotServed, "not supported", P4RuntimeSwitch.write_register, self.switch, "best_known", 0, 1)
        finally:
            self.switch.beside = beside


if __name__ == "__main__":
    unittest.main()
