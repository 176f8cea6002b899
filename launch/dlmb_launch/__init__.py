# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tools that start campaigns and judge them. What they know of results is what results-schema/ describes."""
