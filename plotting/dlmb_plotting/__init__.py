# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws DLMB result files. Knows of them only what results-schema/ describes."""
