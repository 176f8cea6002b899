// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/plan_payload.hpp"

#include "common/backend_kit/block_codec.hpp"
#include "common/backend_kit/number_payload.hpp"
#include "common/base/error.hpp"
#include "common/memory/zeros.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace dlmb {
namespace {

/// How far behind the first overwritten guard byte the others are counted.
constexpr Bytes guard_window = 4096;

/// Generated, and copied or compared, at a time. A multiple of every element size.
constexpr Bytes reduction_chunk_bytes = Bytes{64} << 10;
/// Limit of copies from a device's memory, where a kernel could compare and none does.
constexpr Bytes copied_most_bytes = Bytes{1} << 20;

std::string where(Plan const& plan, StepId step) {
    return fmt::format("step {} \"{}\"", step, plan.steps[step].label);
}

std::string origin(Piece const& piece) {
    return piece.is_reduced() ? std::string("result") : fmt::format("block from rank {}", piece.source);
}

std::string wrong_byte(Plan const& plan, Piece const& piece, std::string_view what, Bytes offset, int found,
                       int expected) {
    return fmt::format("{}: {}: byte {} of {} is {:#04x}, expected {:#04x}", where(plan, piece.step), what, offset,
                       piece.bytes, found, expected);
}

std::string with_hint(std::string text, std::string const& hint) {
    return hint.empty() ? std::move(text) : std::move(text) + "; " + hint;
}

/// Which of the read guard bytes are wrong. `offset`: of the first one in its buffer.
struct Overwritten {
    Bytes first = 0;
    Bytes count = 0;
};
Overwritten overwritten(std::span<std::byte const> found, Bytes offset) {
    Overwritten result;
    for (std::size_t i = found.size(); i-- > 0;) {
        if (found[i] != payload_byte(guard_key, offset + i)) {
            result.first = i;
            ++result.count;
        }
    }
    return result;
}

/// Bytes that are enough to recognise a payload, from the first wrong one on. Fewer than three recognise nothing.
constexpr Bytes recognised_bytes = 16;
constexpr std::uint32_t iterations_back = 8;

/// Some numbers of a row of a piece: from a block's first one on.
struct NumberPart {
    std::uint64_t row = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    /// Index of the first number of the piece in its stream.
    [[nodiscard]] std::uint64_t index(Piece const& piece) const { return row * piece.numbers->row_numbers + first; }
    [[nodiscard]] std::uint64_t in_stream(Piece const& piece) const {
        return piece.first_byte / piece.numbers->row_bytes() * piece.numbers->row_numbers + index(piece);
    }
};

/// Calls use(part) until it is false.
template <class Use>
void for_each_part(Piece const& piece, Use const& use) {
    constexpr std::uint64_t most_numbers = std::uint64_t{32} << 10;
    PieceNumbers const& form = *piece.numbers;
    for (std::uint64_t row = 0; row < piece.bytes / form.row_bytes(); ++row) {
        for (std::uint64_t first = 0; first < form.row_numbers; first += most_numbers) {
            if (!use(NumberPart{row, first, std::min(most_numbers, form.row_numbers - first)})) {
                return;
            }
        }
    }
}

/// The numbers of a reduction step.
ReductionPayload reduction_payload(Plan const& plan, StepId step) {
    auto const* collective = std::get_if<Collective>(&plan.steps[step].operation);
    if (collective == nullptr || !reduces(collective->kind)) {
        throw Error("payload: a step that does not reduce has no operands");
    }
    return {collective->element, collective->reduction, static_cast<int>(group_of(plan, step)->members.size())};
}

bool is_stream(std::span<std::byte const> found, PayloadKey key, Bytes position) {
    return std::all_of(found.begin(), found.end(),
                       [&](std::byte byte) { return byte == payload_byte(key, position++); });
}

/// Explains wrong bytes by the payloads that the usual mistakes would bring. `found` lies at `offset` of
/// `piece`. Empty when nothing fits.
std::string recognise(Plan const& plan, PayloadLayout const& layout, Piece const& piece, Bytes offset,
                      std::span<std::byte const> found, std::uint32_t iteration) {
    if (found.size() < 3) {
        return {};
    }
    if (is_stream(found, guard_key, piece.offset + offset)) {
        return "nothing was written there";
    }
    auto const is = [&](Rank source, Rank destination, std::uint32_t step, std::uint32_t of_iteration) {
        return is_stream(found, payload_key(source, destination, step, of_iteration), piece.first_byte + offset);
    };
    std::uint32_t const step = layout.step_numbers[piece.travel];
    for (std::uint32_t back = 1; back <= std::min(iterations_back, iteration); ++back) {
        if (is(piece.source, piece.destination, step, iteration - back)) {
            return fmt::format("it is the payload of iteration {}", iteration - back);
        }
    }
    for (Rank const member : group_of(plan, piece.travel)->members) {
        if (is(member, piece.destination, step, iteration)) {
            return fmt::format("it is the block from rank {}", member);
        }
        if (is(piece.source, member, step, iteration)) {
            return fmt::format("it is what rank {} sends to rank {}", piece.source, member);
        }
        if (is(plan.me, member, step, iteration)) {
            return fmt::format("it is what this rank sends to rank {}", member);
        }
    }
    for (StepId other = 0; other < plan.steps.size(); ++other) {
        if (is(piece.source, piece.destination, layout.step_numbers[other], iteration)) {
            return fmt::format("it is the block of step {} \"{}\"", other, plan.steps[other].label);
        }
    }
    return {};
}

/// The same for a reduction's result; `found` holds whole elements.
std::string recognise_reduction(Plan const& plan, PayloadLayout const& layout, Piece const& piece, Bytes offset,
                                ReductionPayload const& payload, std::span<std::byte const> found,
                                std::uint32_t iteration) {
    if (is_stream(found, guard_key, piece.offset + offset)) {
        return "nothing was written there";
    }
    std::uint64_t const first = piece.first_element + offset / size_of(payload.element());
    auto const key_of = [step = layout.step_numbers[piece.step]](std::uint32_t of_iteration) {
        return payload_key(every_rank, every_rank, step, of_iteration);
    };
    std::vector<std::byte> guess(found.size());
    auto const fits = [&] { return std::equal(found.begin(), found.end(), guess.begin()); };
    for (std::uint32_t back = 1; back <= std::min(iterations_back, iteration); ++back) {
        payload.result(key_of(iteration - back), first, guess);
        if (fits()) {
            return fmt::format("it is the result of iteration {}", iteration - back);
        }
    }
    std::vector<Rank> const& members = group_of(plan, piece.step)->members;
    for (std::size_t member = 0; member < members.size(); ++member) {
        payload.input(key_of(iteration), static_cast<int>(member), first, guess);
        if (fits()) {
            return fmt::format("it is what rank {} put in", members[member]);
        }
        payload.result_without(key_of(iteration), static_cast<int>(member), first, guess);
        if (fits()) {
            return fmt::format("the contribution of rank {} is missing", members[member]);
        }
    }
    return {};
}

}  // namespace

