// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/methods.hpp"

#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace dlmb::ucx {
namespace {

constexpr OperationSet all_reduce{OperationKind::all_reduce};
constexpr OperationSet exchange{OperationKind::exchange};
constexpr OperationSet broadcast{OperationKind::broadcast};
constexpr OperationSet broadcast_and_reduce{OperationKind::broadcast, OperationKind::reduce};
constexpr OperationSet barrier{OperationKind::barrier};
constexpr OperationSet gather{OperationKind::all_gather};
constexpr OperationSet by_tree{OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter,
                               OperationKind::all_gather, OperationKind::gather, OperationKind::scatter,
                               OperationKind::broadcast};
constexpr OperationSet collectives{OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter,
                                   OperationKind::all_gather, OperationKind::gather, OperationKind::scatter,
                                   OperationKind::broadcast,  OperationKind::barrier};
constexpr OperationSet reductions{OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter};
constexpr OperationSet reductions_without_root{OperationKind::all_reduce, OperationKind::reduce_scatter};
constexpr OperationSet reduce{OperationKind::reduce};
constexpr OperationSet reductions_and_gather{OperationKind::all_reduce, OperationKind::reduce_scatter,
                                             OperationKind::all_gather};
/// Operations that one batch of messages can do.
constexpr OperationSet direct{OperationKind::exchange, OperationKind::all_gather, OperationKind::gather,
                              OperationKind::scatter,  OperationKind::send,       OperationKind::recv};

constexpr OperationSet moving{OperationKind::exchange, OperationKind::send, OperationKind::recv};

// A quarter and four times the default segment, half and twice the default radix, and windows below the default.
constexpr std::string_view segments[] = {"64K", "1M"};
constexpr std::string_view radices[] = {"2", "8"};
constexpr std::string_view windows[] = {"1", "2"};

/// Knobs of every method, as MethodInfo::knobs.
constexpr std::string_view context_knobs = "rndv_thresh=SIZE|inf, zcopy_thresh=SIZE|inf";

/// Rank r's first message goes to r + 1, the second to r + 2 ...: no rank is hit by all others at once.
void rotate_by_rank(BatchPlan& batch) {
    auto const nearer = [](Transfer const& a, Transfer const& b) { return a.distance < b.distance; };
    std::stable_sort(batch.receives.begin(), batch.receives.end(), nearer);
    std::stable_sort(batch.sends.begin(), batch.sends.end(), nearer);
}

/// max_outstanding bounds the sends only. Receives are all posted before anything progresses, so that no message
/// arrives unexpected once its receiver has entered the step.
void post_everything(BatchPlan& batch, std::optional<std::size_t> max_outstanding) {
    rotate_by_rank(batch);
    batch.receive_window = batch.receives.size();
    batch.send_window = max_outstanding.value_or(batch.sends.size());
}

/// At most max_outstanding receives and as many sends at once; a finished one makes room for the next peer. There is no
/// deadlock: of the transfers that are not done anywhere, the one of the smallest distance is the first of both its
/// ranks, hence posted on both.
void post_in_windows(BatchPlan& batch, std::optional<std::size_t> max_outstanding) {
    constexpr std::size_t default_outstanding = 8;
    rotate_by_rank(batch);
    batch.receive_window = max_outstanding.value_or(default_outstanding);
    batch.send_window = batch.receive_window;
}

/// An algorithm is a graph with one order of operands per element, whichever message comes first: that is what is said
/// to be stable. `worth_measuring`: values of its knob.
Method by_algorithm(std::string_view name, std::string_view description, OperationSet operations,
                    OperationSet stable = {}, std::string_view knobs = "",
                    std::span<std::string_view const> worth_measuring = {}) {
    return {.info = {name, description, operations, knobs, false, {stable}},
            .by_algorithm = true,
            .worth_measuring = worth_measuring};
}

/// The first method that has an operation is the default for it.
std::vector<Method> all_methods() {
    Method bruck = by_algorithm(
        "bruck", "blocks packed by the bits of their distance: few messages, for small equal blocks", exchange);
    bruck.info.uniform_only = true;
    return {
        by_algorithm("auto", "one of the algorithms below, chosen by operation and size", collectives, reductions),
        {.info = {"linear", "ucp_tag_send_nbx to all peers, then ucp_tag_recv_nbx from all, rotated by rank", direct,
                  "max_outstanding=N"},
         .arrange = post_everything},
        {.info = {"pairwise", "ucp_tag_send_nbx and ucp_tag_recv_nbx in a window of peers, rotated by rank", direct,
                  "max_outstanding=N"},
         .arrange = post_in_windows,
         .worth_measuring = windows},
        by_algorithm("recursive_doubling",
                     "all data with a partner at distance 1, 2, 4 ...; lower ranks are the left operand", all_reduce,
                     all_reduce),
        by_algorithm("ring", "parts around a ring in segments; part p is reduced from rank p + 1 around to p",
                     reductions_and_gather, reductions_without_root, "segment=SIZE (default 256K)", segments),
        by_algorithm("knomial",
                     "scatter by reduction and gather over groups of groups of K; with a root, a tree of that degree",
                     by_tree, reductions, "radix=K (default 4)", radices),
        bruck,
        by_algorithm("bruck_allgather",
                     "1, 2, 4 ... parts from as many ranks further on: few messages, for small parts", gather),
        by_algorithm("neighbor", "pairs of parts with both neighbours in turn (an odd number of ranks: as ring)",
                     gather),
        by_algorithm("chain", "along all ranks in segments, from the root or to it", broadcast_and_reduce, reduce,
                     "segment=SIZE (default 256K)", segments),
        by_algorithm("scatter_allgather", "a part from the root to each other rank, then the parts among these",
                     broadcast),
        by_algorithm("reproducible", "one fixed tree of pairs of ranges of ranks, whatever the size (knomial:radix=2)",
                     reductions_without_root, reductions_without_root),
        by_algorithm("dissemination", "a message to the rank 1, 2, 4 ... further on", barrier),
        {.info = {"put",
                  "ucp_put_nbx into the memory of each receiver, and a flush; of puts with signals, of flags too",
                  moving.with(write_operations)},
         .verb = Verb::put},
        {.info = {"get", "ucp_get_nbx from the memory of each sender; of gets behind signals, flags by ucp_put_nbx",
                  moving.with(read_operations)},
         .verb = Verb::get},
    };
}

int read_number(std::string_view text, std::string const& what, int least) {
    int const number = parse_whole<int>(text).value_or(least - 1);
    if (number < least) {
        throw UsageError(fmt::format("{}={}: expected a whole number from {}", what, text, least));
    }
    return number;
}

/// UCX's name without "UCX_": rndv_thresh is RNDV_THRESH.
std::string setting_named(std::string_view knob) {
    std::string name(knob);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char each) { return std::toupper(each); });
    return name;
}

