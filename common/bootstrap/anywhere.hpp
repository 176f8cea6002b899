// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A yes or no that all ranks act on alike.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

namespace dlmb {

/// Collective: whether it is so on any rank.
[[nodiscard]] inline bool anywhere(Bootstrap& bootstrap, bool here) {
    std::int64_t any = here ? 1 : 0;
    bootstrap.all_reduce({&any, 1}, Fold::max);
    return any != 0;
}

}  // namespace dlmb
