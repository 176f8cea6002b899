#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Prints README.md of this folder, made from the descriptions in the schemas.

    results-schema/describe.py > results-schema/README.md

An object that a schema writes in place is listed with dotted names in the table of the object that holds it; an object of $defs has
a table of its own. Of objects in place that have the same fields the first one is listed, and the others name it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
Schema = dict[str, Any]

OPENING = """# What DLMB writes

`describe.py` makes this page.

    results-schema/validate.py moe.jsonl            # needs python3-jsonschema
    results-schema/validate.py --strict plan.jsonl  # refuses unknown fields

`schema` is `dlmb.FORMAT/MAJOR.MINOR`. New fields, kinds of lines, words and nulls raise MINOR; readers ignore what they do not know. Other changes
raise MAJOR. Fields marked `?` may be absent. Numbers are never NaN or infinite.
"""
FORMATS = ("result", "plan", "tuning-table", "machine-model", "bound", "guidelines", "layouts", "fill", "simulation", "comparison")
TYPES = {"string": "text", "boolean": "yes/no", "array": "list"}
UNITS = {"ns": "ns", "us": "us", "bytes": "B", "GBps": "GB/s", "ppm": "ppm"}


class Page:
    """The tables of one schema, those of $defs in the order in which they are met."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.waiting: list[str] = []
        self.listed: dict[str, str] = {}  # fields of objects in place -> name of the first one

    def resolve(self, schema: Schema) -> Schema:
        """Follows a $ref; what stands beside it comes first. Without the null of a value that may be null."""
        if "$ref" in schema:
            target: Any = self.schema
            for part in schema["$ref"][2:].split("/"):
                target = target[int(part)] if isinstance(target, list) else target[part]
            schema = {**self.resolve(target), **{key: value for key, value in schema.items() if key != "$ref"}}
        if "oneOf" in schema:
            schema = {**self.resolve(value_of(schema)), **schema, "null": True}
        return schema

    def named_table(self, schema: Schema) -> str:
        """Of an object of $defs with fields; else empty."""
        reference = value_of(schema).get("$ref", "")
        return reference.split("/")[2] if reference and self.resolve(schema).get("properties") else ""

    def table(self, schema: Schema) -> Iterator[str]:
        """Nothing where the schema is no object with named fields."""
        rows = list(self.rows(schema, ""))
        if rows:
            yield "|field|type|unit|meaning|\n|---|---|---|---|"
            yield from rows

    def rows(self, schema: Schema, prefix: str) -> Iterator[str]:
        for name, written in schema.get("properties", {}).items():
            if "/properties/" in written.get("$ref", ""):
                continue  # described where it is first listed
            field = self.resolve(written)
            absent = "" if name in schema.get("required", []) else "?"
            like = "" if self.named_table(written) else self.first_like(field, f"{prefix}{name}")
            kind = f"as `{like}`" if like else self.kind(written)
            yield f"|`{prefix}{name}`{absent}|{kind}|{unit(name, field)}|{self.meaning(written)}|"
            if not like:
                yield from self.below(written, f"{prefix}{name}.")

    def first_like(self, field: Schema, name: str) -> str:
        """The object in place that has the same fields and is already listed; empty if there is none."""
        fields = field.get("properties", {})
        if len(fields) < 2 or only_names(field):
            return ""
        first = self.listed.setdefault(json.dumps(fields), name)
        return "" if first == name else first

    def below(self, written: Schema, prefix: str) -> Iterator[str]:
        """The fields of an object or of the elements of a list: rows here, or a table of its own."""
        schema = self.resolve(written)
        elements = schema.get("items", schema.get("additionalProperties"))
        if name := self.named_table(written):
            self.waiting += [] if name in self.waiting else [name]
        elif isinstance(elements, dict):
            yield from self.below(elements, prefix)
        elif not only_names(schema):
            yield from self.rows(schema, prefix)

    def kind(self, written: Schema) -> str:
        field = self.resolve(written)
        named = field.get("type", "object")
        if "type" not in field and {"enum", "const"} & set(field):
            named = "integer" if isinstance(field.get("enum", [""])[0], int) else "string"
        kinds = [named] if isinstance(named, str) else [each for each in named if each != "null"]
        kinds = [TYPES.get(each, each) for each in kinds]
        if name := self.named_table(written):
            kinds = [f"`{name}`"]
        for elements in (field.get("items"), field.get("additionalProperties")):
            if isinstance(elements, dict) and (name := self.named_table(elements)):
                kinds = [f"{kinds[0]} of `{name}`"]
        return "/".join(dict.fromkeys(kinds + ["null"] * bool(field.get("null") or "null" in named)))

    def meaning(self, written: Schema) -> str:
        """The heading of a table of its own is not repeated."""
        field = written if self.named_table(written) else self.resolve(written)
        values = field.get("enum", [field["const"]] if "const" in field else [])
        values = [value for value in values if isinstance(value, str) and value] or only_names(field) or only_names(field.get("items", {}))
        listed = "/".join(f"`{value}`" for value in values)
        text = field.get("description", "").replace("|", "\\|")
        return f"{text}: {listed}" if text and listed else text + listed

    def defined(self, name: str) -> Schema:
        return self.resolve({"$ref": f"#/$defs/{name}"})


def value_of(schema: Schema) -> Schema:
    """Of what may be null: the other one."""
    return next(each for each in schema.get("oneOf", [schema]) if each != {"type": "null"})


def only_names(schema: Schema) -> list[str]:
    """The fields of an object whose names say all."""
    fields = schema.get("properties", {})
    return [] if any({"description", "properties", "$ref"} & set(each) for each in fields.values()) else list(fields)


def unit(name: str, field: Schema) -> str:
    kinds = [field.get("type"), field.get("items", {}).get("type")]
    numeric = any(kind in ("integer", "number") or kind in (["integer", "null"], ["number", "null"]) for kind in kinds)
    return field.get("unit", UNITS.get(name.rpartition("_")[2], "") if numeric else "")


def chapter(name: str) -> Iterator[str]:
    schema = json.loads((HERE / f"{name}.schema.json").read_text(encoding="utf-8"))
    page = Page(schema)
    yield f"\n## {schema['title']}\n"
    yield schema.get("description", "")
    yield ""
    lines = re.findall(r"#/\$defs/(\w+)", json.dumps(schema.get("allOf", []) + schema.get("anyOf", [])))
    page.waiting += lines
    if not lines:
        yield from page.table(schema)
    for each in page.waiting:  # grows while tables are made
        yield f"\n`{each}`: {page.defined(each).get('description', '')}".rstrip(" :") + "\n"
        yield from page.table(page.defined(each))


def readme() -> str:
    return OPENING + "\n".join(line for name in FORMATS for line in chapter(name)) + "\n"


if __name__ == "__main__":
    print(readme(), end="")