void ReductionBuffers::fill(std::byte* data, Bytes elements, ReductionPayload const& payload, PayloadKey key,
                            int member, std::uint64_t first) {
    if (on_device(memory_.kind())) {
        queue_ = queue_ == nullptr ? std::make_unique<DeviceQueue>() : std::move(queue_);
        device_reduction_input(*queue_, data, elements, payload, key, member, first);
        queue_->drain();
        return;
    }
    Bytes const size = size_of(payload.element());
    Bytes const all = elements * size;
    std::vector<std::byte> chunk(std::min(reduction_chunk_bytes, all));
    for (Bytes done = 0; done < all; done += chunk.size()) {
        auto const part = std::span(chunk).first(std::min<Bytes>(chunk.size(), all - done));
        payload.input(key, member, first + done / size, part);
        memory_.copy_in(data + done, part.data(), part.size());
    }
}

std::optional<Bytes> ReductionBuffers::first_wrong(std::byte const* data, Bytes elements,
                                                   ReductionPayload const& payload, PayloadKey key,
                                                   std::uint64_t first) {
    if (on_device(memory_.kind())) {
        check_ = check_ == nullptr ? std::make_unique<DeviceReductionCheck>() : std::move(check_);
        return check_->first_wrong(data, elements, payload, key, first);
    }
    return first_difference(
        data, elements, size_of(payload.element()),
        [&](std::uint64_t element, std::span<std::byte> expected) { payload.result(key, first + element, expected); });
}

