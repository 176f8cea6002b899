// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/rule.hpp"

#include <algorithm>

namespace dlmb::tuning {
namespace {

// In the order of the enumerations. Literals: the C interface hands out their ends.
constexpr std::array<std::string_view, every_tuned_operation.size()> operation_words{
    "allreduce", "reduce_scatter", "allgather", "broadcast", "exchange", "sendrecv"};
constexpr std::array<std::string_view, 4> basis_words{"buffer", "total", "rank_send", "message"};
constexpr std::array<std::string_view, 3> status_words{"chosen", "tie", "no_gain"};

template <class Word, std::size_t count>
std::optional<Word> find_word(std::array<std::string_view, count> const& words, std::string_view name) {
    auto const found = std::find(words.begin(), words.end(), name);
    return found == words.end() ? std::nullopt : std::optional{static_cast<Word>(found - words.begin())};
}

}  // namespace

std::string_view name_of(TunedOperation operation) {
    return operation_words.at(static_cast<std::size_t>(operation));
}

std::optional<TunedOperation> operation_named(std::string_view name) {
    return find_word<TunedOperation>(operation_words, name);
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
    return basis_words.at(static_cast<std::size_t>(basis));
}

std::string_view name_of(RuleStatus status) {
    return status_words.at(static_cast<std::size_t>(status));
}

std::optional<RuleStatus> status_named(std::string_view name) {
    return find_word<RuleStatus>(status_words, name);
}

bool Choice::keeps_default() const {
    return method == default_method && !algorithm && params == ChoiceParams{};
}

}  // namespace dlmb::tuning
