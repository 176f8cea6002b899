// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/model_lint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb {
namespace {

constexpr std::uint64_t matrix_unit = 64;        // values: 128 B of a 16-bit type, which tensor cores take at a time
constexpr std::uint64_t message_unit = 128;      // bytes
constexpr std::uint64_t common_value_bytes = 2;  // of bf16 and fp16, where the element is not told

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

class Linter {
public:
    Linter(ModelShape const& model, Parallelism const& parallel) : model_(model), parallel_(parallel) {}

    std::vector<ShapeFinding> run() {
        std::uint64_t const tp = std::max<std::uint64_t>(parallel_.tp, 1);
        divides("hidden", model_.hidden, "tp", tp, "each rank holds a share of the weights' columns or rows");
        divides("heads", model_.heads, "tp", tp, "a rank computes whole attention heads");
        check_key_values(tp);
        divides("mlp", model_.mlp, "tp", tp, "each rank holds a share of the mlp");
        divides("layers", model_.layers, "pp", parallel_.pp, "a stage holds whole layers");
        divides("experts", model_.experts, "ep", parallel_.ep,
                "some ranks hold one expert more, and the others wait for them");
        divides("heads", model_.heads, "cp", parallel_.cp, "exchanges of Ulysses give a rank whole heads");
        check_head_dimension();
        check_vocabulary(tp);
        fills("hidden / tp", model_.hidden, tp);
        fills("mlp / tp", model_.mlp, tp);
        check_messages();
        check_tables();
        return std::move(findings_);
    }

private:
    void report(ShapeFault fault, std::string what) { findings_.push_back({fault, std::move(what)}); }

    void divides(std::string_view name, std::uint64_t size, std::string_view over, std::uint64_t ranks,
                 std::string_view why) {
        if (size == 0 || ranks <= 1 || size % ranks == 0) {
            return;
        }
        std::uint64_t const above = rounded_up(size, ranks);
        report(ShapeFault::does_not_fit,
               fmt::format("{} {} does not divide by {} {}: {}; {}{} would", name, size, over, ranks, why,
                           above > ranks ? fmt::format("{} or ", above - ranks) : "", above));
    }

    /// Fewer key-value heads than ranks are held several times.
    void check_key_values(std::uint64_t tp) {
        std::uint64_t const kv = model_.kv_heads;
        if (kv == 0 || kv == model_.heads) {
            return;
        }
        if (kv % tp != 0 && tp % kv != 0) {
            report(ShapeFault::does_not_fit,
                   fmt::format("key-value heads {} and tp {}: neither divides the other, so ranks hold unequal shares",
                               kv, tp));
        } else if (tp > kv) {
            report(ShapeFault::slow,
                   fmt::format("key-value heads {} on tp {}: each is held and computed {} times", kv, tp, tp / kv));
        }
    }

    void check_head_dimension() {
        if (model_.heads == 0 || model_.hidden == 0) {
            return;
        }
        if (model_.head_dim == 0 && model_.hidden % model_.heads != 0) {
            report(ShapeFault::does_not_fit,
                   fmt::format("hidden {} does not divide by heads {}: heads have no whole dimension", model_.hidden,
                               model_.heads));
        } else if (model_.head_dim % matrix_unit != 0) {
            report(ShapeFault::slow, fmt::format("a head has {} values, no multiple of {}: matrix units are not filled",
                                                 model_.head_dim, matrix_unit));
        }
    }

    void check_vocabulary(std::uint64_t tp) {
        std::uint64_t const padded = padded_vocabulary(model_.vocabulary, tp);
        if (padded != model_.vocabulary) {
            report(ShapeFault::padded,
                   fmt::format("vocabulary {} becomes {} for tp {} where it is padded to 128 tp, as Megatron-LM does",
                               model_.vocabulary, padded, tp));
        }
    }

    void fills(std::string_view name, std::uint64_t size, std::uint64_t tp) {
        if (size == 0 || size % tp != 0 || size / tp % matrix_unit == 0) {
            return;
        }
        report(ShapeFault::slow, fmt::format("{} is {}, no multiple of {}: matrix units are not filled; {} would be",
                                             name, size / tp, matrix_unit, rounded_up(size, matrix_unit * tp)));
    }

    /// A message is some rows of activations.
    void check_messages() {
        std::uint64_t const row = model_.hidden * (model_.element ? size_of(*model_.element) : common_value_bytes);
        if (row % message_unit != 0) {
            report(ShapeFault::slow, fmt::format("a token's row has {} B, no multiple of {}: messages begin off the "
                                                 "units that networks and copies move",
                                                 row, message_unit));
        }
    }

    /// Pooled rows travel in fp32.
    void check_tables() {
        std::vector<EmbeddingTable> const& tables = model_.recommendation.tables;
        Bytes const unit = message_unit / size_of(Element::fp32);
        auto const odd = std::count_if(tables.begin(), tables.end(),
                                       [&](EmbeddingTable const& table) { return table.dim % unit != 0; });
        if (odd > 0) {
            report(ShapeFault::slow, fmt::format("{} of {} embedding tables have rows that are no multiple of {} "
                                                 "values: pooled rows are off the {} B that networks and copies move",
                                                 odd, tables.size(), unit, message_unit));
        }
    }

    ModelShape const& model_;
    Parallelism const& parallel_;
    std::vector<ShapeFinding> findings_;
};

}  // namespace

std::string_view name_of(ShapeFault fault) {
    switch (fault) {
    case ShapeFault::does_not_fit:
        return "does not fit";
    case ShapeFault::slow:
        return "slow";
    case ShapeFault::padded:
        break;
    }
    return "padded";
}

std::vector<ShapeFinding> lint(ModelShape const& model, Parallelism const& parallel) {
    return Linter(model, parallel).run();
}

}  // namespace dlmb
