# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which of the given files is what: result lines, plans, tuning tables, comparisons.

Plots look at a part of the fields of documents, and this part is checked. Tuning tables are checked by their own reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

import dlmb_tuning
from dlmb_plotting.results import Results, read
from dlmb_results.fields import Signed, checker, is_version, shape
from dlmb_results.files import read_json
from dlmb_results.lines import ResultError
from dlmb_results.plans import is_plan, read_plans
from dlmb_results.program import UsageError


STEP = shape("plan", "$defs/step", "id label after operation group? bytes? send?.*.peer send?.*.bytes recv?.*.peer recv?.*.bytes channel? busy_ns?",
             group=list[int], channel=Signed)  # as dlmb_results/plans.py reads it
PLAN = shape("plan", "$defs/plan", "rank steps", steps=list[STEP])
plan_fault = checker(shape("plan", "$defs/header", "pattern preset parameters world.ranks plans", plans=list[PLAN]))
COMPARISON = shape("comparison", "", """metric.name metric.unit counts cells.*.cell_id cells.*.state cells.*.name? cells.*.evidence?.ratio cells.*.evidence?.low
    cells.*.evidence?.high patterns.*.pattern patterns.*.cells patterns.*.ratio patterns.*.low? patterns.*.high?""")


def table_fault(document: Any) -> str:
    """What the reader of tables refuses (dlmb_tuning), for plots as for programs; empty: nothing."""
    try:
        dlmb_tuning.table_from(document)
        return ""
    except dlmb_tuning.TableError as error:
        return str(error)


DOCUMENTS = {"dlmb.tuning-table/1": ("tables", table_fault), "dlmb.comparison/1": ("comparisons", checker(COMPARISON))}  # where to, and what is wrong


@dataclass
class Inputs:
    results: Results = field(default_factory=Results)
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name of the file, without suffixes
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    comparisons: dict[str, dict[str, Any]] = field(default_factory=dict)


def files(path: Path) -> list[Path]:
    """The file itself, or every *.jsonl and *.json below a folder."""
    if not path.is_dir():
        return [path]
    found = sorted([*path.rglob("*.jsonl"), *path.rglob("*.json")])
    if not found:
        raise ResultError(f"{path}: no *.jsonl and no *.json in this folder")
    return found


def read_inputs(paths: list[Path]) -> Inputs:
    inputs = Inputs()
    lines: list[Path] = []
    remarks: list[str] = []
    for given in paths:
        for path in files(given):
            if path.is_file() and is_plan(path):
                take_plans(path, inputs)
            elif path.suffix == ".json":
                try:
                    document = read_json(path)
                except UsageError as error:
                    if not given.is_dir():
                        raise
                    remarks.append(f"{error}; it is passed over")
                    continue
                take_document(path, document, inputs, given.is_dir())
            else:
                lines.append(path)
    inputs.results = read(lines)
    inputs.results.remarks += remarks
    return inputs


def take_plans(path: Path, inputs: Inputs) -> None:
    """Of a file of several iterations, one plan each."""
    iterations = read_plans(path)
    for number, document in enumerate(iterations):
        if wrong := plan_fault(document):
            raise ResultError(f"{path}: {wrong.removeprefix('.')}")
        inputs.plans[unused_name(path, inputs.plans, f".{number}" if len(iterations) > 1 else "")] = document


def take_document(path: Path, document: Any, inputs: Inputs, found: bool) -> None:
    """A file that was merely found in a folder may be something else; one that was named may not."""
    schema = str(document.get("schema", "")) if isinstance(document, dict) else ""
    for known, (kind, fault) in DOCUMENTS.items():
        if is_version(schema, known):
            if wrong := fault(document):
                raise ResultError(f"{path}: {wrong.removeprefix('.')}")
            taken = getattr(inputs, kind)
            taken[unused_name(path, taken)] = document
            return
        found = found and schema.partition("/")[0] != known.partition("/")[0]
    if not found:
        raise ResultError(f"{path}: schema '{schema}', this program reads {', '.join(f'{each}.x' for each in DOCUMENTS)} in *.json files")


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """For whoever uses a document: a check of each field does not say that they fit together."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ResultError(f"a *.json file for '{what}' is not as its schema says: {type(error).__name__} {error}") from error


def unused_name(path: Path, used: dict[str, Any], end: str = "") -> str:
    name = path.stem.removesuffix(".plan") + end
    longer = f"{path.resolve().parent.name}.{name}"
    return next(each for each in chain([name, longer], (f"{longer}.{number}" for number in count(2))) if each not in used)
