# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Each format: what its columns become, and that nothing is filled in that the file does not say."""

from __future__ import annotations

import json
import unittest

import outputs
from outputs import WithFolder


class OsuTest(WithFolder):
    def test_an_average_is_a_mean_and_nothing_else(self) -> None:
        first = self.cells(outputs.OSU_ALLREDUCE, "--ranks", "4")[0]
        self.assertEqual(set(first["time_ns"]), {"mean", "axis"})
        self.assertEqual(first["time_ns"]["mean"], 1980)
        self.assertEqual((first["backend"], first["memory"], first["mode"], first["world"]["ranks"]), ("mpi", "host", "osu", 4))
        self.assertEqual(first["parameters"], {"message-size": 4, "operation": "allreduce", "reduction": "sum"})

    def test_bus_bandwidth_follows_from_bytes_and_time(self) -> None:
        cell = self.cells(outputs.OSU_ALLREDUCE, "--ranks", "4")[1]
        # 2 (P - 1) / P of 1 MiB in 104.3 us
        self.assertAlmostEqual(cell["bandwidth"]["busbw_GBps"], 1.5 * 1048576 / 104300)
        self.assertEqual(cell["traffic"]["payload_bytes"], 4 * 1048576)

    def test_all_columns_of_a_log_with_other_lines_in_it(self) -> None:
        good, bad = self.cells(outputs.OSU_FULL, "--ranks", "2")
        time = good["time_ns"]
        self.assertEqual((time["mean"], time["fastest_rank"], time["slowest_rank"], time["samples"]), (4340, 4100, 4600, 1000))
        self.assertEqual(time["percentiles"], {"50": 4300, "99": 9100})
        self.assertIn("percentiles over calls, of the mean over ranks", time["axis"])
        self.assertEqual((good["parameters"]["operation"], good["parameters"]["element"], good["memory"]), ("alltoall", "int8", "cuda"))
        self.assertEqual(good["origin"], {"suite": "osu", "program": "osu_alltoall", "version": "7.4", "file": "output.txt", "line": 5})
        self.assertEqual((good["validation"], good["status"]), ({"verdict": "off", "of_origin": "passed"}, "ok"))
        self.assertEqual((bad["status"], bad["reason"], bad["time_ns"]), ("invalid", "osu_alltoall found wrong bytes", None))

    def test_a_percentile_that_dlmb_prints_as_not_known_is_left_out(self) -> None:
        few = self.cells(outputs.OSU_FULL.replace(" 9.10\n", " N/A\n"), "--ranks", "2")[0]
        self.assertEqual(few["time_ns"]["percentiles"], {"50": 4300})

    def test_each_table_is_a_launch_with_its_own_ranks(self) -> None:
        lines = self.lines(outputs.OSU_MANY, "--ranks", "16", "--ranks-per-node", "8")
        launches = {line["program"]: line["world"] for line in lines if line["kind"] == "launch"}
        two, sixteen = {"ranks": 2, "ranks_per_node": 0}, {"ranks": 16, "ranks_per_node": 8}
        self.assertEqual(launches, {"osu_latency": two, "osu_bw": two, "osu_bibw": two, "osu_mbw_mr": {"ranks": 8, "ranks_per_node": 8},
                                    "osu_barrier": sixteen, "osu_iallreduce": sixteen, "osu_put_latency": two})

    def test_bandwidths_have_no_time_and_are_shared_by_directions_and_pairs(self) -> None:
        cells = {cell["parameters"]["operation"]: cell for cell in self.cells(outputs.OSU_MANY, "--ranks", "16")}
        for operation, aggregate, of_a_rank in (("bandwidth", 27.16133, 27.16133), ("bibandwidth", 40.0, 20.0), ("message_rate", 8.0, 2.0)):
            self.assertIsNone(cells[operation]["time_ns"])
            self.assertEqual(cells[operation]["bandwidth"], {"algbw_GBps": None, "busbw_GBps": of_a_rank, "aggregate_GBps": aggregate})
        self.assertEqual(cells["message_rate"]["statistics"], {"messages_per_s": 7812500})
        self.assertEqual((cells["message_rate"]["parameters"]["pairs"], cells["message_rate"]["parameters"]["window"]), ("all", 64))

    def test_programs_for_pairs_have_our_operations(self) -> None:
        found = {cell["origin"]["program"]: cell["parameters"] for cell in self.cells(outputs.OSU_MANY, "--ranks", "16")}
        self.assertEqual((found["osu_latency"]["operation"], found["osu_latency"]["route"]), ("sendrecv", "ping_pong"))
        self.assertEqual([found[f"osu_{name}"]["operation"] for name in ("bw", "bibw", "mbw_mr", "put_latency")],
                         ["bandwidth", "bibandwidth", "message_rate", "put_latency"])

    def test_an_alltoallw_is_a_method_of_an_alltoallv_of_equal_parts(self) -> None:
        text = outputs.OSU_FULL.replace("All-to-All", "All-to-Allw").replace("MPI-CUDA", "MPI")
        cell, _ = self.cells(text, "--ranks", "2")
        self.assertEqual((cell["origin"]["program"], cell["parameters"]["operation"], cell["method"], cell["is_default"]), ("osu_alltoallw", "alltoallv", "alltoallw", False))
        # 1 B from each of 2 ranks to each: half of it to itself
        self.assertEqual([cell["traffic"][name] for name in ("payload_bytes", "wire_bytes", "self_bytes", "busiest_rank_bytes")], [4, 2, 2, 1])

    def test_bytes_count_as_in_programs_of_dlmb(self) -> None:
        # 4 ranks, 100 B: what summarize() of common/formats/plan/traffic.cpp finds for such plans
        fields = ("payload_bytes", "wire_bytes", "self_bytes", "busiest_rank_bytes", "largest_total_bytes", "balanced_rank_bytes", "imbalance_send", "imbalance_recv")
        expected = {"Reduce": (400, 300, 0, 100, 100, 100, 4 / 3, 4), "Broadcast": (100, 300, 0, 100, 100, 100, 4, 4 / 3),
                    "Gather": (400, 300, 100, 300, 400, 150, 4 / 3, 4), "Scatterv": (400, 300, 100, 300, 400, 150, 4, 4 / 3),
                    "Allgather": (1600, 1200, 400, 300, 400, 300, 1, 1), "Reduce_scatter": (400, 300, 100, 75, 100, 75, 1, 1)}
        for name, values in expected.items():
            (cell,) = self.cells(f"# OSU MPI {name} Latency Test v7.4\n# Size       Avg Latency(us)\n100    2.00\n", "--ranks", "4")
            self.assertEqual(tuple(cell["traffic"][field] for field in fields), values, name)

    def test_a_barrier_has_no_size_and_an_overlap_is_a_statistic(self) -> None:
        cells = {(cell["parameters"]["operation"], cell["method"]): cell for cell in self.cells(outputs.OSU_MANY, "--ranks", "16")}
        self.assertNotIn("message-size", cells["barrier", "default"]["parameters"])
        self.assertIsNone(cells["barrier", "default"]["traffic"])
        overlapped = cells["allreduce", "nonblocking"]
        self.assertEqual(overlapped["time_ns"]["mean"], 4430)
        self.assertEqual(overlapped["statistics"], {"overall_us": 8.77, "compute_us": 5.32, "overlap_percent": 22.08})


