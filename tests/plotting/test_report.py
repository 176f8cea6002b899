# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The report: no address in it that a browser would fetch, small, and drawn without an error where a headless browser is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import unittest
from html.parser import HTMLParser
from pathlib import Path

from made import WithFolder, cell_line, launch_line, lines, run

from dlmb_plotting.charts import Limits
from dlmb_plotting.inputs import read_inputs
from dlmb_plotting.plots import plots
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.report import page

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DEAD_PROXY = "127.0.0.1:9"  # the browser has no network
LARGEST_BYTES = 5_000_000
PHASES = {"phases": {"dispatch": {"median": 4}, "combine": {"median": 6}}}  # with two of them a line over sizes does not show all


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.identifiers: list[str] = []
        self.fetched: list[str] = []
        self.data_errors = ""
        self.drawings = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "section":
            self.identifiers.append(values["id"])
        self.fetched += [value for name, value in values.items() if name in ("src", "href") and not value.startswith("#")]
        self.data_errors = values.get("data-errors", self.data_errors)
        self.drawings += tag == "svg" and values.get("role") == "img"


class ReportTest(WithFolder):
    def report(self, *inputs: Path) -> Path:
        path = self.folder / "report.html"
        self.assertEqual(run("report", *map(str, inputs), "-o", str(path))[0], 0)
        return path

    def test_it_has_a_section_per_plot_and_fetches_nothing(self) -> None:
        folder = self.everything()
        text = self.report(folder).read_text()
        elements = Elements(text)
        self.assertEqual(sorted(elements.identifiers), sorted(plot.name for plot in plots(read_inputs([folder]), Machine(), Limits(12))))
        self.assertEqual(elements.fetched, [])
        self.assertNotIn("url(http", text)
        self.assertIn("default-src 'none'", text)

    def test_it_begins_with_what_was_found_and_ends_with_the_machine(self) -> None:
        chapters = re.findall("<h2[^>]*>([^<]+)</h2>", self.report(self.everything()).read_text())
        self.assertEqual(chapters[:2] + chapters[-4:], ["What was found", "collective", "What ran", "What did not run, and why", "Warnings", "Machine and software"])

    def test_a_warning_is_said_once_with_the_number_of_launches_or_cells(self) -> None:
        warns = [launch_line(name, warnings=[f"vm had a load of {load} before"]) for name, load in (("l1", "4.4"), ("l2", "6"))]
        path = self.file(lines(*warns, launch_line("l3"), cell_line(8, 10) | {"flags": ["drift"], "validation": {"verdict": "off"}}, cell_line(16, 10)))
        text = self.report(path).read_text()
        self.assertIn("<td>vm had a load of 4.4 to 6 before</td><td>2 of 3 launches</td>", text)
        self.assertIn("<td>the received bytes were not checked</td><td>1 of 2 cells</td>", text)
        self.assertIn("<td>has no end line: it was interrupted; its finished cells are used</td><td>3 times</td>", text)
        top, below = text.split("<nav>")
        self.assertEqual((top.count("had a load"), below.count("had a load")), (1, 1))
        self.assertIn("<li>vm had a load of 4.4 to 6 before (2 of 3 launches)</li>", top)

    def test_the_first_screen_has_date_host_revision_and_warnings(self) -> None:
        launch = launch_line(time="2026-03-04T05:06:07Z", warnings=["the governor is powersave"])
        launch["environment"]["informational"] = {"hosts": "node7 node8", "git_revision": "abc1234"}
        few = cell_line(8, 10) | {"time_ns": {"median": 10, "p99": None, "max": 10000, "median_low": None, "median_high": None, "samples": 4}}
        top = self.report(self.file(lines(launch, few))).read_text().split("<nav>")[0]
        self.assertIn("<p>2026-03-04T05:06:07Z; on node7 node8; ranks: 4; revision abc1234</p>", top)
        self.assertIn("<li>the governor is powersave (1 of 1 launches)</li>", top)
        self.assertIn("fewer than 6 samples: no interval, and no method is called faster (1 of 1 cells)", top)

    def test_times_of_a_test_double_are_said_to_be_none_before_anything_else(self) -> None:
        text = self.report(self.file(lines(launch_line(test_double=True), cell_line(8, 10)))).read_text()
        self.assertRegex(text, 'What was found</h2>\n<p class="warning">the GPUs are a test double')

    def test_what_did_not_run_is_in_it_with_its_reason(self) -> None:
        text = self.report(self.everything()).read_text()
        self.assertIn("<td>skipped</td><td>moe_alltoall</td><td>nccl default</td><td>nccl: no CUDA device</td>", text)

    def test_text_of_a_file_cannot_become_markup(self) -> None:
        evil = "</script><img src=x>"
        cells = (cell_line(8, 10) | {"method": evil}, cell_line(16, 10) | {"status": "failed", "reason": evil})
        self.assertEqual(Elements(self.report(self.file(lines(launch_line(), *cells))).read_text()).fetched, [])

    def test_many_cells_make_a_small_page_that_says_what_it_leaves_out(self) -> None:
        cells = (cell_line(8 * size, 10 + size, backend, skew=f"zipf:{skew}") | PHASES for size in range(1, 51) for skew in range(20) for backend in ("mpi", "ucx"))
        path = self.report(self.file(lines(launch_line(), *cells)))
        self.assertLess(path.stat().st_size, LARGEST_BYTES)
        self.assertIn("64 of 1000 settings fit", path.read_text())

    def test_a_page_beyond_the_limit_is_drawn_with_fewer_charts(self) -> None:
        cells = [cell_line(8 * size, 10 + size) | PHASES for size in range(1, 101)]
        inputs = read_inputs([self.file(lines(launch_line(), *cells))])
        self.addCleanup(setattr, page, "LARGEST_DATA_BYTES", page.LARGEST_DATA_BYTES)
        page.LARGEST_DATA_BYTES = 20_000
        found, data = page.fitting(inputs, Machine())
        self.assertLessEqual(len(data), 20_000)
        self.assertRegex(next(plot.left_out for plot in found if plot.name == "collective.phases"), r"^\d+ of 100 settings fit")

    def test_a_browser_without_a_network_draws_every_plot(self) -> None:
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            self.skipTest("no headless browser: none of " + ", ".join(BROWSERS))
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/browser", f"--proxy-server={DEAD_PROXY}", "--dump-dom"]
        address = self.report(self.everything()).as_uri()
        drawn = subprocess.run([*command, address], capture_output=True, text=True, timeout=100, check=True).stdout
        elements = Elements(drawn)
        self.assertEqual(json.loads(elements.data_errors), [])
        self.assertEqual(elements.drawings, sum(len(plot.charts) for plot in plots(read_inputs([self.folder / "everything"]), Machine(), Limits(12))))
        self.assertNotRegex(drawn, r'="[^"]*(NaN|Infinity|undefined)')
        self.assertGreater(len(re.findall("data-text=", drawn)), 50)


if __name__ == "__main__":
    unittest.main()
