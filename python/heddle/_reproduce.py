"""The papers' claims."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from os import PathLike
from pathlib import Path

from heddle import _core
from heddle._progress import Bar
from heddle._sweep import default_store


def reproduce(
    paper: str,
    claims: Sequence[str] = (),
    *,
    medium: bool = False,
    full: bool = False,
    profile: str | None = None,
    out: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> _core.Table:
    """Judges a paper's claims by simulations, on all cores: a row for each claim, with the paper's value, the one here, and the verdict.

    Args:
        paper: ``"hula"``, ``"mp-hula"``, ``"cflb"``, or ``"uet"`` (Ultra Ethernet's hosts beside uet-htsim).
        claims: ids, as in ``["H1", "H3"]``; all unless given.
        medium: five seeds, with intervals, over the loads and flows of the default (one seed and few flows: minutes).
        full: five seeds, all loads, many flows: hours.
        profile: choice of what the paper leaves open, by name; the first unless given.
        out: folder of ``heddle reproduce``, whose kept runs in ``runs/`` are used and added to; one among the user's caches unless given.
        progress: whether a bar shows; on terminals and in notebooks unless given.

    Raises:
        ValueError: there is no such paper, claim or profile, or both `medium` and `full` are set.
        KeyboardInterrupt: Ctrl-C stops it within a second; finished runs are kept.
    """
    if medium and full:
        raise ValueError("medium and full are two efforts: set one of them")
    effort = "full" if full else "medium" if medium else "quick"
    folder = Path(out) if out is not None else default_store().parent / "reproduce" / paper
    with Bar(1, progress) as bar, ThreadPoolExecutor(1) as pool:
        watch = bar.watch()
        future = pool.submit(_core.reproduce, paper, list(claims), effort, profile, folder, watch)
        try:
            while not wait([future], timeout=0.1).done:
                bar.update()
        except BaseException:
            watch.stop()
            raise
        return future.result()
