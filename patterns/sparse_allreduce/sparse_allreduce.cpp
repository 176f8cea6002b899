// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/sparse_allreduce.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "patterns/counts.hpp"
#include "patterns/sparse_allreduce/iteration.hpp"
#include "patterns/sparse_allreduce/params.hpp"
#include "patterns/trained_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace dlmb::sparse_allreduce {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

/// A bound is announced as 64 bits: a sum of 32-bit indices over ranks does not fit into 32.
constexpr Bytes bound_bytes = 8;

/// Labels: select, threshold.local, boundaries; split.sizes, split.D to and from the ranks at distance D;
/// threshold.sizes, threshold.values; gather.sizes, gather.even.FROM.TO, gather; reduce.ROUND, reduce.fold,
/// reduce.unfold. Each step waits for those before it, but messages of one batch are in flight together.
class SparseSteps {
public:
    SparseSteps(Params const& params, Rank me) : params_(params), me_(static_cast<std::size_t>(me)), builder_(me) {
        auto const ranks = static_cast<int>(params.ranks);
        world_ = builder_.group(consecutive_group({.ranks = ranks}, me, ranks));
    }

    void dense() {
        after_ = {builder_.all_reduce(world_, params_.elements * word_bytes, Element::fp32, Reduction::sum, "reduce")};
    }

    void topk_allgather() {
        compute(params_.estimate_ns, "select");
        after_ = {
            builder_.all_gather(world_, params_.k * params_.ranks * entry_bytes, Element::int64, "gather", after_)};
    }

    /// Shi et al., ICDCS 2019: up a binomial tree, then a broadcast.
    void gtopk() {
        compute(params_.estimate_ns, "select");
        Bytes const bytes = params_.k * entry_bytes;
        std::size_t round = 0;
        for (std::size_t step = 1; step < params_.ranks && me_ % step == 0; step *= 2, ++round) {
            Messages messages(*this, fmt::format("reduce.{}", round));
            if (me_ % (2 * step) != 0) {
                messages.send(me_ - step, bytes);
            } else if (me_ + step < params_.ranks) {
                messages.receive(me_ + step, bytes);
            }
        }
        after_ = {builder_.broadcast(world_, 0, bytes, Element::int64, "gather", after_)};
    }

    /// SparCML, SC 2019: SSAR_Recursive_double.
    void recursive_sparse(SparseIteration const& iteration) {
        compute(params_.estimate_ns, "select");
        Doubling const& doubling = iteration.doubling;
        std::size_t const twins = doubling.twins;
        auto const has_twin = me_ + twins < params_.ranks;
        if (me_ >= twins) {
            Messages(*this, "reduce.fold").send(me_ - twins, bytes_of(iteration.picks[me_].size()));
            Messages(*this, "reduce.unfold").receive(me_ - twins, bytes_of(doubling.final_count));
            return;
        }
        if (has_twin) {
            Messages(*this, "reduce.fold").receive(me_ + twins, bytes_of(iteration.picks[me_ + twins].size()));
        }
        for (std::size_t round = 0; round < doubling.counts.size(); ++round) {
            std::vector<std::size_t> const& counts = doubling.counts[round];
            std::size_t const group = me_ >> round;
            Messages messages(*this, fmt::format("reduce.{}", round));
            messages.send(me_ ^ (std::size_t{1} << round), bytes_of(counts[group]));
            messages.receive(me_ ^ (std::size_t{1} << round), bytes_of(counts[group ^ 1U]));
        }
        if (has_twin) {
            Messages(*this, "reduce.unfold").send(me_ + twins, bytes_of(doubling.final_count));
        }
    }

