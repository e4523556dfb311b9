"""The page in a browser: its results are the command line's, it loads nothing, and it works on a phone and by keyboard."""

import base64
import json
import subprocess
import zlib
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from conftest import Page, variable

HULA, SMALL = 1, 3


def milliseconds(text: str) -> float:
    value, unit = text.split()
    assert unit == "ms"
    return float(value)


def test_two_schemes_have_the_results_of_the_command_line(page: Page, file_address: str, heddle_run) -> None:
    """From a file, on HULA's fabric, with a link that fails and recovers."""
    page.open(file_address)
    page.preset(HULA)
    page.choose(scheme_a="ecmp", scheme_b="hula", load="0.4", flows="60", seed="5")
    page.choose(link="agg-4 core-2", fails_at="22ms", recovers_at="30ms")
    files = [page.save(0), page.save(1)]
    page.run()
    summaries = [heddle_run(file) for file in files]
    assert page.digests == [summary["digest"] for summary in summaries]
    assert page.digests[0] != page.digests[1]
    assert [summary["scheme"] for summary in summaries] == ["ecmp", "hula"] == page.texts("#head th")[1:]
    for label, figure in (("mean completion time", "mean"), ("median", "p50"), ("99th percentile", "p99")):
        wanted = [1000 * summary["fct"]["all"]["seconds"][figure] for summary in summaries]
        for shown, exact in zip(map(milliseconds, page.figures(label)), wanted):
            assert abs(shown - exact) <= 0.006 + 0.0005 * exact
    assert page.figures("drops") == [f"{summary['totals']['dropped']:,}" for summary in summaries]
    assert page.figures("unfinished flows") == ["0", "0"]
    assert page.complaints() == []


def test_the_page_opens_with_a_link_that_dies(page: Page, file_address: str) -> None:
    """ECMP and HULA run at once; the sentence below the story has the figures of the table, and the replay goes on until it is paused."""
    page.open_link(file_address)
    assert page.texts("#head th")[1:] == ["ecmp", "hula"]
    assert "leaf-1 and spine-1 dies at 2 ms" in page.find("#story").text
    said = page.find("#status").text
    means, lost = page.figures("mean completion time"), page.figures("lost to the failure")
    assert f"{means[0]} on average under ecmp, {means[1]} under hula" in said
    assert f"cost ecmp {lost[0]} packets, hula {lost[1]}" in said
    assert milliseconds(means[1]) < milliseconds(means[0]), "HULA leaves the link, ECMP does not"
    assert page.find("#play").text == "Pause"
    page.find("#play").click()
    assert page.complaints() == []
    page.choose(load="0.2")
    assert not page.find("#story").is_displayed(), "the story is of the scenario that was told"


def test_a_link_holds_the_scenario(page: Page, site) -> None:
    """Fields, file and digests are the same in another page; the server does not see the scenario."""
    address, asked = site
    page.open(address)
    page.write(page.values["text"] + '\n[[variant]]\nname = "slow <b>"\nscheme = { kind = "hula", probe_period = "1ms" }\n')
    page.choose(scheme_a="ecmp", scheme_b="variant slow <b>", flows="200", seed="3", link="leaf-2 spine-1", fails_at="1ms")
    page.run()
    digests, values, link = page.digests, page.values, page.link()
    assert link.startswith(f"{address}#scenario=") and page.driver.current_url == link
    page.open_link(link)
    assert (page.digests, page.values) == (digests, values)
    assert page.texts("#head th")[1:] == ["ecmp", "slow <b>"]
    assert page.find("#story").text == "From a link: A link dies at 2 ms: storage traffic on a leaf-spine fabric, 30 % load"
    assert set(asked) == {"/heddle.html"}
    assert page.complaints() == []


def test_a_link_of_a_long_run_waits_for_the_button(page: Page, file_address: str) -> None:
    page.open(file_address)
    page.choose(flows="2000000")
    link = page.link()
    page.driver.get("about:blank")
    page.driver.get(link)
    page.wait_for("ready")
    assert page.values["flows"] == "2000000"
    assert page.find("#run").is_enabled()


