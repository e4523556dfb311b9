"""Probes of a ToR, on time: BMv2 has no packet generator, so a thread hands the CPU port a frame in each period (HULA section 4.1).

A period that was missed, on a busy machine, is not made up for."""

import struct
import threading
import time

from heddle_p4.switch import CpuPort

ETHERTYPE_PROBE = 0x88B6
FRAME = 60


def frame(tor: int) -> bytes:
    """A probe with utilisation 0, but for its Ethernet addresses."""
    return (bytes(12) + struct.pack(">HI", ETHERTYPE_PROBE, tor << 8)).ljust(FRAME, b"\0")


class Probes:
    """The thread. `sent` are the periods in which a probe was sent."""

    def __init__(self, cpu: CpuPort, tor: int, period: int) -> None:
        self.cpu, self.frame, self.period = cpu, frame(tor), period
        self.ends = threading.Event()
        self.sent = 0
        self.thread = threading.Thread(target=self._run, name="probes", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        due = time.monotonic_ns()
        while not self.ends.is_set():
            self.cpu.send(self.frame)
            self.sent += 1
            due = max(due + self.period, time.monotonic_ns())
            self.ends.wait((due - time.monotonic_ns()) / 1e9)

    def close(self) -> None:
        """Ends the thread."""
        self.ends.set()
        self.thread.join()
