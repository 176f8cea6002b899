// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/assembly.hpp"

#include "common/plan/builder.hpp"

#include <numeric>
#include <string>
#include <utility>

namespace dlmb::dlrm_exchange {
namespace {

constexpr Bytes split_bytes = 8;   // int64
constexpr Bytes weight_bytes = 4;  // fp32

std::vector<Bytes> times(Counts counts, Bytes element_bytes) {
    for (std::uint64_t& count : counts) {
        count *= element_bytes;
    }
    return counts;
}

class Assembler {
public:
    Assembler(Params const& params, Volumes const& volumes, Rank me)
        : params_(params), volumes_(volumes), me_(static_cast<std::size_t>(me)), builder_(me) {
        Group all;
        all.members.resize(params.ranks);
        std::iota(all.members.begin(), all.members.end(), 0);
        all_ = builder_.group(std::move(all));
    }

    void indices_to_tables(IndexCounts const& indices) {
        if (params_.splits > 0) {
            std::vector<Bytes> const each(params_.ranks, params_.splits * split_bytes);
            wait_for({exchange(each, each, "lengths.splits")});
        }
        Bytes const length_bytes = size_of(params_.length_element);
        auto const to = [&](std::size_t peer) { return volumes_.lengths(me_, peer) * length_bytes; };
        auto const from = [&](std::size_t peer) { return volumes_.lengths(peer, me_) * length_bytes; };
        wait_for({exchange(per_peer(to), per_peer(from), "lengths")});
        auto const ragged = [&](Bytes bytes, char const* label) {
            return exchange(times(indices.sent, bytes), times(indices.received, bytes), label);
        };
        std::vector<StepId> sent{ragged(size_of(params_.index_element), "indices")};
        if (params_.weighted) {
            sent.push_back(ragged(weight_bytes, "indices.weights"));
        }
        wait_for(std::move(sent));
    }

    void lookup() { wait_for({builder_.compute(params_.lookup_ns, "lookup", after_)}); }

    void pooled_rows_to_samples() {
        Bytes const element = size_of(params_.forward_element);
        std::vector<StepId> steps;
        if (volumes_.has_shards()) {
            steps.push_back(exchange(pooled_of_mine(element), pooled_of_others(element), "forward"));
        }
        if (volumes_.row_wise_values() > 0) {
            Element const reduced = reduced_element(params_);
            steps.push_back(builder_.reduce_scatter(all_, volumes_.row_wise_values() * size_of(reduced), reduced,
                                                    Reduction::sum, "forward.row", after_));
        }
        wait_for(std::move(steps));
    }

    void gradients_to_tables() {
        Bytes const element = size_of(params_.backward_element);
        std::vector<StepId> steps;
        if (volumes_.has_shards()) {
            steps.push_back(exchange(pooled_of_others(element), pooled_of_mine(element), "backward"));
        }
        if (volumes_.row_wise_values() > 0) {
            steps.push_back(builder_.all_gather(all_, volumes_.row_wise_values() * element, params_.backward_element,
                                                "backward.row", after_));
        }
        if (!params_.overlap) {
            wait_for(std::move(steps));
        }
    }

    void dense(std::uint64_t parameters, char const* label) {
        if (parameters == 0) {
            return;
        }
        StepId const step = builder_.all_reduce(all_, parameters * size_of(params_.dense_element),
                                                params_.dense_element, Reduction::sum, label, after_);
        if (!params_.overlap) {
            wait_for({step});
        }
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    template <class Size>
    [[nodiscard]] std::vector<Bytes> per_peer(Size size) const {
        std::vector<Bytes> bytes;
        bytes.reserve(params_.ranks);
        for (std::size_t peer = 0; peer < params_.ranks; ++peer) {
            bytes.push_back(size(peer));
        }
        return bytes;
    }
    /// Rows of my tables for the samples of every rank.
    [[nodiscard]] std::vector<Bytes> pooled_of_mine(Bytes element) const {
        return per_peer([&](std::size_t peer) { return volumes_.pooled(me_, peer) * element; });
    }
    /// Rows of every rank's tables for my samples.
    [[nodiscard]] std::vector<Bytes> pooled_of_others(Bytes element) const {
        return per_peer([&](std::size_t peer) { return volumes_.pooled(peer, me_) * element; });
    }

    StepId exchange(std::vector<Bytes> const& send, std::vector<Bytes> const& recv, std::string label) {
        return builder_.exchange(all_, send, recv, std::move(label), after_);
    }

    /// Steps from here on wait for these; none: for what they waited for so far.
    void wait_for(std::vector<StepId> steps) {
        if (!steps.empty()) {
            after_ = std::move(steps);
        }
    }

    Params const& params_;
    Volumes const& volumes_;
    std::size_t me_;
    PlanBuilder builder_;
    GroupId all_ = 0;
    std::vector<StepId> after_;
};

}  // namespace

Element reduced_element(Params const& params) {
    return params.forward_element == Element::fp8 ? Element::fp16 : params.forward_element;
}

Plan assemble(Params const& params, Volumes const& volumes, Rank me, IndexCounts const& indices) {
    Assembler steps(params, volumes, me);
    if (volumes.exchanges_indices()) {
        steps.indices_to_tables(indices);
    }
    if (params.lookup_ns > 0) {
        steps.lookup();
    }
    steps.pooled_rows_to_samples();
    steps.dense(params.top_parameters, "dense_top");
    steps.gradients_to_tables();
    steps.dense(params.bottom_parameters, "dense_bottom");
    steps.dense(volumes.replicated_values(), "dense_bottom.tables");
    return std::move(steps).finish();
}

}  // namespace dlmb::dlrm_exchange
