// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of kv_transfer, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/base/units.hpp"
#include "common/formats/plan/world.hpp"
#include "patterns/kv_transfer/arrivals.hpp"
#include "patterns/kv_transfer/lengths.hpp"
#include "patterns/kv_transfer/split.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>

namespace dlmb::kv_transfer {

/// The unit of sending: the cache of one layer, as soon as it is computed, or of all layers of a prefill rank.
enum class Granularity : std::uint8_t { layer, block };
/// A message for each block of tokens, or one for all tokens of a request.
enum class BlockPlacement : std::uint8_t { paged, contiguous };

/// Two-sided messages; or what NIXL, nixlbench and Mooncake call WRITE: the prefill ranks put the blocks into the
/// memory of the decode ranks, and a flag behind them.
enum class OpType : std::uint8_t { send_recv, write, read };

/// Where a rank is: all prefill instances are in front of all decode instances. Inside an instance tensor parallelism
/// is fastest.
struct InstancePlace {
    bool prefills = false;
    std::uint64_t instance = 0;
    std::uint64_t stage = 0;
    std::uint64_t tp = 0;
};

struct Instances {
    std::uint64_t decoding = 1;
    std::uint64_t per_decoding = 1;  // prefill instances i * per_decoding and on send to decode instance i
    std::uint64_t prefill_tp = 1;
    std::uint64_t prefill_pp = 1;
    std::uint64_t decode_tp = 1;
    std::uint64_t decode_pp = 1;

    /// Prefill instances.
    [[nodiscard]] std::uint64_t prefilling() const { return decoding * per_decoding; }
    /// Ranks of one instance.
    [[nodiscard]] std::uint64_t prefill_ranks() const { return prefill_tp * prefill_pp; }
    [[nodiscard]] std::uint64_t decode_ranks() const { return decode_tp * decode_pp; }
    /// Ranks of all instances.
    [[nodiscard]] std::uint64_t ranks() const { return prefilling() * prefill_ranks() + decoding * decode_ranks(); }
    [[nodiscard]] InstancePlace place_of(Rank rank) const;
};

/// Tokens of one request that travel, and in how many blocks.
struct Moved {
    std::uint64_t blocks = 0;
    std::uint64_t tokens = 0;  // contiguous; paged: whole blocks
};

struct Params {
    std::uint64_t layers = 1;
    Bytes unit_bytes = 1;  // of one unit (split.hpp) of one token in one layer
    CacheSplit split;
    Instances instances;
    bool one_rank = false;  // which would send to itself: nothing travels
    PromptLengths lengths;
    std::uint64_t block_tokens = 16;
    double reuse = 0;             // share of the blocks of a prompt, at its begin, that the decode ranks have
    bool reuse_recorded = false;  // instead: what earlier requests of the trace had
    std::uint64_t requests = 1;
    Arrivals arrivals;
    OpType op_type = OpType::send_recv;
    Granularity granularity = Granularity::layer;
    BlockPlacement placement = BlockPlacement::paged;
    std::uint64_t layers_in_flight = 1;  // 0: all
    Nanoseconds compute_ns = 0;          // prefill of one layer, of all requests that arrive together
    Bytes memory_limit = 0;

    /// Bytes of a token over all ranks of an instance, each unit counted once: 2 L nkv hd e or L (kv_lora + rope) e.
    [[nodiscard]] Bytes bytes_per_token() const { return layers * split.decode.units * unit_bytes; }
    /// Floor(p L / P) to floor((p + 1) L / P).
    [[nodiscard]] UnitRange layers_of(std::uint64_t stage, std::uint64_t stages) const;
    [[nodiscard]] Moved moved_of(Prompt const& prompt) const;
    /// Requests of a draw, over all prefill instances.
    [[nodiscard]] std::uint64_t all_requests() const { return requests * instances.prefilling(); }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::kv_transfer
