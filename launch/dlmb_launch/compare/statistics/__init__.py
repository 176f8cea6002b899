# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests and intervals on launches, for many cells at once: arrays have one row per cell and one column per launch."""
