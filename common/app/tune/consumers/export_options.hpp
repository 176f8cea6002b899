// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options that export and verify have in common.
#pragma once

#include "common/app/tune/consumers/consumers.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace dlmb::app::tune {

struct ExportOptions {
    std::string table;
    std::string consumer;
    std::uint64_t nodes = 0;  // 0: what the table says
    tuning::Slice slice;
    std::string library_version;
    std::string library;

    void add_to(CLI::App& parser);
    [[nodiscard]] ExportRequest request() const;
};

}  // namespace dlmb::app::tune
