// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/corpus.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <fmt/core.h>

namespace dlmb::conformance {
namespace {

void add_reductions(int ranks, Element element, Reduction reduction, Bytes count, std::vector<CorpusEntry>& entries) {
    Bytes const bytes = count * size_of(element);
    std::string const what = fmt::format("{} {} of {} elements", name_of(element), name_of(reduction), count);
    entries.push_back(entry_of("allreduce " + what, ranks, [&](PlanBuilder& builder, GroupId all) {
        builder.all_reduce(all, bytes, element, reduction, "allreduce");
    }));
    entries.push_back(entry_of("reduce_scatter " + what + " per rank", ranks, [&](PlanBuilder& builder, GroupId all) {
        builder.reduce_scatter(all, bytes * static_cast<Bytes>(ranks), element, reduction, "reduce_scatter");
    }));
}

/// Parts of `most` and fewer elements, some of none.
SharedBytes ragged_parts(int ranks, Bytes most, Element element) {
    std::vector<Bytes> shares;
    for (Rank rank = 0; rank < ranks; ++rank) {
        constexpr Bytes eighths[] = {3, 0, 8, 1, 5};
        shares.push_back(most * eighths[static_cast<std::size_t>(rank) % std::size(eighths)] / 8 * size_of(element));
    }
    return SharedBytes(std::move(shares));
}

void add_rooted_and_ragged(int ranks, Bytes count, bool in_place, std::vector<Rank> const& roots,
                           std::vector<CorpusEntry>& entries) {
    auto const add = [&](std::string const& name, Element element, auto const& build) {
        std::string const text =
            fmt::format("{}, {} elements of {}{}", name, count, name_of(element), in_place ? ", in place" : "");
        entries.push_back(entry_of(text, ranks, [&](PlanBuilder& builder, GroupId all) {
            builder.in_place(in_place);
            build(builder, all, element);
        }));
    };
    Bytes const all_counts = count * static_cast<Bytes>(ranks);
    for (Rank const root : roots) {
        std::string const where = fmt::format(" with root {}", root);
        add("reduce" + where, Element::int32, [&](PlanBuilder& builder, GroupId all, Element element) {
            builder.reduce(all, root, count * size_of(element), element, Reduction::sum, "reduce");
        });
        add("gather" + where, Element::fp64, [&](PlanBuilder& builder, GroupId all, Element element) {
            builder.gather(all, root, all_counts * size_of(element), element, "gather");
        });
        add("gatherv" + where, Element::fp32, [&](PlanBuilder& builder, GroupId all, Element element) {
            builder.gather(all, root, ragged_parts(ranks, count, element), element, "gatherv");
        });
        add("scatter" + where, Element::byte, [&](PlanBuilder& builder, GroupId all, Element element) {
            builder.scatter(all, root, all_counts * size_of(element), element, "scatter");
        });
        add("scatterv" + where, Element::int64, [&](PlanBuilder& builder, GroupId all, Element element) {
            builder.scatter(all, root, ragged_parts(ranks, count, element), element, "scatterv");
        });
    }
    add("allgatherv", Element::int8, [&](PlanBuilder& builder, GroupId all, Element element) {
        builder.all_gather(all, ragged_parts(ranks, count, element), element, "allgatherv");
    });
    add("reduce_scatter of uneven parts", Element::fp32, [&](PlanBuilder& builder, GroupId all, Element element) {
        builder.reduce_scatter(all, ragged_parts(ranks, count, element), element, Reduction::sum, "reduce_scatter");
    });
    add("reduce_scatter of equal parts that are named", Element::int8,
        [&](PlanBuilder& builder, GroupId all, Element element) {
            builder.reduce_scatter(all, SharedBytes(std::vector<Bytes>(static_cast<std::size_t>(ranks), count)),
                                   element, Reduction::min, "reduce_scatter");
        });
}

/// Roots and parts of groups whose ranks are in another order; every reduction, which public code takes for a sum
/// (MCR-DL 47c97a8, arXiv 2303.08374).
CorpusEntry collectives_of_two_groups(int ranks) {
    CorpusEntry entry{"collectives of two groups", {}};
    for (Rank me = 0; me < ranks; ++me) {
        PlanBuilder builder(me);
        Group const mine = parity_group(me, ranks);
        Bytes const size = mine.members.size();
        GroupId const group = builder.group(mine);
        std::vector<StepId> after;
        for (Reduction const reduction : all_reductions) {
            after = {builder.all_reduce(group, Bytes{1001} * 4, Element::int32, reduction,
                                        fmt::format("allreduce.{}", name_of(reduction)), after)};
        }
        after = {builder.reduce_scatter(group, 400 * size, Element::fp32, Reduction::max, "reduce_scatter", after)};
        builder.broadcast(group, static_cast<Rank>(size) - 1, 1001, Element::byte, "broadcast", after);
        entry.plans.push_back(std::move(builder).finish());
    }
    return entry;
}

}  // namespace

void add_collectives(int ranks, std::vector<CorpusEntry>& entries) {
    std::vector<Bytes> sizes(std::begin(sizes_up_to_66_kib), std::end(sizes_up_to_66_kib));
    sizes.push_back(one_mib);
    for (Bytes const bytes : sizes) {
        entries.push_back(
            entry_of(fmt::format("allgather, {} B per rank", bytes), ranks, [&](PlanBuilder& builder, GroupId all) {
                builder.all_gather(all, bytes * static_cast<Bytes>(ranks), Element::byte, "allgather");
            }));
        entries.push_back(entry_of(fmt::format("broadcast from the last rank, {} B", bytes), ranks,
                                   [&](PlanBuilder& builder, GroupId all) {
                                       builder.broadcast(all, ranks - 1, bytes, Element::byte, "broadcast");
                                   }));
        add_reductions(ranks, Element::fp32, Reduction::sum, bytes / 4, entries);
    }
    for (Element const element : all_elements) {
        for (Reduction const reduction : all_reductions) {
            add_reductions(ranks, element, reduction, 1001, entries);
        }
        entries.push_back(
            entry_of(fmt::format("reduce {}", name_of(element)), ranks, [&](PlanBuilder& builder, GroupId all) {
                builder.reduce(all, ranks - 1, 1001 * size_of(element), element, Reduction::max, "reduce");
            }));
    }
    for (bool const in_place : {false, true}) {
        add_rooted_and_ragged(ranks, 1001, in_place, {0, ranks / 2, ranks - 1}, entries);
        add_rooted_and_ragged(ranks, Bytes{40} << 10, in_place, {ranks - 1}, entries);
    }
    add_rooted_and_ragged(ranks, 0, false, {0}, entries);
    add_rooted_and_ragged(ranks, 1, false, {ranks - 1}, entries);
    entries.push_back(entry_of("barriers between messages", ranks, [&](PlanBuilder& builder, GroupId all) {
        StepId const first = builder.barrier(all, "barrier.first");
        StepId const moved = builder.all_gather(all, 64 * static_cast<Bytes>(ranks), Element::byte, "gather", {first});
        builder.barrier(all, "barrier.second", {moved});
    }));
    if (ranks >= 4) {
        entries.push_back(collectives_of_two_groups(ranks));
    }
    entries.push_back(
        entry_of("every collective, some of them together", ranks, [&](PlanBuilder& builder, GroupId all) {
            Bytes const bytes = 4096 * static_cast<Bytes>(ranks);
            StepId const gathered = builder.all_gather(all, bytes, Element::fp32, "gather");
            StepId const reduced = builder.all_reduce(all, bytes, Element::int32, Reduction::sum, "reduce.first");
            StepId const again =
                builder.all_reduce(all, bytes, Element::fp64, Reduction::max, "reduce.second", {gathered, reduced});
            builder.broadcast(all, 0, bytes, Element::byte, "broadcast", {again});
            builder.reduce_scatter(all, bytes, Element::fp32, Reduction::sum, "scatter", {again});
            builder.reduce(all, ranks - 1, 4096, Element::int8, Reduction::max, "reduce.third", {again});
            builder.gather(all, 0, ragged_parts(ranks, 512, Element::fp64), Element::fp64, "gather.second", {again});
            builder.scatter(all, ranks - 1, bytes, Element::fp32, "scatter.second", {again});
            builder.barrier(all, "barrier", {again});
        }));
}

}  // namespace dlmb::conformance
