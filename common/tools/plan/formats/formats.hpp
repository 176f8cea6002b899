// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The formats: each is a file here and a row in all_formats().
#pragma once

#include "common/tools/plan/builder.hpp"

namespace dlmb::trace {

[[nodiscard]] Format kineto_format();
[[nodiscard]] Format execution_trace_format();
[[nodiscard]] Format chakra_format();
[[nodiscard]] Format param_format();
[[nodiscard]] Format aicb_format();
[[nodiscard]] Format simai_format();
[[nodiscard]] Format nccl_inspector_format();
[[nodiscard]] Format nccl_log_format();
[[nodiscard]] Format flight_recorder_format();
[[nodiscard]] Format goal_format();
[[nodiscard]] Format pmpi_format();
[[nodiscard]] Format nccl_matrix_format();
[[nodiscard]] Format requests_format();
[[nodiscard]] Format plan_format();
inline constexpr std::string_view plan_format_name = "plan";

/// The member `"name"` of an object stands in `head`: a quick look at JSON, not a proof.
[[nodiscard]] bool has_member(std::string_view head, std::string_view name);
/// The first character that is no blank; 0: none.
[[nodiscard]] char first_character(std::string_view head);

}  // namespace dlmb::trace
