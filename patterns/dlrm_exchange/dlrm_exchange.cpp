// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/dlrm_exchange.hpp"

#include "common/base/error.hpp"
#include "patterns/dlrm_exchange/assembly.hpp"
#include "patterns/dlrm_exchange/realised.hpp"

#include <fmt/core.h>

#include <numeric>

namespace dlmb::dlrm_exchange {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

class DlrmExchange final : public Pattern {
public:
    explicit DlrmExchange(Params params) : params_(std::move(params)), volumes_(params_) {}
    DlrmExchange(DlrmExchange const&) = delete;  // volumes_ refers to params_
    DlrmExchange& operator=(DlrmExchange const&) = delete;
    ~DlrmExchange() override = default;

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        auto const index = static_cast<std::size_t>(source);
        Counts const sent = volumes_.indices_sent(index, draw);
        RankSetup setup{{}, tally(params_, index, sent)};
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
                    : IndexCounts{volumes_.indices_sent(index, draw), volumes_.fixed_indices_received(index)};
        return assemble(params_, volumes_, me, indices);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        return realised(params_, volumes_, summed);
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        std::vector<OperationUse> uses;
        if (volumes_.exchanges_indices()) {
            uses.push_back({OperationKind::exchange, false});
        }
        if (volumes_.row_wise_values() > 0) {
            uses.push_back({OperationKind::reduce_scatter, false});
            uses.push_back({OperationKind::all_gather, false});
        }
        if (params_.top_parameters + params_.bottom_parameters + volumes_.replicated_values() > 0) {
            uses.push_back({OperationKind::all_reduce, false});
        }
        return uses;
    }

    [[nodiscard]] bool draws_differ() const override { return drawn(); }

private:
    /// Bags of random size: receivers must be told how many indices come.
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
    Volumes volumes_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<DlrmExchange>(read_params(parameters, world));
}

constexpr std::string_view phases[] = {"lengths",   "indices",  "lookup",      "forward",
                                       "dense_top", "backward", "dense_bottom"};

}  // namespace

PatternType const& type() {
    static PatternType const dlrm_exchange{
        "dlrm_exchange",   "embedding exchange of recommendation models, with its dense allreduces",
        parameter_infos(), phases,
        presets_json,      make};
    return dlrm_exchange;
}

}  // namespace dlmb::dlrm_exchange
