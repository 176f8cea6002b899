// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/vocabulary.hpp"

#include <algorithm>

namespace dlmb::tuning {
namespace {

template <class Word, std::size_t count>
std::optional<Word> find_word(std::array<Word, count> const& words, std::string_view name) {
    auto const found = std::find_if(words.begin(), words.end(), [&](Word word) { return name_of(word) == name; });
    return found == words.end() ? std::nullopt : std::optional{*found};
}

}  // namespace

std::string_view name_of(TunedOperation operation) {
    switch (operation) {
    case TunedOperation::allreduce:
        return "allreduce";
    case TunedOperation::reduce_scatter:
        return "reduce_scatter";
    case TunedOperation::allgather:
        return "allgather";
    case TunedOperation::broadcast:
        return "broadcast";
    case TunedOperation::exchange:
        return "exchange";
    case TunedOperation::sendrecv:
        break;
    }
    return "sendrecv";
}

std::optional<TunedOperation> operation_named(std::string_view name) {
    return find_word(every_tuned_operation, name);
}

SizeBasis basis_of(TunedOperation operation) {
    switch (operation) {
    case TunedOperation::allreduce:
    case TunedOperation::broadcast:
        return SizeBasis::buffer;
    case TunedOperation::reduce_scatter:
    case TunedOperation::allgather:
        return SizeBasis::total;
    case TunedOperation::exchange:
        return SizeBasis::rank_send;
    case TunedOperation::sendrecv:
        break;
    }
    return SizeBasis::message;
}

std::string_view name_of(SizeBasis basis) {
    switch (basis) {
    case SizeBasis::buffer:
        return "buffer";
    case SizeBasis::total:
        return "total";
    case SizeBasis::rank_send:
        return "rank_send";
    case SizeBasis::message:
        break;
    }
    return "message";
}

std::string_view name_of(Distribution distribution) {
    return distribution == Distribution::one_per_node ? "one_per_node" : "single_node";
}

std::optional<Distribution> distribution_named(std::string_view name) {
    return find_word(std::array{Distribution::one_per_node, Distribution::single_node}, name);
}

std::string_view name_of(Link link) {
    return link == Link::intra ? "intra" : "inter";
}

std::optional<Link> link_named(std::string_view name) {
    return find_word(std::array{Link::intra, Link::inter}, name);
}

std::string_view name_of(RuleStatus status) {
    switch (status) {
    case RuleStatus::chosen:
        return "chosen";
    case RuleStatus::tie:
        return "tie";
    case RuleStatus::no_gain:
        break;
    }
    return "no_gain";
}

std::optional<RuleStatus> status_named(std::string_view name) {
    return find_word(std::array{RuleStatus::chosen, RuleStatus::tie, RuleStatus::no_gain}, name);
}

}  // namespace dlmb::tuning
