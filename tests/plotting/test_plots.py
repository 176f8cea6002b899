# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From files to charts: what is in them, before anything is drawn."""

from __future__ import annotations

import unittest
from typing import Any

from made import WithFolder, cell_line, comparison_document, converted_line, drawn, launch_line, lines, plan, plan_document, table_document

from dlmb_plotting import style
from dlmb_plotting.charts import Limits, evenly
from dlmb_plotting.inputs import Inputs
from dlmb_plotting.plots import documents, phases, plans, plots
from dlmb_plotting.plots.plans import Machine, simulate
from dlmb_plotting.results import read

LIMITS = Limits(12)
TRANSFER_NS = 5_000 + 100_000  # 5 us and 1 MB at 10 GB/s


class SimulationTest(unittest.TestCase):
    def test_a_receive_ends_when_the_message_arrived_and_what_needs_it_starts_then(self) -> None:
        ends = {(a.rank, a.step["operation"]): a.end_ns for a in simulate(plan_document()["plans"], Machine(5, 10))}
        self.assertEqual(ends[0, "send"], 1_000_000 + TRANSFER_NS)
        self.assertEqual(ends[1, "recv"], ends[0, "send"])
        self.assertEqual(ends[1, "compute"], ends[1, "recv"] + 1_000_000)

    def test_a_wait_ends_with_its_last_signal_and_a_put_waits_for_nobody(self) -> None:
        def put(count: int) -> dict:
            return {"operation": "put", "send": [{"peer": 2, "bytes": count}], "targets": [0], "signals": [{"peer": 2, "blocks": 1}]}

        wait = {"operation": "wait_signal", "recv": [], "signals": [{"peer": 0, "blocks": 1}, {"peer": 1, "blocks": 1}]}
        plans = [plan(0, put(1_000_000)), plan(1, {"operation": "compute", "busy_ns": 7_000}, {**put(1_000_000), "after": [0]}), plan(2, wait)]
        ends = {(a.rank, a.step["operation"]): a.end_ns for a in simulate(plans, Machine(5, 10))}
        self.assertEqual(ends[0, "put"], TRANSFER_NS)
        self.assertEqual(ends[2, "wait_signal"], 7_000 + TRANSFER_NS)

    def test_an_allreduce_starts_with_its_last_rank_and_moves_twice_n_minus_1_of_n(self) -> None:
        together = {"operation": "allreduce", "bytes": 1_000_000}
        plans = [plan(0, together), plan(1, {"operation": "compute", "busy_ns": 7_000}, {**together, "after": [0]})]
        ends = {a.end_ns for a in simulate(plans, Machine(5, 10)) if a.step["operation"] == "allreduce"}
        self.assertEqual(ends, {7_000 + TRANSFER_NS})

    def test_the_bubble_is_the_share_without_compute(self) -> None:
        chart = plans.timeline_plots({"p": plan_document()}, Machine(5, 10), LIMITS)[0].charts[0]
        whole = 2_000_000 + TRANSFER_NS
        self.assertEqual(set(chart.ends.values()), {f"bubble {1 - 1_000_000 / whole:.0%}"})

    def test_recorded_times_have_a_lane_beside_the_simulated_ones(self) -> None:
        document = plan_document()
        document["plans"][0]["steps"][1]["recorded_ns"] = [500_000, 250_000]
        chart = plans.timeline_plots({"p": document}, Machine(5, 10), LIMITS)[0].charts[0]
        row = chart.rows.index("rank 0 recorded")
        self.assertEqual([(span.start, span.length) for span in chart.spans if span.row == row], [(0.5, 0.25)])  # ms

    def test_a_lane_in_which_nothing_is_to_be_seen_is_left_out(self) -> None:
        document = plan_document()
        self.assertEqual(plans.timeline_plots({"p": document}, Machine(5, 10), LIMITS)[0].charts[0].rows, ["rank 0 compute", "rank 0 send", "rank 1 compute", "rank 1 wait"])
        for each in document["plans"]:
            each["steps"].append({"id": 9, "label": "meta", "after": [], "group": [0, 1], "operation": "allreduce", "bytes": 8})
        chart = plans.timeline_plots({"p": document}, Machine(5, 10), LIMITS)[0].charts[0]
        self.assertEqual(len(chart.rows), 4, "5 us of 2 ms")

    def test_a_rank_that_never_computes_has_no_compute_lane_and_no_bubble(self) -> None:
        document = plan_document()
        del document["plans"][1]["steps"][1]
        chart = plans.timeline_plots({"p": document}, Machine(5, 10), LIMITS)[0].charts[0]
        self.assertEqual(chart.rows, ["rank 0 compute", "rank 0 send", "rank 1 wait"])
        self.assertEqual(list(chart.ends), [0])


