// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks tell each other about the memory that they share: how to map it, and where the windows of steps lie in it.
// Letters travel as bytes between ranks of one launch, hence of one build.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace dlmb::ucx {

/// One step. Offsets are in the sender's shared memory.
struct SharedEntry {
    std::uint64_t kind = 0;  // those of LoweredStep
    std::uint64_t key = 0;
    std::uint64_t counter = 0;
    std::uint64_t window = 0;  // of an even iteration, where the reader begins
    std::uint64_t stride = 0;  // to that of an odd one
    std::uint64_t stages = 0;
    std::uint64_t bytes = 0;  // offered
};

/// Of one kind and key from one peer, taken in the sender's plan order.
struct SharedEntries {
    std::vector<SharedEntry> entries;
    std::size_t taken = 0;
};
using SharedInbox = std::map<std::tuple<Rank, std::uint64_t, std::uint64_t>, SharedEntries>;

/// `key`: what a peer needs to map the memory at `address`.
[[nodiscard]] Blob begin_letter(std::byte const* address, Blob const& key);
void append(Blob& letter, SharedEntry const& entry);

[[nodiscard]] SharedInbox sort(std::vector<Letter> const& letters);
[[nodiscard]] std::uint64_t address_in(Blob const& letter);
[[nodiscard]] std::byte const* key_in(Blob const& letter);

}  // namespace dlmb::ucx