class NcclTest(WithFolder):
    def test_both_kinds_of_buffers_are_cells(self) -> None:
        first, second, wrong, unchecked = self.cells(outputs.NCCL_ALLREDUCE)
        self.assertEqual([cell["parameters"]["in-place"] for cell in (first, second)], ["off", "on"])
        self.assertEqual((first["time_ns"]["mean"], first["time_ns"]["samples"]), (20500, 20))
        self.assertEqual(first["bandwidth"], {"algbw_GBps": 0.05, "busbw_GBps": 0.07, "aggregate_GBps": None})
        self.assertEqual(first["parameters"] | {"in-place": ""}, {"operation": "allreduce", "message-size": 1024, "element": "fp32", "reduction": "sum", "in-place": ""})
        self.assertEqual(first["world"], {"ranks": 4, "ranks_per_node": 2})
        self.assertEqual((wrong["status"], wrong["time_ns"]), ("invalid", None))
        self.assertEqual((unchecked["validation"]["of_origin"], unchecked["time_ns"]["mean"]), ("off", 1.2e9))

    def test_the_size_of_an_allgather_is_what_a_rank_gives(self) -> None:
        cell = self.cells(outputs.NCCL_ALLGATHER)[0]
        self.assertEqual(cell["parameters"]["message-size"], 512)
        self.assertEqual(cell["traffic"]["largest_total_bytes"], 2048)
        self.assertNotIn("reduction", cell["parameters"])

    def test_columns_of_older_versions(self) -> None:
        # 2.0: no name of the program, no version, no root; an operation without reduction leaves its column empty
        old = outputs.NCCL_ALLGATHER.replace("Group  0 ", "").replace("    none      -1", "        ").replace("   redop    root ", "   redop ").replace("#wrong", " error")
        old = "\n".join(line for line in old.splitlines() if "Collective test" not in line and "version" not in line) + "\n"
        cell = self.cells(old, "--operation", "allgather")[0]
        self.assertEqual((cell["parameters"]["message-size"], cell["time_ns"]["mean"], cell["validation"]["of_origin"]), (512, 22000, "passed"))

    def test_what_an_old_version_says_of_wrong_values_below_the_table_marks_the_rows_that_differ_most(self) -> None:
        rows = ("        1024           256     float     sum      20.50    0.05    0.07  1e+00    20.10    0.05    0.08  2e-07\n"
                "        2048           512     float     sum      22.00    0.09    0.14    nan    21.00    0.10    0.15  0e+00\n")
        old = outputs.NCCL_HEAD + outputs.NCCL_COLUMNS.replace("    root ", " ").replace("#wrong", " error") + rows + outputs.NCCL_END.replace("0 OK", "2 FAILED")
        cells = self.cells(old.replace("{program}", "all_reduce_perf"))
        self.assertEqual([(cell["status"], cell["time_ns"] and cell["time_ns"]["mean"]) for cell in cells], [("invalid", None), ("ok", 20100), ("invalid", None), ("ok", 21000)])

    def test_buffers_that_were_not_measured_are_absent(self) -> None:
        text = outputs.NCCL_ALLGATHER.replace("21.00    0.10    0.07       0", "  N/A     N/A     N/A     N/A")
        self.assertEqual([(cell["parameters"]["in-place"], cell["time_ns"]["mean"]) for cell in self.cells(text)], [("off", 22000)])

    def test_a_table_pasted_without_its_hashes_is_the_same_table(self) -> None:
        pasted = "".join(line.removeprefix("#") + "\n" for line in outputs.NCCL_ALLREDUCE.splitlines())
        self.assertEqual([cell["cell_id"] for cell in self.cells(pasted)], [cell["cell_id"] for cell in self.cells(outputs.NCCL_ALLREDUCE)])

    def test_the_document_counts_ranks_and_keeps_secrets_out(self) -> None:
        lines = self.lines(json.dumps(outputs.NCCL_DOCUMENT), name="out.json")
        launch, first, second = lines[0], lines[1], lines[2]
        self.assertEqual(launch["world"], {"ranks": 4, "ranks_per_node": 2})
        self.assertEqual(launch["environment"]["variables"], {"NCCL_ALGO": "Ring", "NCCL_AUTH": "<redacted>"})
        self.assertEqual((launch["time"], launch["origin"]["time"]), (None, "2026-01-31 12:00:00"))
        self.assertNotIn("hidden", json.dumps(lines))
        self.assertEqual(first["parameters"]["message-size"], 1024)
        self.assertEqual((first["time_ns"]["mean"], first["time_ns"]["samples"], first["time_ns"]["max"]), (31250, 25, 40000))
        self.assertEqual((first["validation"]["of_origin"], second["validation"]["of_origin"]), ("passed", "off"))
        self.assertEqual(first["bandwidth"]["busbw_GBps"], 0.098304)