# Fields as page.html's script writes them: text, schemes, load, flows, seed, link, times.
FIELDS = ["title = 1", "ecmp", "hula", "", "", "", "", "", ""]
SCRIPT = "<img src=x onerror='window.hacked = 1'></script><script>window.hacked = 1</script>"


def fragment(value: object) -> str:
    packed = base64.urlsafe_b64encode(zlib.compress(json.dumps(value).encode())).decode()
    return "#scenario=" + packed.rstrip("=")


WRONG = [
    ("#installation", "is no scenario"),
    (f"#{SCRIPT}", "is no scenario"),
    ("#scenario=AAAA", "damaged or was cut short"),
    (fragment(FIELDS)[:-6], "damaged or was cut short"),
    (fragment(["x" * 300_000]), "damaged or was cut short"),
    (fragment({"text": "title = 1"}), "another version of this page"),
    (fragment([*FIELDS, ""]), "another version of this page"),
    (fragment(FIELDS), "scenario.toml:1"),
    (fragment([f'title = "{SCRIPT}"\nscheme = "{SCRIPT}"', *FIELDS[1:]]), "<img src=x"),
]


def test_a_link_that_holds_no_scenario_says_so_and_the_page_opens_with_its_own(page: Page, file_address: str) -> None:
    """As the page opens, and as the fragment of an open page changes."""
    page.open_link(file_address + WRONG[-1][0])
    assert WRONG[-1][1] in page.find("#notice").text
    for wrong, reason in WRONG:
        page.follow(wrong)
        notice = page.find("#notice").text
        assert notice.startswith("This address holds no scenario that can be shown: ") and reason in notice, (wrong, notice)
        assert page.texts("#head th")[1:] == ["ecmp", "hula"]
        assert page.driver.execute_script("return window.hacked") is None
        assert not page.error
    assert page.complaints() == []


def test_names_of_a_link_are_text(page: Page, file_address: str) -> None:
    """A variant's name goes into drawings, tables, plots and messages."""
    page.open(file_address)
    text = page.values["text"].replace('title = "A', f'title = "{SCRIPT}A') + f'\n[[variant]]\nname = "{SCRIPT}"\nscheme = "drill"\n'
    shared = [text, "ecmp", f"variant {SCRIPT}", "0.5", "20", "1", "", "", ""]
    page.open_link(file_address + fragment(shared))
    assert page.texts("#head th")[1:] == ["ecmp", SCRIPT]
    assert page.find("#story").text.startswith(f"From a link: {SCRIPT}")
    assert page.driver.execute_script("return window.hacked") is None
    assert page.driver.execute_script("return document.querySelectorAll('img').length") == 0


def test_from_a_static_site_nothing_is_loaded_but_the_page(page: Page, site, heddle_run) -> None:
    address, asked = site
    page.open(address)
    page.preset(SMALL)
    page.choose(flows="40")
    page.run()
    assert [summary["digest"] for summary in map(heddle_run, (page.save(0), page.save(1)))] == page.digests
    assert asked == ["/heddle.html"]
    others = [url for url in page.requests() if not url.startswith(("blob:", "data:", "chrome:")) and url != address]
    assert others == []
    assert page.complaints() == []


def test_flows_and_links_are_shown_at_any_time_of_the_run(page: Page, file_address: str) -> None:
    page.open(file_address)
    page.preset(SMALL)
    page.choose(flows="50", link="leaf-2 spine-1", scheme_b="ideal")
    page.run()
    shown = [group.is_displayed() for group in page.driver.find_elements(By.CSS_SELECTOR, "svg .links")]
    assert shown == [True, False], "one big switch has no links"
    assert page.texts(".counts")[0].startswith("50 of 50 flows finished")
    panel = page.driver.find_elements(By.CSS_SELECTOR, ".panel")[0]
    down = [line for line in panel.find_elements(By.CSS_SELECTOR, "line[data-i]") if line.get_attribute("stroke-dasharray") == "2 3"]
    assert len(down) == 2, "both directions of the link that failed"
    slider = page.find("#time")
    slider.send_keys(Keys.HOME)
    page.until(lambda: page.texts(".counts")[0].startswith("0 of 50"))
    slider.send_keys(Keys.END)
    page.until(lambda: page.texts(".counts")[0].startswith("50 of 50"))
    page.find("#play").click()
    page.until(lambda: page.find("#play").text == "Pause")
    page.find("#play").click()
    assert page.find("#play").text == "Play"


