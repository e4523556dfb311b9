"""Makes README's picture of the page, some time after the link has died: screenshot.py PAGE.html PICTURE.webp (`./x screenshot`)."""

import sys
import tempfile
from pathlib import Path

from conftest import Page, chromium

WIDTH = 1000
MILLISECONDS = 14.0


def take(page: Page, file: Path) -> None:
    page.resize(WIDTH)
    page.driver.execute_script(
        """const [play, time] = ["play", "time"].map((id) => document.getElementById(id));
        if (play.textContent === "Pause") play.click();
        const set = (value) => { time.value = value; time.dispatchEvent(new Event("input")); };
        set(1000);
        set((1000 * arguments[0]) / parseFloat(document.getElementById("when").textContent));""",
        MILLISECONDS,
    )
    bottom = page.driver.execute_script("return document.getElementById('live').getBoundingClientRect().bottom + scrollY")
    page.picture(file, format="webp", quality=75, clip={"x": 0, "y": 0, "width": WIDTH, "height": bottom + 12, "scale": 1})


def main() -> None:
    page_file, picture = map(Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder)) as page:
        take(page.open_link(page_file.resolve().as_uri()), picture)


if __name__ == "__main__":
    main()
