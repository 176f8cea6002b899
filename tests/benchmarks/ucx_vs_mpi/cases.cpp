// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/cases.hpp"

#include "common/base/error.hpp"
#include "patterns/collective/collective.hpp"
#include "patterns/dlrm_exchange/dlrm_exchange.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "patterns/pipeline_p2p/pipeline_p2p.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::benchmark {
namespace {

constexpr std::string_view names[] = {"exchange",  "matrices",  "allreduce", "reduce_scatter",
                                      "allgather", "broadcast", "pipeline"};

std::vector<Bytes> sizes_up_to(Bytes first, Bytes last, Bytes factor) {
    std::vector<Bytes> sizes;
    for (Bytes bytes = first; bytes <= last; bytes *= factor) {
        sizes.push_back(bytes);
    }
    return sizes;
}

std::vector<Case> plain(std::string_view operation, std::vector<Bytes> const& sizes) {
    std::vector<Case> cases;
    for (Bytes const bytes : sizes) {
        cases.push_back({fmt::format("{} {}", operation, human_bytes(bytes)),
                         &collective::type(),
                         "",
                         {{"operation", std::string(operation)}, {"message-size", fmt::format("{}", bytes)}}});
    }
    return cases;
}

/// Expert-parallel layers by tokens per rank, and the embeddings of a recommendation model by samples of all ranks.
std::vector<Case> matrices() {
    std::vector<Case> cases;
    for (char const* preset : {"deepseek-v3", "mixtral-8x7b"}) {
        for (char const* tokens : {"8", "128", "1024"}) {
            cases.push_back(
                {fmt::format("{} {} tokens", preset, tokens), &moe_alltoall::type(), preset, {{"tokens", tokens}}});
        }
    }
    for (char const* batch : {"256", "4096"}) {
        cases.push_back({fmt::format("dlrm-dcnv2 exchange {} samples", batch),
                         &dlrm_exchange::type(),
                         "dlrm-dcnv2",
                         {{"batch", batch}, {"bottom", "0"}, {"top", "0"}, {"cross", "0"}}});
    }
    return cases;
}

/// 1F1B whose activations follow small messages that describe them.
std::vector<Case> pipeline() {
    std::vector<Case> cases;
    for (char const* hidden : {"8", "64", "1024"}) {
        Parameters const shape{{"sequence", "128"}, {"hidden", hidden}, {"microbatches", "8"}, {"schedule", "1f1b"}};
        Parameters meta = shape;
        meta.insert({{"mode", "meta_data"}, {"dynamic-shape", "on"}});
        cases.push_back({fmt::format("1f1b meta_data hidden {}", hidden), &pipeline_p2p::type(), "", meta});
        Parameters handshake = shape;
        handshake.insert({{"mode", "handshake_data"}});
        cases.push_back({fmt::format("1f1b handshake_data hidden {}", hidden), &pipeline_p2p::type(), "", handshake});
    }
    return cases;
}

}  // namespace

std::span<std::string_view const> group_names() {
    return names;
}

std::vector<Case> cases_of(std::string_view group, std::vector<Bytes> const& sizes) {
    auto const or_else = [&](std::vector<Bytes> const& own) { return sizes.empty() ? own : sizes; };
    if (group == "exchange") {
        return plain("alltoall", or_else(sizes_up_to(64, Bytes{2} << 20, 8)));
    }
    if (group == "matrices") {
        return matrices();
    }
    if (group == "pipeline") {
        return pipeline();
    }
    if (group == "allgather") {  // by part
        return plain(group, or_else(sizes_up_to(16, Bytes{4} << 20, 8)));
    }
    if (group == "allreduce") {
        return plain(group, or_else(sizes_up_to(8, Bytes{16} << 20, 8)));
    }
    if (std::find(std::begin(names), std::end(names), group) == std::end(names)) {
        throw UsageError(fmt::format("{}: no such group of cases; there are {}", group, fmt::join(names, " ")));
    }
    return plain(group, or_else(sizes_up_to(48, Bytes{24} << 20, 8)));
}

}  // namespace dlmb::benchmark
