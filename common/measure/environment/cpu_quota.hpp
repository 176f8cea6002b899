// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How far a quota of processor time held this process back.
#pragma once

#include "common/formats/record/cell_result.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace dlmb::measure {

/// Reads cpu.stat of all groups of this process. Files are opened at each read, which takes some microseconds: never
/// where something is timed.
class QuotaReader {
public:
    explicit QuotaReader(std::filesystem::path const& root = "/");
    /// Since the groups were made, added up over the groups; nullopt: no group says.
    [[nodiscard]] std::optional<record::QuotaUse> read() const;

private:
    std::vector<std::filesystem::path> files_;
};

}  // namespace dlmb::measure
