// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the corpus on one backend and checks every byte it delivers, and that it touches no other.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "tests/conformance/corpus.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::conformance {

struct Declined {
    std::string entry;
    std::string method;
    std::string reason;
    bool required = false;
};

struct CorpusResult {
    std::vector<std::string> problems;  // of this rank
    std::vector<Declined> declined;
    std::uint64_t iterations = 0;
    std::uint64_t blocks_checked = 0;
};

/// The methods for memory of this kind that make a difference to the entry; the same on all ranks, never none.
[[nodiscard]] std::vector<MethodInfo> methods_to_run(CorpusEntry const& entry, Backend const& backend,
                                                     MemoryKind memory);

/// How many combinations of an entry and a method those are.
[[nodiscard]] std::uint64_t runs_of(std::span<CorpusEntry const> entries, Backend const& backend, MemoryKind memory);

/// Collective. Every entry with each of its methods_to_run, two iterations each.
[[nodiscard]] CorpusResult run_entries(std::span<CorpusEntry const> entries, Bootstrap& bootstrap, Backend& backend,
                                       MemorySpace& memory);
/// Every entry that the method makes a difference to, by this choice of it: "linear:max_outstanding=1".
[[nodiscard]] CorpusResult run_method(std::span<CorpusEntry const> entries, std::string_view choice,
                                      Bootstrap& bootstrap, Backend& backend, MemorySpace& memory);
[[nodiscard]] CorpusResult run_corpus(Bootstrap& bootstrap, Backend& backend, MemorySpace& memory);

}  // namespace dlmb::conformance
