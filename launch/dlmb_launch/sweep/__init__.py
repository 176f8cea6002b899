# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_sweep: many launches, interleaved and resumable. What a sweep file says is in docs/sweeping.md."""
