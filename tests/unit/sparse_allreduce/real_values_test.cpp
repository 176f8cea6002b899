// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The algorithms with real values over the messages of their plans: ranks select from all their gradients, write pairs
// where the plan says that they are sent from, let the backend move them, and read what came. A message of another size
// than the plan's, a wrong peer or a wrong order of steps would show in the result, which must be the exact one, to the
// bit, on every rank.
#include "tests/unit/in_process/in_process_world.hpp"
#include "tests/unit/sparse_allreduce/sparse_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

namespace dlmb::sparse_allreduce {
namespace {

using in_process::testing::TestRank;

/// How many of `values` have a larger magnitude than the k-th largest, and that one.
struct Cut {
    float magnitude = 0;
    std::size_t above = 0;
};

/// There are more than k.
Cut cut_at(std::span<float const> values, std::size_t k) {
    std::vector<float> magnitudes(values.size());
    std::transform(values.begin(), values.end(), magnitudes.begin(), [](float value) { return std::fabs(value); });
    auto const last = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>{});
    float const cut = *last;
    return {cut, static_cast<std::size_t>(
                     std::count_if(magnitudes.begin(), magnitudes.end(), [cut](float each) { return each > cut; }))};
}

/// Of `own` sums. `gathered`: where the threshold is estimated, the values of all owners' sums, one owner behind the
/// other, in which this rank's begin at `first`; else empty.
SparseVector keep(Params const& params, std::span<SparseEntry const> own, std::span<float const> gathered,
                  std::size_t first, Thresholds const& thresholds) {
    if (gathered.empty()) {
        return at_least(own, thresholds.global);
    }
    if (gathered.size() <= params.k) {
        return {own.begin(), own.end()};
    }
    // Regions ascend with ranks: of equal magnitudes at the cut, those of lower indices are the first ones gathered.
    Cut const cut = cut_at(gathered, params.k);
    std::size_t at_cut = params.k - cut.above;
    for (std::size_t i = 0; i < first; ++i) {
        if (at_cut > 0 && std::fabs(gathered[i]) == cut.magnitude) {
            --at_cut;
        }
    }
    SparseVector kept;
    for (SparseEntry const& entry : own) {
        float const magnitude = std::fabs(entry.value);
        if (magnitude > cut.magnitude) {
            kept.push_back(entry);
        } else if (at_cut > 0 && magnitude == cut.magnitude) {
            kept.push_back(entry);
            --at_cut;
        }
    }
    return kept;
}

/// The steps of one label, without what they wait for: that has run before.
Plan steps_labelled(Plan const& plan, std::string_view label) {
    Plan part{plan.me, plan.groups, plan.buffers, {}};
    for (Step const& step : plan.steps) {
        if (step.label == label) {
            part.steps.push_back(step);
            part.steps.back().after.clear();
        }
    }
    return part;
}

class RealRank {
public:
    RealRank(TestRank& rank, Plan plan) : rank_(rank), plan_(std::move(plan)) { rank_.allocate(plan_); }

    /// Collective: all ranks name the same labels, in the same order.
    void run(std::string const& label) {
        Plan const part = steps_labelled(plan_, label);
        auto const compiled = std::move(rank_.backend().compile(part, rank_.buffers(), {})).value();
        compiled->launch();
        compiled->finish();
        rank_.bootstrap().barrier();  // nobody writes a region that another still reads
    }

    /// The only operation of that type and label; nullptr: this rank has none.
    template <class Operation>
    [[nodiscard]] Operation const* find(std::string_view label) const {
        for (Step const& step : plan_.steps) {
            if (step.label == label && std::holds_alternative<Operation>(step.operation)) {
                return &std::get<Operation>(step.operation);
            }
        }
        return nullptr;
    }
    template <OperationKind kind>
    [[nodiscard]] Collective const* find(std::string_view label) const {
        auto const* const step = find<Collective>(label);
        return step != nullptr && step->kind == kind ? step : nullptr;
    }

    template <class Value>
    void write(Region const& region, std::span<Value const> values, Bytes planned) {
        ASSERT_EQ(values.size_bytes(), planned);
        std::memcpy(rank_.buffers().base[region.buffer] + region.offset, values.data(), planned);
    }
    template <class Value>
    [[nodiscard]] std::vector<Value> read(Region const& region, Bytes planned) const {
        std::vector<Value> values(planned / sizeof(Value));
        std::memcpy(values.data(), rank_.buffers().base[region.buffer] + region.offset, planned);
        return values;
    }

    void write_message(std::string_view label, std::span<SparseEntry const> entries) {
        Send const* const send = find<Send>(label);
        ASSERT_EQ(send != nullptr, !entries.empty()) << label;
        if (send != nullptr) {
            write(Region{send->buffer, send->to.offset}, entries, send->to.bytes);
        }
    }
    [[nodiscard]] SparseVector read_message(std::string_view label) const {
        Recv const* const recv = find<Recv>(label);
        return recv == nullptr ? SparseVector{}
                               : read<SparseEntry>(Region{recv->buffer, recv->from.offset}, recv->from.bytes);
    }

