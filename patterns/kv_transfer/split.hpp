// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How tensor parallelism divides the KV cache of a layer, and what moves between two such divisions. A unit is what is
// never divided: the keys and values of one KV head, the latent of multi-head latent attention, or one of its values.
//
// With no more ranks than units, rank r of P has units floor(r U / P) to floor((r + 1) U / P): their numbers differ by
// at most one. With more ranks than units, a unit is on several ranks, as vLLM and Megatron-LM replicate KV heads.
#pragma once

#include <cstdint>

namespace dlmb::kv_transfer {

/// `count` consecutive ones from `first` on: units of a layer, or ranks of an instance.
struct UnitRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    [[nodiscard]] std::uint64_t end() const { return first + count; }
    bool operator==(UnitRange const&) const = default;
};

/// Units over the ranks of one instance. At least one of both.
struct UnitDivision {
    std::uint64_t units = 1;
    std::uint64_t ranks = 1;

    /// Units of a rank, at least one.
    [[nodiscard]] UnitRange held_by(std::uint64_t rank) const;
    /// The ranks that hold a unit.
    [[nodiscard]] UnitRange holders_of(std::uint64_t unit) const;
};

/// From the ranks of a prefill instance to those of a decode instance. Every decode rank receives each of its units
/// from one prefill rank. Ranks with the same unit are paired in order: of S senders and R receivers, receiver j takes
/// sender floor(j S / R) (vLLM's NixlConnector for R a multiple of S: remote rank = rank / ratio).
struct CacheSplit {
    UnitDivision prefill;
    UnitDivision decode;

    /// The units that prefill rank `from` sends decode rank `to`; none: count 0.
    [[nodiscard]] UnitRange share(std::uint64_t from, std::uint64_t to) const;
    /// Decode ranks that may have a share of `from`, and prefill ranks that `to` may have a share of.
    [[nodiscard]] UnitRange receivers(std::uint64_t from) const;
    [[nodiscard]] UnitRange senders(std::uint64_t to) const;
    /// The most units that one rank sends or receives.
    [[nodiscard]] std::uint64_t most_units() const;
};

}  // namespace dlmb::kv_transfer
