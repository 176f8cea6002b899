// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether an algorithm of the library can do the calls of a plan is only known to the library, when it is called.
#pragma once

#include "common/backends/mpi/algorithms.hpp"
#include "common/backends/mpi/prepared_call.hpp"

#include <span>

namespace dlmb::mpi {

/// Collective: makes once, group by group, the calls that `choice` names, whatever is in their buffers. Why the library
/// cannot do them by these algorithms; empty: it just did. `calls`: by step of `plan`.
[[nodiscard]] std::string why_not_applicable(Plan const& plan, std::span<PreparedCall const> calls,
                                             AlgorithmChoice const& choice, Algorithms& algorithms,
                                             Bootstrap& bootstrap);

}  // namespace dlmb::mpi