class CurvesTest(WithFolder):
    def test_a_size_sweep_of_one_phase_has_no_picture_per_size(self) -> None:
        sizes = [cell_line(size, 1000 + size, backend) for backend in ("mpi", "ucx") for size in (4096, 1024)]
        phased = [cell | {"phases": {"dispatch": {"median": 1}, "combine": {"median": 2}}} for cell in sizes]
        alone = cell_line(64, 10, skew="other")
        for cells, drawn in ((sizes, []), (phased, ["collective.phases"]), ([alone], ["collective.phases", "collective.bandwidth"]),
                             ([*sizes, alone], ["collective.phases", "collective.bandwidth"])):  # fmt: skip
            inputs = Inputs(read([self.file(lines(launch_line(), *cells))]))
            names = [plot.name for plot in plots(inputs, Machine(), LIMITS)]
            self.assertEqual([name for name in names if "size" not in name], drawn)
            self.assertEqual(len(plots(inputs, Machine(), LIMITS, "phases")), 2, "who asks for it gets it")
        (both, _) = plots(inputs, Machine(), LIMITS, "phases")
        self.assertEqual((len(both.charts), both.left_out), (1, "2 settings that differ in their size: the plot 'sizes' shows them"))

    def test_a_cell_without_an_interval_has_no_whisker_and_says_so(self) -> None:
        few = [cell_line(size, size) | {"time_ns": {"median": size, "p99": None, "max": 10000, "median_low": None, "median_high": None, "samples": 3}} for size in (4096, 1024)]
        results = read([self.file(lines(launch_line(), *few))])
        (plot, _) = drawn("sizes", results)
        self.assertIn("Where no whisker is, there are fewer than 6 samples.", plot.caption)
        self.assertNotIn("95 %", plot.caption)
        for point in plot.charts[0].series["mpi default"]:
            self.assertEqual((point.low, point.high), (point.y, point.y))
        mark = drawn("phases", results)[0].charts[0].marks[0]
        self.assertEqual((mark.kind, mark.low), (phases.ALONE, mark.high))

    def test_a_bar_that_ends_elsewhere_than_the_whole_has_both_numbers(self) -> None:
        def end(whole: float, *parts: float) -> str:
            cell = cell_line(8, whole) | {"phases": {f"p{index}": {"median": part} for index, part in enumerate(parts)}}
            return drawn("phases", read([self.file(lines(launch_line(), cell))]))[0].charts[0].ends[0]

        self.assertEqual(end(150_000, 100_000, 95_000), "150, phases 195")
        self.assertEqual(end(150_000, 100_000, 49_000), "150")
        self.assertEqual(end(150_000, 150_000), "150")

    def test_a_picture_has_the_launches_of_what_it_shows(self) -> None:
        other = cell_line(64, 10, launch="l2") | {"pattern": "moe_alltoall", "cell_id": "other"}
        results = read([self.file(lines(launch_line(), launch_line("l2"), cell_line(8, 10), other))])
        self.assertEqual({plot.name: plot.launches for plot in drawn("phases", results)},
                         {f"{pattern}.{name}": frozenset([launch]) for pattern, launch in (("collective", "l1"), ("moe_alltoall", "l2")) for name in ("phases", "bandwidth")})

    def test_charts_name_the_operation_and_windows(self) -> None:
        def title(**parameters: str) -> str:
            cells = [cell_line(size, size) | {"parameters": {"message-size": size, **parameters}, "cell_id": f"{size}"} for size in (8, 16)]
            return drawn("sizes", read([self.file(lines(launch_line(), *cells))]))[0].charts[0].title

        self.assertEqual(title(operation="allreduce", window="64", pairs="all"), "allreduce, 4 ranks, host memory")
        self.assertEqual(title(operation="bandwidth", window="64", pairs="all"), "bandwidth window 64 pairs all, 4 ranks, host memory")

    def test_a_line_per_backend_over_payload_per_rank_with_the_interval(self) -> None:
        cells = [cell_line(size, 1000 + size, backend) for backend in ("mpi", "ucx") for size in (4096, 1024)]
        time, bandwidth = drawn("sizes", read([self.file(lines(launch_line(), *cells))]))
        self.assertEqual(list(time.charts[0].series), ["mpi default", "ucx default"])
        self.assertEqual([point.x for point in time.charts[0].series["mpi default"]], [1024, 4096])
        point = bandwidth.charts[0].series["mpi default"][0]
        self.assertAlmostEqual(point.low, point.y / 1.2)
        self.assertAlmostEqual(point.high, point.y / 0.9)

    def test_of_many_methods_the_fastest_are_shown(self) -> None:
        cells = [cell_line(size, (10 + index) * size, f"b{index:02}") for index in reversed(range(20)) for size in (1024, 4096)]
        chart = drawn("sizes", read([self.file(lines(launch_line(), *cells))]))[0].charts[0]
        self.assertEqual(list(chart.series), [f"b{index:02} default" for index in range(LIMITS.series)])
        self.assertIn(f"the fastest {LIMITS.series} of 20 methods", chart.title)

    def test_a_heading_promises_intervals_only_where_there_are_some(self) -> None:
        own = [cell_line(size, 1000 + size) for size in (4096, 1024)]
        converted = [converted_line(cell_line(size, 10, "nccl"), "pico", {"median": 10}) for size in (4096, 1024)]
        for cells, promised, denied in ((own, True, False), (converted, False, True), (own + converted, True, True)):
            results = read([self.file(lines(launch_line(), *cells))])
            for plot in (*drawn("sizes", results), drawn("phases", results)[0]):
                self.assertEqual("95 % interval" in plot.caption, promised, plot.caption)
                self.assertEqual("Numbers of pico have no interval" in plot.caption, denied, plot.caption)

    def test_what_another_program_timed_stands_beside_what_agrees_with_all_that_it_says(self) -> None:
        own = [{**cell_line(size, 1000 + size), "mode": "osu"} for size in (4096, 1024)]
        foreign = [converted_line(cell, "osu", {"mean": 10}, cell_id=f"osu {cell['cell_id']}", backend="ucx", world={"ranks": 4, "ranks_per_node": 0},
                                  parameters={"message-size": cell["parameters"]["message-size"]}) for cell in own]  # fmt: skip
        (together,) = drawn("sizes", read([self.file(lines(launch_line(), *own, *foreign))]))[0].charts
        self.assertEqual(list(together.series), ["mpi default (DLMB median)", "ucx default (osu mean)"])
        skewed = [cell | {"cell_id": f"{cell['cell_id']} zipf", "parameters": cell["parameters"] | {"skew": "zipf"}} for cell in own]
        apart = drawn("sizes", read([self.file(lines(launch_line(), *own, *skewed, *foreign))]))[0].charts  # with which of the two?
        self.assertEqual([list(chart.series) for chart in apart], [["mpi default"], ["mpi default"], ["ucx default (osu mean)"]])
        self.assertNotIn("seed", apart[2].title)

    def test_beside_means_of_another_program_stand_those_of_dlmb_and_no_interval(self) -> None:
        own = [{**cell_line(size, 1000), "mode": "osu", "rank_means_ns": {"mean": 1250, "min": 1, "max": 2000}} for size in (4096, 1024)]
        foreign = [converted_line(cell, "osu", {"mean": 500}, cell_id=f"osu {cell['cell_id']}", method="theirs") for cell in own]
        time, bandwidth = drawn("sizes", read([self.file(lines(launch_line(), *own, *foreign))]))
        self.assertEqual(list(time.charts[0].series), ["mpi default (DLMB mean)", "mpi theirs (osu mean)"])
        points = time.charts[0].series["mpi default (DLMB mean)"]
        unit = points[0].y / 1250
        self.assertEqual([(point.y, point.low, point.high) for point in points], [(1250 * unit,) * 3] * 2)
        self.assertIn("mean", time.charts[0].y.title)
        self.assertNotIn("median", time.charts[0].y.title + time.caption)
        self.assertIn("Numbers of osu have no interval. Those of DLMB beside them are means, too, without one.", time.caption)
        self.assertAlmostEqual(bandwidth.charts[0].series["mpi default (DLMB mean)"][0].y, 1024 / 1250)  # cell_line: at the median
        alone = drawn("sizes", read([self.file(lines(launch_line(), *own))]))[0]
        self.assertEqual((list(alone.charts[0].series), "95 % interval" in alone.caption), (["mpi default"], True))

    def test_another_element_stands_beside_it_and_is_named(self) -> None:
        own = [{**cell_line(size, 1000), "parameters": {"message-size": size, "element": "fp32"}} for size in (4096, 1024)]
        foreign = [converted_line(cell_line(size, 900), "osu", {"mean": 900}, cell_id=f"osu {size}", parameters={"message-size": size, "element": "int8"})
                   for size in (4096, 1024)]  # fmt: skip
        (chart,) = drawn("sizes", read([self.file(lines(launch_line(), *own, *foreign))]))[0].charts
        self.assertEqual(list(chart.series), ["mpi default fp32 (DLMB median)", "mpi default int8 (osu mean)"])

    def test_results_without_a_time_have_no_chart_of_phases(self) -> None:
        windows = [converted_line(cell_line(size, 10), "osu", None) for size in (4096, 1024)]
        self.assertEqual([plot.name for plot in drawn("phases", read([self.file(lines(launch_line(), *windows))]))], ["collective.bandwidth"])

    def test_one_size_is_no_curve(self) -> None:
        self.assertEqual(drawn("sizes", read([self.file(lines(launch_line(), cell_line(8, 10)))])), [])

    def test_definitions_of_the_time_are_lines_of_one_chart_whatever_their_caches(self) -> None:
        isolated = [cell_line(size, 1000 + size) for size in (4096, 1024)]
        osu = [{**cell_line(size, 900 + size), "cell_id": f"osu {size}", "mode": "osu", "cache": {"mode": "rotate", "slots": 1}} for size in (4096, 1024)]
        (plot,) = drawn("timings", read([self.file(lines(launch_line(), *isolated, *osu))]))
        self.assertEqual(list(plot.charts[0].series), ["mpi default, isolated", "mpi default, osu"])
        self.assertEqual(drawn("timings", read([self.file(lines(launch_line(), *osu))])), [])

    def test_imbalance_sets_skews_of_one_size_against_each_other(self) -> None:
        cells = [cell_line(8, 10, skew=skew, imbalance=value) for skew, value in (("zipf", 2.5), ("balanced", 1.0))]
        chart = drawn("imbalance", read([self.file(lines(launch_line(), *cells))]))[0].charts[0]
        self.assertEqual([point.x for point in chart.series["mpi default"]], [1.0, 2.5])

    def test_both_of_an_overlay_have_a_row_with_their_slow_down(self) -> None:
        figures = {"main_slowdown": 1.5, "main_slowdown_low": 1.4, "main_slowdown_high": 1.6, "beside_slowdown": 2.0}
        together = cell_line(8, 10) | {"statistics": figures}
        together["parameters"]["overlay"] = "plans/moe.jsonl + sum.jsonl"
        (plot,) = drawn("neighbors", read([self.file(lines(launch_line(), together, cell_line(16, 10)))]))
        (chart,) = plot.charts
        self.assertEqual(chart.rows, ["moe beside sum, mpi default", "sum beside moe, mpi default"])
        self.assertEqual([(mark.x, mark.low, mark.high) for mark in chart.marks], [(1.5, 1.4, 1.6), (2.0, 2.0, 2.0)])
        self.assertEqual(drawn("neighbors", read([self.file(lines(launch_line(), cell_line(8, 10)))])), [])

    def test_traffic_beside_a_load_is_compared_with_the_same_without(self) -> None:
        alone, other = cell_line(1024, 10), cell_line(2048, 10)
        loaded = cell_line(1024, 25) | {"beside": "memory", "cell_id": f"beside=memory/{alone['cell_id']}"}
        (plot,) = drawn("neighbors", read([self.file(lines(launch_line(), alone, loaded, other))]))
        (chart,) = plot.charts
        self.assertEqual(chart.rows, ["collective 1 KiB beside memory load, mpi default"])
        self.assertEqual([mark.x for mark in chart.marks], [2.5])
        self.assertEqual(drawn("neighbors", read([self.file(lines(launch_line(), loaded, other))])), [])

    def test_latencies_of_requests_are_a_curve_per_way_of_arriving(self) -> None:
        def cell(arrivals: str, **latencies: float) -> dict[str, Any]:
            figures = [{"name": "involuntary_switches", "value": 7.0}] + [{"name": name, "value": value} for name, value in latencies.items()]
            line = cell_line(8, 10) | {"cell_id": arrivals, "figures": figures}
            line["parameters"]["arrivals"] = arrivals
            return line

        loaded = cell("poisson:9", request_latency_p99=9e6, request_latency_p50=2e6, request_latency_p100=12e6, first_layer_latency_p50=1e3)
        (plot,) = drawn("requests", read([self.file(lines(launch_line(), loaded, cell("alone", request_latency_p50=1e6), cell_line(16, 10)))]))
        whole, first = plot.charts
        self.assertEqual([(point.x, point.y) for point in whole.series["mpi default, poisson:9"]], [(2.0, 50), (9.0, 99), (12.0, 100)])
        self.assertEqual([(point.x, point.y) for point in whole.series["mpi default, alone"]], [(1.0, 50)])
        self.assertEqual((whole.x.title, first.x.title), ("latency of a request (ms)", "time to first layer (µs)"))
        self.assertEqual(list(first.series), ["mpi default, poisson:9"])
        self.assertEqual(drawn("requests", read([self.file(lines(launch_line(), cell_line(8, 10)))])), [])
        ways = [cell("alone", request_latency_p50=1e6 * us) for us in (1, 2)]
        for way, line in zip(("write", "send"), ways):
            line["cell_id"] = line["parameters"]["op-type"] = way
        (plot,) = drawn("requests", read([self.file(lines(launch_line(), *ways))]))
        self.assertEqual({name: points[0].x for name, points in plot.charts[0].series.items()},
                         {"mpi default, alone, write": 1.0, "mpi default, alone, send": 2.0})

    def test_imbalance_that_moves_is_drawn_by_draw(self) -> None:
        statistics = {"max_mean_rank": 1.5, **{f"max_mean_rank.draw_{draw}": 1.0 + draw / 10 for draw in range(11)}, "hot_expert.draw_0": 7.0}
        cells = [cell_line(8, 10, backend, skew="zipf:1+rotating:2") | {"statistics": statistics} for backend in ("mpi", "ucx")]
        (plot,) = drawn("imbalance", read([self.file(lines(launch_line(), *cells))]))
        self.assertEqual(plot.name, "collective.imbalance_by_draw")
        points = plot.charts[0].series["zipf:1+rotating:2"]
        self.assertEqual([point.x for point in points], list(range(11)), "in the order of draws, once for both backends")
        self.assertEqual((points[0].y, points[10].y), (1.0, 2.0))


