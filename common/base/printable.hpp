// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

namespace dlmb {

/// Bytes of the printable character of UTF-8 that `text` begins with; 0: it begins with none.
[[nodiscard]] std::size_t printable_bytes(std::string_view text);

}  // namespace dlmb
