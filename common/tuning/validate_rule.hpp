// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with one rule, whatever the others say.
#pragma once

#include "common/tuning/validate.hpp"

namespace dlmb::tuning {

/// Appends to `problems`; `path` is that of the rule.
void validate_rule(Rule const& rule, std::string const& path, std::vector<Problem>& problems);

}  // namespace dlmb::tuning