/// One text for one value, so that methods with equal settings share a context.
std::string read_threshold(std::string_view text, std::string const& what) {
    if (text == "inf") {
        return std::string(text);
    }
    try {
        return fmt::format("{}", parse_bytes(text, what));
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}; or write inf", error.what()));
    }
}

bool has_knob(std::string_view knobs, std::string const& knob) {
    return knobs.starts_with(knob + "=") || knobs.find(", " + knob + "=") != std::string_view::npos;
}

/// Throws UsageError for a knob that the method has not and for a wrong value.
MethodKnobs read_knobs(MethodChoice const& choice, MethodInfo const& info) {
    MethodKnobs knobs;
    for (auto const& [knob, text] : choice.knobs) {
        if (!has_knob(info.knobs, knob)) {
            throw_unknown_knob("ucx", info, choice, knob);
        }
        std::string const what = fmt::format("--method {}: {}", to_string(choice), knob);
        if (knob == "max_outstanding") {
            knobs.max_outstanding = static_cast<std::size_t>(read_number(text, what, 1));
        } else if (knob == "radix") {
            knobs.algorithm.radix = read_number(text, what, 2);
        } else if (has_knob(context_knobs, knob)) {
            knobs.context[setting_named(knob)] = read_threshold(text, what);
        } else {
            knobs.algorithm.segment = parse_bytes(text, what);
            if (knobs.algorithm.segment == 0) {
                throw UsageError(fmt::format("{}=0: expected a size from 1, for example 64K", what));
            }
        }
    }
    return knobs;
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

MethodTable::MethodTable() : methods_(all_methods()) {
    knob_texts_.reserve(methods_.size());  // the infos refer to them
    for (Method& method : methods_) {
        std::string_view const own = method.info.knobs;
        method.info.knobs =
            knob_texts_.emplace_back(fmt::format("{}{}{}", own, own.empty() ? "" : ", ", context_knobs));
        infos_.push_back(method.info);
    }
}

std::vector<MethodChoice> MethodTable::variants(std::span<OperationUse const> uses) const {
    std::vector<MethodChoice> variants;
    for (MethodInfo const& info : methods_for(infos_, uses)) {
        Method const& method = methods_[find_method(infos_, "ucx", info.name)];
        std::string_view const knob = info.knobs.substr(0, info.knobs.find('='));
        for (std::string_view const value : method.worth_measuring) {
            variants.push_back({std::string(info.name), {{std::string(knob), std::string(value)}}});
        }
    }
    std::string const messages(ChosenMethods(methods_, nullptr, {}).method_for(OperationKind::send).info.name);
    if (std::any_of(uses.begin(), uses.end(), [](OperationUse const& use) { return direct.has(use.kind); })) {
        for (char const* const threshold : {"1", "inf"}) {
            variants.push_back({messages, {{"rndv_thresh", threshold}}});
        }
    }
    return variants;
}

ChosenMethods MethodTable::choose(MethodChoice const& choice) const {
    if (choice.name == "default") {
        return {methods_, nullptr, read_knobs(choice, {"default", "", {}})};
    }
    Method const& method = methods_[find_method(infos_, "ucx", choice.name)];
    return {methods_, &method, read_knobs(choice, method.info)};
}

}  // namespace dlmb::ucx
