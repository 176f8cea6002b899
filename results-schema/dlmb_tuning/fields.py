# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""JSON, strictly: what another reader could take for something else is refused, with the path of the field. Codes of errors
are those of dlmb_tuning.h."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Optional

IO, SYNTAX, SCHEMA, SYSTEM = -1, -2, -3, -4
LARGEST = 2**64 - 1
DEEPEST = 17


class TableError(ValueError):
    """One line: what is wrong, where, and what to do."""

    def __init__(self, code: int, what: str) -> None:
        super().__init__(what)
        self.code = code


def schema_error(path: str, why: str) -> TableError:
    return TableError(SCHEMA, f"{path}: {why}")


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON leaves open what two fields of one name mean, and readers differ."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise TableError(SYNTAX, f"the field '{name}' is there twice")
    return dict(pairs)


def parse(content: bytes) -> Any:
    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text} is no JSON number of 64 bits")
        return value

    def whole(text: str) -> int:
        finite(text)
        return int(text)

    try:
        value = json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=without_repetition,
            parse_float=finite,
            parse_int=whole,
            parse_constant=finite,
        )
        check_nesting(value, 1)
        return value
    except TableError:
        raise
    except (ValueError, RecursionError) as error:
        raise TableError(SYNTAX, f"not JSON: {error}; write the table again or correct it by hand") from None


def check_nesting(value: Any, level: int) -> None:
    if isinstance(value, str):
        value.encode("utf-8")  # half a surrogate pair is no text
    inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    if level > DEEPEST and isinstance(value, (dict, list)):
        raise TableError(SYNTAX, f"nests deeper than {DEEPEST - 1}")
    for each in inner:
        check_nesting(each, level + 1)


def as_text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise schema_error(path, "must be a text")
    if "\0" in value:
        raise schema_error(path, "holds a zero byte, which ends a text in C")
    return value


def as_whole(value: Any, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise schema_error(path, f"must be a whole number from 0 to {LARGEST}")
    return value


def as_number(value: Any, path: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise schema_error(path, "must be a number")
    try:
        return float(value)
    except OverflowError:
        raise schema_error(path, "must be a number of 64 bits") from None


class Fields:
    """A JSON object that is read field by field. Null counts as absent. tolerant: fields that nobody asks for are passed over."""

    def __init__(self, value: Any, path: str, tolerant: bool = False) -> None:
        if not isinstance(value, dict):
            raise schema_error(path or "the table", "must be an object")
        self.value = value
        self.path = path
        self.tolerant = tolerant
        self.known: set[str] = set()

    def path_of(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def refuse(self, name: str, why: str) -> TableError:
        return schema_error(self.path_of(name), why)

    def has(self, name: str) -> bool:
        self.known.add(name)
        return self.value.get(name) is not None

    def at(self, name: str) -> Any:
        if not self.has(name):
            raise self.refuse(name, "is missing")
        return self.value[name]

    def text(self, name: str) -> str:
        return as_text(self.at(name), self.path_of(name))

    def text_or_empty(self, name: str) -> str:
        return self.text(name) if self.has(name) else ""

    def whole(self, name: str) -> int:
        return as_whole(self.at(name), self.path_of(name))

    def whole_if(self, name: str) -> Optional[int]:
        return self.whole(name) if self.has(name) else None

    def number(self, name: str) -> float:
        return as_number(self.at(name), self.path_of(name))

    def number_if(self, name: str) -> Optional[float]:
        return self.number(name) if self.has(name) else None

    def yes_no_if(self, name: str) -> Optional[bool]:
        if not self.has(name):
            return None
        if not isinstance(self.at(name), bool):
            raise self.refuse(name, "must be true or false")
        return self.at(name)

    def word(self, name: str, words: tuple[str, ...]) -> str:
        text = self.text(name)
        if text not in words:
            raise self.refuse(name, f"'{text}' is none of {', '.join(words)}")
        return text

    def elements(self, name: str, read: Any) -> list[Any]:
        values = self.at(name)
        if not isinstance(values, list):
            raise self.refuse(name, "must be a list")
        return [read(value, f"{self.path_of(name)}[{index}]") for index, value in enumerate(values)]

    def part(self, name: str, read: Callable[["Fields"], Any]) -> Any:
        """What `read` makes of an object, all of whose fields it has to ask for."""
        inner = Fields(self.at(name), self.path_of(name), self.tolerant)
        found = read(inner)
        inner.close()
        return found

    def part_if(self, name: str, read: Callable[["Fields"], Any]) -> Any:
        """None: it is absent."""
        return self.part(name, read) if self.has(name) else None

    def text_map(self, name: str) -> dict[str, str]:
        return self.part_if(name, lambda inner: {as_text(key, inner.path): inner.text(key) for key in inner.value}) or {}

    def close(self) -> None:
        """Refuses fields that nobody asked for."""
        for name in self.value:
            if name not in self.known and not self.tolerant:
                raise schema_error(self.path or "the table", f"unknown field '{name}'; it has {', '.join(sorted(self.known))}")
