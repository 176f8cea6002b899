# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what was read from JSON against the fields that a reader looks at, and says which field is wrong. Their types are those of the
schema: `shape` makes a TypedDict of them.

Numbers are never negative and have 64 bits: none of this format is larger, and what is computed from them stays finite.
"""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Optional, Union

LARGEST = 2.0**64
SMALLEST = 1e-30  # but for zero


Signed = Annotated[float, "may be negative"]
Check = Callable[[Any], str]  # empty: as it should be; else "field.field: what is wrong"

PLAIN = {str: "text", bool: "true or false", int: "a whole number", float: "a number", Signed: "a number"}


@functools.cache
def checker(kind: Any, numbers_only: bool = False) -> Check:
    """kind: a TypedDict or dataclass, dict[str, X], list[X], Union or Optional of these, str, bool, int, float, Signed or Any.
    numbers_only: of a value whose types are right."""
    return _checker(kind, numbers_only) or _anything


def _anything(_: Any) -> str:
    return ""


def _checker(kind: Any, numbers_only: bool) -> Check | None:
    """None: there is nothing to check."""
    if kind is Any:
        return None
    if kind in (int, float, Signed):
        return _number(kind)
    if kind in PLAIN:
        return None if numbers_only else lambda value: "" if isinstance(value, kind) else f": {PLAIN[kind]} is expected, not {shown(value)}"
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        optional, checks = type(None) in inside, [_checker(each, numbers_only) for each in inside if each is not type(None)]
        if len(checks) > 1:
            each_of_them = [check or _anything for check in checks]
            return lambda value: "" if optional and value is None else min((check(value) for check in each_of_them), key=len)
        check = checks[0]
        return check and (lambda value: "" if value is None else check(value))
    if origin in (dict, list):
        one = _checker(inside[-1], numbers_only)
        if one is None and numbers_only:
            return None
        if origin is dict:
            return _every(dict, "an object", one or _anything, lambda value: value.items())
        return _every(list, "an array", one or _anything, enumerate)
    return _object(kind, numbers_only)


def _number(kind: type) -> Check:
    types: Any = int if kind is int else (int, float)

    def check(value: Any) -> str:
        if not isinstance(value, types) or value is True or value is False:
            return f": {PLAIN[kind]} is expected, not {shown(value)}"
        if value == 0 or SMALLEST <= value <= LARGEST or value != value:  # NaN is none of JSON's: a reader filled it in
            return ""
        if kind is Signed:
            return check(-value) if value < 0 else f": {shown(value)} is beyond 2^64"
        return f": {shown(value)} is no number from 0 to 2^64"

    return check


def _every(kind: type, name: str, one: Check, pairs: Callable[[Any], Any]) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, kind):
            return f": {name} is expected, not {shown(value)}"
        for place, each in pairs(value):
            if wrong := one(each):
                return f".{place}{wrong}"
        return ""

    return check


def _object(kind: Any, numbers_only: bool) -> Check | None:
    checks = {name: _checker(each, numbers_only) for name, each in typing.get_type_hints(kind, include_extras=True).items()}
    fields = {name: check or _anything for name, check in checks.items() if check or not numbers_only}
    required = getattr(kind, "__required_keys__", fields)
    if not fields:
        return None

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return f": an object is expected, not {shown(value)}"
        for name, one in fields.items():
            if name not in value:
                if name in required:
                    return f".{name}: is missing"
            elif wrong := one(value[name]):
                return f".{name}{wrong}"
        return ""

    return check


def shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, int) and abs(value) > LARGEST:
        return "a larger one"
    return repr(value)


PACKAGE = Path(__file__).resolve().parent  # the schemas lie beside it, in a distribution of pip inside of it
PLAIN_OF = {"string": str, "boolean": bool, "integer": int, "number": float}


@functools.cache
def schema_of(name: str) -> dict[str, Any]:
    return load_json(next(path for folder in (PACKAGE.parent, PACKAGE) if (path := folder / f"{name}.schema.json").exists()).read_bytes())


def shape(schema: str, place: str, names: str, **kinds: Any) -> Any:
    """A TypedDict of some fields of an object that a schema describes at `place` ("$defs/cell"; empty: the document). names: as
    "world.ranks", apart by blanks; `*` is every field or element, and `?` ends a field that may be absent. kinds: of fields that readers
    get in another form."""
    document = schema_of(schema)
    return _shape(document, _below(document, place), [name.split(".") for name in names.split()], kinds)


def _below(document: dict[str, Any], place: str) -> dict[str, Any]:
    return functools.reduce(lambda node, part: node[int(part)] if isinstance(node, list) else node[part], filter(None, place.split("/")), document)


def _shape(document: dict[str, Any], schema: dict[str, Any], names: Iterable[list[str]], kinds: dict[str, Any]) -> Any:
    inside: dict[str, list[list[str]]] = {}
    for first, *rest in names:
        inside.setdefault(first.rstrip("?"), []).extend([rest] if rest else [])
    fields = {name: kinds.get(name) or _kind(document, schema["properties"][name], below) for name, below in inside.items()}
    found = typing.TypedDict("Fields", fields)  # type: ignore[misc, operator]
    found.__optional_keys__ = frozenset(first[:-1] for first, *_ in names if first.endswith("?"))
    found.__required_keys__ = frozenset(found.__annotations__) - found.__optional_keys__
    return found


def _kind(document: dict[str, Any], schema: dict[str, Any], names: list[list[str]]) -> Any:
    """Of a value, by its schema; names: what is looked at in it."""
    if "$ref" in schema:
        return _kind(document, _below(document, schema["$ref"][2:]), names)
    if "oneOf" in schema:
        return Optional[_kind(document, next(each for each in schema["oneOf"] if each != {"type": "null"}), names)]
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kinds = [type(None) if each == "null" else _kind(document, {**schema, "type": each}, names) for each in kind]
        return Union[tuple(kinds)]
    below = [rest for _, *rest in names if rest]
    if kind == "array":
        return list[_kind(document, schema["items"], below)]
    if kind == "object" and (not names or names[0][0] == "*"):
        return dict[str, _kind(document, schema.get("additionalProperties") or next(iter(schema["properties"].values())), below)]
    if kind == "object":
        return _shape(document, schema, names, {})
    return Signed if kind == "number" and not {"minimum", "exclusiveMinimum"} & set(schema) else PLAIN_OF[kind]


def is_version(schema: Any, known: str) -> bool:
    """known: as "dlmb.result/1", which every minor version of it is."""
    return f"{schema}.".startswith(f"{known}.")


def refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def load_json(text: Union[str, bytes]) -> Any:
    """Raises ValueError for all that is not JSON: also NaN and Infinity, and brackets without end."""
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
