// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Requests to an inference service, and the KV cache that they have moved from the ranks that read prompts (prefill) to
// those that write answers (decode).
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::trace {

/// `blocks`: blocks of the cache that the prompt fills; `reused_blocks`: how many at its begin an earlier request had,
/// if the cache forgot nothing. 0 where the trace has no ids of blocks.
struct Request {
    double arrival_s = 0;  // on the clock of the trace
    Bytes input_tokens = 0;
    Bytes output_tokens = 0;
    std::uint64_t blocks = 0;
    std::uint64_t reused_blocks = 0;
    bool operator==(Request const&) const = default;
};

/// In the order of arrival.
struct RequestTrace {
    std::vector<Request> requests;
    std::uint64_t distinct_blocks = 0;
    std::optional<Bytes> block_tokens;  // where the lengths of prompts leave one size alone

    [[nodiscard]] bool empty() const { return requests.empty(); }
};

/// A model's cache of a token: keys and values of grouped-query attention are 2 x KV heads x head dimension per
/// layer, the latent of multi-head latent attention is its rank and the rotary part.
struct CacheModel {
    std::string_view name;
    std::string_view source;
    Bytes layers = 0;
    Bytes values_per_layer = 0;  // of one token
    bool is_latent = false;      // each rank of tensor parallelism has all of it
};
[[nodiscard]] std::span<CacheModel const> cache_models();

/// How a model is run: bytes of a value, and over how many ranks its heads (tp) and layers (pp) are split.
struct CacheLayout {
    CacheModel model;
    Bytes value_bytes = 2;
    Bytes tensor_parallel = 1;
    Bytes pipeline_parallel = 1;

    [[nodiscard]] Bytes bytes_per_token() const { return model.layers * model.values_per_layer * value_bytes; }
    /// One rank's message of a page of tokens: the part of one layer, or of all layers of its stage. (NIXL's
    /// kvbench has the same two; it divides latents by tp, too.)
    [[nodiscard]] Bytes layer_write(Bytes page_tokens) const;
    [[nodiscard]] Bytes stage_write(Bytes page_tokens) const;
};
/// Throws UsageError for a model that is unknown and a split that does not go.
[[nodiscard]] CacheLayout cache_layout(std::string const& model, Bytes value_bytes, Bytes tensor_parallel,
                                       Bytes pipeline_parallel);

/// Arrivals, lengths, reuse of prefixes, and with a layout the bytes of the cache. A trace that is not empty.
[[nodiscard]] std::string requests_text(RequestTrace const& trace, std::optional<CacheLayout> const& layout);
[[nodiscard]] std::string requests_json(RequestTrace const& trace, std::optional<CacheLayout> const& layout);

}  // namespace dlmb::trace
