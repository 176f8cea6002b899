// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The layouts that make_table() chooses from, and the lines that they share.
#pragma once

#include "common/run/tables/table.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::run {

/// The first lines: program, ranks, launch, noise floor.
[[nodiscard]] std::string preamble(record::Launch const& launch, std::string_view pattern);

/// As OSU Micro-Benchmarks and nccl-tests print theirs.
[[nodiscard]] std::unique_ptr<Table> make_osu_table(std::vector<std::uint64_t> percentiles);
[[nodiscard]] std::unique_ptr<Table> make_nccl_table(bool host_times);

}  // namespace dlmb::run