std::optional<Bytes> ReductionBuffers::first_changed(std::byte const* data, Bytes elements,
                                                     ReductionPayload const& payload, PayloadKey key, int member,
                                                     std::uint64_t first) {
    Bytes const size = size_of(payload.element());
    Bytes const compared = on_device(memory_.kind()) ? std::min(elements, copied_most_bytes / size) : elements;
    return first_difference(data, compared, size, [&](std::uint64_t element, std::span<std::byte> expected) {
        payload.input(key, member, first + element, expected);
    });
}

std::optional<Bytes>
ReductionBuffers::first_difference(std::byte const* data, Bytes elements, Bytes element_size,
                                   std::function<void(std::uint64_t, std::span<std::byte>)> const& expected) {
    Bytes const all = elements * element_size;
    std::vector<std::byte> right(std::min(reduction_chunk_bytes, all));
    std::vector<std::byte> found(right.size());
    for (Bytes done = 0; done < all; done += right.size()) {
        auto const part = std::span(right).first(std::min<Bytes>(right.size(), all - done));
        expected(done / element_size, part);
        memory_.copy_out(found.data(), data + done, part.size());
        auto const difference = std::mismatch(part.begin(), part.end(), found.begin()).first;
        if (difference != part.end()) {
            return (done + static_cast<Bytes>(difference - part.begin())) / element_size;
        }
    }
    return std::nullopt;
}

/// Checks the blocks before a signal at the moment when it is seen.
class PlanPayload::ArrivalCheck final : public SignalWatch {
public:
    ArrivalCheck(PlanPayload& payload, std::uint32_t contents) : payload_(payload), contents_(contents) {}

    void seen(StepId step, std::size_t signal) override {
        if (on_device(payload_.memory_.kind())) {
            return;
        }
        auto const& wait = std::get<WaitSignal>(payload_.plan_.steps[step].operation);
        std::size_t number = 0;
        for_each_signal(wait.signals, wait.recv, [&](Signal const& /*signal*/, std::span<Block const> blocks, auto) {
            for (Block const& block : number++ == signal ? blocks : std::span<Block const>()) {
                check(wait.buffer, block);
            }
        });
    }
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(problems_, {}); }

private:
    void check(BufferId buffer, Block const& block) {
        std::vector<Piece> const& pieces = payload_.layout_.delivered;
        auto const piece = std::partition_point(pieces.begin(), pieces.end(), [&](Piece const& each) {
            return std::tie(each.buffer, each.offset) < std::tie(buffer, block.offset);
        });
        bool const checked = piece != pieces.end() && piece->buffer == buffer && piece->offset == block.offset;
        std::string const problem = checked ? payload_.problem_of(*piece, contents_) : "";
        if (!problem.empty() && problems_.size() < problem_limit) {
            problems_.push_back(fmt::format("{}; its signal had come already", problem));
        }
    }

    PlanPayload& payload_;
    std::uint32_t contents_;
    std::vector<std::string> problems_;
};

PlanPayload::PlanPayload(PlanPayload&&) noexcept = default;
PlanPayload::~PlanPayload() = default;

SignalWatch& PlanPayload::watch_signals(std::uint32_t contents) {
    arrivals_ = std::make_unique<ArrivalCheck>(*this, contents);
    return *arrivals_;
}

PlanPayload::PlanPayload(MemorySpace& memory, Buffers const& buffers, Plan const& plan)
    : memory_(memory), plan_(plan), layout_(payload_layout(plan)), mirrors_(memory, buffers, plan, layout_),
      reductions_(memory) {
    if (buffers.base.size() < plan.buffers.size()) {
        throw Error(fmt::format("payload of rank {}: the plan names {} buffers, {} are bound", plan.me,
                                plan.buffers.size(), buffers.base.size()));
    }
}

