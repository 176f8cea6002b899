# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of the past in one folder, which dlmb_compare --history compares with and exports. docs/comparing.md"""
