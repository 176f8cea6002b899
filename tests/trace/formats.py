# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Each format on a small trace of our own: the numbers in the comments are derived by hand."""

import gzip
import io
import json
import tarfile
import unittest

from program import TraceTest, attribute, field, kineto, plan_of, records, run

INSPECTOR = {"metadata": {"inspector_output_format_version": "v4.0", "hostname": "a"}}
AICB = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
SIMAI = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4\n"


def archive(files):
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as tar:
        for name, text in files.items():
            data = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return whole.getvalue()


class Formats(TraceTest):
    def test_a_profile_counts_each_call_once_and_splits_by_rows(self):
        # Rank 0 sends rows 1 and 2 of 4 elements to ranks 0 and 1, as bf16: 3 * 4 * 2 bytes. Rank 1 sends rows 3 and 4.
        calls = [
            [("all_to_allv", 12, 16, "BFloat16", {"In split size": "[1, 2]", "Out split size": "[1, 3]"}),
             ("_allgather_base", 10, 20, "Float", {}), ("_reduce_scatter_base", 20, 10, "Float", {}), ("wait", 0, 0, "Byte", {})],
            [("all_to_allv", 28, 24, "BFloat16", {"In split size": "[3, 4]", "Out split size": "[2, 4]"}),
             ("_allgather_base", 10, 20, "Float", {}), ("_reduce_scatter_base", 20, 10, "Float", {}), ("wait", 0, 0, "Byte", {})],
        ]
        files = [self.file(f"{rank}.json", kineto(rank, 2, calls[rank])) for rank in (0, 1)]
        expected = [(0, "exchange", 2, "bf16", 1, 24), (0, "reduce_scatter", 2, "fp32", 1, 80), (0, "allgather", 2, "fp32", 1, 40),
                    (1, "exchange", 2, "bf16", 1, 56), (1, "reduce_scatter", 2, "fp32", 1, 80), (1, "allgather", 2, "fp32", 1, 40)]
        summary = self.summary(*files)
        self.assertEqual((summary["format"], summary["ranks"], summary["complete"]), ("kineto", 2, True), summary["why_not"])
        self.assertEqual(self.entries(summary), expected)
        packed = self.file("all.tgz", archive({"t/0.json": files[0].read_text(), "t/1.json.gz": gzip.compress(files[1].read_bytes()), "t/._1.json": "x"}))
        self.assertEqual(self.entries(self.summary(packed)), expected)

    def test_a_mismatch_between_ranks_is_named_with_both_numbers(self):
        sends = {"In split size": "[5, 5]", "Out split size": "[5, 5]"}
        other = {"In split size": "[6, 4]", "Out split size": "[5, 5]"}
        files = [self.file(f"{rank}.json", kineto(rank, 2, [("all_to_allv", 10, 10, "Float", splits)])) for rank, splits in enumerate((sends, other))]
        summary = self.summary(*files)
        self.assertFalse(summary["complete"])
        self.assertIn("exchange 0: rank 1 sends 24 bytes to rank 0, which expects 20", summary["why_not"])

    def test_what_a_profile_lacks_is_said(self):
        cut = kineto(0, 2, [("all_to_allv", 12, 12, "Float", {"In split size": "[1, 2, ...]"})])
        summary = self.summary(self.file("cut-0.json", cut))
        self.assertFalse(summary["complete"])
        self.assertTrue(any("cut off" in reason for reason in summary["why_not"]), summary["why_not"])
        self.assertTrue(any("1 of 2 ranks missing (1)" in reason for reason in summary["why_not"]), summary["why_not"])
        uneven = self.summary(self.file("uneven-0.json", kineto(0, 2, [("all_to_all", 5, 5, "Float", {})])))
        self.assertTrue(any("no equal parts" in reason for reason in uneven["why_not"]), uneven["why_not"])
        self.refused([self.file("bare-0.json", json.dumps({"traceEvents": [{"name": "record_param_comms", "args": {}}]}))], "Collective name", "record with")
        self.refused([self.file("quiet-0.json", json.dumps({"traceEvents": [{"name": "aten::add", "args": {}}]}))], "no communication")
        self.refused([self.file("0.json", cut), self.file("again.0.json", cut)], "rank 0 is in another file")

    def test_long_lists_of_ranks_are_taken_from_start_and_stride(self):
        ranks = {"Process Group Ranks": "[0, 2, 4, ..., 62]", "Group size": 32, "Global rank start": 0, "Global rank stride": 2}
        summary = self.summary(self.file("0.json", kineto(0, 64, [("allreduce", 8, 8, "Half", ranks)])))
        self.assertEqual(self.entries(summary), [(0, "allreduce", 32, "fp16", 1, 16)])
        self.assertFalse(any("cut off" in reason for reason in summary["why_not"]), summary["why_not"])

    def test_the_argument_rank_is_a_root_a_peer_or_the_caller(self):
        # Without distributedInfo, and first in calls whose "Rank" is not the caller's: c10d passes the root and the peer there.
        names = "ab"
        calls = [[("broadcast", 8, 8, "Float", {"Rank": 1}), ("recv" if rank else "send", 4, 4, "Float8_e8m0fnu", {"Rank": 1 - rank}), ("allreduce", 2, 2, "Half", {"Rank": rank})]
                 for rank in (0, 1)]
        files = []
        for rank in (0, 1):
            profile = json.loads(kineto(rank, 2, calls[rank]))
            del profile["distributedInfo"]
            files.append(self.file(f"{names[rank]}.json", json.dumps(profile)))
        summary = self.summary(*files)
        self.assertTrue(summary["complete"], summary["why_not"])
        self.assertEqual(self.entries(summary), [
            (0, "send", 2, "fp8e8m0", 1, 4), (0, "allreduce", 2, "fp16", 1, 4), (0, "broadcast", 2, "fp32", 1, 0),
            (1, "recv", 2, "fp8e8m0", 1, 0), (1, "allreduce", 2, "fp16", 1, 4), (1, "broadcast", 2, "fp32", 1, 32)])
        # Older versions pass the caller in all calls, so the root is not known.
        files = [self.file(f"{rank}.json", kineto(rank, 2, [("broadcast", 8, 8, "Float", {"Rank": rank})])) for rank in (0, 1)]
        self.assertEqual([entry[-1] for entry in self.entries(self.summary(*files))], [32, 32])

    def test_calls_without_data_need_no_dtype(self):
        calls = [("barrier", 0, 0, "", {}), ("coalesced", 0, 0, "", {}), ("allreduce", 2, 2, "Half", {})]
        summary = self.summary(*[self.file(f"{rank}.json", kineto(rank, 2, calls)) for rank in (0, 1)])
        self.assertTrue(summary["complete"], summary["why_not"])
        self.assertEqual(self.entries(summary)[:2], [(0, "allreduce", 2, "fp16", 1, 4), (0, "barrier", 2, "byte", 1, 0)])
        self.refused([self.file("bad-0.json", kineto(0, 2, [("allreduce", 2, 2, "", {})]))], "dtype ''")

    def test_ranks_that_tell_different_sizes_are_not_complete(self):
        for name, sizes, more, reason in (("all_gather", ((8, 16), (9, 18)), {}, "allgather 0 of group 0 has 72 bytes on rank 1, 64 on rank 0"),
                                          ("all_to_allv", ((8, 8), (8, 8)), {"In split size": "[8]"}, "1 split sizes for 2 ranks")):
            files = [self.file(f"{rank}.json", kineto(rank, 2, [(name, *sizes[rank], "Float", more)])) for rank in (0, 1)]
            self.assertTrue(any(reason in each for each in self.summary(*files)["why_not"]), name)

    def execution_trace(self, rank, new):
        tensor = [1, 2, 0, 6, 4, "cuda:0"]
        splits = ([2, 4], [2, 4]) if rank == 0 else ([4, 2], [4, 2])
        nodes = []
        for index, (inputs, types, outputs) in enumerate([
                ([tensor, 1, ["0", "default_pg"] if new else 94594108284448, rank, "all_to_allv", *splits], ["Tensor(int)"], [tensor]),
                ([[tensor, tensor], 2, ["0", "default_pg"] if new else 94594108284448, rank, "allreduce", [], []], ["GenericList[Tensor(float),Tensor(float)]"], []),
                ([3, 0, rank, "wait", [], []], ["Int"], [])]):
            if new:
                nodes.append({"name": "record_param_comms", "id": index, "inputs": {"values": [*inputs, 0, 1, 2], "types": types},
                              "outputs": {"values": outputs, "types": types}, "attrs": [{"name": "rf_id", "type": "uint64", "value": 1}]})
            else:
                nodes.append({"name": "record_param_comms", "id": index, "inputs": inputs, "input_types": types, "outputs": outputs, "output_types": types})
        if new:
            groups = json.dumps([{"pg_name": "0", "ranks": [0, 1], "group_size": 2}])
            nodes.insert(0, {"name": "## process_group:init ##", "id": 9, "inputs": {"values": [groups], "types": ["String"]}, "outputs": {"values": [], "types": []}})
        return json.dumps({"schema": "1.1.1-chakra.0.0.4" if new else "1.0.1", "pid": 1, "nodes": nodes, "finish_ts": 2})

    def test_execution_traces_of_both_layouts_tell_the_same(self):
        # 6 int32 in an exchange, 2 tensors of 6 fp32 in an allreduce.
        expected = [(rank, *call) for rank in (0, 1) for call in (("exchange", 2, "int32", 1, 24), ("allreduce", 2, "fp32", 1, 48))]
        for new in (False, True):
            files = [self.file(f"et_{new}_{'ab'[rank]}.json", self.execution_trace(rank, new)) for rank in (0, 1)]
            summary = self.summary(*files)
            self.assertEqual((summary["format"], summary["complete"]), ("pytorch-et", True), summary["why_not"])
            self.assertEqual(self.entries(summary), expected)

    def test_chakra_of_three_schemas(self):
        version = [field(1, "0.0.4"), field(2, field(1, "schema") + field(29, "x")), None]
        for schema, metadata in enumerate(version):
            files = []
            for rank in (0, 1):
                if metadata is None:  # eg_def.proto: kinds one less, fields instead of attributes
                    nodes = [field(1, 7) + field(2, "a2a") + field(3, 6) + field(13, 2) + field(18, 64),
                             field(1, 8) + field(2, "p2p") + field(3, 4 + rank) + field(17 - rank, 1 - rank) + field(18, 100)]
                else:
                    nodes = [metadata,
                             field(1, 7) + field(2, "a2a") + field(3, 7) + attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, 6) + attribute("comm_size", 9, 64),
                             field(1, 8) + field(2, "p2p") + field(3, 5 + rank) + attribute("comm_src" if rank else "comm_dst", 7, 1 - rank) + attribute("comm_size", 13, 100)]
                files.append(self.file(f"s{schema}.{rank}.et", records(*nodes)))
            summary = self.summary(*files)
            self.assertEqual((summary["format"], summary["complete"], summary["why_not"]), ("chakra", True, []))
            self.assertEqual(self.entries(summary), [(0, "exchange", 2, "byte", 1, 64), (0, "send", 2, "byte", 1, 100), (1, "exchange", 2, "byte", 1, 64), (1, "recv", 2, "byte", 1, 0)])
        group = records(field(1, "0.0.4"), field(1, 1) + field(2, "r") + field(3, 7) + attribute("comm_type", 9, 2) + attribute("comm_size", 9, 64) + attribute("pg_name", 29, "5"))
        files = [self.file(f"g.{rank}.et", group) for rank in range(4)]
        self.assertFalse(self.summary(*files)["complete"])
        grouped = self.summary(*files, self.file("groups.json", '{"5": [0, 1, 2, 3]}'))
        self.assertEqual((grouped["complete"], grouped["operations"][0]["group_size"]), (True, 4), grouped["why_not"])
        no_peer = records(field(1, "0.0.4"), field(1, 1) + field(2, "s") + field(3, 5) + attribute("comm_size", 9, 64))
        self.refused([self.file("n.0.et", no_peer)], "comm_dst", "execution traces of PyTorch")

    def chakra(self, kind, comm_size, ranks=4):
        node = field(1, 7) + field(2, "c") + field(3, 7) + attribute("comm_type", 9, kind) + attribute("comm_size", 9, comm_size) + attribute("root_rank", 9, 1)
        return [self.file(f"c{kind}.{rank}.et", records(field(1, "0.0.4"), node)) for rank in range(ranks)]

    def test_chakra_of_each_type_moves_its_bytes(self):
        # comm_size is what a rank hands in; steps have the whole vector, or what is gathered or scattered in all.
        whole = {0: ("allreduce", 64), 1: ("reduce", 64), 2: ("allgather", 256), 3: ("gather", 256), 4: ("scatter", 64), 5: ("broadcast", 64), 6: ("exchange", 64),
                 7: ("reduce_scatter", 64), 8: ("reduce_scatter", 64), 9: ("barrier", 0)}
        for kind, (operation, size) in whole.items():
            done = run("import", "--assume", "dtype=fp32", *self.chakra(kind, 64), "-o", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            step = plan_of(done.stdout)["plans"][2]["steps"][0]
            moved = sum(block["bytes"] for block in step["send"]) if operation == "exchange" else step.get("bytes", 0)
            self.assertEqual((step["operation"], moved, step.get("element", "fp32")), (operation, size, "fp32"))
        self.assertEqual([each[5] for each in self.entries(self.summary(*self.chakra(9, 64)))], [0, 0, 0, 0])
        self.assertIn("'c': scatters 66 bytes, which are no equal parts for 4 ranks", self.summary(*self.chakra(4, 66))["why_not"])

    def test_sizes_beyond_63_bits_are_refused(self):
        for kind in (2, 3):
            self.refused(self.chakra(kind, 1 << 62), "comm_size 4611686018427387904 of each of 4 ranks")
        for rank in range(4):
            lines = ["MPI_Init:-:1:2:3", f"MPI_Gather:1:1:{1 << 61}:1,1,1:1:{1 << 60 if rank == 0 else 0}:1,1,1:0:94,{rank},4:2", "MPI_Finalize:4:5"]
            self.file(f"pmpi-trace-rank-{rank}.txt", "\n".join(lines) + "\n")
        done = run("import", *sorted(self.folder.glob("pmpi*")), "-o", "-")
        self.assertEqual(done.returncode, 64, done.stdout)
        self.assertIn("2305843009213693952 bytes of each of 4 ranks are more than 2^63 - 1", done.stderr)

    def test_param_counts_elements_and_wants_splits(self):
        calls = [{"comms": "init", "req": -1, "pg_id": 0, "global_ranks": [0, 1], "world_size": 2},
                 {"comms": "all_to_allv", "in_msg_size": 3, "out_msg_size": 3, "in_split": [1, 2], "out_split": [1, 2], "dtype": "bfloat16", "world_size": 2},
                 {"comms": "all_reduce", "in_msg_size": 5, "out_msg_size": 5, "dtype": "Float", "world_size": 2},
                 {"comms": "wait", "req": 0}, {"compute": "gemm", "mm_dim": 8}]
        other = json.loads(json.dumps(calls))
        other[1]["in_split"] = other[1]["out_split"] = [2, 1]
        files = [self.file("0.json", json.dumps(calls)), self.file("1.json", json.dumps(other))]
        summary = self.summary(*files)
        self.assertEqual(self.entries(summary)[:2], [(0, "exchange", 2, "bf16", 1, 6), (0, "allreduce", 2, "fp32", 1, 20)])
        self.assertEqual((summary["format"], summary["complete"]), ("param", True), summary["why_not"])
        del calls[1]["in_split"]
        self.refused([self.file("2.json", json.dumps(calls))], "in_split", "record the splits")
        message = {"in_msg_size": 4, "out_msg_size": 4, "dtype": "Float", "world_size": 2}
        for source in ({}, {"src_rank": None}):
            files = [self.file("0.json", json.dumps([{"comms": "recv_any_source", **message, **source}])), self.file("1.json", json.dumps([{"comms": "send", "dst_rank": 0, **message}]))]
            (reason,) = self.summary(*files)["why_not"]
            self.assertIn("0.json: entry 0: it does not say which rank the peer is", reason)
        (reason,) = self.summary(self.file("0.json", json.dumps([{"comms": name, **message, "world_size": 1} for name in ("all_reduce", "wait", "multicast")])))["why_not"]
        self.assertIn("entry 2: 'multicast' is no operation that is known", reason)

    def test_aicb_stages_are_views_of_their_ranks(self):
        # Two stages of two ranks, tensor groups of two. all_gather names the result, so a rank sends half of it.
        row = "CommType.{},CommGroup.{},{},{},forward_step,None,None,{},None,None,None,1\n"
        stage0 = "[ pp_stage0: [rank0, rank1] ]\n" + AICB + row.format("all_gather", "tp_group", 2, 64, "") + row.format("isend", "pp_group", 1, 32, "send_next") + row.format("irecv", "pp_group", 1, 32, "recv_prev") + row.format("computation", "None", "None", "(1, 2)", "")
        stage1 = "[ pp_stage1: [rank2, rank3] ]\n" + AICB + row.format("broadcast", "tp_group", 2, 8, "") + row.format("irecv", "pp_group", 1, 32, "recv_prev")
        summary = self.summary(self.file("pipeline.csv", stage0 + stage1))
        self.assertEqual((summary["format"], summary["ranks"], summary["complete"]), ("aicb", 4, True), summary["why_not"])
        self.assertEqual(self.entries(summary), [
            (0, "send", 1, "byte", 1, 32), (0, "allgather", 2, "byte", 1, 32), (1, "send", 1, "byte", 1, 32), (1, "allgather", 2, "byte", 1, 32),
            (2, "recv", 1, "byte", 1, 0), (2, "broadcast", 2, "byte", 1, 8), (3, "recv", 1, "byte", 1, 0), (3, "broadcast", 2, "byte", 1, 0)])
        bare = self.file("micro.csv", "comm_type,comm_group,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\nCommType.all_gather,CommGroup.dp_group,64,warmup,None,None,,None,None,None,1\n")
        unknown = self.summary(bare)
        self.assertEqual((unknown["complete"], unknown["operations"][0]["group_size"]), (False, None))
        self.assertTrue(any("--assume ranks=N" in reason for reason in unknown["why_not"]))
        self.assertEqual(self.entries(self.summary("--assume", "ranks=4", "--assume", "dtype=byte", bare))[3], (3, "allgather", 4, "byte", 1, 16))

    def test_aicb_places_groups_of_experts_in_megatrons_order(self):
        # Of 8 ranks, tensor groups of 2 and groups of 2 experts: {0, 2}; their copies {0, 4}; all of a copy {0, 1, 2, 3}.
        row = "CommType.all_to_all,CommGroup.{},{},64,forward,None,None,,None,None,None,1\n"
        groups = {"tp_group": (2, [0, 1]), "ep_group": (2, [0, 2]), "ep_dp_group": (2, [0, 4]), "ep_tp_group": (4, [0, 1, 2, 3]), "dp_group": (4, [0, 2, 4, 6])}
        for head in ("", "\ufeff"):
            file = self.file("moe.csv", head + "[rank0 ~ rank7]\n" + AICB + "".join(row.format(name, size) for name, (size, _) in groups.items()))
            steps = plan_of(run("import", file, "-o", "-").stdout)["plans"][0]["steps"]
            self.assertEqual([step["group"] for step in steps], [members for _, members in groups.values()])

    def test_simai_places_operations_in_the_groups_of_their_columns(self):
        layer = "l\t-1\t10\tALLGATHER\t64\t10\tREDUCESCATTER\t64\t10\tALLREDUCE\t1000\t100\n"
        summary = self.summary(self.file("w.txt", SIMAI + "1\n" + layer))
        self.assertEqual(self.entries(summary)[:3], [(0, "allreduce", 2, "byte", 1, 1000), (0, "reduce_scatter", 2, "byte", 1, 64), (0, "allgather", 2, "byte", 1, 32)])
        self.assertEqual((summary["format"], summary["ranks"]), ("simai", 4))
        more = self.file("more.txt", SIMAI.replace("\n", " mode: 1 pp_comm: 134217728.0\n") + "1\n" + layer.replace("\t64\t", "\t64.0\t"))
        self.assertEqual(self.entries(self.summary(more)), self.entries(summary))
        self.refused([self.file("short.txt", SIMAI + "2\n" + layer)], "1 layers follow", "says 2")
        moe = self.file("moe.txt", SIMAI.replace("ep: 1", "ep: 2").replace("all_gpus: 4", "all_gpus: 8") + "1\nl -1 1 ALLTOALL_EP 64 1 ALLREDUCE 64 1 ALLREDUCE_DP_EP 64 1\n")
        steps = plan_of(run("import", moe, "-o", "-").stdout)["plans"][0]["steps"]
        self.assertEqual([step["group"] for step in steps], [[0, 2], [0, 1], [0, 4]])

    def test_inspector_sizes_are_shares_of_what_is_gathered_and_scattered(self):
        lines = []
        for rank in (0, 1):
            for number, (coll, size) in enumerate([("AllReduce", 100), ("ReduceScatter", 100), ("AllGather", 100)]):
                lines.append({"header": {"id": "0x7", "rank": rank, "n_ranks": 2, "nnodes": 1}, "metadata": {**INSPECTOR["metadata"], "pid": rank},
                              "coll_perf": {"coll": coll, "coll_sn": number + 5, "coll_msg_size_bytes": size, "coll_exec_time_us": 3}})
        text = "\n".join(map(json.dumps, lines))
        summary = self.summary(self.file("i.jsonl", text))
        self.assertEqual(self.entries(summary)[:3], [(0, "allreduce", 2, "byte", 1, 100), (0, "reduce_scatter", 2, "byte", 1, 200), (0, "allgather", 2, "byte", 1, 100)])
        self.assertEqual((summary["format"], summary["complete"]), ("nccl-inspector", True), summary["why_not"])
        self.assertEqual(summary["notes"], [{"text": "calls in format v4.0 of the Inspector, which has no sends and receives", "count": 6}])
        del lines[1]
        lost = self.summary(self.file("lost.jsonl", "\n".join(map(json.dumps, lines))))
        self.assertTrue(any("records were lost" in reason for reason in lost["why_not"]), lost["why_not"])

    def test_inspector_takes_no_header_of_another_file(self):
        call = {"coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": 8}}
        first = self.file("0.log", json.dumps({"header": {"id": "0x7", "rank": 0, "n_ranks": 2}, "metadata": {**INSPECTOR["metadata"], "pid": 0}, **call}))
        second = self.file("1.log", json.dumps(call))
        self.refused(["--format", "nccl-inspector", first, second], "1.log", "header is missing")

    def test_inspector_does_not_mix_the_gpus_of_one_process(self):
        lines = [{"header": {"id": "0x7", "rank": rank, "n_ranks": 2}, "metadata": {**INSPECTOR["metadata"], "pid": 9}, "coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": 8}} for rank in (0, 1)]
        self.refused([self.file("i.jsonl", "\n".join(map(json.dumps, lines)))], "line 2", "process 9", "is rank 0 and rank 1 of communicator", "a process per GPU")

    def test_inspector_has_messages_and_markers_from_version_4_1_on(self):
        def call(prefix, name, number, size, start, **more):
            return {f"{prefix}_perf": {prefix: name, f"{prefix}_sn": number, f"{prefix}_msg_size_bytes": size, "event_trace_ts": {f"{prefix}_start_ts": start}, **more}}
        files = []
        for rank in (0, 1):
            marker = {"header": {"id": "0x7", "rank": rank, "n_ranks": 2}, "metadata": {**INSPECTOR["metadata"], "inspector_output_format_version": "v4.3", "pid": rank},
                      "dump_stats": {"coll_dropped_since_last_dump": 0}}
            records_ = [marker, call("coll", "AllReduce", 1, 8, 100), call("coll", "AllGather", 2, 8, 300), call("p2p", "Recv" if rank else "Send", 1, 5, 200, p2p_peer=1 - rank)]
            files.append(self.file(f"{rank}.log", "\n".join(map(json.dumps, records_))))
        summary = self.summary(*files)
        self.assertEqual(self.entries(summary)[:3], [(0, "send", 2, "byte", 1, 5), (0, "allreduce", 2, "byte", 1, 8), (0, "allgather", 2, "byte", 1, 8)])
        self.assertTrue(summary["complete"], summary["why_not"])
        self.assertNotIn("format v4.0", str(summary.get("notes")))
        steps = plan_of(run("import", *files, "-o", "-").stdout)["plans"][0]["steps"]
        self.assertEqual([step["operation"] for step in steps], ["allreduce", "send", "allgather"])  # by time, not by place
        dropped = self.file("1.log", files[1].read_text().replace("last_dump\": 0", "last_dump\": 7"))
        self.assertTrue(any("is 7: records were lost" in reason for reason in self.summary(files[0], dropped)["why_not"]))

    def test_nccl_logs_tell_parts_of_communicators_apart(self):
        def log(rank, split, at=""):
            say = lambda text: f"node:{100 + rank}:{100 + rank} [{rank % 2}] {at}NCCL INFO {text}\n"
            call = "opCount 0 sendbuff 0x1 recvbuff 0x2 count 10 datatype 7 op 0 root 0"
            return (say(f"ncclCommInitRank comm 0xa{rank} rank {rank} nranks 4 cudaDev 0 commId 0x9 - Init COMPLETE")
                    + say(f"ncclCommSplit comm 0xb{rank} rank {rank // 2} nranks 2 cudaDev 0 {split} - Init COMPLETE")
                    + say(f"AllReduce: {call} comm 0xb{rank} [nranks=2] stream 0x1"))
        parts = self.summary(self.file("s.log", "".join(log(rank, f"parent 0xa{rank} splitCount 1 color {rank % 2} key 0", f"15585450031742{rank} ") for rank in range(4))))
        self.assertTrue(parts["complete"], parts["why_not"])
        unnamed = self.summary(self.file("u.log", "".join(log(rank, "") for rank in range(4))))
        self.assertTrue(any("does not say which ranks group" in reason for reason in unnamed["why_not"]), unnamed["why_not"])

    def test_nccl_logs_know_the_ranks_of_one_process_by_their_communicators(self):
        # A thread that calls for all devices writes its own device with each call.
        text = "".join(f"n:100:{400 + rank} [{rank}] NCCL INFO ncclCommInitAll comm 0x5{rank} rank {rank} nranks 2 cudaDev {rank} commId 0xa - Init COMPLETE\n" for rank in (0, 1))
        text += "".join(f"n:100:100 [1] NCCL INFO AllReduce: opCount 2 sendbuff 0x1 recvbuff 0x2 count 8 datatype 6 op 0 root 0 comm 0x5{rank} [nranks=2] stream 0x1\n" for rank in (0, 1))
        self.assertEqual(self.entries(self.summary(self.file("one.log", text))), [(rank, "allreduce", 2, "fp16", 1, 16) for rank in (0, 1)])

    def test_nccl_logs_name_ranks_by_the_start_of_communicators(self):
        text = ""
        for rank in (0, 1):
            prefix = f"node:{100 + rank}:{200 + rank} [{rank}] NCCL INFO "
            text += f"{prefix}ncclCommInitRank comm 0xab{rank} rank {rank} nranks 2 cudaDev {rank} nvmlDev {rank} busId 1000 commId 0x9 - Init COMPLETE\n"
            tail = f"comm 0xab{rank} [nranks=2] stream 0x1\n"
            text += f"{prefix}AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 10 datatype 7 op 0 root 0 {tail}"
            text += f"{prefix}ReduceScatter: opCount 1 sendbuff 0x1 recvbuff 0x2 count 10 datatype 9 op 0 root 0 {tail}"
            text += f"{prefix}{'Recv' if rank else 'Send'}: opCount 2 sendbuff (nil) recvbuff 0x2 count 10 datatype 0 op 0 root {1 - rank} {tail}"
        summary = self.summary(self.file("nccl.log", text))
        self.assertEqual(self.entries(summary), [
            (0, "send", 2, "int8", 1, 10), (0, "allreduce", 2, "fp32", 1, 40), (0, "reduce_scatter", 2, "bf16", 1, 40),
            (1, "recv", 2, "int8", 1, 0), (1, "allreduce", 2, "fp32", 1, 40), (1, "reduce_scatter", 2, "bf16", 1, 40)])
        self.assertTrue(summary["complete"], summary["why_not"])
        self.refused([self.file("only.log", "\n".join(line for line in text.splitlines() if "Init" not in line))], "NCCL_DEBUG_SUBSYS=INIT,COLL")

    def test_nccl_logs_keep_the_order_of_a_second_communicator_of_all_ranks(self):
        text = ""
        for rank in (0, 1):
            say = lambda what, rank=rank: f"node:{100 + rank}:{100 + rank} [{rank}] NCCL INFO {what}\n"
            for communicator, place in (("a", rank), ("b", 1 - rank)):
                text += say(f"comm 0x{communicator}{rank} rank {place} nranks 2 cudaDev {rank} commId 0x{communicator} - Init COMPLETE")
            call = f"opCount 0 sendbuff 0x1 recvbuff 0x2 count 4 datatype 7 op 0 root {{}} comm 0xb{rank} [nranks=2] stream 0x1"
            text += say("Broadcast: " + call.format(0)) + say(("Recv: " if rank else "Send: ") + call.format(rank))
        summary = self.summary(self.file("nccl.log", text))
        self.assertEqual(self.entries(summary), [(0, "send", 2, "fp32", 1, 16), (0, "broadcast", 2, "fp32", 1, 0), (1, "recv", 2, "fp32", 1, 0), (1, "broadcast", 2, "fp32", 1, 16)])
        self.assertTrue(summary["complete"], summary["why_not"])
        more = self.summary(self.file("more.log", text + say("PutSignal: " + call.format(0))))
        self.assertIn("'PutSignal' is no operation that is known", more["why_not"][0])

    def test_goal_has_comments_in_front_of_statements(self):
        text = "/* of two\nranks */ num_ranks 2\nrank 0 {\n/* a */ /* b */ send 8b to 1\n/*\nsend 9b to 1 */\n}\nrank 1 { \n// c\nrecv 8b from 0\n} /*\n"
        self.refused([self.file("a.goal", text)], "none of the formats")
        summary = self.summary("--format", "goal", self.file("a.goal", text.replace("} /*", "}\n/*")))
        self.assertEqual((self.entries(summary), summary["complete"]), ([(0, "send", 2, "byte", 1, 8), (1, "recv", 2, "byte", 1, 0)], True))

    def test_goal_is_read_strictly(self):
        good = "num_ranks 2\nrank 0 {\no1: send 10b to 1 tag 1\no2: calc 5\no2 requires o1\n}\nrank 1 {\no1: recv 10b from 0 tag 1\n}\n"
        summary = self.summary(self.file("a.goal", good))
        self.assertEqual((self.entries(summary), summary["complete"]), ([(0, "send", 2, "byte", 1, 10), (1, "recv", 2, "byte", 1, 0)], True))
        for fault, text in ((("rank 1 {", "rank 2 {"), "ranks stand in order"), (("o2: calc", "o1: calc"), "there twice"), (("o2 requires o1", "o2 requires o9"), "not defined"),
                            (("tag 1\no2", "cpu 0 tag 1\no2"), "order is tag, cpu, nic"), (("10b to 1", "10b to 7"), "no rank"), (("\n}\n", "\n", -1), "inside of a rank")):
            broken = good[:-3] if len(fault) == 3 else good.replace(*fault)
            self.refused([self.file("b.goal", broken)], text)
        unequal = self.summary(self.file("c.goal", good.replace("recv 10b", "recv 11b")))
        self.assertIn("send: rank 0 sends 10 bytes to rank 1, which expects 11", unequal["why_not"])

    def test_pmpi_reads_the_arguments_of_liballprof(self):
        double = "11,8,8"
        for rank in (0, 1):
            world = f"94,{rank},2"
            lines = ["# banner", "MPI_Init:-:1:2:100", f"MPI_Allreduce:110:1:2:4:{double}:3:{world}:120",
                     f"MPI_Alltoallv:120:1:9:{rank + 1},{rank + 2}:9:0,1:{double}:2:9:{1 + rank},{2 + rank}:9:0,1:{double}:{world}:130",
                     f"MPI_Bcast:130:1:4:{double}:0:{world}:131",
                     f"MPI_{'Recv' if rank else 'Send'}:140:1:{5 if rank else 3}:{double}:{1 - rank}:0:{world}{':77' if rank else ''}:150", "MPI_Finalize:160:170"]
            self.file(f"pmpi-trace-rank-{rank}.txt", "\n".join(lines) + "\n")
        summary = self.summary(self.folder)
        # Rank 0: 1 + 2 doubles; rank 1: 2 + 3. A receive says how much there is room for.
        self.assertEqual(self.entries(summary), [
            (0, "exchange", 2, "byte", 1, 24), (0, "send", 2, "byte", 1, 24), (0, "allreduce", 2, "byte", 1, 32), (0, "broadcast", 2, "byte", 1, 32),
            (1, "exchange", 2, "byte", 1, 40), (1, "recv", 2, "byte", 1, 0), (1, "allreduce", 2, "byte", 1, 32), (1, "broadcast", 2, "byte", 1, 0)])
        self.assertTrue(summary["complete"], summary["why_not"])
        self.assertEqual({entry[3] for entry in self.entries(self.summary("--assume", "dtype=fp64", self.folder))}, {"fp64"})

    def test_pmpi_names_calls_that_move_data_and_are_not_read(self):
        moving = ["MPI_Alltoallw", "MPI_Exscan", "MPI_Neighbor_allgather", "MPI_Start", "MPI_Get", "MPI_Rput", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Imrecv", "MPI_Ialltoallw", "MPI_Intercomm_create"]
        other = ["MPI_Get_count", "MPI_Reduce_local", "MPI_Win_start", "MPI_Comm_get_attr", "MPI_Waitall", "MPI_Iprobe"]
        text = "".join(f"{call}:1:0:0:0:2\n" for call in ["MPI_Init", *moving, *other, "MPI_Finalize"])
        self.assertEqual(self.summary(self.file("pmpi-trace-rank-0.txt", text))["why_not"], [f"{call} is not read" for call in moving])

    def test_pmpi_scatters_what_each_rank_gets(self):
        for call, whole in (("MPI_Reduce_scatter_block:1:1:2:3:{d}:3:{w}:2", 48), ("MPI_Reduce_scatter:1:1:2:9:3,3:{d}:3:{w}:2", 48)):
            for rank in (0, 1):
                line = call.format(d="11,8,8", w=f"94,{rank},2")
                self.file(f"pmpi-trace-rank-{rank}.txt", f"MPI_Init:-:1:2:3\n{line}\nMPI_Finalize:4:5\n")
            self.assertEqual(self.entries(self.summary(self.folder))[0], (0, "reduce_scatter", 2, "byte", 1, whole))
            done = run("import", self.folder, "-o", "-")
            self.assertEqual(plan_of(done.stdout)["plans"][1]["steps"][0]["bytes"], whole, done.stderr)

    def pmpi_shares(self, counts, own=(1, 3, 2), buffer=5):
        """Import of an MPI_Allgatherv and an MPI_Reduce_scatter; `counts`: of each rank."""
        for rank, listed in enumerate(counts):
            w, d = f"94,{rank},3", "11,8,8"
            lines = ["MPI_Init:-:1:2:3", f"MPI_Allgatherv:1:{buffer}:{own[rank]}:{d}:6:7:{listed}:8:0,1,4:{d}:{w}:2", f"MPI_Reduce_scatter:2:5:6:7:{listed}:{d}:3:{w}:3", "MPI_Finalize:4:5"]
            self.file(f"pmpi-trace-rank-{rank}.txt", "\n".join(lines) + "\n")
        return run("import", self.folder, "-o", "-")

    def test_pmpi_has_uneven_parts_of_all_ranks(self):
        done = self.pmpi_shares(["1,3,2"] * 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([[(step["bytes"], step["shares"]) for step in plan["steps"]] for plan in plan_of(done.stdout)["plans"]], [[(48, [8, 24, 16])] * 2] * 3)
        self.assertEqual([entry[5] for entry in self.entries(self.summary(self.folder)) if entry[1] == "allgather"], [8, 24, 16])
        wrong = self.pmpi_shares(["1,3,2", "3,1,2", "1,3,2"])
        self.assertIn("allgather 0 of group of all ranks has other parts on rank 1 than on rank 0", wrong.stderr)
        self.assertEqual(len(self.summary(self.folder)["why_not"]), 2)
        self.assertIn("MPI_Allgatherv: 2 counts for 3 ranks", self.pmpi_shares(["4,2"] * 3).stderr)

    def test_pmpi_takes_what_is_in_place_from_the_other_side(self):
        for buffer in (1, -1):
            self.assertEqual(plan_of(self.pmpi_shares(["1,3,2"] * 3, (0, 0, 0), buffer).stdout)["plans"][1]["steps"][0]["shares"], [8, 24, 16])
            self.assertEqual([entry[5] for entry in self.entries(self.summary(self.folder)) if entry[1] == "allgather"], [8, 24, 16])
            for rank in range(3):
                w, d = f"94,{rank},3", "11,8,8"
                mine, count, counts = (buffer, 0, "1,3,2") if rank == 1 else (5, 4, "0,0,0")
                lines = ["MPI_Init:-:1:2:3", f"MPI_Allgather:1:{buffer}:0:{d}:6:4:{d}:{w}:2", f"MPI_Alltoall:2:{buffer}:0:{d}:6:5:{d}:{w}:3",
                         f"MPI_Alltoallv:3:{buffer}:0:0,0,0:0:0,0,0:{d}:6:7:{rank},{rank + 1},{rank + 2}:8:0,0,0:{d}:{w}:4",
                         f"MPI_Gather:4:{mine}:{count}:{d}:6:4:{d}:1:{w}:5", f"MPI_Scatter:5:6:4:{d}:{mine}:{count}:{d}:1:{w}:6",
                         f"MPI_Gatherv:6:{mine}:{(1, 0, 2)[rank]}:{d}:6:7:{counts}:8:0,1,4:{d}:1:{w}:7",
                         f"MPI_Scatterv:7:6:7:{counts}:8:0,1,4:{d}:{mine}:{(1, 0, 2)[rank]}:{d}:1:{w}:8", "MPI_Finalize:8:9"]
                self.file(f"pmpi-trace-rank-{rank}.txt", "\n".join(lines) + "\n")
            done = run("import", self.folder, "-o", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = plan_of(done.stdout)["plans"][1]["steps"]
            self.assertEqual([[block["bytes"] for block in step["send"]] for step in steps[1:3]], [[40, 40, 40], [8, 16, 24]])
            self.assertEqual([(step["bytes"], step.get("shares")) for step in (steps[0], *steps[3:])], [(96, None)] * 3 + [(48, [8, 24, 16])] * 2)
            self.assertEqual([entry[5] for entry in self.entries(self.summary(self.folder)) if entry[1] == "gather"], [32 + 8, 32 + 24, 32 + 16])

    def test_pmpi_reads_calls_that_do_not_block_as_those_that_do(self):
        for rank in (0, 1):
            w, d = f"94,{rank},2", "11,8,8"
            lines = ["MPI_Init:-:1:2:3", f"MPI_Issend:1:5:3:{d}:{1 - rank}:0:{w}:80:2", f"MPI_Irecv:2:5:3:{d}:{1 - rank}:0:{w}:88:3", f"MPI_Iallgather:3:5:4:{d}:6:4:{d}:{w}:96:4",
                     f"MPI_Ireduce:4:5:6:7:{d}:3:1:{w}:104:5", f"MPI_Ibarrier:5:{w}:112:6", "MPI_Waitall:6:5:80:0:7", "MPI_Finalize:8:9"]
            self.file(f"pmpi-trace-rank-{rank}.txt", "\n".join(lines) + "\n")
        done = run("import", self.folder, "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(step["operation"], step.get("bytes"), step["after"]) for step in plan_of(done.stdout)["plans"][0]["steps"]],
                         [("send", None, []), ("recv", None, []), ("allgather", 64, []), ("reduce", 56, []), ("barrier", None, [])])

    def test_pmpi_takes_uneven_parts_from_the_root(self):
        # Parts of 1, 3 and 2 doubles; the others know their own alone.
        def files(own):
            for rank in range(3):
                text, w, d = "6:7:1,3,2:8:0,1,4" if rank == 1 else "6:0:0,0,0:0:0,0,0", f"94,{rank},3", "11,8,8"
                lines = ["MPI_Init:-:1:2:3", f"MPI_Gatherv:1:5:{own[rank]}:{d}:{text}:{d}:1:{w}:2", f"MPI_Scatterv:2:{text}:{d}:6:{own[rank]}:{d}:1:{w}:3", "MPI_Finalize:4:5"]
                self.file(f"pmpi-trace-rank-{rank}.txt", "\n".join(lines) + "\n")
            return run("import", self.folder, "-o", "-")
        done = files((1, 3, 2))
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = [plan["steps"] for plan in plan_of(done.stdout)["plans"]]
        self.assertEqual([[(step["bytes"], step["shares"]) for step in each] for each in steps], [[(48, [8, 24, 16])] * 2] * 3)
        wrong = files((1, 3, 4))
        self.assertEqual(wrong.returncode, 64, wrong.stdout)
        reasons = [f"{call}: rank 2 has 32 bytes, but the root has 16 for it" for call in ("gather 0", "scatter 1")]
        self.assertIn(reasons[0], wrong.stderr)
        self.assertEqual(self.summary(self.folder)["why_not"], reasons)
        root = self.folder / "pmpi-trace-rank-1.txt"
        root.write_text(root.read_text().replace(":1,3,2:", ":1,3:"))
        self.assertIn("gather 0: the root, rank 1, has 2 parts for 3 ranks", self.summary(self.folder)["why_not"])

    def test_pmpi_gathers_equal_parts(self):
        for rank, count in enumerate((3, 3, 4)):
            line = f"MPI_Gather:1:1:{count}:11,8,8:1:3:11,8,8:0:94,{rank},3:2"
            self.file(f"pmpi-trace-rank-{rank}.txt", f"MPI_Init:-:1:2:3\n{line}\nMPI_Finalize:4:5\n")
        self.assertEqual(self.summary(self.folder)["why_not"], ["gather 0: rank 2 has 32 bytes, but the root has 24 for it"])

    def test_a_matrix_is_an_exchange(self):
        summary = self.summary(self.file("m.txt", "1 2\n3 4\n"))
        self.assertEqual((summary["format"], self.entries(summary)), ("nccl-matrix", [(0, "exchange", 2, "byte", 1, 3), (1, "exchange", 2, "byte", 1, 7)]))
        self.refused([self.file("n.txt", "1 2\n3\n")], "line 2")

    def test_the_text_shows_what_the_json_has(self):
        done = run("summary", self.file("m.txt", "1 2\n3 4\n"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("format nccl-matrix, 2 ranks", "complete", "exchange", "max/mean"):
            self.assertIn(text, done.stdout)

    def test_formats_can_be_forced_and_do_not_mix(self):
        matrix, goal = self.file("m.txt", "1 2\n3 4\n"), self.file("a.goal", "num_ranks 1\nrank 0 {\n}\n")
        self.refused([matrix, goal], "give files of one format")
        self.refused([matrix, "--format", "goal"], "num_ranks")
        self.refused([matrix, "--format", "gaol"], "nearest: goal")


if __name__ == "__main__":
    unittest.main()
