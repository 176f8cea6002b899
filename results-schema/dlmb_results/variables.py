# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which environment variables a file that is passed on may hold, by the rules of common/measure/environment/variables.hpp."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_SECRET_NAME = re.compile("TOKEN|KEY|PASS|SECRET|CRED|AUTH|BEARER|COOKIE|LOGIN|PWD|JWT", re.IGNORECASE)
_LOGIN = re.compile(r"://.*@|[^\s/,;#@]*:[^\s/,;#@]*(?<!:)@", re.DOTALL)
_ASSIGNMENT = re.compile("(PASSWORD|PASSWD|PWD|TOKEN|SECRET|KEY)[=:]", re.IGNORECASE)
_HEADER = re.compile("(Bearer|Basic) |.*-----BEGIN", re.DOTALL)
_TOKEN = re.compile("(?=.{16})(gh[psou]_|github_pat_|glpat-|hf_|sk-|xox[bp]-|AKIA|ASIA|AIza|nvapi-|eyJ)", re.DOTALL)
_RUN = re.compile("[A-Za-z0-9]{20,}")


def recorded(variables: Mapping[str, str]) -> dict[str, str]:
    """All of them, with a hash or "<redacted>" for the values that may not be written down."""
    return {name: _text(name, value) for name, value in sorted(variables.items())}


def looks_like_credential(value: str) -> bool:
    if _LOGIN.search(value) or _ASSIGNMENT.search(value) or _HEADER.match(value):
        return True
    return any(_is_token(word) for word in re.split("[ \t,;:=|\"']", value) if not word.startswith("/"))


def stable_hash(text: str) -> str:
    """FNV-1a of 64 bits, as common/base/hash.cpp does it."""
    value = 0xCBF29CE484222325
    for byte in text.encode(errors="surrogateescape"):
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return f"{value:016x}"


@lru_cache(maxsize=None)
def known() -> frozenset[str]:
    names, prefix = set(), ""
    for line in Path(__file__).with_name("known_variables.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            prefix = line[1 : line.index("]")]
        elif not line.startswith("#"):
            names |= {prefix + name for name in line.split()}
    cvars = [name[len("MPIR_CVAR_") :] for name in names if name.startswith("MPIR_CVAR_")]
    return frozenset(names | {spelling + name for spelling in ("MPICH_", "MPIR_PARAM_") for name in cvars})


def _text(name: str, value: str) -> str:
    listed = name in known()
    if looks_like_credential(value) or (not listed and _SECRET_NAME.search(name)):
        return "<redacted>"
    return value if listed else f"<hash {stable_hash(f'{name}={value}')[:6]}>"


def _is_token(word: str) -> bool:
    runs = (run for run in _RUN.findall(word) if not run.startswith("0x"))
    return bool(_TOKEN.match(word)) or any(not run.isdigit() and not run.isalpha() for run in runs)
