"""The page in Chromium, opened as a file or from a static site, and the command line to compare with."""

import base64
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

# Generous: the machine may be busy.
DEADLINE = 300


def variable(name: str) -> Path:
    value = os.environ.get(name)
    assert value, f"set {name}, or run `./x test browser`, which does"
    return Path(value)


def program(*names: str) -> str:
    """The first of some programs that is installed."""
    found = [path for path in map(shutil.which, names) if path]
    assert found, f"{names[0]} is missing: install it, or run `./x test browser`, which does"
    return found[0]


class Page:
    """The page under test, as a reader uses it."""

    def __init__(self, driver: webdriver.Chrome, downloads: Path) -> None:
        self.driver = driver
        self.downloads = downloads

    def open(self, address: str) -> "Page":
        """Opens the page with its own scenario, whose run is stopped."""
        self.driver.get(address)
        self.until(lambda: self.state in ("running", "done", "error"))
        self.driver.execute_script("document.getElementById('stop').click()")
        assert self.state in ("ready", "done"), self.error
        return self

    def open_link(self, address: str) -> "Page":
        """Opens the page anew, also where the fragment alone is another one, and waits for the run that opens it."""
        self.driver.get("about:blank")
        self.driver.get(address)
        self.wait_for("done")
        return self

    def follow(self, fragment: str) -> None:
        """Follows a link with another fragment in the page that is open, and waits for the run that it starts."""
        self.driver.execute_script("document.body.dataset.state = ''; location.hash = arguments[0]", fragment)
        self.wait_for("done")

    def find(self, selector: str):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    @property
    def state(self) -> str | None:
        return self.driver.execute_script("return document.body.dataset.state")

    @property
    def error(self) -> str:
        return self.find("#error").text

    def until(self, condition) -> None:
        WebDriverWait(self.driver, DEADLINE, 0.1).until(lambda _: condition())

    def wait_for(self, state: str) -> None:
        self.until(lambda: self.state in (state, "error"))
        assert self.state == state, self.error

    def preset(self, index: int) -> None:
        Select(self.find("#preset")).select_by_index(index)

    @property
    def values(self) -> dict[str, str]:
        """The texts of all fields by their ids."""
        script = """return [...document.querySelectorAll('#form input:not([readonly]), #form select:not(#preset), #form textarea')]
            .map((node) => [node.id, node.value])"""
        return dict(self.driver.execute_script(script))

    def write(self, text: str) -> None:
        """Puts a scenario file into its field."""
        script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', { bubbles: true }))"
        self.driver.execute_script(script, self.find("#text"), text)

    def link(self) -> str:
        """The link to the present scenario."""
        self.find("#share").click()
        self.until(lambda: self.find("#address").is_displayed())
        return self.find("#address").get_attribute("value")

    def choose(self, **fields: str) -> None:
        """Sets fields by their ids, `scheme_a="hula"`."""
        for name, value in fields.items():
            field = self.find("#" + name.replace("_", "-"))
            if field.tag_name == "select":
                Select(field).select_by_value(value)
            else:
                field.clear()
                field.send_keys(value)

    def run(self) -> None:
        self.find("#run").click()
        self.wait_for("done")

    @property
    def digests(self) -> list[str]:
        return self.texts("td.digest")

    def figures(self, label: str) -> list[str]:
        for row in self.driver.find_elements(By.CSS_SELECTOR, "#figures tr"):
            if row.find_element(By.CSS_SELECTOR, "th").text == label:
                return [cell.text for cell in row.find_elements(By.CSS_SELECTOR, "td")]
        raise AssertionError(f"no figure {label!r}")

    def save(self, index: int) -> Path:
        """Saves the scenario file of one side."""
        button = self.driver.find_elements(By.CSS_SELECTOR, "#saves button")[index]
        path = self.downloads / button.text.removeprefix("Save ")
        path.unlink(missing_ok=True)
        button.click()
        self.until(lambda: path.exists() and path.stat().st_size > 0)
        return path

    def requests(self) -> list[str]:
        """Addresses that the browser has asked for."""
        entries = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [entry for entry in entries if entry["method"] == "Network.requestWillBeSent"]
        return [entry["params"]["request"]["url"] for entry in sent]

    def complaints(self) -> list[str]:
        """What the browser's console has of errors: a refused request is one."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def resize(self, width: int) -> None:
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.until(lambda: self.driver.execute_script("return innerWidth") == width)

    def screenshot(self, name: str) -> None:
        """Keeps a picture of the whole page, where HEDDLE_SCREENSHOTS names a folder."""
        folder = os.environ.get("HEDDLE_SCREENSHOTS")
        if folder:
            self.picture(Path(folder) / f"{name}.png")

    def picture(self, file: Path, **options: object) -> None:
        """A picture of the page, by the options of Chromium's `Page.captureScreenshot`."""
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, **options})
        file.write_bytes(base64.b64decode(picture["data"]))


@contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A browser that saves files in a folder and finds no address but this machine's."""
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium", "google-chrome")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={folder / 'profile'}",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(program("chromedriver")))
    driver.set_page_load_timeout(DEADLINE)
    driver.set_script_timeout(DEADLINE)
    try:
        yield Page(driver, folder)
    finally:
        driver.quit()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with chromium(tmp_path) as page:
        yield page


@pytest.fixture(scope="session")
def file_address() -> str:
    """The page as a file."""
    return variable("HEDDLE_PAGE").as_uri()


class Site(SimpleHTTPRequestHandler):
    """A static site that says nothing and notes what it was asked for."""

    def log_message(self, *_: object) -> None:
        self.server.asked.append(self.path)


@pytest.fixture
def site() -> Iterator[tuple[str, list[str]]]:
    """A static site with the page: its address, and the paths that it was asked for."""
    handler = partial(Site, directory=str(variable("HEDDLE_PAGE").parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/heddle.html", server.asked
        server.shutdown()


@pytest.fixture(scope="session")
def heddle_run(tmp_path_factory: pytest.TempPathFactory):
    """`heddle run` of a file: the summary of its only run."""

    def run(file: Path) -> dict:
        out = tmp_path_factory.mktemp("run")
        command = [variable("HEDDLE"), "--json", "run", file, "--out", out]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE).stdout
        (summary,) = json.loads(printed)["runs"]
        return summary

    return run
