// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// In a build without libarchive no trace is read.
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void trace_aicb(std::string_view /*input*/) {}
void trace_chakra(std::string_view /*input*/) {}
void trace_execution(std::string_view /*input*/) {}
void trace_flight(std::string_view /*input*/) {}
void trace_goal(std::string_view /*input*/) {}
void trace_inspector(std::string_view /*input*/) {}
void trace_kineto(std::string_view /*input*/) {}
void trace_log(std::string_view /*input*/) {}
void trace_matrix(std::string_view /*input*/) {}
void trace_param(std::string_view /*input*/) {}
void trace_plan(std::string_view /*input*/) {}
void trace_pmpi(std::string_view /*input*/) {}
void trace_requests(std::string_view /*input*/) {}
void trace_simai(std::string_view /*input*/) {}

}  // namespace dlmb::fuzz
