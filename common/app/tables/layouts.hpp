// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The layouts behind make_table, and what they share.
#pragma once

#include "common/app/tables/table.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb::app {

[[nodiscard]] std::unique_ptr<Table> make_own_table();
[[nodiscard]] std::unique_ptr<Table> make_osu_table();
[[nodiscard]] std::unique_ptr<Table> make_nccl_table();

/// The first line: program, ranks, launch.
[[nodiscard]] std::string preamble(record::Launch const& launch, std::string_view pattern);

/// A cell without a time: its status and reason, as a comment.
[[nodiscard]] std::string note(record::Record const& cell, std::string_view title);

/// Nothing where the pattern has no parameter of that name.
[[nodiscard]] std::optional<std::string> parameter(record::Record const& cell, std::string_view name);

/// The message size as -m counts it.
[[nodiscard]] std::optional<Bytes> message_size(record::Record const& cell);

/// Rows that differ only in their message size stand under one comment: what they have in common.
class Series {
public:
    /// "# operation=allreduce mpi/default host" when this cell opens another series than the one before, else empty.
    [[nodiscard]] std::string heading(record::Record const& cell, std::string_view title);

private:
    std::string last_;
};

}  // namespace dlmb::app
