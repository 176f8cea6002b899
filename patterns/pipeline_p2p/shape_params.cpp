// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/shape_params.hpp"

#include "common/base/error.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

namespace dlmb::pipeline_p2p {
namespace {

constexpr std::uint64_t max_microbatches = 65536;
constexpr std::uint64_t max_pairs = 65536;

void read_interleaving(Parameters const& parameters, Shape& shape) {
    shape.virtual_stages = read_int(parameters, "virtual-stages", 1, 1024);
    int const group = read_int(parameters, "microbatch-group", 0, max_microbatches);
    shape.microbatch_group = group == 0 ? shape.ranks : group;
    if (shape.microbatch_group < shape.ranks) {
        throw UsageError(fmt::format("--microbatch-group {}: below the {} pipeline ranks", group, shape.ranks));
    }
    int const rest = shape.microbatches % shape.microbatch_group;
    if (shape.microbatches < shape.ranks || (rest != 0 && rest < shape.ranks)) {
        throw UsageError(fmt::format(
            "--microbatches {}: groups of {} leave {}, fewer than the {} pipeline ranks of --schedule interleaved",
            shape.microbatches, shape.microbatch_group, rest, shape.ranks));
    }
}

void check_bidirectional(Shape const& shape) {
    if (shape.schedule == Schedule::chimera && shape.ranks % (2 * shape.pipe_pairs) != 0) {
        throw UsageError(
            fmt::format("--pipe-pairs {}: {} pipes do not divide the {} pipeline ranks of --schedule chimera",
                        shape.pipe_pairs, 2 * shape.pipe_pairs, shape.ranks));
    }
    if (shape.schedule == Schedule::dualpipe) {
        if (shape.ranks % 2 != 0) {
            throw UsageError(
                fmt::format("--pp {}: --schedule dualpipe needs an even number of pipeline ranks", shape.ranks));
        }
        if (shape.microbatches % 2 != 0 || shape.microbatches < 2 * shape.ranks) {
            throw UsageError(
                fmt::format("--microbatches {}: --schedule dualpipe needs an even number, at least {} (twice --pp {})",
                            shape.microbatches, 2 * shape.ranks, shape.ranks));
        }
    }
}

}  // namespace

void read_shape(Parameters const& parameters, Shape& shape) {
    shape.schedule = read_enum<Schedule>(parameters, "schedule",
                                         {"gpipe", "1f1b", "interleaved", "chimera", "zb_h1", "zb_v", "dualpipe"});
    shape.microbatches = read_int(parameters, "microbatches", 1, max_microbatches);
    shape.pipe_pairs = read_int(parameters, "pipe-pairs", 1, max_pairs);
    if (shape.schedule == Schedule::interleaved) {
        read_interleaving(parameters, shape);
    }
    check_bidirectional(shape);
}

/// Ranks with only warm-up passes take their first gradient later than those with others expect, and while shapes and
/// tensors are exchanged apart, neither gets on.
void check_handshakes(Shape const& shape) {
    std::int64_t const entries = std::int64_t{shape.microbatches} * shape.virtual_stages;
    std::int64_t const longest_warm_up =
        2 * (std::int64_t{shape.ranks} - 1) + (std::int64_t{shape.virtual_stages} - 1) * shape.microbatch_group;
    if (shape.schedule == Schedule::interleaved && shape.ranks > 1 && entries <= longest_warm_up) {
        throw UsageError(
            fmt::format("--microbatches {}: too few for --mode handshake_data with --schedule interleaved, "
                        "which would hang; {} or more do not",
                        shape.microbatches, longest_warm_up / shape.virtual_stages + 1));
    }
}

}  // namespace dlmb::pipeline_p2p
