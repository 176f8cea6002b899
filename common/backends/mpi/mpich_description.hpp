// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithms that the description of one of MPICH's control variables names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlmb::mpi {

/// One value of a variable that has a list of them.
struct NamedValue {
    std::string name;
    int value = 0;
    bool operator==(NamedValue const&) const = default;
};

/// Names and ids in the description of a variable MPIR_CVAR_<CALL>_INTRA_ALGORITHM; of algorithms that need no
/// parameters. The id of an algorithm is its place in the description, from which the library's own list is generated
/// (maint/extractcvars).
[[nodiscard]] std::vector<NamedValue> mpich_algorithms_in(std::string_view description);

}  // namespace dlmb::mpi