    void oktopk(SparseIteration const& iteration) {
        if (iteration.estimated) {
            compute(params_.estimate_ns, "threshold.local");
        }
        compute(params_.select_ns, "select");
        if (iteration.partitioned) {
            after_ = {builder_.all_reduce(world_, (params_.ranks - 1) * bound_bytes, Element::int64, Reduction::sum,
                                          "boundaries", after_)};
        }
        split(iteration);
        if (iteration.estimated) {
            announce_sizes("threshold.sizes");
            std::vector<Bytes> values;
            for (SparseVector const& sum : iteration.sums) {
                values.push_back(sum.size() * word_bytes);
            }
            after_ = {
                builder_.all_gather(world_, SharedBytes(std::move(values)), Element::fp32, "threshold.values", after_)};
        }
        announce_sizes("gather.sizes");
        even(iteration);
        after_ = {builder_.all_gather(world_, SharedBytes(dlmb::bytes_of(iteration.held, entry_bytes)), Element::int64,
                                      "gather", after_)};
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    /// Messages that are in flight together; empty ones are not sent, both ends know that.
    class Messages {
    public:
        Messages(SparseSteps& owner, std::string label)
            : owner_(owner), label_(std::move(label)), batch_(owner.next_batch_++) {}
        Messages(Messages const&) = delete;
        Messages(Messages&&) = delete;
        Messages& operator=(Messages const&) = delete;
        Messages& operator=(Messages&&) = delete;
        ~Messages() {
            if (!steps_.empty()) {
                owner_.after_ = std::move(steps_);
            }
        }

        void label(std::string label) { label_ = std::move(label); }
        void send(std::size_t to, Bytes bytes) {
            if (bytes > 0) {
                steps_.push_back(owner_.builder_.send(owner_.world_, static_cast<Rank>(to), bytes, 0, batch_, label_,
                                                      owner_.after_));
            }
        }
        void receive(std::size_t from, Bytes bytes) {
            if (bytes > 0) {
                steps_.push_back(owner_.builder_.recv(owner_.world_, static_cast<Rank>(from), bytes, 0, batch_, label_,
                                                      owner_.after_));
            }
        }

    private:
        SparseSteps& owner_;
        std::string label_;
        int batch_;
        std::vector<StepId> steps_;
    };

    void compute(Nanoseconds busy_ns, char const* label) {
        if (busy_ns > 0) {
            after_ = {builder_.compute(busy_ns, label, after_)};
        }
    }

    [[nodiscard]] Bytes bytes_of(std::size_t count) const {
        return std::min<Bytes>(count * entry_bytes, params_.elements * word_bytes);
    }

    /// How many pairs will come is announced first. Peers are met in turn by their distance, so that no rank is sent
    /// to by all at once; a bucket of them at a time.
    void split(SparseIteration const& iteration) {
        std::size_t const ranks = params_.ranks;
        std::vector<Bytes> const sizes(ranks, word_bytes);
        after_ = {builder_.exchange(world_, sizes, sizes, "split.sizes", after_)};
        auto const bytes = [&](std::size_t from, std::size_t owner) {
            return entry_bytes *
                   part_of(iteration.picks[from], iteration.regions[owner], iteration.regions[owner + 1]).size();
        };
        // Distance 0, which moves nothing, is in the first bucket as in the original.
        for (std::size_t first = 0; first < ranks; first += params_.bucket) {
            Messages messages(*this, "");
            for (std::size_t distance = std::max<std::size_t>(first, 1);
                 distance < std::min(ranks, first + params_.bucket); ++distance) {
                std::size_t const to = (me_ + distance) % ranks;
                std::size_t const from = (me_ + ranks - distance) % ranks;
                messages.label(fmt::format("split.{}", distance));
                messages.send(to, bytes(me_, to));
                messages.receive(from, bytes(from, me_));
            }
        }
    }

    void even(SparseIteration const& iteration) {
        Messages messages(*this, "");
        for (EntryMove const& move : iteration.moves) {
            messages.label(fmt::format("gather.even.{}.{}", move.from, move.to));
            if (move.from == me_) {
                messages.send(move.to, move.count * entry_bytes);
            } else if (move.to == me_) {
                messages.receive(move.from, move.count * entry_bytes);
            }
        }
    }

    void announce_sizes(char const* label) {
        after_ = {builder_.all_gather(world_, params_.ranks * word_bytes, Element::int32, label, after_)};
    }

    Params const& params_;
    std::size_t me_;
    PlanBuilder builder_;
    GroupId world_ = 0;
    int next_batch_ = 0;
    std::vector<StepId> after_;
};

/// The buffers of Ok-Topk's messages in any iteration. Plans of several draws share memory, so what a buffer of one
/// draw is for it must be for in all.
std::vector<std::string> oktopk_buffers(Params const& params, std::size_t me) {
    std::vector<std::string> names;
    auto const both = [&](std::string const& label) {
        names.push_back(label + ".send");
        names.push_back(label + ".recv");
    };
    for (char const* const label :
         {"boundaries", "split.sizes", "threshold.sizes", "threshold.values", "gather.sizes", "gather"}) {
        both(label);
    }
    for (std::size_t distance = 1; distance < params.ranks; ++distance) {
        std::size_t const peer = (me + distance) % params.ranks;
        both(fmt::format("split.{}", distance));
        names.push_back(fmt::format("gather.even.{}.{}.send", me, peer));
        names.push_back(fmt::format("gather.even.{}.{}.recv", peer, me));
    }
    return names;
}

/// The plan with these buffers, those that it does not use empty.
Plan with_buffers(Plan plan, std::vector<std::string> const& names) {
    std::map<std::string_view, BufferId> places;
    std::vector<Buffer> all;
    for (std::string const& name : names) {
        places.emplace(name, static_cast<BufferId>(all.size()));
        all.push_back({name, 0});
    }
    std::vector<BufferId> moved;
    for (Buffer& buffer : plan.buffers) {
        moved.push_back(places.at(buffer.name));
        all[moved.back()] = std::move(buffer);
    }
    for (Step& step : plan.steps) {
        std::visit(
            [&](auto& operation) { for_each_buffer(operation, [&](BufferId& buffer) { buffer = moved[buffer]; }); },
            step.operation);
    }
    plan.buffers = std::move(all);
    return plan;
}

// Places of the counts that are summed over ranks; the words of each rank follow, in split and then in gather. What all
// ranks know alike is counted by rank 0.
enum Count : std::size_t { picked, in_result, recalled, counts };

class SparseAllreduce final : public Pattern {
public:
    explicit SparseAllreduce(Params const& params) : params_(params), iterations_(params) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        auto const iteration = iterations_.at(draw);
        auto const rank = static_cast<std::size_t>(source);
        RankSetup setup;
        setup.statistics.resize(counts + 2 * params_.ranks);
        setup.statistics[picked] =
            params_.algorithm == SparseAlgorithm::dense ? params_.elements : iteration->picks[rank].size();
        setup.statistics[counts + rank] = iteration->words[rank].split();
        setup.statistics[counts + params_.ranks + rank] = iteration->words[rank].gathered;
        if (source == 0) {
            setup.statistics[in_result] =
                params_.algorithm == SparseAlgorithm::dense ? params_.elements : iteration->result.size();
            setup.statistics[recalled] = static_cast<std::uint64_t>(std::llround(iteration->recall * recall_parts));
        }
        return setup;
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        SparseSteps steps(params_, me);
        switch (params_.algorithm) {
        case SparseAlgorithm::dense:
            steps.dense();
            break;
        case SparseAlgorithm::topk_allgather:
            steps.topk_allgather();
            break;
        case SparseAlgorithm::gtopk:
            steps.gtopk();
            break;
        case SparseAlgorithm::recursive_sparse:
            steps.recursive_sparse(*iterations_.at(draw));
            break;
        case SparseAlgorithm::oktopk:
            steps.oktopk(*iterations_.at(draw));
            return with_buffers(std::move(steps).finish(), oktopk_buffers(params_, static_cast<std::size_t>(me)));
        }
        return std::move(steps).finish();
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        require_statistics("sparse_allreduce", summed, counts + 2 * params_.ranks);
        auto const most = [&](std::size_t first) { return largest_of(summed.subspan(first, params_.ranks)); };
        auto const ranks = static_cast<double>(params_.ranks);
        return {
            // Each phase waits for its busiest rank.
            {"words_per_rank_max", static_cast<double>(most(counts) + most(counts + params_.ranks))},
            {"words_bound", 6 * static_cast<double>(params_.k) * (ranks - 1) / ranks},
            {"picks_per_rank", static_cast<double>(summed[picked]) / ranks},
            {"result_elements", static_cast<double>(summed[in_result])},
            {"topk_recall", static_cast<double>(summed[recalled]) / recall_parts},
        };
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        OperationUse const send{OperationKind::send};
        OperationUse const recv{OperationKind::recv};
        switch (params_.algorithm) {
        case SparseAlgorithm::dense:
            return {{OperationKind::all_reduce, true}};
        case SparseAlgorithm::topk_allgather:
            return {{OperationKind::all_gather, true}};
        case SparseAlgorithm::gtopk:
            return {send, recv, {OperationKind::broadcast, true}};
        case SparseAlgorithm::recursive_sparse:
            return {send, recv};
        case SparseAlgorithm::oktopk:
            break;
        }
        return {send,
                recv,
                {OperationKind::all_gather},
                {OperationKind::exchange, true},
                {OperationKind::all_reduce, true}};
    }

