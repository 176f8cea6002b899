// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All places of one algorithm in memory, their micro-steps started and their messages delivered in random order: what
// is missing in the dependencies shows as a wrong result, what is too much as a deadlock.
#pragma once

#include "common/formats/plan/algorithms/algorithms.hpp"

#include <string>
#include <vector>

namespace dlmb::algorithms {

/// eager: a send is complete at once. rendezvous: its data is read when the receive is there, at any later time.
enum class Protocol { eager, rendezvous };

struct Outcome {
    std::string problem;                          // empty: every micro-step of every place was done
    std::vector<std::vector<std::byte>> outputs;  // by place; the shape's output area
    std::vector<Bytes> sent;                      // by place
    int rounds = 0;                               // messages in the longest chain of those that wait for each other
};

/// `inputs[p]`: the input area of place p. Shape::place is set for each place.
[[nodiscard]] Outcome simulate(Algorithm algorithm, Shape shape, Knobs const& knobs, Reduction reduction,
                               std::vector<std::vector<std::byte>> const& inputs, Protocol protocol, unsigned seed);

/// Bytes of this place's part, and of its input and output areas.
[[nodiscard]] Bytes own_part(Shape const& shape);
[[nodiscard]] Bytes input_bytes(Shape const& shape);
[[nodiscard]] Bytes output_bytes(Shape const& shape);

}  // namespace dlmb::algorithms
