// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/params.hpp"

#include "common/base/error.hpp"
#include "patterns/dlrm_exchange/model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::uint64_t max_batch = std::uint64_t{1} << 31;
constexpr std::uint64_t max_splits = 1024;

constexpr ParameterInfo infos[] = {
    {"batch", "samples per iteration, over all ranks", "2048"},
    {"tables", "embedding tables; 0: as many as the longest list below, 26 if there is none", "0"},
    {"rows", "rows per table: one number, a list like 1000+8x500, mlperf-v1, dcnv2, file:PATH", "1000000"},
    {"dim", "values per row: one number, a list like 64+8x128, file:PATH", "64"},
    {"pooling", "mean indices per bag (multi-hot size): one number, a list like 3+2+8x1, dcnv2, file:PATH", "1"},
    {"sharding", "how tables are cut: table, row, column, mixed (README of the pattern)", "table"},
    {"placement", "which rank gets which shard: block, cyclic, coarse, fine, lpt:size, lpt:pooling, file:PATH",
     "cyclic"},
    {"column-width", "column: values per slice of a row", "64"},
    {"row-wise-from", "mixed: tables with at least so many rows are cut by rows", "10000000"},
    {"replicate-below", "mixed: tables with fewer rows are on every rank, their gradients are reduced", "1000"},
    {"element", "pooled rows forward: fp32, fp16, bf16, fp8 (row-wise sums then in fp16)", "fp32"},
    {"backward-element", "pooled gradients backward: fp32, fp16, bf16, fp8", "fp32"},
    {"index-element", "indices: int64, int32", "int64"},
    {"length-element", "bag lengths: int32, int64", "int32"},
    {"dense-element", "gradients that are reduced: fp32, fp16, bf16", "fp32"},
    {"bags", "fixed: all bags of a table have its mean size; uniform: each is drawn from 0 to twice the mean", "fixed"},
    {"weighted", "on: one fp32 weight travels with every index", "off"},
    {"splits", "int64 numbers per peer that announce sizes first (torchrec: 3); 0: none", "0"},
    {"bottom", "bottom MLP: layer widths from the input on, or a number of parameters", "13-512-256-64"},
    {"top", "top MLP: layer widths from the input on, or a number of parameters", "415-512-512-256-1"},
    {"cross", "low-rank cross layers before the top MLP: LAYERSxRANK; 0: none", "0"},
    {"lookup-ns", "time of the table lookup between indices and forward, ns; 0: left out", "0"},
    {"overlap", "on: top gradients are reduced beside the backward exchange; off: one step after the other", "on"},
    pack_parameter,
};

LayoutRule read_rule(Parameters const& parameters) {
    LayoutRule rule;
    rule.sharding = read_enum<Sharding>(parameters, "sharding", {"table", "row", "column", "mixed"});
    constexpr std::array<std::string_view, 2> loads{"size", "pooling"};
    rule.placement = read_placement_rule(parameters, "placement", {.loads = loads});
    rule.column_width = read_unsigned(parameters, "column-width", 1, max_dim);
    rule.row_wise_from = read_unsigned(parameters, "row-wise-from", 0, max_rows);
    rule.replicate_below = read_unsigned(parameters, "replicate-below", 0, max_rows);
    return rule;
}

/// Bounds every later sum of bytes far below 2^64.
void check_sizes(Params const& params, std::uint64_t column_width) {
    double values = 0;
    double pooled = 0;
    double indices = 0;
    for (PooledTable const& table : params.tables) {
        auto const dim = static_cast<double>(table.dim);
        values += static_cast<double>(table.rows) * dim;
        pooled += dim;
        double const slices = dim / static_cast<double>(column_width) + 1;
        indices += slices * (2 * static_cast<double>(table.pooling) / static_cast<double>(one) + 1);
    }
    constexpr double limit = 0x1p59;  // elements of at most 8 bytes
    auto const padded = static_cast<double>(params.padded_local_batch()) * static_cast<double>(params.ranks);
    if (values > limit || padded * std::max(pooled, indices) > limit) {
        throw UsageError(fmt::format("--batch {} with {} tables: more than 2^62 bytes; make --batch, --rows, --dim or "
                                     "--pooling smaller",
                                     params.batch, params.tables.size()));
    }
}

void read_row_order(Parameters const& parameters, Params& params) {
    params.pack = read_pack(parameters);
    if (params.pack == Pack::none) {
        return;
    }
    std::vector<Shard> const& shards = params.layout.shards;
    if (shards.empty()) {
        throw UsageError(
            fmt::format("--pack {}: no table is on one rank, so no pooled rows are exchanged", name_of(params.pack)));
    }
    auto const other = std::find_if(shards.begin(), shards.end(),
                                    [&](Shard const& shard) { return shard.width != shards.front().width; });
    if (other != shards.end()) {
        throw UsageError(fmt::format("--pack {}: pooled rows have {} and {} values, where all have to be equally long",
                                     name_of(params.pack), shards.front().width, other->width));
    }
    for (Element const element : {params.forward_element, params.backward_element}) {
        require_movable_rows(params.pack, shards.front().width * size_of(element),
                             fmt::format("{} values of {}", shards.front().width, name_of(element)));
    }
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    constexpr std::array<Element, 4> pooled{Element::fp32, Element::fp16, Element::bf16, Element::fp8};
    constexpr std::array<Element, 2> whole{Element::int64, Element::int32};
    Params params;
    params.ranks = static_cast<std::size_t>(world.ranks);
    params.batch = read_unsigned(parameters, "batch", 1, max_batch);
    params.tables = read_tables(parameters);
    LayoutRule const rule = read_rule(parameters);
    check_sizes(params, rule.column_width);
    params.layout = make_layout(params.tables, rule, params.ranks);
    params.forward_element = read_element(parameters, "element", pooled);
    params.backward_element = read_element(parameters, "backward-element", pooled);
    params.index_element = read_element(parameters, "index-element", whole);
    params.length_element = read_element(parameters, "length-element", whole);
    params.dense_element =
        read_element(parameters, "dense-element", std::array{Element::fp32, Element::fp16, Element::bf16});
    params.bags = read_enum<Bags>(parameters, "bags", {"fixed", "uniform"});
    params.weighted = read_switch(parameters, "weighted");
    params.splits = read_unsigned(parameters, "splits", 0, max_splits);
    std::string const& top = text_of(parameters, "top");
    params.bottom_parameters = mlp_parameters(text_of(parameters, "bottom"), "--bottom");
    params.top_parameters =
        mlp_parameters(top, "--top") + cross_parameters(text_of(parameters, "cross"), input_width(top, "--top"));
    params.lookup_ns = read_nanoseconds(parameters, "lookup-ns");
    params.overlap = read_switch(parameters, "overlap");
    read_row_order(parameters, params);
    return params;
}

}  // namespace dlmb::dlrm_exchange
