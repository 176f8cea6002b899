# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What pip calls (PEP 517): setuptools, in a copy of the checkout. setuptools writes into the folder that it builds, which may belong
to somebody else or to a read-only mount.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from setuptools import build_meta

_ROOT = Path(__file__).resolve().parents[2]
_PARTS = ("pyproject.toml", "cmake/pip", "launch", "plotting", "results-schema")


def get_requires_for_build_wheel(config_settings=None):
    return ["wheel"]  # of setuptools before 70.1


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _copy():
        return build_meta.build_wheel(wheel_directory, config_settings)


def build_sdist(sdist_directory, config_settings=None):
    with _copy():
        Path("MANIFEST.in").write_text("recursive-include cmake/pip *.py\n", encoding="utf-8")
        return build_meta.build_sdist(sdist_directory, config_settings)


@contextlib.contextmanager
def _copy():
    """The working folder is a copy of what the distribution is made of, meanwhile."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for part in _PARTS:
            if (_ROOT / part).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(_ROOT / part, Path(folder, part), ignore=ignored, copy_function=shutil.copyfile)
            elif (_ROOT / part).is_file():
                shutil.copyfile(_ROOT / part, Path(folder, part))
        for schema in Path(folder, "results-schema").glob("*.schema.json"):
            shutil.copy(schema, schema.parent / "dlmb_results")  # where an installed reader finds them
        for each in Path(folder).rglob("*"):
            each.chmod(0o755 if each.is_dir() else 0o644)  # copytree gives folders the mode of the original
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
