# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes what the communication loggers of DeepSpeed and MCR-DL keep, `comms_dict`, as JSON:

    {"all_reduce": {"4096": [calls, [ms of each call], [Gbit/s, algorithm], [Gbit/s, bus]]}}

Source: deepspeed/utils/comms_logging.py, mcr_dl/utils/comms_logging.py (CommsLogger.append, calc_bw_log).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from dlmb_launch.convert.lines import block_of
from dlmb_launch.convert.measured import LARGEST, ConvertError, Given, Row, Source, Table, rates, refuse, whole
from dlmb_results.fields import load_json

SUITE = "comms_logger"
NS_PER_MS = 1e6
GBITPS_PER_GBPS = 8
OPERATIONS = {
    "all_reduce": "allreduce", "inference_all_reduce": "allreduce", "all_reduce_coalesced": "allreduce",
    "all_gather": "allgather", "all_gather_into_tensor": "allgather", "reduce_scatter": "reduce_scatter_block", "reduce_scatter_tensor": "reduce_scatter_block",
    "all_to_all_single": "alltoall", "broadcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter", "barrier": "barrier",
}
OF_ONE_RANK = ("reduce_scatter_block",)  # the logger counts a rank's share of these, dlmb_collective the whole
DEFINITION = "comms_logger: a rank's time of a call with a synchronisation behind it; of these the mean over calls"
AXIS = "over calls, of one rank"
BEGIN = re.compile(r'\s*\{\s*"(?:[a-z_]+)(?: \|[^"]*)?"\s*:\s*\{\s*"\d+"\s*:\s*\[\s*\d+\s*,\s*\[')


def looks_like(source: Source) -> bool:
    return BEGIN.match(source.text) is not None


def read(path: Path, source: Source, given: Given) -> list[Table]:
    try:
        document = load_json(source.text)
    except ValueError as error:
        raise refuse(path, getattr(error, "lineno", 0), "not a whole JSON document; write it by json.dump(logger.comms_dict, file)") from None
    if given.ranks is None:
        raise ConvertError(f"{path}: the logger does not keep its number of ranks; say it by --ranks N")
    table = Table(suite=SUITE, program=SUITE, line=0, mode=SUITE, definition=DEFINITION, axis=AXIS, ranks=given.ranks, ranks_per_node=given.ranks_per_node or 0)
    if not isinstance(document, dict):
        raise ConvertError(f"{path}: no object of operations; write it by json.dump(logger.comms_dict, file)")
    for name, sizes in document.items():
        if not isinstance(sizes, dict):
            raise ConvertError(f"{path}: '{name}' has no sizes; write it by json.dump(logger.comms_dict, file)")
        for size, record in sizes.items():
            table.rows.append(row(path, name, whole(path, 0, f"size of {name}", size), record, given.ranks))
    if not table.rows:
        raise ConvertError(f"{path}: no call was logged; enable the logger and run again")
    return [table]


def row(path: Path, name: str, size: int, record: Any, ranks: int) -> Row:
    where = f"'{name}' of {size} B"
    if not (isinstance(record, list) and len(record) == 4 and all(isinstance(each, list) for each in record[1:])):
        raise ConvertError(f"{path}: {where} is not [calls, [ms], [Gbit/s], [Gbit/s]]; is it damaged?")
    calls, lists = record[0], record[1:]
    if type(calls) is not int or calls < 1 or any(len(each) != calls for each in lists):
        raise ConvertError(f"{path}: {where} says {calls!r:.20} calls and lists {len(lists[0])}; is it damaged?")
    for value in (each for values in lists for each in values):
        if type(value) not in (int, float) or not 0 <= value < LARGEST:
            raise ConvertError(f"{path}: {where} has the value {value!r:.40}, which is no time or rate; is it damaged?")
    if not any(lists[0]):
        raise ConvertError(f"{path}: {where} took 0 ms, which is nothing that was measured; leave it out")
    # With `debug` the name of the calling function follows.
    plain, _, caller = name.partition(" | ")
    operation = OPERATIONS.get(plain, plain)
    ms, _, bus = lists
    time = {"mean": round(mean(ms) * NS_PER_MS, 3), "min": round(min(ms) * NS_PER_MS, 3), "max": round(max(ms) * NS_PER_MS, 3), "samples": calls}
    counted = None if operation == "barrier" else size * ranks if operation in OF_ONE_RANK else block_of(operation, size, ranks) if operation == "alltoall" else size
    return Row(0, operation, counted, time_ns=dict(time), bandwidth=None if operation == "barrier" else rates(None, mean(bus) / GBITPS_PER_GBPS), parameters={"caller": caller} if caller else {})


def written(cells: Iterable[Mapping[str, Any]]) -> str:
    """The same of cells of dlmb_collective: each launch of a cell is a call that took the cell's median, or the mean where the cell was
    converted. Cells without a time, and operations that the logger does not name, are left out. A comms_dict is of one job and does not say by
    what it communicates, so cells of several worlds or methods are refused."""
    names = {operation: name for name, operation in reversed(OPERATIONS.items())}
    measured_by: dict[tuple[str, int], str] = {}
    found: dict[str, dict[int, tuple[list[float], list[float], list[float]]]] = {}
    for cell in cells:
        parameters, time, ranks = cell["parameters"], cell["time_ns"] or {}, cell["world"]["ranks"]
        name = names.get(parameters.get("operation", ""), "")
        ns = time.get("median", time.get("mean", 0))
        if cell["status"] != "ok" or not name or not ns > 0 or not ranks:
            continue
        try:
            given = float(parameters.get("message-size", 0))  # a fraction where ranks do not divide what another program measured
        except ValueError:
            raise ConvertError(f"--to comms_logger: {cell['cell_id']}: its message-size is no number; is the file damaged?") from None
        size = round(given / ranks if parameters["operation"] in OF_ONE_RANK else given * ranks if parameters["operation"] == "alltoall" else given)
        by = f"{ranks} ranks over {cell['backend']} {cell['method']} in {cell['memory']} memory"
        if (before := measured_by.setdefault((name, size), by)) != by:
            raise ConvertError(f"--to comms_logger: {name} of {size} B was measured by {before} and by {by}, which a comms_dict cannot tell apart; give the results of one of them")
        whole_bytes = size * ranks if name.startswith(("all_gather", "reduce_scatter")) else size
        share = (ranks - 1) / ranks
        algorithm, bus = {"all_reduce": (2, 2 * share), "all_to_all_single": (1, share)}.get(name, (1, share if whole_bytes != size else 1))
        rate = whole_bytes * GBITPS_PER_GBPS / ns
        ms, of_algorithm, of_bus = found.setdefault(name, {}).setdefault(size, ([], [], []))
        ms.append(ns / NS_PER_MS)
        of_algorithm.append(algorithm * rate)
        of_bus.append(bus * rate)
    return json.dumps({name: {size: [len(lists[0]), *lists] for size, lists in sorted(sizes.items())} for name, sizes in found.items()}) + "\n"
