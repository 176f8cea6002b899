// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/plan_payload.hpp"

#include "common/backend_kit/payload_diagnosis.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb {
namespace {

/// How far behind the first overwritten guard byte the others are counted.
constexpr Bytes guard_window = 4096;

bool is_reduction(Piece const& piece) {
    return piece.source == every_rank;
}

std::string where(Plan const& plan, StepId step) {
    return fmt::format("step {} \"{}\"", step, plan.steps[step].label);
}

std::string origin(Piece const& piece) {
    return is_reduction(piece) ? std::string("result") : fmt::format("block from rank {}", piece.source);
}

std::string with_hint(std::string text, std::string const& hint) {
    return hint.empty() ? std::move(text) : std::move(text) + "; " + hint;
}

std::byte guard_at(Bytes offset) {
    return static_cast<std::byte>(payload_word(guard_key, offset / 8) >> (8 * (offset % 8)));
}

/// Which of the read guard bytes are wrong. `offset`: of the first one in its buffer.
struct Overwritten {
    Bytes first = 0;
    Bytes count = 0;
};
Overwritten overwritten(std::span<std::byte const> found, Bytes offset) {
    Overwritten result;
    for (std::size_t i = found.size(); i-- > 0;) {
        if (found[i] != guard_at(offset + i)) {
            result.first = i;
            ++result.count;
        }
    }
    return result;
}

}  // namespace

PlanPayload::PlanPayload(MemorySpace& memory, Buffers const& buffers, Plan const& plan)
    : memory_(memory), buffers_(buffers), plan_(plan), layout_(payload_layout(plan)), inputs_(memory),
      reductions_(memory) {
    if (buffers.base.size() < plan.buffers.size()) {
        throw Error(fmt::format("payload of rank {}: the plan names {} buffers, {} are bound", plan.me,
                                plan.buffers.size(), buffers.base.size()));
    }
}

void PlanPayload::prepare(std::uint32_t iteration) {
    for (BufferId const buffer : layout_.guarded) {
        memory_.fill(at(buffer, 0), plan_.buffers[buffer].bytes, guard_key);
    }
    for (Piece const& piece : layout_.sent) {
        if (is_reduction(piece)) {
            fill_reduction_input(piece, iteration);
        } else {
            memory_.fill(at(piece.buffer, piece.offset), piece.bytes,
                         payload_key(piece.source, piece.destination, layout_.step_numbers[piece.step], iteration));
        }
    }
}

void PlanPayload::fill_reduction_input(Piece const& piece, std::uint32_t iteration) {
    ReductionPayload const payload = reduction_payload(plan_, piece.step);
    PayloadKey const key = payload_key(every_rank, every_rank, layout_.step_numbers[piece.step], iteration);
    std::vector<Rank> const& members = group_of(plan_, piece.step)->members;
    auto const member = static_cast<int>(std::find(members.begin(), members.end(), plan_.me) - members.begin());
    inputs_.fill(at(piece.buffer, piece.offset), piece.bytes / size_of(payload.element()), payload, key, member,
                 piece.first_element);
}

std::vector<std::string> PlanPayload::verify(std::uint32_t iteration) {
    std::vector<std::string> problems;
    auto const note = [&problems](std::string problem) {
        if (!problem.empty() && problems.size() < problem_limit) {
            problems.push_back(std::move(problem));
        }
    };
    for (Piece const& piece : layout_.delivered) {
        note(is_reduction(piece) ? problem_of_reduction(piece, iteration) : problem_of(piece, iteration));
        ++blocks_checked_;
    }
    for (Gap const& gap : layout_.gaps) {
        note(problem_of(gap));
    }
    return problems;
}

std::string PlanPayload::problem_of(Piece const& piece, std::uint32_t iteration) {
    PayloadKey const key = payload_key(piece.source, piece.destination, layout_.step_numbers[piece.step], iteration);
    std::optional<Mismatch> const wrong = memory_.check(at(piece.buffer, piece.offset), piece.bytes, key);
    if (!wrong) {
        return {};
    }
    std::vector<std::byte> const found =
        read(piece.buffer, piece.offset + wrong->offset, std::min(recognised_bytes, piece.bytes - wrong->offset));
    return with_hint(fmt::format("{}: {}: byte {} of {} is {:#04x}, expected {:#04x}", where(plan_, piece.step),
                                 origin(piece), wrong->offset, piece.bytes, wrong->found, wrong->expected),
                     recognise(plan_, layout_, piece, wrong->offset, found, iteration));
}

