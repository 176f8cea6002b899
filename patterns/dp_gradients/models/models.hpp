// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The models that have a name.
#pragma once

#include "patterns/dp_gradients/models/model.hpp"

#include <span>
#include <string_view>

namespace dlmb::dp_gradients {

[[nodiscard]] std::span<std::string_view const> model_names();

/// `name` is one of model_names().
[[nodiscard]] Model model_named(std::string_view name);

}  // namespace dlmb::dp_gradients
