// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/method_table.hpp"

#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

constexpr int few_peers = 32;
constexpr OperationSet all_reduce{OperationKind::all_reduce};
constexpr OperationSet exchange{OperationKind::exchange};
constexpr OperationSet broadcast{OperationKind::broadcast};
constexpr OperationSet gather{OperationKind::all_gather};
constexpr OperationSet collectives{OperationKind::exchange, OperationKind::all_reduce, OperationKind::reduce_scatter,
                                   OperationKind::all_gather, OperationKind::broadcast};
constexpr OperationSet reductions_and_gather{OperationKind::all_reduce, OperationKind::reduce_scatter,
                                             OperationKind::all_gather};

// A quarter and four times the default segment, half and twice the default radix.
constexpr std::string_view segments[] = {"64K", "1M"};
constexpr std::string_view radices[] = {"2", "8"};

template <algorithms::Algorithm algorithm>
algorithms::Algorithm always(OperationKind /*kind*/) {
    return algorithm;
}

algorithms::Algorithm knomial_for(OperationKind kind) {
    return kind == OperationKind::broadcast ? algorithms::knomial_tree : algorithms::knomial;
}

/// The choice by size comes first: it is the default for what it has.
std::vector<Method> all_methods() {
    return {
        {{"auto", "one of the methods below, chosen by operation, size and ranks", collectives,
          "window_copies=cached|streamed, messages_from=SIZE|inf (default: the fastest in a trial)"},
         nullptr,
         always<algorithms::automatic>,
         {},
         InSharedMemory::where_faster},
        linear(),
        pairwise(),
        {{"shared_memory", "loads and stores in memory that the ranks of a node share, in segments", collectives,
          "segment=SIZE (default by size), window_copies=cached|streamed (default: the faster in a trial)"},
         nullptr,
         always<algorithms::automatic>,
         {},
         InSharedMemory::always},
        {{"recursive_doubling", "all data with a partner at distance 1, 2, 4 ...; lower ranks are the left operand",
          all_reduce},
         nullptr,
         always<algorithms::recursive_doubling>},
        {{"ring", "parts around a ring in segments; part p is reduced from rank p + 1 around to p",
          reductions_and_gather, "segment=SIZE (default 256K)"},
         nullptr,
         always<algorithms::ring>,
         segments},
        {{"knomial",
          "scatter by reduction and gather, or broadcast, over groups of groups of K; operands by rank",
          {OperationKind::all_reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
           OperationKind::broadcast},
          "radix=K (default 4)"},
         nullptr,
         knomial_for,
         radices},
        {{"bruck", "blocks packed by the bits of their distance: few messages, for small equal blocks", exchange, "",
          true},
         nullptr,
         always<algorithms::bruck_exchange>},
        {{"bruck_allgather", "1, 2, 4 ... parts from as many ranks further on: few messages, for small parts", gather},
         nullptr,
         always<algorithms::bruck_all_gather>},
        {{"neighbor", "pairs of parts with both neighbours in turn (an odd number of ranks: as ring)", gather},
         nullptr,
         always<algorithms::neighbor>},
        {{"chain", "from the root along all ranks in segments", broadcast, "segment=SIZE (default 256K)"},
         nullptr,
         always<algorithms::chain>,
         segments},
        {{"scatter_allgather", "a part from the root to each other rank, then the parts among these", broadcast},
         nullptr,
         always<algorithms::scatter_allgather>},
    };
}

}  // namespace

Method const& ChosenMethods::method_for(OperationKind kind) const {
    if (chosen_ != nullptr && chosen_->info.operations.has(kind)) {
        return *chosen_;
    }
    return *std::find_if(table_.begin(), table_.end(), [kind](Method const& method) {
        return method.info.operations.has(kind) && !method.info.uniform_only;
    });
}

Method const& ChosenMethods::lane_method() const {
    return *std::find_if(table_.begin(), table_.end(), [](Method const& method) { return method.arrange != nullptr; });
}

WindowUse ChosenMethods::window_use(WindowUse found) const {
    return {knobs_.window_copies.value_or(found.copies), knobs_.messages_from.value_or(found.messages_from)};
}

bool ChosenMethods::fixes_window_use() const {
    return knobs_.window_copies && (knobs_.messages_from || chosen_->in_shared_memory == InSharedMemory::always);
}

MethodTable::MethodTable(int peers) : methods_(all_methods()) {
    if (peers > few_peers) {
        std::swap(methods_[1], methods_[2]);
    }
    knob_texts_.reserve(methods_.size());  // the infos refer to them
    for (Method& method : methods_) {
        if (method.in_shared_memory == InSharedMemory::never) {
            std::string_view const own = method.info.knobs;
            method.info.knobs =
                knob_texts_.emplace_back(fmt::format("{}{}{}", own, own.empty() ? "" : ", ", context_knobs));
        }
        infos_.push_back(method.info);
        if (method.in_shared_memory != InSharedMemory::always) {
            infos_of_messages_.push_back(method.info);
        }
    }
}

std::vector<MethodChoice> MethodTable::variants(std::span<OperationUse const> uses, bool by_messages) const {
    std::vector<MethodChoice> variants;
    for (MethodInfo const& info : methods_for(infos_, uses)) {
        auto const method = std::find_if(methods_.begin(), methods_.end(),
                                         [&](Method const& row) { return row.info.name == info.name; });
        std::string_view const knob = info.knobs.substr(0, info.knobs.find('='));
        for (std::string_view const value : method->worth_measuring) {
            variants.push_back({std::string(info.name), {{std::string(knob), std::string(value)}}});
        }
    }
    Method const& messages = ChosenMethods(methods_, nullptr, {}).lane_method();
    if (std::any_of(uses.begin(), uses.end(), [&](OperationUse const& use) {
            bool const shares = use.kind != OperationKind::send && use.kind != OperationKind::recv;
            return messages.info.operations.has(use.kind) && (by_messages || !shares);
        })) {
        for (char const* const threshold : {"1", "inf"}) {
            variants.push_back({std::string(messages.info.name), {{"rndv_thresh", threshold}}});
        }
    }
    return variants;
}

ChosenMethods MethodTable::choose(MethodChoice const& choice) const {
    std::vector<std::string> known{"default"};
    for (Method const& method : methods_) {
        if (choice.name == method.info.name) {
            return {methods_, &method, read_knobs(choice, method.info)};
        }
        known.emplace_back(method.info.name);
    }
    if (choice.name != "default") {
        throw UsageError(unknown_name("ucx method", choice.name, known));
    }
    return {methods_, nullptr, read_knobs(choice, {"default", "", {}})};
}

}  // namespace dlmb::ucx
