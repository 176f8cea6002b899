# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every picture is drawn and opened: it has the size that was asked for, is not blank, and shows every series."""

from __future__ import annotations

import json
import unittest
from dataclasses import replace

import matplotlib.image
from made import EXAMPLE, SCHEMA_EXAMPLES, WithFolder, drawn, launch_line, lines, run
from matplotlib.backends.backend_agg import FigureCanvasAgg

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Heat, Limits, Mark, Plot, Point, Points, Rows, Span
from dlmb_plotting.inputs import read_inputs
from dlmb_plotting.pictures import picture
from dlmb_plotting.plots import MAKERS, plots
from dlmb_plotting.plots.plans import Machine
from dlmb_plotting.results import read

WIDTH_PIXELS, DPI = 8 * 50, 50


class PicturesTest(WithFolder):
    def test_every_plot_becomes_a_picture_that_is_not_blank(self) -> None:
        folder = self.everything()
        for name in MAKERS:
            output = self.folder / name
            self.assertEqual(run(name, str(folder), "-o", str(output), "--dpi", str(DPI))[0], 0, name)
            for path in output.iterdir():
                image = matplotlib.image.imread(path)
                self.assertEqual(image.shape[1], WIDTH_PIXELS, path)
                colours = len({tuple(pixel) for pixel in (image.reshape(-1, image.shape[2])[:, :3] * 255).astype(int)})
                self.assertGreater(colours, 20, path)

    def test_the_legend_names_every_kind_once(self) -> None:
        inputs = read_inputs([self.everything()])
        for plot in plots(inputs, Machine(), Limits(12)):
            legends = picture(plot).legends
            entries = [text.get_text() for legend in legends for text in legend.get_texts()]
            self.assertEqual(entries, plot.kinds(), plot.name)

    def test_a_backend_has_the_same_colour_in_pictures_of_one_call(self) -> None:
        def line(plot: Plot, **kinds: str) -> str:
            chart = Points("title", Axis("x"), Axis("y"), {kind: [Point(1, 2, 1, 3), Point(2, 2, 1, 3)] for kind in kinds.values()})
            (axis,) = picture(replace(plot, charts=[chart]), (), style.palette(kinds.values())).axes
            return axis.containers[list(kinds).index("of")][0].get_color()

        plot = Plot("p", "title", "caption", [])
        self.assertEqual(line(plot, of="ucx default"), line(plot, one="mpi default", of="ucx default"))
        palettes = style.palettes(plots(read_inputs([self.everything()]), Machine(), Limits(12)))
        self.assertEqual(palettes["methods"]["mpi default"], palettes["methods"]["mpi"])

    def test_the_default_draws_all_and_names_a_launch_warning(self) -> None:
        code, errors = run(str(EXAMPLE), "-o", str(self.folder), "--dpi", str(DPI))
        self.assertEqual((code, errors), (0, "dlmb_plot: note: 1 launch warns: more ranks than processing units\n"))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"moe_alltoall.phases.png", "moe_alltoall.bandwidth.png"})

    def test_the_examples_of_the_schema_can_be_drawn(self) -> None:
        for path in sorted(SCHEMA_EXAMPLES.glob("*.json*")):
            self.assertEqual(run(str(path), "-o", str(self.folder), "--dpi", str(DPI))[0], 0, path)

    def test_a_warning_of_a_launch_is_in_the_picture_of_what_was_measured_only(self) -> None:
        chart = Points("title", Axis("x"), Axis("y"), {"one": [Point(1, 2, 1, 3)]})
        written = [launch_line(name, warnings=[f"{name} is not bound: bind it"]) for name in ("one", "other")]
        results = read([self.file(lines(*written))])
        for launches, said in ((frozenset(["one"]), ["Note: one is not bound (1 launch)"]), (frozenset(), [])):
            plot = Plot("p", "title", "caption", [chart], launches=launches)
            texts = "\n".join(text.get_text() for text in picture(plot, results.warnings(plot.launches)).texts).splitlines()
            self.assertEqual([line for line in texts if "bound" in line], said)

    def test_a_long_title_of_the_picture_is_broken_not_cut(self) -> None:
        title = "tuning table of-a-file-with-a-long-name, Example CPU with a long name and 128 cores, Example GPU with a long name: who wins where"
        for words in (title, "short"):
            figure = picture(Plot("p", words, "caption " * 60, [Points("title", Axis("x"), Axis("y"), {"one": [Point(1, 2, 1, 3)]})]))
            renderer = FigureCanvasAgg(figure).get_renderer()
            shown, notes = (text.get_window_extent(renderer) for text in figure.texts[:2])
            self.assertLess(shown.x1, figure.bbox.width)
            self.assertGreater(shown.y0, notes.y1, "it does not stand on the caption")
            self.assertEqual(figure.texts[0].get_text().split(), words.split())

    def test_a_long_title_ends_before_the_next_chart_and_inside_the_picture(self) -> None:
        title = "16384 ranks, 8 per node, device memory, operation reduce_scatter of_a_parameter_with_a_long_name"
        charts = [Points(f"{index} {title}", Axis("x"), Axis("y"), {"one": [Point(1, 2, 1, 3)]}) for index in range(4)]
        rows = [Rows(title, ["a row with a name that takes much of the width of the picture"], Axis("x"), marks=[Mark(0, 1, 1, 1, "one")])]
        for chosen in (charts, rows):
            figure = picture(Plot("p", "title", "caption", chosen))
            renderer = FigureCanvasAgg(figure).get_renderer()
            for axis, after in zip(figure.axes, [*figure.axes[1:], None]):
                own = axis._left_title.get_window_extent(renderer)
                beside = after is not None and after.get_position().y0 == axis.get_position().y0
                self.assertLess(own.x1, after.get_window_extent(renderer).x0 if beside else figure.bbox.width, axis.get_title(loc="left"))

    def test_a_row_may_have_an_end_and_nothing_before_it(self) -> None:
        chart = Rows("", ["rank 0", "rank 1"], Axis("time (us)"), [Span(0, 0.0, 1.0, "compute", "")], ends={1: "bubble 50%"})
        self.assertIn("bubble 50%", [text.get_text() for text in picture(Plot("x", "x", "", [chart])).axes[0].texts])

    def test_matrices_stand_side_by_side(self) -> None:
        heats = [Heat(str(index), ["0", "1"], ["0", "1"], "source", "destination", [[0, 1], [1, 0]], "B") for index in range(5)]
        figure = picture(Plot("p", "title", "caption", heats))
        places = [axis.get_position() for axis in figure.axes if axis.get_visible()]
        self.assertEqual([sum(abs(place.y0 - row) < 0.01 for place in places) for row in (places[0].y0, places[4].y0)], [4, 1])

    def test_bars_have_the_length_of_the_phases_and_axes_name_their_unit(self) -> None:
        figure = picture(drawn("phases", read([EXAMPLE]))[0])
        axis = figure.axes[0]
        self.assertEqual(axis.get_xlabel(), "time of one iteration (ms)")
        for bar, expected in zip(axis.patches[3:], (0.02, 0.9, 1.0)):
            self.assertAlmostEqual(bar.get_width(), expected)
        self.assertGreater(axis.get_xlim()[1], 2.2, "the interval's end, 2.2 ms, is inside the picture")
        self.assertIn("skipped: nccl: no CUDA device", [text.get_text() for text in axis.texts])


