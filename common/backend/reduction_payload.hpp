// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Inputs of a reduction whose result is known exactly, whatever the order of the operands and the number of ranks:
// small integers, of which at every element only up to four ranks contribute one that matters and the others the
// neutral one. Which four changes with the element, so every rank's contribution is missed when it is missing.
#pragma once

#include "common/memory/payload.hpp"
#include "common/plan/plan.hpp"

#include <cstddef>
#include <span>

namespace dlmb {

class ReductionPayload {
public:
    ReductionPayload(Element element, Reduction reduction, int members)
        : element_(element), reduction_(reduction), members_(members) {}

    /// What `member` (rank in the group) contributes, from element `first` on. `out` holds whole elements.
    void input(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const;
    /// The reduction over all members.
    void result(PayloadKey key, std::uint64_t first, std::span<std::byte> out) const;
    /// The same with one member left out: what a lost contribution looks like.
    void result_without(PayloadKey key, int member, std::uint64_t first, std::span<std::byte> out) const;

    [[nodiscard]] Element element() const { return element_; }

private:
    static constexpr int contributors = 4;
    [[nodiscard]] int place(std::uint64_t word, int member) const;
    [[nodiscard]] std::uint32_t digit(std::uint64_t word, int place) const;
    [[nodiscard]] std::uint32_t folded(std::uint64_t word, int without_place) const;
    [[nodiscard]] std::uint32_t largest() const;
    [[nodiscard]] std::uint32_t neutral() const;

    Element element_;
    Reduction reduction_;
    int members_;
};

}  // namespace dlmb