void PlanPayload::prepare(Contents contents, bool repeated) {
    repeated_ = repeated;
    mirrors_.fetch();
    fill(contents);
    mirrors_.store();
    mirrors_.release();
}

void PlanPayload::fill(Contents contents) {
    for (BufferId const buffer : layout_.guarded) {
        mirrors_.space(buffer).fill(at(buffer, 0), plan_.buffers[buffer].bytes, guard_key);
    }
    for (Piece const& piece : layout_.sent) {
        MemorySpace& space = mirrors_.space(piece.buffer);
        if (!contents) {
            fill_zeros(space, at(piece.buffer, piece.offset), piece.bytes);
        } else if (piece.packed_by_step) {
            space.fill(at(piece.buffer, piece.offset), piece.bytes, guard_key);
        } else if (piece.numbers) {
            fill_numbers(piece, *contents);
        } else if (piece.is_reduced()) {
            fill_reduction_input(piece, *contents);
        } else {
            space.fill(at(piece.buffer, piece.offset), piece.bytes, key_of(piece, *contents), piece.first_byte / 8);
        }
    }
}

PayloadKey PlanPayload::key_of(Piece const& piece, std::uint32_t iteration) const {
    return payload_key(piece.source, piece.destination, layout_.step_numbers[piece.travel], iteration);
}

void PlanPayload::fill_numbers(Piece const& piece, std::uint32_t iteration) {
    NumberPayload const payload{key_of(piece, iteration), piece.numbers->element};
    for_each_part(piece, [&](NumberPart const& part) {
        std::vector<std::byte> const numbers = payload.numbers(part.in_stream(piece), part.count);
        mirrors_.space(piece.buffer)
            .copy_in(at(piece.buffer, piece.offset) + part.index(piece) * size_of(piece.numbers->element),
                     numbers.data(), numbers.size());
        return true;
    });
}

/// Packed, delivered and unpacked bytes must equal those that the host makes of the numbers. Numbers that come out must
/// be as near to those that went in as the format allows.
std::string PlanPayload::problem_of_numbers(Piece const& piece, std::uint32_t iteration, std::string const& what) {
    PieceNumbers const& form = *piece.numbers;
    BlockFormat const& format = form.format;
    NumberPayload const payload{key_of(piece, iteration), form.element};
    Bytes const size = size_of(form.element);
    std::string problem;
    for_each_part(piece, [&](NumberPart const& part) {
        bool const enough = on_device(memory_.kind()) && part.index(piece) * size >= copied_most_bytes;
        if (enough) {
            return false;
        }
        std::vector<std::byte> const numbers = payload.numbers(part.in_stream(piece), part.count);
        std::vector<std::byte> codes(format.code_bytes(part.count));
        std::vector<std::byte> scales(format.blocks(part.count) * format.scale_bytes());
        host_pack({codes.data(), scales.data()}, numbers.data(), part.count, form.element, format);
        auto const compare = [&](Bytes offset, std::vector<std::byte> const& expected, char const* of) {
            std::vector<std::byte> const found = read(piece.buffer, piece.offset + offset, expected.size());
            auto const difference = std::mismatch(expected.begin(), expected.end(), found.begin());
            if (difference.first != expected.end() && problem.empty()) {
                problem = wrong_byte(plan_, piece, what + of,
                                     offset + static_cast<Bytes>(difference.first - expected.begin()),
                                     std::to_integer<int>(*difference.second), std::to_integer<int>(*difference.first));
            }
        };
        if (form.packed) {
            Bytes const row = part.row * format.row_bytes(form.row_numbers);
            compare(row + format.code_bytes(part.first), codes, ", codes");
            compare(row + format.code_bytes(form.row_numbers) + format.blocks(part.first) * format.scale_bytes(),
                    scales, ", scales");
        } else if (piece.travel > piece.step) {
            compare(part.index(piece) * size, numbers, "");
        } else {
            std::vector<std::byte> back(numbers.size());
            host_unpack(back.data(), {codes.data(), scales.data()}, part.count, form.element, format);
            compare(part.index(piece) * size, back, ", unpacked");
            std::vector<std::byte> const found =
                read(piece.buffer, piece.offset + part.index(piece) * size, numbers.size());
            if (auto const far = first_beyond_bound(numbers, found, scales, form.element, format);
                far && problem.empty()) {
                problem =
                    fmt::format("{}: {}: number {} is further from what was sent than {} allows",
                                where(plan_, piece.step), origin(piece), part.index(piece) + *far, to_string(format));
            }
        }
        return problem.empty();
    });
    return problem;
}

