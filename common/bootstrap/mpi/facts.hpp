// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the record says about the MPI library and the launcher.
#pragma once

#include <map>
#include <string>

namespace dlmb::mpi {

/// `size` and `local_rank` as MPI says them, to be held against what the launcher says.
[[nodiscard]] std::map<std::string, std::string, std::less<>> facts(int size, int local_rank);

}  // namespace dlmb::mpi
