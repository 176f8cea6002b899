// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/dlrm_exchange.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/sizes/inequality.hpp"
#include "patterns/counts.hpp"
#include "patterns/dlrm_exchange/of_model.hpp"
#include "patterns/dlrm_exchange/sizes.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace dlmb::dlrm_exchange {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

/// The element in which partial sums of row-wise tables are reduced: fp16 where pooled rows are fp8, which has too few
/// bits to be summed in (torchrec's get_qcomm_codecs_registry falls back alike).
Element reduced_element(Params const& params) {
    return params.forward_element == Element::fp8 ? Element::fp16 : params.forward_element;
}

/// By rank: pooled bytes passed to the API in the forward pass, reduce-scatter of row-wise tables included.
Counts pooled_sent(Params const& params, ExchangeSizes const& sizes) {
    Bytes const row_wise = sizes.row_wise_values() * size_of(reduced_element(params));
    Counts bytes(params.ranks, row_wise);
    for (std::size_t source = 0; source < params.ranks; ++source) {
        bytes[source] += sizes.pooled_sent(source) * size_of(params.forward_element);
    }
    return bytes;
}

constexpr Bytes split_bytes = 8;   // int64
constexpr Bytes weight_bytes = 4;  // fp32

/// Indices that a rank sends to and receives from every rank.
struct IndexCounts {
    Counts sent;
    Counts received;
};

/// Labels: lengths[.splits], indices[.weights], lookup, [pack.|unpack.]forward, forward.row, dense_top,
/// [pack.|unpack.]backward, backward.row, dense_bottom[.tables]. README.md draws what waits for what.
class DlrmSteps {
public:
    DlrmSteps(Params const& params, ExchangeSizes const& sizes, Rank me)
        : params_(params), sizes_(sizes), me_(static_cast<std::size_t>(me)), builder_(me) {
        auto const ranks = static_cast<int>(params.ranks);
        all_ = builder_.group(consecutive_group({.ranks = ranks}, me, ranks));
    }

    void indices_to_tables(IndexCounts const& indices) {
        if (params_.splits > 0) {
            std::vector<Bytes> const each(params_.ranks, params_.splits * split_bytes);
            wait_for({exchange(each, each, "lengths.splits")});
        }
        Bytes const length_bytes = size_of(params_.length_element);
        auto const to = [&](std::size_t peer) { return sizes_.lengths(me_, peer) * length_bytes; };
        auto const from = [&](std::size_t peer) { return sizes_.lengths(peer, me_) * length_bytes; };
        wait_for({exchange(per_peer(to), per_peer(from), "lengths")});
        auto const ragged = [&](Bytes bytes, char const* label) {
            return exchange(bytes_of(indices.sent, bytes), bytes_of(indices.received, bytes), label);
        };
        std::vector<StepId> sent{ragged(size_of(params_.index_element), "indices")};
        if (params_.weighted) {
            sent.push_back(ragged(weight_bytes, "indices.weights"));
        }
        wait_for(std::move(sent));
    }

    void lookup() { wait_for({builder_.compute(params_.lookup_ns, "lookup", after_)}); }

    void pooled_rows_to_samples() {
        std::vector<StepId> steps = shard_rows(true, params_.forward_element, "forward");
        if (sizes_.row_wise_values() > 0) {
            Element const reduced = reduced_element(params_);
            steps.push_back(builder_.reduce_scatter(all_, sizes_.row_wise_values() * size_of(reduced), reduced,
                                                    Reduction::sum, "forward.row", after_));
        }
        wait_for(std::move(steps));
    }

