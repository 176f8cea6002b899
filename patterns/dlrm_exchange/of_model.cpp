// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/of_model.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::uint64_t dense_inputs = 13;

/// "1000+8x500": equal numbers that follow each other once.
std::string list_of(std::span<std::uint64_t const> numbers) {
    std::vector<std::string> entries;
    for (std::size_t begin = 0; begin < numbers.size();) {
        std::size_t end = begin + 1;
        while (end < numbers.size() && numbers[end] == numbers[begin]) {
            ++end;
        }
        entries.push_back(end - begin == 1 ? fmt::format("{}", numbers[begin])
                                           : fmt::format("{}x{}", end - begin, numbers[begin]));
        begin = end;
    }
    return fmt::format("{}", fmt::join(entries, "+"));
}

std::string mlp_of(std::uint64_t input, std::span<std::uint64_t const> widths) {
    return fmt::format("{}-{}", input, fmt::join(widths, "-"));
}

/// Values that enter the upper layers.
std::uint64_t interaction_width(ModelShape const& model, std::span<std::uint64_t const> dims) {
    if (std::any_of(dims.begin(), dims.end(), [&](std::uint64_t dim) { return dim != dims.front(); })) {
        throw UsageError(fmt::format("{}: its tables differ in embedding_dim, so that DLRM has no interaction between "
                                     "them; leave over_arch_layer_sizes out and give --top",
                                     model.source));
    }
    std::uint64_t const tables = dims.size();
    std::uint64_t const dim = dims.front();
    return model.recommendation.cross_layers > 0 ? (tables + 1) * dim : dim + tables * (tables + 1) / 2;
}

}  // namespace

ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    RecommendationModel const& told = model.recommendation;
    if (told.tables.empty()) {
        throw UsageError(fmt::format("{}: has no embedding tables, which are what this pattern exchanges; give the "
                                     "arguments of torchrec's DLRM as JSON (README of the pattern)",
                                     model.source));
    }
    if (parallel.tp + parallel.pp + parallel.ep + parallel.cp + parallel.dp > 0) {
        throw UsageError("--parallel: all ranks share the tables, and all have the dense layers; leave it out");
    }
    std::vector<std::uint64_t> rows;
    std::vector<std::uint64_t> dims;
    for (EmbeddingTable const& table : told.tables) {
        rows.push_back(table.rows);
        dims.push_back(table.dim);
    }
    ModelParameters parameters(model, parallel, {});
    parameters.optional("tables", rows.size()).text("rows", list_of(rows)).text("dim", list_of(dims));
    if (!told.indices_per_bag.empty()) {
        parameters.text("pooling", list_of(told.indices_per_bag));
    }
    if (told.dense_layers.empty()) {
        parameters.needed("bottom", 0, "dense_arch_layer_sizes");
    } else {
        if (told.dense_layers.back() != dims.front()) {
            throw UsageError(fmt::format("{}: dense_arch_layer_sizes ends with {}, and embedding_dim is {}; DLRM lets "
                                         "both interact",
                                         model.source, told.dense_layers.back(), dims.front()));
        }
        parameters.text("bottom", mlp_of(dense_inputs, told.dense_layers));
    }
    if (told.over_layers.empty()) {
        parameters.needed("top", 0, "over_arch_layer_sizes");
    } else {
        parameters.text("top", mlp_of(interaction_width(model, dims), told.over_layers));
    }
    if (told.cross_layers > 0) {
        parameters.text("cross", fmt::format("{}x{}", told.cross_layers, told.cross_rank));
    }
    return parameters.derived();
}

}  // namespace dlmb::dlrm_exchange
