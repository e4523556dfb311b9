"""Limits on waits for other programs, which a busy machine moves."""

import os
import pathlib
import time

LOAD = pathlib.Path("/proc/loadavg")
MOST = 16  # seconds that a second of a limit stands for


class Deadline:
    """A limit in seconds of an idle machine: with twice as many threads running as there are processors a second of it stands for two, with many more
    for 16."""

    def __init__(self, limit: float) -> None:
        self.limit, self.spent = limit, 0.0
        self.begun = self.last = time.monotonic()

    def passed(self) -> bool:
        """Whether it is over. To be asked again and again: the load at a call counts for the time since the one before."""
        now = time.monotonic()
        self.spent += (now - self.last) / contenders()
        self.last = now
        return self.spent >= self.limit

    def __str__(self) -> str:
        """Says how long was waited."""
        return f"not within {self.limit:.0f} s ({self.last - self.begun:.0f} s on this machine)"


def contenders() -> float:
    """Threads that share a processor now, this one included: 1 where the machine is idle, or does not say."""
    if not LOAD.exists():
        return 1.0
    running = int(LOAD.read_text().split()[3].split("/")[0])
    return min(max(running / (os.cpu_count() or 1), 1.0), MOST)
