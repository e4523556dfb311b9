"""Shuttle's program as it runs in production: utilisation and queue of its own ports are those that egress counted, random bits are the target's."""

import pathlib
import unittest
from contextlib import AbstractContextManager

import compiled
import frames
import interpreted
import traces
from frames import ACK, OTHER_HOST, Answer, Given
from heddle_p4.plan import BEST_HOPS
from heddle_p4.quantities import numbers
from heddle_p4.settings import SwitchSettings, capacity_values, shuttle_values

TAU_SHIFT = 20
FULL = 1 << 17  # bytes in tau: 1 Gbps
RANGE = 1 << 17  # bytes of a queue that fills the range of costs: two links of 2^16
UP = (1 << 64) - 1
GAP = 100_000
FIRST, SECOND = 2, 3
FLOWLETS = 1000


class Loads(unittest.TestCase):
    """On a spine with two hops towards ToR 3."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def setUp(self) -> None:
        self.bench = self.enterContext(self.running(compiled.path("shuttle", test=True)))
        trace = traces.read("shuttle")[0]
        self.config = numbers(trace["config"]["shuttle"]) | {"full_queue": 1 << 16, "range": 2}
        run = traces.Run(self.bench, trace | {"config": {"shuttle": self.config}})
        SwitchSettings(1, 4, None, UP, TAU_SHIFT).apply(self.bench.switch)
        for port in (FIRST, SECOND):
            self.bench.switch.set_entry("capacities", (port,), "set_capacity", capacity_values(FULL))
        run.routes.set(3, (FIRST, SECOND), UP)
        run.routes.set(0, (FIRST, SECOND), UP)

    def ask(self, given: Given, frame: bytes) -> Answer:
        """The answer to a frame."""
        self.bench.send(0, given.pack() + frame)
        answer = self.bench.receive(0)
        self.assertIsNotNone(answer)
        return Answer.unpack(answer or b"")

    def sent(self, now: int, port: int, length: int) -> None:
        """A frame leaves by a port."""
        self.ask(Given(now, port, "sent", length=length), frames.probe(3))

    def hear(self, now: int, port: int, util: int = 0) -> int:
        """A probe of ToR 3; returns the figure that goes on."""
        return self.ask(Given(now, port, util=util), frames.probe(3)).util

    def queue(self, port: int) -> int:
        """The queue behind the last frame."""
        return self.bench.switch.register("port_queue", port)

    def share_of_first(self, start: int) -> int:
        """Flowlets to ToR 0 that take the first hop, of FLOWLETS."""
        taken = 0
        for number in range(FLOWLETS):
            packet = frames.ip((OTHER_HOST, OTHER_HOST), frames.TCP, frames.tcp(1, 2, ACK, b""))
            taken += self.ask(Given(start + number * (GAP + 1), 9, flow_hash=5), frames.ethernet(*packet)).port == FIRST
        return taken

    def test_a_frame_waits_until_the_link_has_sent_it(self) -> None:
        self.sent(1, FIRST, 1000)
        self.sent(1, FIRST, 500)
        self.assertEqual(self.queue(FIRST), 1500)
        # An eighth of a byte in a nanosecond.
        self.sent(1 + 8 * 700, FIRST, 100)
        self.assertEqual(self.queue(FIRST), 900)
        self.sent(1 + 8 * 700 + 8 * 5000, FIRST, 64)
        self.assertEqual(self.queue(FIRST), 64)
        self.assertEqual(self.queue(SECOND), 0)

    def test_a_frame_of_an_earlier_time_drains_nothing(self) -> None:
        self.sent(1_000_000, FIRST, 1000)
        self.sent(1, FIRST, 1000)
        self.assertEqual(self.queue(FIRST), 2000)

    def test_a_queue_fills_the_range_of_costs_at_most(self) -> None:
        for _ in range(100):
            self.sent(1, FIRST, 9000)
        self.assertEqual(self.queue(FIRST), RANGE)

    def test_a_port_whose_link_is_not_known_has_no_queue(self) -> None:
        self.sent(1, FIRST + 10, 1000)
        self.assertEqual(self.queue(FIRST + 10), 0)

    def test_a_probe_tells_utilisation_and_queue_as_they_are_now(self) -> None:
        self.sent(1, FIRST, 32768)
        # Half a link of queue, and a quarter of what the link carries in tau: 49152 of 131072, in 8 bits.
        self.assertEqual(self.hear(1, FIRST), (32768 + 16384) // 2 >> 8)
        # Drained, and a quarter of tau later three quarters of the estimator's bytes.
        later = 1 + (1 << TAU_SHIFT) // 4
        self.assertEqual(self.hear(later, FIRST), 16384 * 3 // 4 // 2 >> 8)
        # The other hop is idle.
        self.hear(later, SECOND)
        self.assertEqual(self.hear(later + 200_000, FIRST), 0)

    def test_flowlets_take_hops_by_their_weights_with_random_bits_of_the_target(self) -> None:
        for port, util in ((FIRST, 128), (SECOND, 0)):
            self.ask(Given(1, port, util=util), frames.probe(0))
        # Remote figures of 1/2 and 0: weights of 1/4 and 1. Within four standard deviations of the binomial
        # distribution.
        self.assertLess(abs(self.share_of_first(GAP) - FLOWLETS / 5), 4 * (FLOWLETS * 0.2 * 0.8) ** 0.5)

    def test_flowlets_avoid_a_port_with_a_queue(self) -> None:
        SwitchSettings(1, 4, None, UP, 28).apply(self.bench.switch)
        self.bench.switch.set_entry("capacities", (FIRST,), "set_capacity", capacity_values(1))
        for port in (FIRST, SECOND):
            self.ask(Given(1, port), frames.probe(0))
        # A link that sends a byte in 2^28 ns: its queue fills the range, and its weight is 2^-16.
        self.sent(GAP, FIRST, RANGE)
        self.assertLess(self.share_of_first(GAP), 3)

    def test_a_queue_behind_the_range_costs_what_one_of_the_range_does(self) -> None:
        self.bench.switch.set_default("shuttle_settings", "set_shuttle", shuttle_values(self.config | {"choice": "least"}, BEST_HOPS))
        for port in (FIRST, SECOND):
            self.ask(Given(1, port), frames.probe(0))
        packet = frames.ethernet(*frames.ip((OTHER_HOST, OTHER_HOST), frames.TCP, frames.tcp(1, 2, ACK, b"")))
        for number, (first, second, port) in enumerate(((RANGE, RANGE - 2, SECOND), (RANGE, RANGE, FIRST), (1 << 31, RANGE, FIRST))):
            loads = frames.Loads(0, {FIRST: (0, first), SECOND: (0, second)})
            given = Given(GAP + number * (GAP + 1), 9, flow_hash=5, loads=loads)
            self.assertEqual(self.ask(given, packet).port, port, (first, second))


if __name__ == "__main__":
    unittest.main()
