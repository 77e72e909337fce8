"""The playground as a folder: small, strict, without Python, and alive at once in a real browser."""

from __future__ import annotations

import functools
import http.server
import io
import json
import os
import re
import shutil
import threading
import time

import pytest
from PIL import Image

from separatrix.errors import InputError
from separatrix.playground.content.presets import PRESETS
from separatrix.playground.static_site import write_site
from tests.planar import compare, random_problem
from tests.run import fine

ADDRESS = "https://example.org/play"
chromium = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromedriver") is None, reason="no chromedriver was found"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, ADDRESS)
    return folder


def test_the_folder_is_below_a_megabyte_and_has_all_files_that_it_names(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 1_000_000
    page = (site / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="([^"#:]+)"', page):
        assert (site / name).is_file(), name
    for path in (site / "static" / "js").rglob("*.js"):
        for name in re.findall(
            r'^(?:import|export)\b.*"(\.[^"]+)";', path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            assert (path.parent / name).is_file(), (path.name, name)


def test_the_page_has_a_strict_policy_and_nothing_inline(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "default-src &#x27;none&#x27;; script-src &#x27;self&#x27;" in page
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", page)


def test_every_preset_has_a_page_with_its_picture(site):
    for name in PRESETS:
        page = (site / f"{name}.html").read_text(encoding="utf-8")
        assert f'content="{ADDRESS}/presets/{name}.png"' in page
        assert f"url=./#p={name}" in page
        assert Image.open(io.BytesIO((site / "presets" / f"{name}.png").read_bytes())).size == (1200, 630)
        assert json.loads((site / "presets" / f"{name}.json").read_text())["data"]["rows"]


def test_the_page_knows_that_it_has_no_server_and_where_links_open(site):
    known = json.loads((site / "about.json").read_text())
    assert (known["server"], known["address"]) == (False, f"{ADDRESS}/")


def test_an_address_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="must begin with https"):
        write_site(tmp_path, "example.org")


def test_the_command_writes_the_folder(tmp_path):
    assert "Wrote the playground" in fine("play", "--static", tmp_path / "site").output
    assert (tmp_path / "site" / "index.html").is_file()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def browser(site):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for each in ("--headless=new", "--no-sandbox", "--window-size=1280,720"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with server, webdriver.Chrome(options=options) as driver:
        driver.address = f"http://127.0.0.1:{server.server_address[1]}/"
        yield driver
        server.shutdown()


def opened(browser, where=""):
    browser.get("about:blank")
    browser.get(browser.address + where)
    end = time.monotonic() + 20.0
    while not browser.execute_script("return Boolean(window.separatrix?.state.verdict)"):
        assert time.monotonic() < end, browser.get_log("browser")
        time.sleep(0.02)


class TestInChromium:
    pytestmark = chromium

    @pytest.mark.parametrize("where", ["", "xor.html", "#p=rings", "?lesson=0", "?lesson=4"])
    def test_a_page_opens_without_a_word_on_the_console(self, browser, where):
        opened(browser, where)
        assert browser.execute_script("return separatrix.state.run.updates.rows.length") > 0
        assert browser.get_log("browser") == []

    def test_a_line_moves_within_a_second(self, browser):
        watch = """const look = (now) => {
          const { playing, blend } = window.separatrix?.state ?? {};
          if (playing && blend > 0 && blend < 1) window.moved = now;
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);"""
        added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": watch})
        moments = []
        for _ in range(3):
            opened(browser)
            moments.append(
                browser.execute_async_script(
                    "const [done] = arguments;"
                    "const wait = () => (window.moved ? done(window.moved) : setTimeout(wait, 50));"
                    "wait();"
                )
            )
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
        if min(moments) > 1000 and os.getloadavg()[0] > (os.cpu_count() or 1):
            pytest.skip(f"the machine is busy; measured: {moments} ms")
        assert min(moments) <= 1000

    def test_methods_without_the_program_are_refused_in_words_and_networks_are_not(self, browser):
        opened(browser, "?lesson=1")  # it begins with a linear program
        assert "separatrix play" in browser.find_element("id", "settings").text
        browser.execute_script(
            "const list = document.querySelector('#settings select'); list.value = 'network';"
            "list.dispatchEvent(new Event('change'));"
        )
        end = time.monotonic() + 20.0
        while not browser.execute_script("return Boolean(window.separatrix.state.run?.units)"):
            assert time.monotonic() < end
            time.sleep(0.02)
        assert browser.get_log("browser") == []

    def test_the_engine_in_the_browser_is_the_twin_of_the_library(self, browser):
        import random

        def ask(question, request):
            return browser.execute_async_script(
                "const [question, request, done] = arguments;"
                "const load = (name) => import(`./static/js/${name}.js`);"
                "Promise.all([load('engine/engine'), load('python')]).then(([{ answer }, { script }]) => {"
                "  const code = () => script(request.data, request.settings);"
                "  try { done((question === 'code' ? code() : answer(question, request)) ?? null); }"
                "  catch (problem) { done({ refused: problem.code ?? 'bug', message: problem.stack }); }"
                "});",
                question,
                request,
            )

        opened(browser)
        chance = random.Random(32)
        for _ in range(100):
            assert not compare(ask, *random_problem(chance))