void PlanPayload::fill_reduction_input(Piece const& piece, std::uint32_t iteration) {
    ReductionPayload const payload = operands_of(piece.step);
    reductions_.fill(at(piece.buffer, piece.offset), piece.bytes / size_of(payload.element()), payload,
                     key_of(piece, iteration), own_member(piece), piece.first_element);
}

int PlanPayload::own_member(Piece const& piece) const {
    std::vector<Rank> const& members = group_of(plan_, piece.step)->members;
    return static_cast<int>(std::find(members.begin(), members.end(), plan_.me) - members.begin());
}

bool PlanPayload::in_place(Piece const& piece) const {
    return std::find(layout_.guarded.begin(), layout_.guarded.end(), piece.buffer) != layout_.guarded.end();
}

bool PlanPayload::changes_again(Piece const& delivered) const {
    if (auto const* exchange = std::get_if<Exchange>(&plan_.steps[delivered.step].operation)) {
        return exchange->in_place();
    }
    if (!delivered.is_reduced()) {
        return false;
    }
    Reduction const reduction = reduction_payload(plan_, delivered.step).reduction();
    bool const same_again = reduction == Reduction::min || reduction == Reduction::max;
    return !same_again && std::any_of(layout_.sent.begin(), layout_.sent.end(), [&](Piece const& sent) {
        return sent.step == delivered.step && sent.buffer == delivered.buffer;
    });
}

// After other steps in place the members' buffers differ.
bool PlanPayload::settled(StepId step) const {
    auto const* const all = std::get_if<Collective>(&plan_.steps[step].operation);
    return repeated_ && all != nullptr && all->kind == OperationKind::all_reduce && all->send == all->recv;
}

ReductionPayload PlanPayload::operands_of(StepId step) const {
    ReductionPayload const payload = reduction_payload(plan_, step);
    return settled(step) ? payload.settled() : payload;
}

std::vector<std::string> PlanPayload::verify(Contents contents, PayloadAge age) {
    mirrors_.fetch();
    std::vector<std::string> found = what_is_wrong(contents, age);
    mirrors_.release();
    return found;
}

std::vector<std::string> PlanPayload::what_is_wrong(Contents contents, PayloadAge age) {
    std::vector<std::string> problems = arrivals_ != nullptr ? arrivals_->take() : std::vector<std::string>();
    auto const note = [&problems](std::string problem) {
        if (!problem.empty() && problems.size() < problem_limit) {
            problems.push_back(std::move(problem));
        }
    };
    for (Piece const& piece : layout_.delivered) {
        if (contents && age.repeated && changes_again(piece) && !settled(piece.step)) {
            ++blocks_skipped_;
            continue;
        }
        note(!contents            ? problem_of_zeros(piece, origin(piece))
             : piece.numbers      ? problem_of_numbers(piece, *contents, origin(piece))
             : piece.is_reduced() ? problem_of_reduction(piece, *contents)
                                  : problem_of(piece, *contents));
        ++blocks_checked_;
    }
    for (Gap const& gap : layout_.gaps) {
        note(age.other_plans ? "" : problem_of(gap));
    }
    for (Piece const& piece : layout_.sent) {
        if (!in_place(piece)) {
            note(contents ? problem_of_sent(piece, *contents) : problem_of_zeros(piece, "what this rank sends"));
        }
    }
    return problems;
}

