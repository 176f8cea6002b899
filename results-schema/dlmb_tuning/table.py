# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A table from its file, and the questions it answers."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Optional, Union

from .fields import IO, SYSTEM, Fields, TableError, as_text, parse, schema_error
from .rules import BACKENDS, KEY, OPERATIONS, WORDS, Rule, conflicts, problems_of, rule_from

OUR_MINOR = 0
MOST_BYTES = 256 << 20  # a device or a FIFO may have no end


@dataclass(frozen=True)
class Choice:
    backend: str
    method: str  # "default", or as --method takes it
    algorithm: Optional[str]  # inside the library that the method calls
    algorithm_family: Optional[str]
    algorithm_id: Optional[int]
    params: dict[str, Any]
    rule_id: str
    select_rule_id: Optional[str]  # None for a query that names a backend
    status: str  # chosen, tie, no_gain, undecided, unconfirmed
    evidence: Optional[str]  # measured; foreign: numbers of another program, which nothing confirmed; predicted: by a model; None: a person wrote the rule


class Table:
    def __init__(self, system_key: str, rules: list[Rule]) -> None:
        self.system_key = system_key
        self.rules = rules

    def lookup(self, operation: str, *, bytes: Optional[int] = None, backend: Optional[str] = None, **known: Any) -> Optional[Choice]:
        """None: no rule, keep the default. What is not given, or None, is unknown and matches only rules that do not ask
        for it. Keys: ranks, nodes, memory, dtype, reduction, in_place, uniform, imbalance; their values as in
        dlmb_tuning.h. ValueError: a name that no table can have, which would silently keep the default."""
        require_word("operation", operation, OPERATIONS)
        for key in known:
            require_word("key", key, KEY)
        values = {name: value for name, value in {"bytes": bytes, **known}.items() if value is not None}
        for name, words in WORDS.items():
            if name in values:
                require_word(name, values[name], words)
        if backend:
            require_word("backend", backend, tuple(dict.fromkeys([*BACKENDS, *(rule.scope for rule in self.rules)])))
        select = None if backend else self._first("select", operation, values)
        if not backend and select is None:
            return None
        rule = self._first(backend or select.choose.backend, operation, values) or select
        return None if rule is None else choice_of(rule, select)

    def _first(self, scope: str, operation: str, values: dict[str, Any]) -> Optional[Rule]:
        return next((rule for rule in self.rules if rule.scope == scope and rule.matches(operation, values)), None)


def require_word(what: str, word: Any, words: tuple[str, ...]) -> None:
    if word not in words:
        raise ValueError(f"unknown {what} {word!r}; one of {', '.join(words)}")


def choice_of(rule: Rule, select: Optional[Rule]) -> Choice:
    algorithm = rule.choose.algorithm or {"name": None, "family": None, "id": None}
    return Choice(
        rule.choose.backend,
        rule.choose.method,
        algorithm["name"],
        algorithm["family"],
        algorithm["id"],
        rule.choose.params,
        rule.id,
        select.id if select else None,
        rule.status,
        rule.evidence.kind if rule.evidence else None,
    )


def open_table(path: Union[str, os.PathLike], system_key: Optional[str] = None) -> Table:
    """Raises TableError with the path of the file. Without a system_key the table may be one of another system."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError:
        raise TableError(IO, f"{path}: cannot be read; give the path of a tuning table") from None
    if len(content) > MOST_BYTES:
        raise TableError(IO, f"{path}: larger than {MOST_BYTES >> 20} MiB; give the path of a tuning table")
    try:
        table = table_from(parse(content))
    except TableError as error:
        raise TableError(error.code, f"{path}: {error}") from None
    if system_key is not None and system_key != table.system_key:
        raise TableError(SYSTEM, f"{path}: was measured on system {table.system_key}, this is {system_key}; measure a table here")
    return table


def table_from(value: Any) -> Table:
    schema = Fields(value, "").text("schema")
    version = re.fullmatch(r"dlmb\.tuning-table/1\.([0-9]+)", schema)
    if version is None or int(version.group(1)) >= 2**32:
        raise schema_error("schema", f"'{schema}' cannot be read by this program, which knows dlmb.tuning-table/1.x")
    table = Fields(value, "", tolerant=int(version.group(1)) > OUR_MINOR)
    table.text("schema"), table.text("created")
    table.part("tool", lambda tool: (tool.text("name"), tool.text("version"), tool.text_or_empty("commit")))
    for source in table.elements("inputs", lambda each, path: Fields(each, path, table.tolerant)):
        source.text("file"), source.text("sha256"), source.elements("launches", as_text)
        source.close()
    key, has_gpu = table.part("system", system_from)
    table.part("stack", check_stack)
    confirms = table.part("policy", confirms_from)
    rules = table.elements("rules", rule_from)
    table.close()
    for index, rule in enumerate(rules):
        for problem in problems_of(rule, has_gpu, confirms):
            raise schema_error(f"rules[{index}]", problem)
    for index, problem in conflicts(rules):
        raise schema_error(f"rules[{index}]", problem)
    return Table(key, rules)


# What a table says of itself: all but the key, the GPU and the confirmation is for people, and only checked.


def system_from(system: Fields) -> tuple[str, bool]:
    """The key, and whether devices were measured."""
    for name in ("key", "cpu"):
        if not system.text(name):
            raise system.refuse(name, "is empty")
    if system.has("gpu") and not system.text("gpu"):
        raise system.refuse("gpu", "is empty; name the devices, or leave it out where none was used")
    system.text_or_empty("name"), system.text_map("identity")
    return system.text("key"), system.has("gpu")


def check_stack(stack: Fields) -> None:
    stack.part_if("mpi", lambda mpi: (mpi.text("name"), mpi.text("version")))
    stack.text_map("versions"), stack.text_map("environment")


def confirms_from(policy: Fields) -> bool:
    """Whether choices had to be confirmed."""
    policy.text("metric")
    policy.part("min_gain", lambda min_gain: (min_gain.number("small"), min_gain.number("large")))
    for name in ("fdr_q", "cut"):
        policy.number(name)
    for name in ("launches", "confirm_launches", "hysteresis"):
        policy.whole(name)
    policy.text_map("baseline"), policy.text_or_empty("cache"), policy.text_or_empty("beside")
    return policy.whole("confirm_launches") > 0