std::string PlanPayload::problem_of_reduction(Piece const& piece, std::uint32_t iteration) {
    ReductionPayload const payload = reduction_payload(plan_, piece.step);
    PayloadKey const key = payload_key(every_rank, every_rank, layout_.step_numbers[piece.step], iteration);
    Bytes const size = size_of(payload.element());
    auto const element =
        reductions_.first_wrong(at(piece.buffer, piece.offset), piece.bytes / size, payload, key, piece.first_element);
    if (!element) {
        return {};
    }
    Bytes const offset = *element * size;
    std::vector<std::byte> const found =
        read(piece.buffer, piece.offset + offset, std::min(recognised_bytes, piece.bytes - offset));
    std::vector<std::byte> expected(found.size());
    payload.result(key, piece.first_element + *element, expected);
    auto const difference = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    if (difference == found.end()) {
        return fmt::format("{}: {}: element {} was wrong when the device looked, and is right in a copy of it",
                           where(plan_, piece.step), origin(piece), *element);
    }
    auto const byte = static_cast<std::size_t>(difference - found.begin());
    return with_hint(fmt::format("{}: {}: byte {} of {} (element {} of {}) is {:#04x}, expected {:#04x}",
                                 where(plan_, piece.step), origin(piece), offset + byte, piece.bytes, *element,
                                 name_of(payload.element()), std::to_integer<int>(found[byte]),
                                 std::to_integer<int>(expected[byte])),
                     recognise_reduction(plan_, layout_, piece, offset, found, iteration));
}

/// Offset in the gap. The space checks from a whole word on; up to seven bytes before it are compared here.
std::optional<Bytes> PlanPayload::first_overwritten(Gap const& gap) {
    Bytes const head = std::min((8 - gap.offset % 8) % 8, gap.bytes);
    if (Overwritten const wrong = overwritten(read(gap.buffer, gap.offset, head), gap.offset); wrong.count > 0) {
        return wrong.first;
    }
    Bytes const start = gap.offset + head;
    std::optional<Mismatch> const wrong = memory_.check(at(gap.buffer, start), gap.bytes - head, guard_key, start / 8);
    return wrong ? std::optional<Bytes>(head + wrong->offset) : std::nullopt;
}

std::string PlanPayload::problem_of(Gap const& gap) {
    std::optional<Bytes> const first = first_overwritten(gap);
    if (!first) {
        return {};
    }
    Bytes const window = std::min(guard_window, gap.bytes - *first);
    Bytes const count = overwritten(read(gap.buffer, gap.offset + *first, window), gap.offset + *first).count;
    std::string const bytes =
        fmt::format("{}{} byte{}", count == guard_window ? "at least " : "", count, count == 1 ? "" : "s");
    std::string const verb = count == 1 ? "was overwritten" : "were overwritten";
    if (gap.before != nullptr) {
        std::string const distance = *first == 0 ? std::string() : fmt::format(" from {} B", *first);
        return fmt::format("{}: {}{} behind the {} {}", where(plan_, gap.before->step), bytes, distance,
                           origin(*gap.before), verb);
    }
    if (gap.behind != nullptr) {
        return fmt::format("{}: {} in front of the {} {}", where(plan_, gap.behind->step), bytes, origin(*gap.behind),
                           verb);
    }
    return fmt::format("buffer \"{}\": {} at offset {} {}, though nothing is delivered there",
                       plan_.buffers[gap.buffer].name, bytes, *first, verb);
}

std::vector<std::byte> PlanPayload::read(BufferId buffer, Bytes offset, Bytes bytes) {
    std::vector<std::byte> host(bytes);
    memory_.copy_out(host.data(), at(buffer, offset), bytes);
    return host;
}

}  // namespace dlmb
