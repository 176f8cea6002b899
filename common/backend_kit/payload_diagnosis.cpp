// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/payload_diagnosis.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb {
namespace {

constexpr std::uint32_t iterations_back = 8;

bool is_stream(std::span<std::byte const> found, PayloadKey key, Bytes position) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        Bytes const byte = position + i;
        if (found[i] != static_cast<std::byte>(payload_word(key, byte / 8) >> (8 * (byte % 8)))) {
            return false;
        }
    }
    return true;
}

/// Tries one payload after the other on the found bytes; the first that fits gives the text.
class Guess {
public:
    Guess(std::span<std::byte const> found, Bytes offset) : found_(found), offset_(offset) {}
    template <class... Arguments>
    void try_key(PayloadKey key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        if (text_.empty() && is_stream(found_, key, offset_)) {
            text_ = fmt::format(text, std::forward<Arguments>(arguments)...);
        }
    }
    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    std::span<std::byte const> found_;
    Bytes offset_;
    std::string text_;
};

bool untouched(Piece const& piece, Bytes offset, std::span<std::byte const> found) {
    return is_stream(found, guard_key, piece.offset + offset);
}

}  // namespace

std::string recognise(Plan const& plan, PayloadLayout const& layout, Piece const& piece, Bytes offset,
                      std::span<std::byte const> found, std::uint32_t iteration) {
    if (found.size() < 3) {
        return {};
    }
    if (untouched(piece, offset, found)) {
        return "nothing was written there";
    }
    std::uint32_t const step = layout.step_numbers[piece.step];
    Guess guess(found, offset);
    for (std::uint32_t back = 1; back <= std::min(iterations_back, iteration); ++back) {
        guess.try_key(payload_key(piece.source, piece.destination, step, iteration - back),
                      "it is the payload of iteration {}", iteration - back);
    }
    for (Rank const member : group_of(plan, piece.step)->members) {
        guess.try_key(payload_key(member, piece.destination, step, iteration), "it is the block from rank {}", member);
        guess.try_key(payload_key(piece.source, member, step, iteration), "it is what rank {} sends to rank {}",
                      piece.source, member);
        guess.try_key(payload_key(plan.me, member, step, iteration), "it is what this rank sends to rank {}", member);
    }
    for (StepId other = 0; other < plan.steps.size(); ++other) {
        guess.try_key(payload_key(piece.source, piece.destination, layout.step_numbers[other], iteration),
                      "it is the block of step {} \"{}\"", other, plan.steps[other].label);
    }
    return std::move(guess).text();
}

std::string recognise_reduction(Plan const& plan, PayloadLayout const& layout, Piece const& piece, Bytes offset,
                                std::span<std::byte const> found, std::uint32_t iteration) {
    if (untouched(piece, offset, found)) {
        return "nothing was written there";
    }
    ReductionPayload const payload = reduction_payload(plan, piece.step);
    std::uint64_t const first = piece.first_element + offset / size_of(payload.element());
    std::uint32_t const step = layout.step_numbers[piece.step];
    PayloadKey const key = payload_key(every_rank, every_rank, step, iteration);
    std::vector<std::byte> guess(found.size());
    for (std::uint32_t back = 1; back <= std::min(iterations_back, iteration); ++back) {
        payload.result(payload_key(every_rank, every_rank, step, iteration - back), first, guess);
        if (std::equal(found.begin(), found.end(), guess.begin())) {
            return fmt::format("it is the result of iteration {}", iteration - back);
        }
    }
    std::vector<Rank> const& members = group_of(plan, piece.step)->members;
    for (int member = 0; member < static_cast<int>(members.size()); ++member) {
        Rank const rank = members[static_cast<std::size_t>(member)];
        payload.input(key, member, first, guess);
        if (std::equal(found.begin(), found.end(), guess.begin())) {
            return fmt::format("it is what rank {} put in", rank);
        }
        payload.result_without(key, member, first, guess);
        if (std::equal(found.begin(), found.end(), guess.begin())) {
            return fmt::format("the contribution of rank {} is missing", rank);
        }
    }
    return {};
}

ReductionPayload reduction_payload(Plan const& plan, StepId step) {
    auto const members = static_cast<int>(group_of(plan, step)->members.size());
    Operation const& operation = plan.steps[step].operation;
    if (auto const* reduce = std::get_if<AllReduce>(&operation)) {
        return {reduce->element, reduce->reduction, members};
    }
    if (auto const* scatter = std::get_if<ReduceScatter>(&operation)) {
        return {scatter->element, scatter->reduction, members};
    }
    throw Error(fmt::format("step {} \"{}\" is no reduction", step, plan.steps[step].label));
}

}  // namespace dlmb