class UccTest(WithFolder):
    def test_times_of_the_fastest_and_slowest_rank(self) -> None:
        first, _ = self.cells(outputs.UCC_ALLREDUCE, "--ranks", "4")
        self.assertEqual({name: first["time_ns"][name] for name in ("mean", "fastest_rank", "slowest_rank")}, {"mean": 3250, "fastest_rank": 3100, "slowest_rank": 3400})
        self.assertEqual(first["parameters"], {"element": "fp32", "in-place": "off", "message-size": 512, "operation": "allreduce", "reduction": "sum"})

    def test_both_countings_of_an_alltoall_give_the_same_block(self) -> None:
        of_source, of_block = (outputs.UCC_ALLTOALL.format(count=count, size=4 * count) for count in (256, 64))
        for text, option in ((of_source, ()), (of_block, ()), (of_source, ("--ucc-count", "source")), (of_block, ("--ucc-count", "block"))):
            cell = self.cells(text, "--ranks", "4", *option)[0]
            self.assertEqual(cell["parameters"]["message-size"], 256)
            self.assertEqual(cell["bandwidth"]["busbw_GBps"], 0.19)


    def test_columns_before_the_bandwidth_was_called_that_of_the_bus(self) -> None:
        text = outputs.UCC_ALLTOALL.format(count=256, size=1024).replace("Bus Bandwidth", "Bandwidth").replace("avg         max         min", "avg         min         max")
        self.assertEqual(self.cells(text, "--ranks", "4")[0]["bandwidth"]["busbw_GBps"], 0.19)


