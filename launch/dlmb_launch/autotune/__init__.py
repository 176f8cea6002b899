# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_autotune: one command from a machine to files by which other programs run faster. docs/tuning.md says how it is used."""
