# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of others, counted a second time from the raw files, in another way than dlmb_plan reads them.

DLMB_TRACES names their folder; what is not in it is passed over.
"""

import collections
import csv
import gzip
import json
import os
import re
import tarfile
import unittest
from pathlib import Path

from program import TraceTest, run

FOLDER = os.environ.get("DLMB_TRACES", "")
ELEMENT = {"Float": ("fp32", 4), "Long": ("int64", 8), "Int": ("int32", 4), "Half": ("fp16", 2), "BFloat16": ("bf16", 2), "Byte": ("byte", 1),
           "Double": ("fp64", 8), "Bool": ("bool", 1), "float": ("fp32", 4), "long int": ("int64", 8), "int": ("int32", 4)}
WORDS = {"allreduce": "allreduce", "broadcast": "broadcast", "_allgather_base": "allgather", "all_gather": "allgather", "_reduce_scatter_base": "reduce_scatter",
         "all_to_all": "exchange", "all_to_allv": "exchange", "all_reduce": "allreduce", "reduce_scatter": "reduce_scatter", "barrier": "barrier"}
# Calls of the kernel's side; those of a profile that has both sides are as many.
KERNEL = re.compile(r'"Collective name": ?"(?P<name>\w+)", ?"In msg nelems": ?(?P<elements>\d+).*?"Group size": ?(?P<size>\d+), ?"dtype": ?"(?P<dtype>\w+)"', re.DOTALL)


class Samples(TraceTest):
    def sample(self, pattern):
        files = sorted(Path(FOLDER).glob(pattern)) if FOLDER else []
        if not files:
            self.skipTest(f"no {pattern} in DLMB_TRACES")
        return files

    def counted(self, calls):
        """`calls`: (rank, operation, group size, dtype, bytes)."""
        count, size = collections.Counter(), collections.Counter()
        for *key, sent in calls:
            count[tuple(key)] += 1
            size[tuple(key)] += sent
        return {(*key, count[key], size[key]) for key in count}

    def test_kernels_of_a_profile_tell_the_same_as_its_calls(self):
        for file in self.sample("*nccl*kineto.json.gz"):
            text = gzip.open(file, "rt", encoding="utf-8").read()
            rank = int(re.search(r'"distributedInfo":.*?"rank": ?(\d+)', text, re.DOTALL).group(1))
            calls = []
            for found in KERNEL.finditer(text):
                dtype, element = ELEMENT[found["dtype"]]
                calls.append((rank, WORDS[found["name"]], int(found["size"]), dtype, int(found["elements"]) * element))
            self.assertEqual(set(self.entries(self.summary(file))), self.counted(calls))

    def test_operators_of_an_execution_trace_tell_the_same_as_its_records(self):
        for file in self.sample("param-dlrm*tar.gz"):
            calls = []
            with tarfile.open(file) as tar:
                for member in tar.getmembers():
                    if not member.name.endswith(".json"):
                        continue
                    rank = int(re.search(r"(\d+)\.json$", member.name).group(1))
                    for node in json.load(tar.extractfile(member))["nodes"]:
                        if node["name"].startswith("nccl:"):  # what lies inside of the record, with the tensors alone
                            *_, elements, element_bytes, _device = node["inputs"][0]
                            dtype = ELEMENT[re.search(r"\((.*)\)", node["input_types"][0]).group(1)]
                            self.assertEqual(dtype[1], element_bytes)
                            calls.append((rank, WORDS[node["name"][5:]], 8, dtype[0], elements * element_bytes))
            summary = self.summary(file)
            self.assertEqual((summary["ranks"], summary["complete"]), (8, True), summary["why_not"])
            self.assertEqual(set(self.entries(summary)), self.counted(calls))
            for kineto in sorted(Path(FOLDER).glob("*dlrm*kineto*")):
                self.assertEqual(self.entries(self.summary(kineto)), self.entries(summary))

    def test_execution_traces_in_chakras_layout(self):
        for file in self.sample("chakra-et-*.tgz"):
            calls = []
            with tarfile.open(file) as tar:
                for member in tar.getmembers():
                    if Path(member.name).name.startswith("._"):
                        continue
                    for node in json.load(tar.extractfile(member))["nodes"]:
                        if node["name"].startswith("nccl:"):
                            *_, elements, element_bytes, _device = node["inputs"]["values"][0]
                            calls.append((0, WORDS[node["name"][5:]], 2, "fp32", elements * element_bytes))
            summary = self.summary(file)
            self.assertEqual((summary["ranks"], summary["complete"]), (2, False))
            self.assertEqual(set(self.entries(summary)), self.counted(calls))

    def test_chakra_files(self):
        files = self.sample("astra-sim-*.et")
        calls = []
        for rank, file in enumerate(files):
            tail = file.read_bytes().split(b"comm_size")[1][1:]  # behind the key of the number
            calls.append((rank, "allgather", len(files), "byte", sum((byte & 127) << 7 * place for place, byte in enumerate(tail))))
        self.assertEqual(set(self.entries(self.summary(*files))), self.counted(calls))

    def test_aicb_workloads(self):
        for file in self.sample("aicb-*.csv"):
            lines = file.read_text(encoding="utf-8").splitlines()
            ranks = 1 if not lines[0].startswith("[") else int(re.search(r"~ rank(\d+)", lines[0]).group(1)) + 1
            calls = []
            for row in csv.DictReader(line for line in lines if not line.startswith("[")):
                word = WORDS.get(row["comm_type"].split(".")[1])
                if word is None:
                    continue
                size = int(row["comm_group_size"]) if row.get("comm_group_size") else None
                sent = 0 if word == "barrier" else int(row["msg_size"])  # the file gives a barrier a size, too
                if word == "allgather":
                    sent //= size  # the file has the result
                stride = ranks // size if row["comm_group"] == "CommGroup.dp_group" and size else 1
                for rank in range(ranks):
                    is_root = not size or rank // stride % size == 0
                    calls.append((rank, word, size, "byte", sent if word != "broadcast" or is_root else 0))
            self.assertEqual(set(self.entries(self.summary(file))), self.counted(calls), file)

    def test_simai_workloads(self):
        for file in self.sample("simai-*.txt"):
            text = file.read_text(encoding="utf-8")
            ranks = int(re.search(r"all_gpus: (\d+)", text).group(1))
            sizes = list(map(int, re.findall(r"ALLREDUCE\s+(\d+)", text)))
            calls = [(rank, "allreduce", ranks, "byte", size) for rank in range(ranks) for size in sizes]
            self.assertEqual(set(self.entries(self.summary(file))), self.counted(calls))

    def test_requests(self):
        for file in self.sample("mooncake-*.jsonl"):
            requests = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            seen = collections.Counter(block for request in requests for block in request["hash_ids"])
            told = json.loads(run("summary", "--json", file).stdout)
            self.assertEqual((told["requests"], told["blocks"]["block_tokens"]), (len(requests), 512))
            self.assertEqual((told["blocks"]["blocks"], told["blocks"]["distinct"]), (sum(seen.values()), len(seen)))
            self.assertAlmostEqual(told["input_tokens"]["mean"] * len(requests), sum(request["input_length"] for request in requests), places=3)

    def test_what_lacks_something_is_refused_with_the_reason(self):
        for pattern, reason in (("hta-no-distributed-info*", "Collective name"), ("param-linear-kineto*", "no communication")):
            for file in self.sample(pattern):
                done = run("summary", file)
                self.assertEqual(done.returncode, 64)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    if not FOLDER:
        print("DLMB_TRACES names no folder of traces")
        raise SystemExit(77)
    unittest.main()
