# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One HTML file that needs no network: data as JSON, drawn as SVG by report.js."""