class RcclTest(WithFolder):
    def test_records_of_both_kinds_of_files_are_cells_by_cycle(self) -> None:
        for content, name in ((outputs.RCCL_JSON, "out.json"), (outputs.RCCL_CSV, "out.csv")):
            lines = self.lines(content, name=name)
            self.assertEqual([line["world"] for line in lines if line["kind"] == "launch"], [{"ranks": 4, "ranks_per_node": 2}] * 2)
            first, second, again = (line for line in lines if line["kind"] == "cell")
            self.assertEqual((first["parameters"], first["time_ns"]["mean"], first["memory"]),
                             ({"operation": "allgather", "message-size": 1024, "element": "fp32", "in-place": "off"}, 40000, "rocm"))
            self.assertEqual((second["status"], second["parameters"]["in-place"]), ("invalid", "on"))
            self.assertEqual((again["time_ns"]["mean"], again["validation"]["of_origin"]), (41000, "off"))

    def test_a_table_with_fewer_names_than_values_is_refused(self) -> None:
        code, _, error = outputs.main([str(self.file("out.csv", outputs.RCCL_CSV.replace("nodes,", "")))])
        self.assertEqual(code, 64)
        self.assertIn("out.csv:2: 14 values for 13 names: which value is of which name is not known", error)

    def test_records_that_contradict_themselves_are_refused(self) -> None:
        for changed, expected in (({"busBw": 1.0}, "busbw 1.0 GB/s is not that of 4096 B in 40.0 us by allgather of 4 ranks"), ({"nodes": 3}, "contradict each other"),
                                  ({"name": "Bisection"}, "'Bisection' is no operation"), ({"time": 0}, "nothing that was measured"), ({"inPlace": 2}, "neither 0 nor 1"),
                                  ({"size": 4096.5}, "'4096.5' in column 'size'"), ({"time": None}, "'None' in column 'time' is no number")):
            code, _, error = outputs.main([str(self.file("out.json", json.dumps([outputs.RCCL_RECORDS[0] | changed])))])
            self.assertEqual(code, 64)
            self.assertIn(expected, error)


