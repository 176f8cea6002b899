// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The formats: each is a file here and a row in all_formats().
#pragma once

#include "common/tools/plan/builder.hpp"

namespace dlmb::trace {

[[nodiscard]] TraceFormat kineto_format();
[[nodiscard]] TraceFormat execution_trace_format();
[[nodiscard]] TraceFormat chakra_format();
[[nodiscard]] TraceFormat param_format();
[[nodiscard]] TraceFormat aicb_format();
[[nodiscard]] TraceFormat simai_format();
[[nodiscard]] TraceFormat nccl_inspector_format();
[[nodiscard]] TraceFormat nccl_log_format();
[[nodiscard]] TraceFormat flight_recorder_format();
[[nodiscard]] TraceFormat goal_format();
[[nodiscard]] TraceFormat pmpi_format();
[[nodiscard]] TraceFormat nccl_matrix_format();
[[nodiscard]] TraceFormat requests_format();
[[nodiscard]] TraceFormat plan_format();
inline constexpr std::string_view plan_format_name = "plan";

/// The member `"name"` of an object stands in `head`: a quick look at JSON, not a proof.
[[nodiscard]] bool has_member(std::string_view head, std::string_view name);
/// The first character that is no blank; 0: none.
[[nodiscard]] char first_character(std::string_view head);

}  // namespace dlmb::trace
