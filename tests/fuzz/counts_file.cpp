// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Counts files of --skew file:PATH. The first byte says how many sources and bins there are.
#include "common/sizes/weights.hpp"
#include "patterns/collective/byte_matrix.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <numeric>

namespace dlmb::fuzz {

void counts_file(std::string_view input) {
    unsigned const shape = take_byte(input);
    std::size_t const sources = 1 + (shape & 7U);
    std::size_t const bins = 1 + (shape >> 3U & 7U);
    static MemoryFile const file;
    file.hold(input);
    Skew skew;
    skew.family = Skew::Family::file;
    skew.path = file.path();
    std::vector<std::size_t> owners(bins);
    std::iota(owners.begin(), owners.end(), std::size_t{0});
    (void)accepts([&] {
        Weights const weights(skew, Bins{owners, 1024, 1, sources});
        for (std::size_t source = 0; source < sources; ++source) {
            std::vector<double> const row = weights.of(source, 1, 0);
            for (double const weight : row) {
                require(weight > 0 && weight <= 1, "a weight is not above 0 and at most 1");
            }
            constexpr std::uint64_t total = 1'000'003;
            auto const parts = collective::apportion(total, row);
            require(parts.size() == bins && std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}) == total,
                    "parts do not make up the whole");
        }
    });
}

}  // namespace dlmb::fuzz