    /// Writes this rank's part, runs, and gives the parts of all ranks.
    template <class Value>
    std::vector<Value> all_gather(std::string const& label, std::span<Value const> own) {
        Collective const& step = *find<OperationKind::all_gather>(label);
        write(step.send, own, shares_of(plan_, step).of(rank_.rank()));
        run(label);
        return read<Value>(step.recv, step.bytes);
    }

    [[nodiscard]] Plan const& plan() const { return plan_; }
    [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(rank_.rank()); }

private:
    TestRank& rank_;
    Plan plan_;
};

SparseVector every_gradient(Params const& params, Rank rank, Draw draw) {
    std::vector<float> const all = Gradients(params).all(rank, draw);
    SparseVector entries;
    for (std::uint32_t index = 0; index < all.size(); ++index) {
        entries.push_back({index, all[index]});
    }
    return entries;
}

/// What a rank knows from the iteration before.
struct Before {
    Thresholds thresholds;
    Regions regions;
};

SparseVector run_oktopk(Params const& params, RealRank& real, Draw draw, Before& before) {
    bool const estimate = estimates(params, draw.index);
    SparseVector const picks =
        select(params, estimate, every_gradient(params, static_cast<Rank>(real.me()), draw), before.thresholds);
    if (partitions(params, draw.index)) {
        Collective const& step = *real.find<OperationKind::all_reduce>("boundaries");
        std::vector<std::uint64_t> const bounds = equal_count_bounds(params, picks);
        real.write<std::uint64_t>(step.send, bounds, step.bytes);
        real.run("boundaries");
        before.regions = regions_of(params, real.read<std::uint64_t>(step.recv, step.bytes));
    } else if (before.regions.empty()) {
        before.regions = equal_width_regions(params);
    }
    Regions const& regions = before.regions;
    auto const part = [&](std::size_t owner) { return part_of(picks, regions[owner], regions[owner + 1]); };

    Exchange const& sizes = *real.find<Exchange>("split.sizes");
    for (Block const& block : sizes.send) {
        std::array const count{static_cast<std::uint32_t>(part(static_cast<std::size_t>(block.peer)).size())};
        real.write<std::uint32_t>({sizes.send_buffer, block.offset}, count, block.bytes);
    }
    real.run("split.sizes");
    std::vector<SparseVector> terms{{part(real.me()).begin(), part(real.me()).end()}};
    for (std::size_t distance = 1; distance < params.ranks; ++distance) {
        std::string const label = "split." + std::to_string(distance);
        real.write_message(label, part((real.me() + distance) % params.ranks));
        real.run(label);
        terms.push_back(real.read_message(label));
        std::size_t const from = (real.me() + params.ranks - distance) % params.ranks;
        auto const announced = real.read<std::uint32_t>({sizes.recv_buffer, sizes.recv[from].offset}, word_bytes);
        EXPECT_EQ(terms.back().size(), announced.front());
    }
    SparseVector const sums = sum_of(terms);

    std::vector<float> gathered;
    std::size_t first = 0;
    if (estimate) {
        std::array const own{static_cast<std::uint32_t>(sums.size())};
        std::vector<std::uint32_t> const counts = real.all_gather<std::uint32_t>("threshold.sizes", own);
        first =
            std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(real.me()), std::size_t{0});
        std::vector<float> values;
        std::transform(sums.begin(), sums.end(), std::back_inserter(values),
                       [](SparseEntry const& entry) { return entry.value; });
        gathered = real.all_gather<float>("threshold.values", values);
    }
    SparseVector kept = keep(params, sums, gathered, first, before.thresholds);
    std::array const own{static_cast<std::uint32_t>(kept.size())};
    std::vector<std::uint32_t> const announced = real.all_gather<std::uint32_t>("gather.sizes", own);
    std::vector<std::size_t> const counts(announced.begin(), announced.end());
    std::size_t const begin =
        std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(real.me()), std::size_t{0});
    std::vector<EntryMove> const moves = even_parts(params, counts);
    std::vector<SparseVector> held;
    std::set<std::size_t> moved;
    for (EntryMove const& move : moves) {
        std::string const label = "gather.even." + std::to_string(move.from) + '.' + std::to_string(move.to);
        if (move.from == real.me()) {
            real.write_message(label, std::span(kept).subspan(move.first - begin, move.count));
            for (std::size_t place = move.first; place < move.first + move.count; ++place) {
                moved.insert(place - begin);
            }
        }
        real.run(label);
        if (move.to == real.me()) {
            held.push_back(real.read_message(label));
        }
    }
    SparseVector stayed;
    for (std::size_t place = 0; place < kept.size(); ++place) {
        if (moved.count(place) == 0) {
            stayed.push_back(kept[place]);
        }
    }
    held.push_back(std::move(stayed));
    SparseVector result = real.all_gather<SparseEntry>("gather", sum_of(held));
    correct_global(params, estimate, result, before.thresholds);
    return result;
}