class CommsLoggerTest(WithFolder):
    def test_calls_of_a_size_are_a_cell(self) -> None:
        cells = {cell["parameters"]["operation"]: cell for cell in self.cells(outputs.COMMS_LOGGER, "--ranks", "4")}
        allreduce = cells["allreduce"]
        self.assertEqual(allreduce["time_ns"] | {"axis": ""}, {"mean": 375000, "min": 250000, "max": 500000, "samples": 2, "axis": ""})
        self.assertAlmostEqual(allreduce["bandwidth"]["busbw_GBps"], 0.0375)
        self.assertEqual(cells["alltoall"]["parameters"], {"operation": "alltoall", "message-size": 2048, "caller": "[Caller Func: dispatch]"})
        self.assertEqual(cells["reduce_scatter_block"]["parameters"]["message-size"], 4096)
        self.assertNotIn("message-size", cells["barrier"]["parameters"])

    def test_what_is_written_is_what_was_read(self) -> None:
        results = self.converted(outputs.COMMS_LOGGER, "--ranks", "4")
        code, text, error = outputs.main([str(results), "--to", "comms_logger"])
        self.assertEqual((code, error), (0, ""))
        written = json.loads(text)
        self.assertEqual(written["all_reduce"]["4096"][:2], [1, [0.375]])
        # The logger's own rates, calc_bw_log of its source: 2 S / t and 2 (P - 1) / P S / t, in Gbit/s.
        self.assertAlmostEqual(written["all_reduce"]["4096"][2][0], 2 * 4096 * 8 / 375000)
        for operation, size, rates in (("all_to_all_single", "8192", (0.065536, 0.049152)), ("reduce_scatter", "1024", (3.2768, 2.4576))):
            self.assertEqual([round(values[0], 6) for values in written[operation][size][2:]], list(rates))
        self.assertEqual(written["barrier"]["0"][1], [0.01])
        uneven = self.converted(outputs.PICO.replace(",allgather,ring_over", ",alltoall,ring_over"), "--only", "collective=alltoall", name="uneven.csv")  # 100 B of 16 ranks
        self.assertEqual(list(json.loads(outputs.main([str(uneven), "--to", "comms_logger"])[1])["all_to_all_single"]), ["100"])


class PicoTest(WithFolder):
    def test_a_line_is_a_cell_with_its_machine_and_library(self) -> None:
        cells = self.cells(outputs.PICO, name="measurements.csv")
        self.assertEqual(len(cells), 4)
        tofu, default, ring, _ = cells
        self.assertEqual((tofu["backend"], tofu["world"]), ("utofu", {"ranks": 8, "ranks_per_node": 1}))
        self.assertEqual(tofu["parameters"], {"library": "FJMPI 4.0.1", "message-size": 4, "operation": "allgather", "system": "fugaku"})
        self.assertEqual(default["time_ns"], {"median": 12500, "percentiles": {"10": 12000, "90": 14250}, "samples": 200, "axis": "over iterations, of the slowest rank of each"})
        self.assertEqual((default["is_default"], ring["is_default"], ring["method"], ring["memory"]), (True, False, "ring_ompi", "device"))

    def test_an_algorithm_that_pico_forced_is_told_by_the_name_that_the_library_has_for_it(self) -> None:
        facts = [cell["backend_facts"] for cell in self.cells(outputs.PICO.replace("ring_ompi", "ring_segmented_ompi"), name="measurements.csv")]
        forced = {"mpi_algorithm_family": "open_mpi.tuned", "mpi_algorithm.allreduce": "segmented_ring"}
        self.assertEqual(facts[2], {"mpi_library": "Open MPI 4.1.6"} | forced)
        self.assertEqual([set(facts[number]) for number in (0, 1, 3)], [{"mpi_library"}] * 3, "PICO's own code, and the library's own decision")

    def test_a_start_of_pico_is_a_launch_of_its_campaign(self) -> None:
        launches = [line for line in self.lines(outputs.PICO, name="measurements.csv") if line["kind"] == "launch"]
        self.assertEqual(len(launches), 3)
        self.assertEqual(launches[1]["campaign_id"], "2025_04_06___23_05_13")

    def test_a_size_that_ranks_do_not_divide_stays_what_it_is(self) -> None:
        cell = self.cells(outputs.PICO, name="measurements.csv")[3]
        self.assertEqual(cell["parameters"]["message-size"], 100 / 16)
        self.assertEqual(cell["traffic"]["largest_total_bytes"], 100)

    def test_only_takes_lines_by_their_columns(self) -> None:
        self.assertEqual(len(self.cells(outputs.PICO, "--only", "system=leonardo", "--only", "collective=allreduce", name="measurements.csv")), 2)


if __name__ == "__main__":
    unittest.main()
