// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plan documents, as dlmb_tune gain --traffic reads them.
#include "common/tools/tune/gain/gain.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <cmath>

namespace dlmb::fuzz {

void plan_document(std::string_view input) {
    (void)accepts([&] {
        tuning::Traffic const traffic = tuning::parse_traffic(std::string(input), "plan.json");
        for (auto const& [demand, count] : traffic) {
            require(std::isfinite(count) && count >= 0, "an operation is done an odd number of times");
        }
        tuning::ExpectedGain const gain = tuning::expected_gain({}, traffic, "mpi", "host");
        require(gain.covered == 0, "an empty table covers something");
        (void)tuning::searches(gain, "mpi");
    });
}

}  // namespace dlmb::fuzz
