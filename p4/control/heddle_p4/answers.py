"""Answers to what a switch sends to its CPU port."""

import threading
from collections.abc import Callable

from heddle_p4.switch import CpuPort

LOOK = 0.2


class Answers:
    """A thread on the control plane's end of the CPU port. To each frame the first of `answers` that has one gives the frame that goes back."""

    def __init__(self, cpu: CpuPort, *answers: Callable[[bytes], bytes | None]) -> None:
        self.cpu, self.answers = cpu, answers
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self._run, name="answers", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.ends.is_set():
            frame = self.cpu.receive(LOOK) or b""
            back = next(filter(None, (answer(frame) for answer in self.answers)), None)
            if back:
                self.cpu.send(back)

    def close(self) -> None:
        """Ends the thread."""
        self.ends.set()
        self.thread.join()
