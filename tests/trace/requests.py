# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests to an inference service: what dlmb_plan summary says of them, counted by hand."""

import json
import unittest

from program import TraceTest, run

# Blocks of 4 tokens: 9 tokens fill 3 blocks, 8 fill 2, and 4 more than 5 fill 2.
REQUESTS = [(0, 9, 3, [1, 2, 3]), (250, 8, 1, [1, 2]), (250, 5, 7, [1, 9]), (4250, 6, 1, [9, 2])]
# From the models' own config.json: 2 x layers x KV heads x head dimension x 2 B; of a latent layers x 576 x 2 B.
PER_TOKEN = {"llama3.1-8b": 131072, "mixtral-8x7b": 131072, "llama3.1-70b": 327680, "llama3.1-405b": 516096, "qwen3-235b": 192512,
             "gpt-oss-120b": 73728, "deepseek-v3": 70272}


def lines(requests):
    return "".join(json.dumps({"timestamp": time, "input_length": read, "output_length": written, "hash_ids": blocks}) + "\n"
                   for time, read, written, blocks in requests)


class Requests(TraceTest):
    def told(self, *arguments, requests=None):
        done = run("summary", "--json", self.file("requests.jsonl", requests or lines(REQUESTS)), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_arrivals_lengths_and_prefixes(self):
        told = self.told()
        self.assertEqual((told["format"], told["requests"], told["duration_s"], told["busiest_second"]), ("requests", 4, 4.25, 3))
        self.assertAlmostEqual(told["per_second"], 4 / 4.25)
        self.assertEqual(told["input_tokens"], {"median": 6, "mean": 7, "p90": 9, "p99": 9, "max": 9})
        self.assertEqual(told["output_tokens"]["mean"], 3)
        # The second prompt begins with two blocks that were there, the third with one, the fourth with two.
        self.assertEqual(told["blocks"], {"block_tokens": 4, "blocks": 9, "distinct": 4, "reused": 5})
        # Gaps of 0.25, 0 and 4 s: mean 1.41667, standard deviation 1.82954.
        self.assertAlmostEqual(told["gap_variation"], 1.29144, places=4)

    def test_tables_of_azure_and_burstgpt(self):
        azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.5000000,374,44\n2023-11-17T00:00:01+00:00,396,110\n"
        burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\r\n5,GPT-4,374,44,418,API log\r\n6.5,GPT-4,396,110,506,API log\r\n"
        for table in (azure, burst):
            told = self.told(requests=table)
            self.assertEqual((told["requests"], told["duration_s"], told["input_tokens"]["mean"], told["output_tokens"]["mean"]), (2, 1.5, 385, 77))
        for table, text in ((azure.replace("396", "-1"), "line 3"), (azure.replace("-17T", "-15T"), "sort them"), (burst.replace("6.5", "nan"), "line 3"), (azure.replace("-17T", "-31T"), "line 3")):
            self.refused([self.file("r.csv", table)], text)

    def test_the_size_of_a_block_is_told_only_where_one_fits(self):
        # 9 tokens in 3 blocks: 3 or 4 each.
        self.assertIsNone(self.told(requests=lines(REQUESTS[:1]))["blocks"]["block_tokens"])
        self.assertNotIn("blocks", self.told(requests='{"timestamp": 1, "input_length": 2, "output_length": 3}\n'))

    def test_bytes_of_the_cache(self):
        for model, bytes_ in PER_TOKEN.items():
            cache = self.told("--model", model)["kv_cache"]
            self.assertEqual((cache["bytes_per_token"], cache["total_bytes"]), (bytes_, 28 * bytes_), model)
        # NIXL kvbench, page of 16 tokens: R1 fp8 tp1 pp8, Llama 70B fp8 tp8 pp1.
        latent = self.told("--model", "deepseek-v3", "--kv-dtype", "fp8", "--pp", "8")["kv_cache"]
        self.assertEqual((latent["layer_write_bytes"], latent["stage_write_bytes"]), (9216, 73728))
        heads = self.told("--model", "llama3.1-70b", "--kv-dtype", "fp8", "--tp", "8")["kv_cache"]
        self.assertEqual(heads["stage_write_bytes"], 327680)
        # Three prompts of 9, 8 and 5 tokens arrive in the first second.
        self.assertEqual(heads["busiest_second_bytes"], 22 * 163840)

    def test_text_says_the_same(self):
        done = run("summary", self.file("requests.jsonl", lines(REQUESTS)), "--model", "llama3.1-8b")
        self.assertIn("4 requests in 4.250 s", done.stdout)
        self.assertIn("9 in prompts, 4 distinct, of 4 tokens", done.stdout)

    def test_what_is_refused(self):
        file = self.file("requests.jsonl", lines(REQUESTS))
        self.refused([file, "--model", "gpt"], "--model: unknown model 'gpt'")
        self.refused([file, "--model", "llama3.1-8b", "--tp", "3"], "--tp 3")
        self.refused([file, "--model", "llama3.1-8b", "--pp", "33"], "--pp 33")
        self.refused([file, "--model", "llama3.1-8b", "--kv-dtype", "fp5"], "--kv-dtype fp5")
        for option in (["--tp", "8"], ["--pp", "2"], ["--kv-dtype", "fp8"]):
            self.refused([file, *option], f"{option[0]} requires --model")
        self.refused([file, file], "requests are one file")
        self.refused([self.file("matrix.txt", "0 8\n8 0\n"), "--model", "llama3.1-8b"], "nccl-matrix")
        done = run("import", file, "-o", "-")
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("requests", done.stderr)

    def test_damaged_requests(self):
        good = {"timestamp": 5, "input_length": 2, "output_length": 3, "hash_ids": [1]}
        for field, value, reason in (("timestamp", -1, "timestamp"), ("timestamp", "x", "timestamp"), ("input_length", 1 << 63, "input_length"),
                                     ("input_length", 1 << 40, "tokens"), ("output_length", None, "output_length"), ("hash_ids", 7, "hash_ids"),
                                     ("hash_ids", [[]], "hash_ids"), ("timestamp", 1, "sort")):
            text = json.dumps(good) + "\n" + json.dumps({**good, field: value}) + "\n"
            self.refused([self.file("bad.jsonl", text)], "bad.jsonl", "request 1", reason)
        self.refused([self.file("bad.jsonl", '{"timestamp": 1, "input_length": 2')], "bad.jsonl")
        self.refused([self.file("bad.jsonl", '{"timestamp": 1, "input_length": 2, "hash_ids": ' + "[" * 1000000)], "bad.jsonl")


if __name__ == "__main__":
    unittest.main()
