// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Recorded requests of dlmb_kv_transfer: --tokens file:PATH.
#include "patterns/kv_transfer/lengths.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void request_file(std::string_view input) {
    (void)accepts([&] {
        auto const lengths = kv_transfer::PromptLengths::of_requests(input, "requests");
        require(lengths.most() <= kv_transfer::max_tokens, "a prompt is too long");
        for (std::uint32_t draw = 0; draw < 4; ++draw) {
            auto const prompt = lengths.prompt({draw, draw}, 1, 2);
            require(prompt.tokens <= lengths.most(), "a prompt is longer than the longest one");
            require(prompt.cached_tokens <= prompt.tokens, "more of a prompt is cached than there is");
        }
    });
}

}  // namespace dlmb::fuzz
