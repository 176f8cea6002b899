# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what rccl-tests writes with `-Z json` and `-Z csv`, a record per kind of buffers: as its text, but with all digits and without devices."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from dlmb_launch.convert import nccl
from dlmb_launch.convert.measured import Given, Source, Table, json_of, refuse, whole

JSON = re.compile(r'\s*\[\s*\{\s*"numCycle"\s*:')
CSV = re.compile(r"\s*numCycle,collective,")
COLUMNS = {"time": "time", "algbw": "algBw", "busbw": "busBw", "#wrong": "wrong"}  # of the text, and what the JSON calls them
OF_CSV = {"collective": "name", "inplace": "inPlace", **COLUMNS}
FIELDS = ("numCycle", "name", "size", "type", "redop", "inPlace", "time", "algBw", "busBw", "wrong")


def looks_like(source: Source) -> bool:
    return bool(JSON.match(source.text) or CSV.match(source.text))


def read(path: Path, source: Source, given: Given) -> list[Table]:
    tables: dict[tuple[str, ...], Table] = {}
    records = of_json(path, source.text) if source.text.lstrip().startswith("[") else of_csv(path, source.text)
    for line, record in records:
        missing = [name for name in FIELDS if name not in record]
        if missing:
            raise refuse(path, line, f"no field '{missing[0]}', which rccl-tests -Z writes; convert its text output instead")
        add(path, line, record, tables, given)
    if not tables:
        raise refuse(path, 0, "holds no result; convert an unbroken output")
    return list(tables.values())


def of_json(path: Path, text: str) -> list[tuple[int, dict[str, str]]]:
    document = json_of(path, text)
    if not isinstance(document, list) or not all(isinstance(record, dict) for record in document):
        raise refuse(path, 0, "no list of records, which rccl-tests -Z json writes; convert its text output instead")
    return [(0, {name: value if isinstance(value, str) else repr(value) for name, value in record.items()}) for record in document]


def of_csv(path: Path, text: str) -> list[tuple[int, dict[str, str]]]:
    lines = csv.reader(io.StringIO(text))
    names = [OF_CSV.get(name.strip(), name.strip()) for name in next(lines, [])]
    found = []
    for line, words in enumerate(lines, 2):
        if words and len(words) != len(names):
            raise refuse(path, line, f"{len(words)} values for {len(names)} names: which value is of which name is not known; convert its text output or -Z json instead")
        if words:
            found.append((line, {name: word.strip() for name, word in zip(names, words)}))
    return found


def add(path: Path, line: int, record: dict[str, str], tables: dict[tuple[str, ...], Table], given: Given) -> None:
    operation = operation_of(path, line, record["name"], given)
    ranks, per_node = ranks_of(path, line, record, given)
    key = (record["numCycle"], record["name"], str(ranks))  # a cycle measures all sizes again
    if key not in tables:
        tables[key] = Table(
            suite=nccl.SUITE, program=f"rccl-tests {record['name']}", line=line, mode=nccl.SUITE, definition=nccl.definition(False), axis=nccl.AXIS,
            ranks=ranks, ranks_per_node=per_node)
    size = whole(path, line, "size", record["size"])
    if record["inPlace"] not in ("0", "1"):
        raise refuse(path, line, f"inPlace is '{record['inPlace']}', neither 0 nor 1; is the record damaged?")
    part = nccl.part_of(path, line, operation, size, ranks, {column: record[name] for column, name in COLUMNS.items()})
    what = nccl.parameters(record["type"], record["redop"], "")
    tables[key].rows += nccl.cells(line, operation, size, ranks, what, [("on" if record["inPlace"] == "1" else "off", part)], "rocm")


def operation_of(path: Path, line: int, name: str, given: Given) -> str:
    known = {ours.replace("_", ""): operation for ours, operation in nccl.OPERATIONS.items()}
    operation = nccl.OPERATIONS.get(given.operation, given.operation) or known.get(name.lower())
    if not operation:
        raise refuse(path, line, f"'{name}' is no operation of rccl-tests that is known; say it by --operation NAME")
    return operation


def ranks_of(path: Path, line: int, record: dict[str, str], given: Given) -> tuple[int, int]:
    """Ranks of the library, of which each process has one per device, and those of a node."""
    if "gpus" in record:
        ranks = per_node = whole(path, line, "gpus", record["gpus"])
    elif {"ranks", "ranksPerNode", "gpusPerRank"} <= set(record):
        devices = whole(path, line, "gpusPerRank", record["gpusPerRank"])
        ranks, per_node = (devices * whole(path, line, name, record[name]) for name in ("ranks", "ranksPerNode"))
    else:
        raise refuse(path, line, "it has neither 'gpus' nor 'ranks', 'ranksPerNode' and 'gpusPerRank', so its number of ranks is not known; convert its text output instead")
    if ranks < 1 or per_node < 1 or ranks % per_node or ("nodes" in record and whole(path, line, "nodes", record["nodes"]) * per_node != ranks):
        raise refuse(path, line, "nodes, ranks and ranks per node contradict each other; is the record damaged?")
    if given.ranks is not None and given.ranks != ranks:
        raise refuse(path, line, f"it says {ranks} ranks, --ranks says {given.ranks}; convert it without --ranks")
    return ranks, per_node
