# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a table says of itself. All but the system key is for people, and only checked."""

from __future__ import annotations

from typing import Any

from .fields import Fields, as_text


def check_envelope(table: Fields, tolerant: bool) -> str:
    """Returns the system key. `tolerant`: fields that this reader does not know are passed over."""

    def end(fields: Fields) -> None:
        if not tolerant:
            fields.close()

    table.text("created")
    tool = table.object("tool")
    tool.text("name"), tool.text("version"), tool.text_or_empty("commit")
    end(tool)
    for source in table.elements("inputs", Fields):
        source.text("file"), source.text("sha256"), source.elements("launches", as_text)
        end(source)
    bases = table.object_if("bases")
    for consumer in bases.value if bases else ():
        base = bases.object(as_text(consumer, "bases"))
        base.text("sha256"), base.text("origin")
        end(base)
    key = check_system(table.object("system"), end)
    stack = table.object("stack")
    mpi = stack.object_if("mpi")
    if mpi is not None:
        mpi.text("name"), mpi.text("version"), mpi.elements("components", as_text)
        end(mpi)
    stack.text_map("versions"), stack.text_map("environment")
    end(stack)
    check_policy(table.object("policy"), end)
    return key


def check_system(system: Fields, end: Any) -> str:
    key = system.text("key")
    for name in ("key", "cpu"):
        if not system.text(name):
            raise system.refuse(name, "is empty")
    gpu = system.object_if("gpu")
    if gpu is not None:
        for name in ("name", "arch"):
            if not gpu.text(name):
                raise gpu.refuse(name, "is empty; name the device, or leave out 'gpu' where none was used")
        for name in ("processors", "per_node"):
            if gpu.whole(name) == 0:
                raise gpu.refuse(name, "is 0")
        end(gpu)
    system.text_or_empty("nic"), system.text_or_empty("topology")
    end(system)
    return key


def check_policy(policy: Fields, end: Any) -> None:
    policy.text("metric")
    min_gain = policy.object("min_gain")
    min_gain.number("small"), min_gain.number("large")
    end(min_gain)
    for name in ("fdr_q", "cut"):
        policy.number(name)
    for name in ("launches", "confirm_launches", "hysteresis"):
        policy.whole(name)
    policy.text_map("baseline"), policy.text_or_empty("cache")
    end(policy)
