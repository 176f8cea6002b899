# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which of the given files is what: result lines, plans, tuning tables, comparisons."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlmb_results.lines import ResultError

from dlmb_plotting.results import Results, read
from dlmb_results.inputs import read_document

DOCUMENTS = {"dlmb.plan": "plans", "dlmb.tuning-table": "tables", "dlmb.comparison": "comparisons"}
MAJOR = "1"


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
    for given in paths:
        for path in files(given):
            if path.suffix == ".json":
                take_document(path, inputs, given.is_dir())
            else:
                lines.append(path)
    inputs.results = read(lines)
    return inputs


def take_document(path: Path, inputs: Inputs, found: bool) -> None:
    """A file that was merely found in a folder may be something else; one that was named may not."""
    try:
        document = json.loads(read_document(path))
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultError(f"{path}: not JSON: {error}") from error
    schema = str(document.get("schema", "")) if isinstance(document, dict) else ""
    name, _, version = schema.partition("/")
    if name in DOCUMENTS and version.split(".")[0] == MAJOR:
        getattr(inputs, DOCUMENTS[name])[unused_name(path, getattr(inputs, DOCUMENTS[name]))] = document
    elif name in DOCUMENTS or not found:
        known = ", ".join(f"{each}/{MAJOR}.x" for each in DOCUMENTS)
        raise ResultError(f"{path}: schema '{schema}', this program reads {known} in *.json files")


def unused_name(path: Path, used: dict[str, Any]) -> str:
    name = path.name.split(".")[0]
    return name if name not in used else f"{path.parent.name}.{name}"
