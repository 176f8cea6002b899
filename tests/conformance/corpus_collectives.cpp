// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/builder.hpp"
#include "tests/conformance/corpus.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <fmt/core.h>

namespace dlmb::conformance {
namespace {

/// The same steps on every rank of the world.
template <class Build>
CorpusEntry alike(std::string name, int ranks, Build const& build) {
    CorpusEntry entry{std::move(name), {}};
    for (Rank me = 0; me < ranks; ++me) {
        PlanBuilder builder(me);
        build(builder, builder.group(world_group(ranks)));
        entry.plans.push_back(std::move(builder).finish());
    }
    return entry;
}

void add_reductions(int ranks, Element element, Reduction reduction, Bytes count, std::vector<CorpusEntry>& entries) {
    Bytes const bytes = count * size_of(element);
    std::string const what = fmt::format("{} {} of {} elements", name_of(element), name_of(reduction), count);
    entries.push_back(alike("allreduce " + what, ranks, [&](PlanBuilder& builder, GroupId all) {
        builder.all_reduce(all, bytes, element, reduction, "allreduce");
    }));
    entries.push_back(alike("reduce_scatter " + what + " per rank", ranks, [&](PlanBuilder& builder, GroupId all) {
        builder.reduce_scatter(all, bytes * static_cast<Bytes>(ranks), element, reduction, "reduce_scatter");
    }));
}

}  // namespace

void add_collectives(int ranks, std::vector<CorpusEntry>& entries) {
    std::vector<Bytes> sizes(std::begin(sizes_up_to_66_kib), std::end(sizes_up_to_66_kib));
    sizes.push_back(one_mib);
    for (Bytes const bytes : sizes) {
        entries.push_back(
            alike(fmt::format("allgather, {} B per rank", bytes), ranks, [&](PlanBuilder& builder, GroupId all) {
                builder.all_gather(all, bytes * static_cast<Bytes>(ranks), Element::byte, "allgather");
            }));
        entries.push_back(alike(fmt::format("broadcast from the last rank, {} B", bytes), ranks,
                                [&](PlanBuilder& builder, GroupId all) {
                                    builder.broadcast(all, ranks - 1, bytes, Element::byte, "broadcast");
                                }));
        add_reductions(ranks, Element::fp32, Reduction::sum, bytes / 4, entries);
    }
    for (Element const element : all_elements) {
        for (Reduction const reduction : all_reductions) {
            add_reductions(ranks, element, reduction, 1001, entries);
        }
    }
    entries.push_back(alike("every collective, some of them together", ranks, [&](PlanBuilder& builder, GroupId all) {
        Bytes const bytes = 4096 * static_cast<Bytes>(ranks);
        StepId const gathered = builder.all_gather(all, bytes, Element::fp32, "gather");
        StepId const reduced = builder.all_reduce(all, bytes, Element::int32, Reduction::sum, "reduce.first");
        StepId const again =
            builder.all_reduce(all, bytes, Element::fp64, Reduction::max, "reduce.second", {gathered, reduced});
        builder.broadcast(all, 0, bytes, Element::byte, "broadcast", {again});
        builder.reduce_scatter(all, bytes, Element::fp32, Reduction::sum, "scatter", {again});
    }));
}

}  // namespace dlmb::conformance