    [[nodiscard]] Parameters resolved() const override { return {{"k", fmt::format("{}", params_.k)}}; }

    [[nodiscard]] bool draws_differ() const override {
        return params_.algorithm == SparseAlgorithm::oktopk || params_.algorithm == SparseAlgorithm::recursive_sparse;
    }

private:
    static constexpr double recall_parts = 1e9;  // counts are whole numbers

    Params params_;
    SparseIterations iterations_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<SparseAllreduce>(read_params(parameters, world));
}

constexpr std::string_view phases[] = {"threshold", "select", "boundaries", "split", "reduce", "gather"};

/// A rank's part of the model, all of it in one allreduce.
ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"tp", "pp"});
    parameters.computed("elements", [&] {
        std::uint64_t const gradients = gradients_of(model, parallel);
        if (gradients > max_elements) {
            throw UsageError(fmt::format("{}: a rank has {} gradients, and at most {} are exchanged here; divide the "
                                         "model by --parallel, or give --elements",
                                         model.source, gradients, max_elements));
        }
        return gradients;
    });
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const sparse_allreduce{
        "sparse_allreduce",
        "allreduce of the largest gradients: Ok-Topk and what it is compared with",
        parameter_infos(),
        phases,
        presets_json,
        make,
        of_model};
    return sparse_allreduce;
}

}  // namespace dlmb::sparse_allreduce