std::string PlanPayload::problem_of_zeros(Piece const& piece, std::string const& what) {
    MemorySpace& space = mirrors_.space(piece.buffer);
    Bytes const compared = on_device(space.kind()) ? std::min(piece.bytes, copied_most_bytes) : piece.bytes;
    std::optional<Bytes> const wrong = first_nonzero(space, at(piece.buffer, piece.offset), compared);
    if (!wrong) {
        return {};
    }
    std::vector<std::byte> const found =
        read(piece.buffer, piece.offset + *wrong, std::min(recognised_bytes, piece.bytes - *wrong));
    return with_hint(wrong_byte(plan_, piece, what, *wrong, std::to_integer<int>(found.front()), 0),
                     is_stream(found, guard_key, piece.offset + *wrong) ? "nothing was written there" : "");
}

std::string PlanPayload::problem_of(Piece const& piece, std::uint32_t iteration) {
    PayloadKey const key = key_of(piece, iteration);
    std::optional<Mismatch> const wrong =
        mirrors_.space(piece.buffer).check(at(piece.buffer, piece.offset), piece.bytes, key, piece.first_byte / 8);
    if (!wrong) {
        return {};
    }
    std::vector<std::byte> const found =
        read(piece.buffer, piece.offset + wrong->offset, std::min(recognised_bytes, piece.bytes - wrong->offset));
    return with_hint(wrong_byte(plan_, piece, origin(piece), wrong->offset, wrong->found, wrong->expected),
                     recognise(plan_, layout_, piece, wrong->offset, found, iteration));
}

std::string PlanPayload::problem_of_sent(Piece const& piece, std::uint32_t iteration) {
    if (piece.numbers) {
        return problem_of_numbers(piece, iteration, "what this rank sends");
    }
    PayloadKey const key = key_of(piece, iteration);
    std::byte const* const data = at(piece.buffer, piece.offset);
    if (piece.is_reduced()) {
        ReductionPayload const payload = operands_of(piece.step);
        auto const element = reductions_.first_changed(data, piece.bytes / size_of(payload.element()), payload, key,
                                                       own_member(piece), piece.first_element);
        return element ? fmt::format("{}: what this rank sends was changed from element {} on",
                                     where(plan_, piece.step), *element)
                       : "";
    }
    std::optional<Mismatch> const wrong =
        mirrors_.space(piece.buffer).check(data, piece.bytes, key, piece.first_byte / 8);
    if (!wrong) {
        return {};
    }
    return piece.packed_by_step
               ? wrong_byte(plan_, piece, "what this rank sends was packed wrongly", wrong->offset, wrong->found,
                            wrong->expected)
               : fmt::format("{}: what this rank sends was changed: byte {} of {} is {:#04x}, was {:#04x}",
                             where(plan_, piece.step), wrong->offset, piece.bytes, wrong->found, wrong->expected);
}

std::string PlanPayload::problem_of_reduction(Piece const& piece, std::uint32_t iteration) {
    ReductionPayload const payload = operands_of(piece.step);
    PayloadKey const key = key_of(piece, iteration);
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
                     recognise_reduction(plan_, layout_, piece, offset, payload, found, iteration));
}

/// Offset in the gap. The space checks from a whole word on; up to seven bytes before it are compared here.
std::optional<Bytes> PlanPayload::first_overwritten(Gap const& gap) {
    Bytes const head = std::min((8 - gap.offset % 8) % 8, gap.bytes);
    if (Overwritten const wrong = overwritten(read(gap.buffer, gap.offset, head), gap.offset); wrong.count > 0) {
        return wrong.first;
    }
    Bytes const start = gap.offset + head;
    std::optional<Mismatch> const wrong =
        mirrors_.space(gap.buffer).check(at(gap.buffer, start), gap.bytes - head, guard_key, start / 8);
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
    mirrors_.space(buffer).copy_out(host.data(), at(buffer, offset), bytes);
    return host;
}

}  // namespace dlmb
