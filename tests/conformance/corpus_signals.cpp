// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/corpus.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::conformance {
namespace {

/// Blocks from one rank to another before one signal, in slots of the receiver's buffer that all ranks know.
struct Slots {
    bool reads;  // offers and gets
    int ranks;
    std::uint32_t signals;  // from each rank to each rank
    Bytes slot_bytes;       // of a signal's blocks together
    Sizes bytes;            // of each of its two blocks

    [[nodiscard]] std::vector<Bytes> sizes(int from, int to, std::uint32_t signal) const {
        Bytes const each = bytes(from, to) + signal;
        return bytes(from, to) == 0 ? std::vector<Bytes>{} : std::vector<Bytes>{each, each / 2 + 1};
    }
    /// The place of block `number`: the second one lies before the first one.
    [[nodiscard]] PlacedBytes place(int from, std::uint32_t signal, std::vector<Bytes> const& sizes,
                                    std::size_t number) const {
        Bytes const slot = guard_bytes + (static_cast<Bytes>(from) * signals + signal) * slot_bytes;
        return {slot + (number == 0 ? sizes.back() + 5 : 0), sizes[number]};
    }
};

void add_put(PlanBuilder& builder, GroupId group, int me, Slots const& slots, std::string const& label,
             std::vector<StepId> after) {
    std::vector<Signal> signals;
    std::vector<PlacedBytes> blocks;
    for (std::uint32_t signal = 0; signal < slots.signals; ++signal) {
        for (int to = 0; to < slots.ranks; ++to) {
            auto const sizes = slots.sizes(me, to, signal);
            signals.push_back({to, static_cast<std::uint32_t>(sizes.size())});
            for (std::size_t number = 0; number < sizes.size(); ++number) {
                blocks.push_back(slots.place(me, signal, sizes, number));
            }
        }
    }
    builder.put(group, std::move(signals), blocks, label, std::move(after),
                slots.reads ? OperationKind::offer : OperationKind::put);
}

StepId add_wait(PlanBuilder& builder, GroupId group, int me, Slots const& slots, std::string const& label,
                std::vector<StepId> after) {
    std::vector<Signal> signals;
    std::vector<PlacedBytes> blocks;
    for (int from = slots.ranks - 1; from >= 0; --from) {
        for (std::uint32_t signal = 0; signal < slots.signals; ++signal) {
            auto const sizes = slots.sizes(from, me, signal);
            signals.push_back({from, static_cast<std::uint32_t>(sizes.size())});
            for (std::size_t number = 0; number < sizes.size(); ++number) {
                blocks.push_back(slots.place(from, signal, sizes, number));
            }
        }
    }
    Bytes const end = static_cast<Bytes>(slots.ranks) * slots.signals * slots.slot_bytes;
    return builder.wait_signal(group, std::move(signals), blocks, 2 * guard_bytes + end, label, std::move(after),
                               slots.reads ? OperationKind::get : OperationKind::wait_signal);
}

enum class Access : std::uint8_t { puts, gets, puts_then_gets };

/// Everyone puts to everyone or lets everyone read, itself included, and answers when all has come: what an expert
/// layer does. `exchanges`: with an exchange at the same time.
CorpusEntry there_and_back(int ranks, std::uint32_t signals, Sizes const& bytes, std::string const& name,
                           bool exchanges, Access access = Access::puts) {
    Bytes most = 1;
    for (int from = 0; from < ranks; ++from) {
        for (int to = 0; to < ranks; ++to) {
            most = std::max(most, bytes(from, to));
        }
    }
    Slots const there{access == Access::gets, ranks, signals, 2 * (most + signals) + 64, bytes};
    Slots const back{access != Access::puts, ranks, signals, there.slot_bytes,
                     [bytes](int from, int to) { return bytes(to, from); }};
    return entry_of(name, ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        if (exchanges) {
            add_exchange(builder, all, me, ranks, bytes, "beside");
        }
        add_put(builder, all, me, there, "there.put", {});
        StepId const arrived = add_wait(builder, all, me, there, "there.wait", {});
        add_put(builder, all, me, back, "back.put", {arrived});
        add_wait(builder, all, me, back, "back.wait", {arrived});
    });
}