class CommandTest(WithFolder):
    def test_a_missing_file_is_a_usage_error_that_names_it(self) -> None:
        for name in ("none.jsonl", "none.json"):
            code, errors = run(str(self.folder / name))
            self.assertEqual(code, 64)
            self.assertIn(name, errors)

    def test_a_file_without_a_cell_that_ran_is_no_success(self) -> None:
        path = str(self.file(EXAMPLE.read_text().splitlines()[0]))
        self.assertEqual([run(*plot, path)[0] for plot in ([], ["report"], ["findings"])], [64] * 3)

    def test_a_number_is_finite_and_in_its_range(self) -> None:
        for option in ("--latency-us", "--bandwidth-GBps", "--dpi"):
            for wrong in ("nan", "inf", "0", "-1", "1e99", "x"):
                code, errors = run(str(EXAMPLE), f"{option}={wrong}")
                self.assertEqual((code, errors.count("\n")), (64, 1), errors)
                self.assertIn(f"'{wrong}' is no number from", errors)

    def test_no_argument_is_a_usage_error(self) -> None:
        self.assertEqual(run()[0], 64)

    def test_a_plot_that_the_files_have_nothing_for_says_what_it_takes(self) -> None:
        code, errors = run("matrix", str(EXAMPLE))
        self.assertEqual(code, 64)
        self.assertIn("plans of --plan jsonl", errors)

    def test_a_document_without_its_fields_is_an_error_without_a_traceback(self) -> None:
        broken = self.file(json.dumps({"schema": "dlmb.plan/2.0", "pattern": "x", "world": {"ranks": 0}}) + "\n", "broken.jsonl")
        headless = self.file(json.dumps({"schema": "dlmb.plan/2.0"}) + "\n", "headless.jsonl")
        table = json.loads((SCHEMA_EXAMPLES / "tuning-table.json").read_text())
        table["rules"][0]["evidence"]["gain"] = 10**400
        large = self.file(json.dumps(table), "large.json")
        for path, said in ((broken, "broken.jsonl: preset: is missing"), (headless, "headless.jsonl: line 1: is no line of plans"), (large, "gain: must be a number of 64 bits")):
            code, errors = run("timeline", str(path))
            self.assertEqual((code, errors.count("\n")), (64, 1), errors)
            self.assertIn(said, errors)

    def test_an_unknown_json_file_is_refused_when_named_and_passed_over_in_a_folder(self) -> None:
        other = self.file(json.dumps({"schema": "other/1.0"}), "other.json")
        self.assertEqual(run(str(other))[0], 64)
        self.file(EXAMPLE.read_text())
        self.assertEqual(run(str(self.folder), "-o", str(self.folder), "--dpi", str(DPI))[0], 0)


if __name__ == "__main__":
    unittest.main()
