"""A progress bar: tqdm's where it is installed, else a line on the terminal."""

import sys
import time
from types import TracebackType
from typing import Any

from heddle._core import Watch


class Bar:
    """Progress of some runs.

    Args:
        runs: how many there are.
        shown: whether it shows; unless given, on terminals and in notebooks.
    """

    def __init__(self, runs: int, shown: bool | None) -> None:
        self._runs, self._done, self._watches = runs, 0, list[Watch]()
        self._start, self._last = time.monotonic(), 0.0
        self._shown = _is_interactive() if shown is None else shown
        self._tqdm = _tqdm(runs) if self._shown else None

    def watch(self) -> Watch:
        """The watch of a run that starts."""
        watch = Watch()
        self._watches.append(watch)
        return watch

    def ended(self, watch: Watch) -> None:
        """Notes that the run of a watch has ended; :meth:`done` counts it."""
        self._watches.remove(watch)

    def done(self) -> None:
        """Counts a run that is done: here, elsewhere, or before."""
        self._done += 1
        self.update(now=True)

    def stop(self) -> None:
        """Stops all runs of this process."""
        for watch in self._watches:
            watch.stop()

    def update(self, now: bool = False) -> None:
        """Draws the bar, a few times a second at most."""
        if not self._shown or (not now and time.monotonic() - self._last < 0.2):
            return
        self._last = time.monotonic()
        runs = self._done + sum(watch.part for watch in self._watches)
        if self._tqdm is not None:
            self._tqdm.n = round(runs, 2)
            self._tqdm.refresh()
        else:
            self._line(runs)

    def _line(self, runs: float) -> None:
        part = runs / max(self._runs, 1)
        left = (time.monotonic() - self._start) * (1 - part) / part if part > 0.01 else None
        estimate = "" if left is None else f", {left:.0f} s left"
        full = "#" * round(30 * part)
        sys.stderr.write(f"\r{full:30} {self._done} of {self._runs} runs{estimate}\x1b[K")
        sys.stderr.flush()

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._shown:
            sys.stderr.write("\r\x1b[K")


def _is_interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _tqdm(runs: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    layout = "{l_bar}{bar}| {n:.4g} of {total} runs, {remaining} left"
    return tqdm(total=runs, bar_format=layout, leave=False)