SparseVector run_gtopk(Params const& params, RealRank& real, SparseVector picks) {
    std::size_t round = 0;
    for (std::size_t step = 1; step < params.ranks; step *= 2, ++round) {
        std::string const label = "reduce." + std::to_string(round);
        bool const sends = real.find<Send>(label) != nullptr;
        real.write_message(label, sends ? std::span<SparseEntry const>(picks) : std::span<SparseEntry const>());
        real.run(label);
        std::array const pair{picks, real.read_message(label)};
        picks = largest(sum_of(pair), params.k);
    }
    Collective const& step = *real.find<OperationKind::broadcast>("gather");
    if (real.me() == 0) {
        real.write<SparseEntry>(step.recv, picks, step.bytes);
    }
    real.run("gather");
    return real.read<SparseEntry>(step.recv, step.bytes);
}

SparseVector run_recursive(Params const& params, RealRank& real, SparseVector picks) {
    std::vector<std::string> labels{"reduce.fold"};
    for (std::size_t round = 0; (std::size_t{2} << round) <= params.ranks; ++round) {
        labels.push_back("reduce." + std::to_string(round));
    }
    labels.emplace_back("reduce.unfold");
    for (std::string const& label : labels) {
        bool const sends = real.find<Send>(label) != nullptr;
        real.write_message(label, sends ? std::span<SparseEntry const>(picks) : std::span<SparseEntry const>());
        real.run(label);
        SparseVector const came = real.read_message(label);
        std::array const pair{label == "reduce.unfold" && !came.empty() ? SparseVector{} : picks, came};
        picks = sum_of(pair);
    }
    return largest(picks, params.k);
}

SparseVector run_algorithm(Params const& params, RealRank& real, Draw draw, Before& before) {
    if (params.algorithm == SparseAlgorithm::oktopk) {
        return run_oktopk(params, real, draw, before);
    }
    SparseVector picks = largest(every_gradient(params, static_cast<Rank>(real.me()), draw), params.k);
    switch (params.algorithm) {
    case SparseAlgorithm::gtopk:
        return run_gtopk(params, real, std::move(picks));
    case SparseAlgorithm::recursive_sparse:
        return run_recursive(params, real, std::move(picks));
    default: {
        SparseVector const all = real.all_gather<SparseEntry>("gather", picks);
        std::vector<std::span<SparseEntry const>> terms;
        for (std::size_t rank = 0; rank < params.ranks; ++rank) {
            terms.push_back(std::span(all).subspan(rank * params.k, params.k));
        }
        return largest(sum_of(terms), params.k);
    }
    }
}

/// Results by rank, of each iteration.
std::vector<std::vector<SparseVector>> results(int ranks, Parameters const& parameters, std::uint32_t iterations) {
    Params const params = params_of(ranks, parameters);
    auto const pattern = make_pattern(type(), "", parameters, {ranks, ranks});
    std::vector<std::vector<SparseVector>> found(iterations, std::vector<SparseVector>(params.ranks));
    std::vector<Before> before(params.ranks);
    for (std::uint32_t index = 0; index < iterations; ++index) {
        Draw const draw{1, index};
        in_process::testing::run_test_ranks(ranks, [&](TestRank& rank) {
            auto const me = static_cast<std::size_t>(rank.rank());
            RealRank real(rank, build_one(*pattern, rank.rank(), draw));
            found[index][me] = run_algorithm(params, real, draw, before[me]);
        });
    }
    return found;
}

void expect_alike(std::vector<SparseVector> const& by_rank, SparseVector const& expected, std::string const& what) {
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        EXPECT_EQ(by_rank[rank], expected) << what << ", rank " << rank << " of " << by_rank.size();
    }
}

TEST(RealValues, OktopkGivesTheExactGlobalTopKBitwiseEqualOnAllRanks) {
    for (int const ranks : {2, 4, 8, 16}) {
        Params const params = params_of(ranks, skewed());
        expect_alike(results(ranks, skewed(), 1).front(), expected_result(params, {}), "oktopk");
    }
}

TEST(RealValues, SoDoItsVariantsAndTheAlgorithmsItIsComparedWith) {
    for (Parameters const& variant :
         {Parameters{{"no-balance", "on"}}, Parameters{{"balance-above", "1"}}, Parameters{{"bucket", "1"}},
          Parameters{{"algorithm", "topk_allgather"}}, Parameters{{"algorithm", "recursive_sparse"}}}) {
        for (int const ranks : {1, 3, 6}) {
            Parameters const parameters = skewed(variant);
            expect_alike(results(ranks, parameters, 1).front(), expected_result(params_of(ranks, parameters), {}),
                         variant.begin()->first);
        }
    }
}

TEST(RealValues, LaterIterationsAndGtopkGiveWhatWasWorkedOutForTheirPlans) {
    for (Parameters const& variant :
         {Parameters{{"threshold-every", "3"}, {"boundaries-every", "2"}}, Parameters{{"algorithm", "gtopk"}}}) {
        Parameters const parameters = skewed(variant);
        SparseIterations const iterations(params_of(5, parameters));
        auto const found = results(5, parameters, 5);
        for (std::uint32_t index = 0; index < found.size(); ++index) {
            expect_alike(found[index], iterations.at({1, index})->result, "iteration " + std::to_string(index));
        }
    }
}

}  // namespace
}  // namespace dlmb::sparse_allreduce
