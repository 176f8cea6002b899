# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The reader that all Python tools share, where it is more than a JSON parser."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any, TypedDict, get_args, get_type_hints, is_typeddict

from made import CELL, WithFolder, cell, fault, launch

from dlmb_launch.compare.campaign import METRICS
from dlmb_launch.compare.reading import read_campaign
from dlmb_results.cells import CellFields, CellIdentity
from dlmb_results.files import bounded_lines
from dlmb_results.lines import decoder, read_lines, result_files, whole
from dlmb_results.names import environment_part

EXAMPLES = Path(__file__).resolve().parents[2] / "results-schema" / "examples"


class SamplesTest(WithFolder):
    def test_samples_are_left_out_and_nothing_else(self) -> None:
        line = cell("a", 1) | {"samples_ns": [1, 2, 3], "reason": 'text with "samples_ns":[1,2] in it'}
        found = list(read_lines(self.file("one", [launch("a"), line]), []))
        self.assertEqual(found[1], (2, line | {"samples_ns": []}))


class DecodingTest(WithFolder):
    """With msgspec, if it is installed, and without."""

    def test_a_narrow_line_holds_what_is_asked_for_as_a_whole_one_does(self) -> None:
        lines = [line for path in EXAMPLES.glob("*.jsonl") for line in path.read_bytes().splitlines()]
        for line in [*lines, json.dumps(cell("a", 1)).encode()]:
            self.assertEqual(common(decoder(CellFields)(line)[0], CellFields), common(whole(line), CellFields))

    def test_a_line_of_unexpected_types_is_left_to_the_reader_as_it_is(self) -> None:
        line = json.dumps(cell("a", 1) | {"time_ns": "none"}).encode()
        self.assertEqual(decoder(CellFields)(line), (whole(line), False))

    def test_what_is_no_line_is_none(self) -> None:
        for text in (b"", b"{", b"[1]", b"{}", b'{"kind": "cell', b'{"kind": "cell"} x', b'\xff'):
            self.assertEqual(decoder(CellFields)(text), (None, False), text)

    def test_it_is_the_fast_one_where_it_should_be(self) -> None:
        fast = decoder(CellFields)(json.dumps(cell("a", 1)).encode())[1]
        self.assertEqual(importlib.util.find_spec("msgspec") is not None, fast)


def common(value: Any, fields: Any) -> Any:
    """What a TypedDict names, in nested ones too."""
    if isinstance(value, list):
        return [common(each, fields) for each in value]
    if not isinstance(value, dict) or value.get("kind", "cell") != "cell":
        return value
    return {name: common(value[name], nested(kind)) for name, kind in get_type_hints(fields).items() if name in value}


def nested(kind: Any) -> Any:
    """The TypedDict in an Optional; for plain types one without fields."""
    return next((one for one in (kind, *get_args(kind)) if is_typeddict(one)), TypedDict("Nothing", {}))


class DerivedTest(WithFolder):
    """Figures that other cells tell of a cell stand behind it in the file."""

    def read(self, lines: list[dict[str, Any]], fields: type) -> dict[str, Any]:
        found = [line for _, line in read_lines(self.file("derived", lines), [], fields)]  # to the end of the file
        return next(line for line in found if line["kind"] == "cell")

    def test_they_are_statistics_of_the_last_ok_cell_of_their_id_whoever_reads(self) -> None:
        own, later = {"words_per_rank_max": 3.0, "interference": 0.0}, {"interference": 1.25}
        derived = {"kind": "derived", "launch_id": "b", "cell_id": CELL, "statistics": later}
        for fields in (CellFields, CellIdentity):
            line = self.read([launch("a"), cell("a", 1, statistics=dict(own)), fault("a", "failed"), launch("b"), derived], fields)
            self.assertEqual(line["statistics"], own | later)

    def test_those_of_a_cell_that_is_not_there_are_passed_over(self) -> None:
        derived = {"kind": "derived", "launch_id": "a", "cell_id": "other", "statistics": {"interference": 1.25}}
        self.assertEqual(self.read([launch("a"), cell("a", 1, statistics={}), derived], CellFields)["statistics"], {})


class EndlessTest(unittest.TestCase):
    def test_results_without_end_are_refused_but_a_regular_file_of_any_size_is_not(self) -> None:
        with open("/dev/zero", "rb") as zeros, self.assertRaisesRegex(OSError, "longer than 1 MiB"):
            list(bounded_lines(zeros, most=1 << 20))
        reader, writer = os.pipe()
        with os.fdopen(writer, "wb") as file:
            file.write(b"{}\n" * 1000)
        with os.fdopen(reader, "rb") as file, self.assertRaisesRegex(OSError, "from what is no regular file"):
            list(bounded_lines(file, most_stream=1000))
        with tempfile.TemporaryFile() as file:
            file.write(b"{}\n" * 1000)
            file.seek(0)
            self.assertEqual(len(list(bounded_lines(file, most_stream=1000))), 1000)


class EnvironmentTest(unittest.TestCase):
    def test_a_file_is_of_an_environment_where_it_lies_in_the_folder_of_that_name_below_the_one_that_is_read(self) -> None:
        for file, folder, expected in (
            ("before/tcp/moe.4r.tcp.001.jsonl", "before", "/environment=tcp"),
            ("night/results/a.b/moe.16r2n.a.b.100000.jsonl", "night", "/environment=a.b"),
            ("before/tcp/moe.4r.tcp.001.jsonl", "before/tcp", ""),  # one environment alone, perhaps to compare it with another
            ("before/tcp/moe.4r.tcp.001.jsonl", "before/tcp/moe.4r.tcp.001.jsonl", ""),
            ("before/tcp/moe.4r.axb.001.jsonl", "before", ""),
            ("4r/moe.4r.001.jsonl", ".", ""),
            ("before/monday/moe.jsonl", "before", ""),
        ):
            self.assertEqual(environment_part(Path(file), Path(folder)), expected, (file, folder))


class ExamplesTest(unittest.TestCase):
    def test_the_examples_of_the_schema_can_be_compared(self) -> None:
        for path in result_files(EXAMPLES):
            campaign = read_campaign("baseline", path, METRICS["time"])
            self.assertEqual((campaign.counts() > 0).sum(), 1, path.name)


if __name__ == "__main__":
    unittest.main()
