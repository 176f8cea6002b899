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
    if (iterations == 1 && (mode == Mode::isolated || sampler.start().plan().method == StartMethod::window)) {
        return fmt::format("isolated: one iteration {}, {}", begin,
                           sampler.spans() ? "from the first rank's enter to the last rank's done"
                                           : "largest over ranks of (done - enter)");
    }
    // Without their number, which is found anew in each launch and stands in the record: cells of one definition are
    // compared.
    return fmt::format("{}: iterations back to back {}, {} / iterations",
                       mode == Mode::stream ? "stream" : "aggregated", begin,
                       sampler.spans() ? "(last done - first enter)" : "largest over ranks of (done - enter)");
}

}  // namespace dlmb::measure
