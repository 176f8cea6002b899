// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two backends at the same time: steps of one phase on the one, all others on the other. This is what a framework does
// that gives each operation to the library that is best for it (MCR-DL, arXiv 2303.08374). On host memory a request
// that is looked at says that an operation is complete; the rank's one thread looks at those of both libraries in turn.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/base/idle.hpp"

namespace dlmb {

/// "mpi+ucx", "mpi+ucx/ring"; the method only where it is not the default.
[[nodiscard]] std::string pair_name(std::string_view first, std::string_view second, MethodChoice const& second_method);

/// Steps of `phase` go to `second` by `second_method`, the others to `first` by the method that is asked for. A plan in
/// which one of the two waits for the other is declined. Named by pair_name(). What it says of itself is what both say,
/// as "FIRST.FACT" and "SECOND.FACT".
[[nodiscard]] std::shared_ptr<Backend> make_backend_pair(Bootstrap& bootstrap, std::shared_ptr<Backend> first,
                                                         std::shared_ptr<Backend> second, MethodChoice second_method,
                                                         std::string phase, Idle idle);

}  // namespace dlmb
