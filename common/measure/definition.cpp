// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/definition.hpp"

#include <fmt/format.h>

#include <string_view>

namespace dlmb::measure {

std::string definition_of(Mode mode, Sampler const& sampler) {
    std::uint64_t const iterations = sampler.iterations_per_sample();
    std::string_view const begin = sampler.start().plan().method == StartMethod::window
                                       ? "begun at one time on all ranks"
                                       : "behind a dissemination barrier";
    if (sampler.spans()) {
        return fmt::format("isolated: one iteration {}, from the first rank's enter to the last rank's done", begin);
    }
    if (mode == Mode::isolated && iterations == 1) {
        return fmt::format("isolated: one iteration {}, largest over ranks of (done - enter)", begin);
    }
    // Without their number, which is found anew in each launch and stands in the record: cells of one definition are
    // compared.
    return fmt::format("{}: iterations back to back {}, largest over ranks of (done - enter) / iterations",
                       mode == Mode::stream ? "stream" : "aggregated", begin);
}

}  // namespace dlmb::measure
