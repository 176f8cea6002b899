# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one statistics of all Python tools: what ends in a verdict for a person. SciPy is used where it has what is needed.

robust.py and margins.py need the standard library alone, because dlmb_autotune runs where there is nothing else.
"""
