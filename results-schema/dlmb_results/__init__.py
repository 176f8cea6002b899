# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads result files. The one reader of all Python tools; it lies beside the schema because both change together."""

VERSION = "0.1.0"  # of project() in CMakeLists.txt