    void gradients_to_tables() {
        std::vector<StepId> steps = shard_rows(false, params_.backward_element, "backward");
        if (sizes_.row_wise_values() > 0) {
            steps.push_back(builder_.all_gather(all_, sizes_.row_wise_values() * size_of(params_.backward_element),
                                                params_.backward_element, "backward.row", after_));
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

    StepId exchange(std::vector<Bytes> const& send, std::vector<Bytes> const& recv, std::string label) {
        return builder_.exchange(all_, send, recv, std::move(label), after_);
    }

    /// Rows of tables that are each on one rank, to the ranks of their samples or from there. No step without shards.
    std::vector<StepId> shard_rows(bool to_samples, Element type, char const* label) {
        if (!sizes_.has_shards()) {
            return {};
        }
        Bytes const element = size_of(type);
        if (params_.pack == Pack::none) {
            auto const mine = per_peer([&](std::size_t peer) { return sizes_.pooled(me_, peer) * element; });
            auto const others = per_peer([&](std::size_t peer) { return sizes_.pooled(peer, me_) * element; });
            return {to_samples ? exchange(mine, others, label) : exchange(others, mine, label)};
        }
        RowOrder const by_table = rows_by_table(params_, sizes_, me_);
        RowOrder const by_sample = rows_by_sample(params_, sizes_, me_);
        return {add_exchange_of_rows(builder_, params_.pack, all_, to_samples ? by_table : by_sample,
                                     to_samples ? by_sample : by_table, params_.layout.shards.front().width * element,
                                     label, after_)};
    }

    /// Steps from here on wait for these; none: for what they waited for so far.
    void wait_for(std::vector<StepId> steps) {
        if (!steps.empty()) {
            after_ = std::move(steps);
        }
    }

    Params const& params_;
    ExchangeSizes const& sizes_;
    std::size_t me_;
    PlanBuilder builder_;
    GroupId all_ = 0;
    std::vector<StepId> after_;
};

/// One source's indices: what it sends in its own place, then what every rank receives from it.
std::vector<std::uint64_t> statistic_counts(Params const& params, std::size_t source, Counts const& indices_sent) {
    std::vector<std::uint64_t> counts(params.ranks);
    counts[source] = sum_of(indices_sent);
    counts.insert(counts.end(), indices_sent.begin(), indices_sent.end());
    return counts;
}

std::vector<Statistic> statistics_of(Params const& params, ExchangeSizes const& sizes,
                                     std::span<std::uint64_t const> summed) {
    require_statistics("dlrm_exchange", summed, 2 * params.ranks);
    auto const sent = summed.first(params.ranks);
    auto const received = summed.subspan(params.ranks);
    Counts const pooled = pooled_sent(params, sizes);
    Counts shards(params.ranks);
    for (std::size_t rank = 0; rank < params.ranks; ++rank) {
        shards[rank] = sizes.shards_on(rank);
    }
    auto const index_bytes = static_cast<double>(size_of(params.index_element));
    return {
        {"index_bytes_total", static_cast<double>(sum_of(sent)) * index_bytes},
        {"max_mean_index_sent", max_over_mean(sent)},
        {"max_mean_index_received", max_over_mean(received)},
        {"pooled_bytes_total", static_cast<double>(sum_of(pooled))},
        {"max_mean_pooled_sent", max_over_mean(pooled)},
        {"max_shards_rank", static_cast<double>(largest_of(shards))},
        {"mean_shards_rank", static_cast<double>(sum_of(shards)) / static_cast<double>(params.ranks)},
        {"tables", static_cast<double>(params.tables.size())},
        {"row_wise_tables", static_cast<double>(params.layout.row_wise.size())},
        {"replicated_tables", static_cast<double>(params.layout.replicated.size())},
    };
}

Plan iteration_plan(Params const& params, ExchangeSizes const& sizes, Rank me, IndexCounts const& indices) {
    DlrmSteps steps(params, sizes, me);
    if (sizes.exchanges_indices()) {
        steps.indices_to_tables(indices);
    }
    if (params.lookup_ns > 0) {
        steps.lookup();
    }
    steps.pooled_rows_to_samples();
    steps.dense(params.top_parameters, "dense_top");
    steps.gradients_to_tables();
    steps.dense(params.bottom_parameters, "dense_bottom");
    steps.dense(sizes.replicated_values(), "dense_bottom.tables");
    return std::move(steps).finish();
}

class DlrmExchange final : public Pattern {
public:
    explicit DlrmExchange(Params params) : params_(std::move(params)), sizes_(params_) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        auto const index = static_cast<std::size_t>(source);
        Counts const sent = sizes_.indices_sent(index, draw);
        RankSetup setup{{}, statistic_counts(params_, index, sent)};
        if (drawn()) {
            for (std::size_t target = 0; target < sent.size(); ++target) {
                setup.counts_to_send.push_back({source, static_cast<Rank>(target), {sent[target]}});
            }
        }
        return setup;
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> received_counts) const override {
        auto const index = static_cast<std::size_t>(me);
        IndexCounts const indices =
            drawn() ? IndexCounts{one_per_rank(own.counts_to_send), one_per_rank(received_counts)}
                    : IndexCounts{sizes_.indices_sent(index, draw), sizes_.fixed_indices_received(index)};
        return iteration_plan(params_, sizes_, me, indices);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        return statistics_of(params_, sizes_, summed);
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        std::vector<OperationUse> uses;
        uses.reserve(4);  // or gcc 12 warns of an overflow that is none
        if (sizes_.exchanges_indices()) {
            uses.push_back({OperationKind::exchange, false, params_.pack == Pack::fused});
        }
        if (sizes_.row_wise_values() > 0) {
            uses.push_back({OperationKind::reduce_scatter, true});
            uses.push_back({OperationKind::all_gather, true});
        }
        if (params_.top_parameters + params_.bottom_parameters + sizes_.replicated_values() > 0) {
            uses.push_back({OperationKind::all_reduce, true});
        }
        return uses;
    }

    [[nodiscard]] bool draws_differ() const override { return drawn(); }

    [[nodiscard]] Parameters resolved() const override {
        return {{"tables", fmt::format("{}", params_.tables.size())}};
    }

    [[nodiscard]] std::vector<std::string> remarks() const override {
        std::size_t without = 0;
        for (std::size_t rank = 0; rank < params_.ranks; ++rank) {
            without += sizes_.shards_on(rank) == 0 ? 1U : 0U;
        }
        if (without == 0 || !sizes_.has_shards()) {
            return {};
        }
        return {
            fmt::format("{} of {} ranks have no table and send no pooled rows; --sharding column or row cuts tables",
                        without, params_.ranks)};
    }

private:
    /// Bags of random size: ranks exchange their counts at set-up.
    [[nodiscard]] bool drawn() const { return params_.bags == Bags::uniform; }

    [[nodiscard]] Counts one_per_rank(std::span<SetupCounts const> setup) const {
        Counts counts;
        for (SetupCounts const& each : setup) {
            if (each.counts.size() == 1) {
                counts.push_back(each.counts.front());
            }
        }
        if (counts.size() != params_.ranks) {
            throw Error(fmt::format("dlrm_exchange: {} index counts from {} ranks", counts.size(), params_.ranks));
        }
        return counts;
    }

    Params params_;
    ExchangeSizes sizes_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<DlrmExchange>(read_params(parameters, world));
}

constexpr std::string_view phases[] = {"lengths", "indices",   "lookup",   "pack",        "forward",
                                       "unpack",  "dense_top", "backward", "dense_bottom"};

}  // namespace

PatternType const& type() {
    static PatternType const dlrm_exchange{
        "dlrm_exchange",   "embedding exchange of recommendation models, with its dense allreduces",
        parameter_infos(), phases,
        presets_json,      make,
        of_model};
    return dlrm_exchange;
}

}  // namespace dlmb::dlrm_exchange