class PaletteTest(unittest.TestCase):
    def test_a_backend_has_one_colour_in_every_picture(self) -> None:
        for kinds in (["ucx default", "mpi default"], ["mpi default"], ["nccl graph", "mpi", "ucx"], ["mpi default (osu mean)", "mpi alltoallv", "ucx default"]):
            index = style.palette(kinds)
            for kind in kinds[:1] if "osu" in kinds[0] else kinds:
                self.assertEqual(index[kind], style.FIXED[kind.split(" ")[0]], kind)
            self.assertEqual(len(set(index.values())), len(kinds))

    def test_further_methods_take_what_the_backends_of_the_pictures_leave(self) -> None:
        index = style.palette(["mpi blocking", "mpi nonblocking", "ucx default", "mpi pairwise"])
        self.assertEqual([index[f"mpi {method}"] for method in ("blocking", "nonblocking", "pairwise")], [0, 2, 3])


class TrendTest(WithFolder):
    def test_campaigns_are_in_order_of_time_and_relative_to_the_first(self) -> None:
        written = lines(launch_line("late", "2026-02-02T00:00:00Z"), cell_line(8, 30, launch="late"), launch_line("early"), cell_line(8, 20, launch="early"))
        chart = drawn("trend", read([self.file(written)]))[0].charts[0]
        self.assertEqual([text for _, text in chart.x.ticks], ["2026-01-01 early", "2026-02-02 late"])
        self.assertEqual([point.y for point in chart.series["mpi message-size=8 skew=balanced"]], [1.0, 1.5])

    def test_campaigns_of_one_day_have_labels_of_their_own_and_cells_their_operation(self) -> None:
        def launch(name: str, time: str) -> dict:
            made = launch_line(name, time)
            made["environment"]["informational"] = {"git_revision": "abc"}
            return made

        def cell(name: str) -> dict:
            return cell_line(8, 20, launch=name) | {"parameters": {"message-size": 8, "operation": "allreduce"}}

        def labels(times: list[str]) -> list[str]:
            written = [line for index, time in enumerate(times) for line in (launch(f"l{index}", time), cell(f"l{index}"))]
            chart = drawn("trend", read([self.file(lines(*written))]))[0].charts[0]
            self.assertIn("mpi message-size=8 allreduce skew=balanced", chart.series)
            return [text for _, text in chart.x.ticks]

        self.assertEqual(labels(["2026-01-01T08:00:00Z", "2026-01-02T08:00:00Z"]), ["2026-01-01 abc", "2026-01-02 abc"])
        self.assertEqual(labels(["2026-01-01T08:00:00Z", "2026-01-01T09:00:00Z"]), ["2026-01-01 08:00 abc", "2026-01-01 09:00 abc"])
        self.assertEqual(labels(["2026-01-01T08:00:01Z", "2026-01-01T08:00:02Z"]), ["2026-01-01 08:00:01 l0", "2026-01-01 08:00:02 l1"])

    def test_a_launch_that_stalled_does_not_flatten_the_others(self) -> None:
        written = []
        for index, time in enumerate((20, 20, 20, 21, 22, 200_000)):
            name = f"late{index}" if index > 2 else f"early{index}"
            campaign = "late" if index > 2 else "early"
            written += [launch_line(name, f"2026-01-0{2 if index > 2 else 1}T00:00:00Z") | {"campaign_id": campaign}, cell_line(8, time, launch=name)]
        points = drawn("trend", read([self.file(lines(*written))]))[0].charts[0].series["mpi message-size=8 skew=balanced"]
        self.assertEqual([point.y for point in points], [1.0, 1.1])
        self.assertAlmostEqual(points[1].high, 1.25 * 1.1)

    def test_a_launch_whose_median_is_zero_is_left_out(self) -> None:
        times = {1: (0, 5), 2: (20, 5), 3: (40, 5)}
        written = [line for day, (one, other) in times.items() for line in (
            launch_line(f"l{day}", f"2026-01-0{day}T00:00:00Z"), cell_line(8, one, launch=f"l{day}"), cell_line(16, other, launch=f"l{day}"))]
        series = drawn("trend", read([self.file(lines(*written))]))[0].charts[0].series
        (points,) = (each for each in series.values() if len(each) < 3)
        self.assertEqual([(point.x, point.y) for point in points], [(1.0, 1.0), (2.0, 2.0)])

    def test_a_line_goes_on_where_a_library_changed_between_campaigns(self) -> None:
        def environment(library: str) -> dict[str, object]:
            return {"env_key": library, "identity": {"mpi_library": library}, "variables": {}, "informational": {}, "warnings": []}

        written = []
        for day, (library, ns) in enumerate((("4", 10.0), ("4", 11.0), ("5", 20.0)), start=1):
            written += [launch_line(f"l{day}", f"2026-01-0{day}T00:00:00Z", environment=environment(library)), cell_line(8, ns, launch=f"l{day}")]
        chart = drawn("trend", read([self.file(lines(*written))]))[0].charts[0]
        self.assertEqual([point.y for point in chart.series["all cells"]], [1.0, 1.1, 2.0])

        both = [launch_line(name, f"2026-01-0{day}T00:00:00Z", environment=environment(name[0]), campaign_id=f"night {day}")
                for day in (1, 2) for name in (f"4.{day}", f"5.{day}")]
        cells = [cell_line(8, 10.0 * day, launch=f"{library}.{day}") for day in (1, 2) for library in "45"]
        chart = drawn("trend", read([self.file(lines(*both, *cells))]))[0].charts[0]
        self.assertEqual(len(chart.series), 3)  # a line for each library, and the mean

    def test_one_campaign_is_no_trend(self) -> None:
        self.assertEqual(drawn("trend", read([self.file(lines(launch_line(), cell_line(8, 20)))])), [])


