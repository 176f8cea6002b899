# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""TOML files whose every key is known: reading, and the checks that all of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlmb_launch.sweep.faults import UnavailableError, UsageError
from dlmb_results.inputs import MOST_SETTINGS_BYTES, read_document

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11: the package that became tomllib
    try:
        import tomli as tomllib
    except ModuleNotFoundError:
        tomllib = None

_NAMES = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}


def read(path: Path) -> dict[str, Any]:
    if tomllib is None:
        raise UnavailableError("reading TOML needs Python 3.11, or the Python package tomli")
    try:
        values = tomllib.loads(read_document(path, MOST_SETTINGS_BYTES).decode("utf-8"))
        _require_64_bits(values)
        return values
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # of tomllib, of an integer of thousands of digits, of deep brackets
        raise UsageError(f"{path}: not TOML: {error}") from None


def _require_64_bits(value: Any) -> None:
    """As TOML has it. Python reads longer numbers in base 16, and then refuses to print them."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a whole number has more than 64 bits")
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            _require_64_bits(each)


class Table:
    """A table of a file, read key by key. What was not asked for when done() is called is an error."""

    def __init__(self, values: dict[str, Any], place: str):
        self._values = dict(values)
        self.place = place

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self._values:
            if default is None:
                raise UsageError(f"{self.place}: '{key}' is missing")
            return default
        value = self._values.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UsageError(f"{self.place}: {key} must be {_NAMES[kind]}, not {value!r}")
        return value

    def positive(self, key: str, default: int | None = None, most: int = 2**31 - 1) -> int:
        value = self.take(key, int, default)
        if value < 1:
            raise UsageError(f"{self.place}: {key} must be at least 1, not {value}")
        if value > most:
            raise UsageError(f"{self.place}: {key} must be at most {most}, not {value}")
        return value

    def texts(self, key: str) -> dict[str, str]:
        """A table of environment variables or the like."""
        return {name: str(value) for name, value in self.take(key, dict, {}).items()}

    def tables(self, key: str) -> list[Table]:
        """[[key]], each once."""
        entries = self.take(key, list, [])
        for entry in entries:
            if not isinstance(entry, dict):
                raise UsageError(f"{self.place}: write [[{key}]] above each entry of '{key}'")
        return [Table(entry, f"{self.place}, {key} {number}") for number, entry in enumerate(entries, 1)]

    def rest(self) -> dict[str, Any]:
        values, self._values = self._values, {}
        return values

    def done(self) -> None:
        if self._values:
            raise UsageError(f"{self.place}: unknown key '{next(iter(self._values))}'")
