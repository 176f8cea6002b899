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
    std::string_view const time = sampler.spans() ? "from the first rank's enter to the last rank's done"
                                                  : "largest over ranks of (done - enter)";
    if (mode == Mode::isolated && iterations == 1) {
        return fmt::format("isolated: one iteration {}, {}", begin, time);
    }
    // Without their number, which is found anew in each launch and stands in the record: cells of one definition are
    // compared.
    return fmt::format("{}: iterations back to back {}, {}, divided by their number",
                       mode == Mode::stream ? "stream" : "aggregated", begin, time);
}

}  // namespace dlmb::measure