class DocumentsTest(unittest.TestCase):
    def test_the_matrix_has_sources_as_rows(self) -> None:
        heat = plans.matrix_plots({"p": plan_document()}, LIMITS)[0].charts[0]
        size = dict(B=1, KiB=1 << 10, MiB=1 << 20)[heat.unit]
        self.assertEqual([[value * size for value in row] for row in heat.values], [[0, 1_000_000], [0, 0]])

    def test_messages_are_counted_by_size_and_operation(self) -> None:
        both = {"operation": "exchange", "send": [{"peer": 0, "bytes": 64}, {"peer": 1, "bytes": 127}], "recv": []}
        document = {**plan_document(), "plans": [plan(0, both, {"operation": "allreduce", "bytes": 200}, {"operation": "barrier"}),
                                                 plan(1, {"operation": "recv", "recv": [{"peer": 0, "bytes": 9}], "channel": 0})]}
        chart = plans.message_plots({"p": document}, LIMITS)[0].charts[0]
        self.assertEqual(chart.rows, ["64 B ..", "128 B .."])
        self.assertEqual([span[:4] for span in chart.spans], [(0, 0, 1, "exchange"), (1, 0, 1, "allreduce")])
        self.assertEqual(chart.ends, {0: "127 B", 1: "200 B"})

    def test_verdicts_name_the_operation_also_where_all_have_the_same(self) -> None:
        document = comparison_document()
        for cell in document["cells"]:
            cell["name"] = f"{cell['cell_id']}/p.operation=allreduce"
        self.assertEqual(documents.comparison_plots("c", document, LIMITS)[0].charts[0].rows, ["message-size=16 allreduce", "message-size=8 allreduce"])

    def test_bins_without_a_message_are_no_rows(self) -> None:
        both = {"operation": "exchange", "send": [{"peer": 1, "bytes": 64}, {"peer": 1, "bytes": 64 << 20}], "recv": []}
        chart = plans.message_plots({"p": {**plan_document(), "plans": [plan(0, both)]}}, LIMITS)[0].charts[0]
        self.assertEqual(chart.rows, ["64 B ..", "64 MiB .."])

    def test_a_plan_that_sends_nothing_has_no_messages(self) -> None:
        document = {**plan_document(), "plans": [plan(0, {"operation": "barrier"})]}
        self.assertEqual(plots(Inputs(plans={"p": document}), Machine(), LIMITS, "messages"), [])

    def test_every_plan_is_a_picture_of_its_own(self) -> None:
        self.assertEqual([plot.name for plot in plans.matrix_plots({"a": plan_document(), "b": plan_document()}, LIMITS)],
                         ["pipeline_p2p.a.matrix", "pipeline_p2p.b.matrix"])

    def test_a_picture_says_how_many_plans_have_none(self) -> None:
        found = plans.matrix_plots({name: plan_document() for name in "abc"}, Limits(2))
        self.assertEqual([plot.left_out for plot in found], ["", "2 of 3 plans fit; draw fewer files to see the rest"])

    def test_a_large_matrix_is_summed_in_blocks(self) -> None:
        steps = [{"id": 0, "label": "all", "after": [], "operation": "exchange", "send": [{"peer": peer, "bytes": 1} for peer in range(130)]}]
        document = {"pattern": "p", "preset": "", "world": {"ranks": 130}, "plans": [{"rank": rank, "steps": steps} for rank in range(130)]}
        heat = plans.heats(document)[0]
        self.assertEqual((len(heat.rows), heat.values[0][0], heat.rows[-1]), (44, 9.0, "129-129"))
        self.assertIn("blocks of 3 ranks", heat.title)

    def test_the_matrix_of_a_world_of_any_size_takes_little_memory(self) -> None:
        step = {"id": 0, "label": "one", "after": [], "operation": "send", "send": [{"peer": 2**40 - 1, "bytes": 8}]}
        document = {"pattern": "p", "preset": "", "world": {"ranks": 2**40}, "plans": [{"rank": 0, "steps": [step]}]}
        self.assertEqual(len(plans.heats(document)[0].values), 64)

    def test_ratios_without_a_verdict_are_drawn_without_an_interval(self) -> None:
        document = comparison_document()
        bare = {"cell_id": "origin=osu", "state": "NOT_COMPARABLE", "bare_ratio": {"ratio": 1.2, "baseline": 10.0, "candidate": 12.0}}
        for cells, promised in (([bare], False), ([*document["cells"], bare], True)):
            (plot,) = documents.comparison_plots("c", {**document, "cells": cells}, LIMITS)
            (mark,) = [mark for mark in plot.charts[0].marks if mark.kind == "NOT_COMPARABLE"]
            self.assertEqual((mark.low, mark.high), (1.2, 1.2))
            self.assertEqual("95 % interval" in plot.caption, promised, plot.caption)
            self.assertIn("numbers of another program, without an interval", plot.caption)

    def test_the_worst_cell_is_on_top_of_the_forest_and_cells_without_a_ratio_are_counted(self) -> None:
        plot = documents.comparison_plots("c", comparison_document(), LIMITS)[0]
        self.assertEqual([mark.kind for mark in plot.charts[0].marks], ["REGRESSED", "SAME"])
        self.assertIn("1 of 3 cells without a ratio", plot.left_out)

    def test_the_ratio_of_bandwidths_is_named_the_way_in_which_more_is_worse(self) -> None:
        for metric, sides in (("time", "candidate / baseline"), ("busbw", "baseline / candidate")):
            (plot,) = documents.comparison_plots("c", comparison_document() | {"metric": {"name": metric, "unit": ""}}, LIMITS)
            self.assertEqual(plot.charts[0].x.title, f"{metric}: {sides} (ratio, above 1 is worse)")

    def test_rules_span_their_sizes_and_open_ends_are_drawn_somewhere(self) -> None:
        where, gain = documents.tuning_plots("t", table_document(), LIMITS)
        spans = where.charts[0].spans
        self.assertEqual([(span.start, span.start + span.length) for span in spans], [(1024, 65536), (131072, 4 * 131072), (1, 512), (513, 1023)])
        self.assertEqual([span.kind for span in spans], ["ucx default", "mpi default", documents.DEFAULT_STAYS, documents.OPEN["unconfirmed"]])
        self.assertIn("candidate ucx ring +40%", spans[-1].text)
        self.assertEqual([mark[1:4] for mark in gain.charts[0].marks], [(20.0, 10.0, 30.0)])


class StyleTest(unittest.TestCase):
    def test_numbers_keep_three_digits(self) -> None:
        self.assertEqual([style.number(value) for value in (1.234, 12.34, 1234.5, 0.01234)], ["1.23", "12.3", "1234", "0.0123"])
        self.assertEqual(style.time_unit(2.5e6), ("ms", 1e6))

    def test_no_two_of_the_first_64_kinds_look_alike(self) -> None:
        self.assertEqual(len({style.look(index)[:3] for index in range(64)}), 64)

    def test_the_first_and_the_last_stay(self) -> None:
        self.assertEqual(evenly(list(range(10)), 3), [0, 4, 9])


if __name__ == "__main__":
    unittest.main()
