// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How long prompts are: all alike, drawn from quantiles that somebody published, or those of recorded requests; and
// which part of a recorded prompt an earlier one began with.
#pragma once

#include "common/base/philox.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::kv_transfer {

inline constexpr std::uint64_t max_tokens = std::uint64_t{1} << 30U;  // of a prompt

/// Tokens of a block that has an id in the traces of Mooncake (arXiv 2407.00079, section 5).
inline constexpr std::uint64_t recorded_block_tokens = 512;

/// A recorded one: the ids of its blocks say which part, at its begin, requests before it in the file had, too.
struct Prompt {
    std::uint64_t tokens = 0;
    std::uint64_t cached_tokens = 0;
    double arrival_ms = 0;  // after the first one of the file
    bool operator==(Prompt const&) const = default;
};

/// A share of all prompts, in percent, and the length that it has at most.
struct Quantile {
    double percent = 0;
    std::uint64_t tokens = 0;
};

class PromptLengths {
public:
    /// "4096"; "quantiles:50=1020:99=6000", in rising order; "file:PATH". Throws UsageError that names --tokens.
    [[nodiscard]] static PromptLengths parse(std::string const& text);
    /// Recorded requests, JSON Lines as Mooncake publishes them: {"input_length": 6758, "hash_ids": [46, 47], ...},
    /// other fields left alone. An id stands for a block and all blocks before it. Without ids nothing is cached.
    /// `name` is the file. Throws
    /// UsageError that names it and the line.
    [[nodiscard]] static PromptLengths of_requests(std::string_view lines, std::string_view name);

    /// The request of that number in this draw, of `in_draw` ones. Recorded ones come in the order of the
    /// file: draw 0 of seed 1 begins with the first, of seed 2 with the second; after the last comes the first.
    [[nodiscard]] Prompt prompt(Draw draw, std::uint64_t number, std::uint64_t in_draw) const;
    [[nodiscard]] std::uint64_t most() const;
    [[nodiscard]] bool are_drawn() const { return !quantiles_.empty() || recorded_.size() > 1; }
    /// 0: these are not recorded ones.
    [[nodiscard]] std::uint64_t recorded() const { return quantiles_.empty() ? recorded_.size() : 0; }
    [[nodiscard]] bool has_ids() const { return has_ids_; }
    /// Whether all have a "timestamp" in milliseconds, none earlier than that of the line before.
    [[nodiscard]] bool has_times() const { return has_times_; }
    /// When recorded request `number` arrives, counted from the begin of the file; behind its end the file begins
    /// again.
    [[nodiscard]] double arrival_ms(std::uint64_t number) const;
    /// The place in the file of the first request of a draw.
    [[nodiscard]] std::uint64_t first_of(Draw draw, std::uint64_t in_draw) const {
        std::uint64_t const all = recorded_.size();
        return (draw.seed % all + all - 1 + draw.index * in_draw) % all;
    }

private:
    std::vector<Quantile> quantiles_;  // lengths between them are interpolated
    std::vector<Prompt> recorded_;     // a length that all have is one
    bool has_ids_ = false;
    bool has_times_ = false;
};

}  // namespace dlmb::kv_transfer
