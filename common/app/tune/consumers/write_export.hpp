// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// An export as a folder: its files, env.sh to source, lost.json, the table itself and verify.sh.
#pragma once

#include "common/app/tune/consumers/consumers.hpp"

namespace dlmb::app::tune {

/// The variables of an export whose files lie in `folder`, with absolute paths.
[[nodiscard]] std::map<std::string, std::string> environment_of(tuning::Export const& made,
                                                                std::filesystem::path const& folder);

/// Makes the folder where it is missing. Throws OutputError with path and reason.
void write_export(std::filesystem::path const& folder, ExportRequest const& request, tuning::TuningTable const& table,
                  tuning::Export const& made);

}  // namespace dlmb::app::tune