def test_a_wrong_scenario_has_the_message_of_the_command_line(page: Page, file_address: str, tmp_path: Path) -> None:
    page.open(file_address)
    page.preset(HULA)
    text = page.values["text"].replace('kind = "two-pod"', 'kind = "two-pods"')
    page.write(text)
    page.until(lambda: page.error)
    (tmp_path / "scenario.toml").write_text(text)
    command = [variable("HEDDLE"), "validate", "scenario.toml"]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert page.error and page.error in printed.stderr + printed.stdout
    assert not page.find("#run").is_enabled()
    page.preset(SMALL)
    page.until(lambda: page.find("#run").is_enabled())
    page.choose(load="1.7")
    page.until(lambda: "workload.load (from --set)" in page.error)


def test_a_run_stops_and_another_one_starts(page: Page, file_address: str) -> None:
    page.open(file_address)
    page.choose(flows="2000000")
    page.find("#run").click()
    page.until(lambda: any("flows finished" in text for text in page.texts(".counts")))
    page.find("#stop").click()
    page.wait_for("ready")
    page.preset(SMALL)
    page.choose(flows="20", scheme_b="")
    assert page.find("#run").text == "Run"
    page.run()
    assert len(page.digests) == 1


def test_a_button_that_is_pressed_after_a_field_was_changed_acts(page: Page, file_address: str) -> None:
    """The field loses the focus to the button, and tells of its change once more."""
    page.open(file_address)
    page.preset(SMALL)
    page.choose(flows="20", seed="9")
    assert "seeds = [9]" in page.save(1).read_text()
    page.choose(seed="8")
    page.run()
    assert "seeds = [8]" in page.save(0).read_text()


def test_by_keyboard_alone(page: Page, file_address: str) -> None:
    """From the top by the tabulator: each control can be reached and shows that it has the focus; Enter runs."""
    page.open(file_address)
    page.preset(SMALL)
    page.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    reached: list[str] = []
    for _ in range(40):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = page.driver.switch_to.active_element
        name = focused.get_attribute("id") or focused.text
        if name in reached or focused.tag_name == "body":
            break
        reached.append(name)
        assert page.driver.execute_script("return getComputedStyle(arguments[0]).outlineStyle", focused) != "none", name
        if name == "flows":
            focused.send_keys(Keys.CONTROL, "a")
            focused.send_keys("30")
        if name == "run":
            break
    wanted = ["scheme-a", "scheme-b", "load", "flows", "seed", "link", "run"]
    assert [name for name in reached if name in wanted] == wanted
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait_for("done")
    assert len(page.digests) == 2
    assert page.find("#status").get_attribute("role") == "status"


def test_every_control_has_a_label(page: Page, file_address: str) -> None:
    page.open(file_address)
    script = """return [...document.querySelectorAll('input, select, textarea, progress, canvas, svg')]
        .filter((node) => !(node.labels?.length || node.getAttribute('aria-label')))
        .map((node) => node.outerHTML.slice(0, 80))"""
    page.preset(SMALL)
    page.choose(flows="20")
    page.run()
    unlabelled = [text for text in page.driver.execute_script(script) if "<svg" not in text]
    assert unlabelled == []


def test_on_a_phone_and_on_a_desk_nothing_is_wider_than_the_page(page: Page, file_address: str) -> None:
    page.open(file_address)
    page.preset(SMALL)
    page.choose(flows="40")
    page.find("#file summary").click()
    page.run()
    for width, name in ((360, "phone"), (400, "phone-400"), (1200, "desk")):
        page.resize(width)
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width
        script = """return [...document.querySelectorAll('body *')]
            .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest('svg, textarea'))
            .map((node) => node.outerHTML.slice(0, 80))"""
        assert page.driver.execute_script(script) == []
        page.screenshot(name)


def test_in_the_dark_the_page_is_dark(page: Page, file_address: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.open(file_address)
    page.preset(SMALL)
    page.choose(flows="30", link="leaf-2 spine-1")
    page.run()
    colour = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) < 64
    page.screenshot("dark")