/// From the first rank to the last one, which sends nothing: many blocks and one signal. A put does not wait for it.
CorpusEntry one_way(int ranks, Bytes bytes, Access access) {
    constexpr std::uint32_t blocks = 9;
    bool const reads = access == Access::gets;
    std::string const name = fmt::format("{} one way, {} B", reads ? "gets" : "puts", bytes);
    return entry_of(name, ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        std::vector<PlacedBytes> places;
        for (std::uint32_t block = 0; block < blocks; ++block) {
            places.push_back({guard_bytes + (blocks - block) * (bytes + 3), bytes});
        }
        if (me == 0) {
            builder.put(all, {{ranks - 1, blocks}}, places, "page.put", {},
                        reads ? OperationKind::offer : OperationKind::put);
        }
        if (me == ranks - 1) {
            StepId const computed = builder.compute(1000, "page.use");
            builder.wait_signal(all, {{0, blocks}}, places, 0, "page.wait", {computed},
                                reads ? OperationKind::get : OperationKind::wait_signal);
        }
    });
}

/// One put or offer from the first rank to the last one: each of its two signals is waited for in a buffer of its own.
CorpusEntry into_two_buffers(int ranks, Bytes bytes, Access access) {
    bool const reads = access == Access::gets;
    OperationKind const wait = reads ? OperationKind::get : OperationKind::wait_signal;
    std::string const name = fmt::format("one {} into two buffers, {} B", reads ? "offer" : "put", bytes);
    std::vector<PlacedBytes> const places{{guard_bytes, bytes}, {guard_bytes + bytes + 64, bytes}};
    return entry_of(name, ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        if (me == 0) {
            builder.put(all, {{ranks - 1, 1}, {ranks - 1, 1}}, places, "pages.put", {},
                        reads ? OperationKind::offer : OperationKind::put);
        }
        if (me == ranks - 1) {
            builder.wait_signal(all, {{0, 1}}, std::span(places).first(1), 0, "keys.wait", {}, wait);
            builder.wait_signal(all, {{0, 1}}, std::span(places).last(1), 0, "values.wait", {}, wait);
        }
    });
}

}  // namespace

void add_signals(int ranks, std::vector<CorpusEntry>& entries) {
    for (Bytes const bytes : {Bytes{0}, Bytes{1}, Bytes{17}, Bytes{4097}, Bytes{66} << 10, one_mib}) {
        entries.push_back(there_and_back(
            ranks, 1, [bytes](int /*from*/, int /*to*/) { return bytes; }, fmt::format("puts of {} B", bytes), false));
    }
    Sizes const ragged = [](int from, int to) { return Bytes{997} * static_cast<Bytes>((from * 3 + to) % 4); };
    entries.push_back(there_and_back(ranks, 5, ragged, "several signals per pair, some without data", false));
    entries.push_back(there_and_back(ranks, 2, ragged, "puts beside an exchange", true));
    for (Bytes const bytes : {Bytes{0}, Bytes{17}, Bytes{66} << 10, one_mib}) {
        entries.push_back(there_and_back(
            ranks, 1, [bytes](int /*from*/, int /*to*/) { return bytes; }, fmt::format("gets of {} B", bytes), false,
            Access::gets));
    }
    entries.push_back(there_and_back(ranks, 5, ragged, "several offers per pair", false, Access::gets));
    entries.push_back(
        there_and_back(ranks, 2, ragged, "gets behind puts, beside an exchange", true, Access::puts_then_gets));
    for (Bytes const bytes : {Bytes{17}, Bytes{66} << 10}) {
        for (Access const access : {Access::puts, Access::gets}) {
            entries.push_back(one_way(ranks, bytes, access));
            entries.push_back(into_two_buffers(ranks, bytes, access));
        }
    }
}

}  // namespace dlmb::conformance
