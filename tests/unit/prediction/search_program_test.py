# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict search (AutoDDL, arXiv 2301.06813)."""

from __future__ import annotations

import json
from pathlib import Path

import program
from dlmb_launch.sweep import sweep_file

MLP = ("--layers", "8192x32768,32768x8192")
PRICE = ("--alpha-us", 5, "--bandwidth", 25)


class Search(program.Program):
    command = ("search",)

    def model_of(self, rows: list[str]) -> Path:
        """Fitted to rows of nodes, collective, algorithm, bytes and microseconds."""
        table = self.write("table.csv", ["system,nodes,collective,algorithm,bytes,median_us", *(f"made,{row}" for row in rows)])
        model = self.folder / "model.json"
        program.run([program.PROGRAM, "fit", table, "--system", "made", "-o", model]).check_returncode()
        return model

    def model_with(self, collective: str) -> Path:
        """By a ring of 10 us a round and twice the bytes, alone."""
        return self.model_of([f"{nodes},{collective},ring,{size},{10 * (nodes - 1) + 2 * (nodes - 1) / nodes * size / 25000:.3f}"
                              for nodes in (4, 8, 16) for size in (32, 4096, 65536, 1 << 20)])

    def test_text_and_json_name_the_layout_and_its_operations(self) -> None:
        answer = self.answer(*MLP, "--tokens", 64, "--mesh", 4, *PRICE)
        self.assertEqual([layer["division"] for layer in answer["layers"]], [["column"], ["row"]])
        (operation,) = answer["operations"]
        self.assertEqual((operation["operation"], operation["from"], operation["to"]), ("allreduce", "P", "B"))
        self.assertEqual((operation["bytes"], operation["ranks"], operation["volume_bytes"]), (64 * 8192 * 2, 4, 2 * 3 * 64 * 8192 * 2))
        self.assertLess(answer["us"], min(answer["us_of_one_division"].values()))
        text = self.call(*MLP, "--tokens", 64, "--mesh", 4, *PRICE).stdout
        self.assertIn("layer 1        8192 x 32768    column", text)
        self.assertIn("allreduce           4       1048576", text)

    def test_the_sweep_measures_every_operation_that_the_layout_needs(self) -> None:
        sweep = self.folder / "next.toml"
        arguments = (*MLP, "--repeat", 2, "--tokens", 4096, "--mesh", "2x4", *PRICE)
        operations = self.answer(*arguments, "--next-sweep", sweep)["operations"]
        for ranks in {operation["ranks"] for operation in operations}:
            file = self.folder / f"next-{ranks}r.toml"
            text = file.read_text(encoding="utf-8")
            for operation in operations:
                if operation["ranks"] == ranks:
                    per_rank = operation["operation"] in ("allgather", "alltoall")
                    size = int(operation["bytes"]) // (ranks if per_rank else 1)
                    self.assertIn(f"{size}:{size}", text)
            read = sweep_file.read(file)
            self.assertEqual([world.ranks for world in read.worlds], [ranks])
            self.assertEqual({program.program for program in read.programs}, {"collective"})

    def test_a_machine_model_prices_by_its_fastest_algorithm(self) -> None:
        rows = []
        for nodes in (4, 8, 16):
            for size in (32, 4096, 65536, 1 << 20, 1 << 24):
                for collective, factor in (("allreduce", 2), ("allgather", 1), ("reduce_scatter", 1), ("alltoall", 1)):
                    algorithm = "pairwise" if collective == "alltoall" else "ring"
                    us = factor * (5 * (nodes - 1) + (nodes - 1) / nodes * size / 25000)
                    rows.append(f"{nodes},{collective},{algorithm},{size},{us:.3f}")
        model = self.model_of(rows)
        arguments = (*MLP, "--tokens", 64, "--mesh", 4)
        by_model = self.answer(*arguments, "--model", model, "--force")
        by_formula = self.answer(*arguments, *PRICE)
        self.assertEqual(by_model["layers"], by_formula["layers"])
        self.assertLess(abs(by_model["us"] / by_formula["us"] - 1), 0.3)
        self.refused(64, "either --model", *arguments, "--model", model, *PRICE)
        self.refused(64, "either --model", *arguments, "--model", model, *PRICE[:2])

    def test_a_collective_without_a_price_is_missed_only_where_a_layout_needs_it(self) -> None:
        arguments = (*MLP, "--tokens", 64, "--mesh", 4, "--force", "--model")
        answer = self.answer(*arguments, self.model_with("allreduce"))
        self.assertEqual({operation["operation"] for operation in answer["operations"]}, {"allreduce"})
        self.assertIsNone(answer["us_of_one_division"]["column"])
        self.assertIn("column everywhere: no price", self.call(*arguments, self.folder / "model.json").stdout)
        self.refused(64, "no layout has a price: the model prices no algorithm of", *arguments, self.model_with("reduce_scatter"))

    def test_a_model_that_knows_its_error_is_refused_with_69(self) -> None:
        model = self.model_with("allreduce")
        document = json.loads(model.read_text(encoding="utf-8"))
        document["error"]["held_out"] = [{"collective": name, "points": 9, "median": 0.7, "p90": 0.9} for name in ("allreduce", "allgather", "reduce_scatter", "alltoall")]
        model.write_text(json.dumps(document), encoding="utf-8")
        self.refused(69, "is 70 %; --force answers", "--layers", "64x64", "--tokens", 64, "--mesh", 4, "--model", model)
        fill = program.run([program.PROGRAM, "fill", "--ranks", 8, "--pp", 2, "--fill", "allreduce:4M", "--model", model])
        self.assertEqual((fill.returncode, len(fill.stderr.splitlines())), (69, 1), fill.stderr)

    def test_the_layers_of_a_transformer_come_from_its_file(self) -> None:
        llama = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "rms_norm_eps": 1e-5}
        config = self.folder / "config.json"
        config.write_text(json.dumps(llama), encoding="utf-8")
        right = ("--tokens", 4096, "--mesh", 8, *PRICE)
        answer = self.answer("--layers", config, "--repeat", 1, *right)
        sizes = [(layer["inputs"], layer["outputs"]) for layer in answer["layers"]]
        self.assertEqual(sizes, [(4096, 4096 + 2 * 1024), (4096, 4096), (4096, 2 * 14336), (14336, 4096)])
        self.assertEqual(answer["model"], "llama")
        self.assertEqual(len(self.answer("--layers", config, *right)["layers"]), 4 * 32)
        gpt = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12}
        config.write_text(json.dumps(gpt), encoding="utf-8")
        answer = self.answer("--layers", config, "--repeat", 1, *right)
        self.assertEqual([layer["outputs"] for layer in answer["layers"]], [3 * 768, 768, 4 * 768, 768])
        for changes, part in (({"n_routed_experts": 64, "num_experts_per_tok": 8}, "mixture of experts"), ({"num_attention_heads": 0}, "config.json")):
            config.write_text(json.dumps({**llama, **changes}), encoding="utf-8")
            self.refused(64, part, "--layers", config, *right)
        self.refused(64, "cannot be read", "--layers", self.folder / "none.json", *right)

    def test_the_document_follows_the_schema(self) -> None:
        self.follows_its_schema(self.write("layouts.json", [json.dumps(self.answer(*MLP, "--tokens", 64, "--mesh", 4, *PRICE))]))

    def test_one_sweep_is_written_where_it_is_asked_for(self) -> None:
        done = self.call(*MLP, "--tokens", 64, "--mesh", 4, *PRICE, "--next-sweep", self.folder / "sweep.new")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["sweep.new"])
        done = self.call(*MLP, "--tokens", 64, "--mesh", 4, *PRICE, "--next-sweep", self.folder)
        self.assertEqual(done.returncode, 74, done.stderr)
        done = self.call(*MLP, "--tokens", 64, "--mesh", 4, *PRICE, "--next-sweep", "-")
        self.assertEqual((done.returncode, done.stdout), (0, (self.folder / "sweep.new").read_text(encoding="utf-8").replace('"sweep"', '"layouts"')))
        self.assertIn("layer 1        8192 x 32768    column", done.stderr)
        self.refused(64, "one sweep for each of 2, 4 ranks", *MLP, "--repeat", 2, "--tokens", 4096, "--mesh", "2x4", *PRICE, "--next-sweep", "-")

    def test_what_is_wrong_is_refused_in_one_line(self) -> None:
        right = ("--tokens", 64, "--mesh", 4, *PRICE)
        self.refused(64, "either --model", *MLP, "--tokens", 64, "--mesh", 4)
        for layers in ("4096", "4096x", "0x4", "4x4x4", "ax4"):
            self.refused(64, "--layers", "--layers", layers, *right)
        for mesh in ("0", "2x", "1000000", "2x2x2x2", "-4"):
            self.refused(64, "", *MLP, "--tokens", 64, "--mesh", mesh, *PRICE)
        self.refused(64, "--element", *MLP, "--element", "bf17", *right)
        self.refused(64, "unknown backend 'mpo'; nearest: mpi", *MLP, "--backend", "mpo", *right, "--next-sweep", self.folder / "next.toml")
        self.refused(64, "--backend requires --next-sweep", *MLP, "--backend", "mpi", *right)
        done = self.call(*MLP, *right, "--next-sweep", self.folder / "no" / "next.toml")
        self.assertEqual(done.returncode, 74, done.stderr)


if __name__ == "__main__":
    program.main()
