// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Text of libraries at run time: the description of MPICH's control variables, and what UCX prints of an endpoint.
#include "common/backends/mpi/mpich_description.hpp"
#include "common/backends/ucx/transports.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void library_text(std::string_view input) {
    int last = 0;
    for (mpi::NamedValue const& algorithm : mpi::mpich_algorithms_in(input)) {
        require(!algorithm.name.empty() && algorithm.value > last, "an algorithm without a name or a place of its own");
        last = algorithm.value;
    }
    std::string const transports = ucx::transports_in(std::string(input));
    require(transports.size() <= input.size() && transports.find('\n') == transports.npos, "more than was printed");
}

}  // namespace dlmb::fuzz
