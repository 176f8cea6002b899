// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which earlier micro-steps one must wait for: the writers of what it reads, and the readers and writers of what it
// overwrites. An algorithm is thus written as a plain sequence, and all that is independent in it runs side by side.
#pragma once

#include "common/backend_kit/algorithms/micro_plan.hpp"

#include <array>
#include <map>
#include <optional>

namespace dlmb::algorithms {

class DataFlow {
public:
    /// Adds to `waits` what the access of `step` must wait for. Steps come in order; a step reads before it writes.
    void read(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits);
    void write(std::uint32_t step, Area area, Bytes bytes, std::vector<std::uint32_t>& waits);

private:
    /// Bytes from its key in the map up to the next key.
    struct Stretch {
        std::optional<std::uint32_t> writer;
        std::vector<std::uint32_t> readers;  // since the writer
    };
    using Stretches = std::map<Bytes, Stretch>;

    static Stretches::iterator cut(Stretches& stretches, Bytes at);

    std::array<Stretches, 3> spaces_{{{{0, {}}}, {{0, {}}}, {{0, {}}}}};  // by Space
};

}  // namespace dlmb::algorithms
