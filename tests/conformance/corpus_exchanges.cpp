// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/group_index.hpp"
#include "tests/conformance/corpus.hpp"

#include <fmt/core.h>

#include <optional>

namespace dlmb::conformance {
namespace {

/// Sizes of every kind next to each other: a third of them zero, the others from one byte to 66 KiB.
Bytes ragged(int from, int to) {
    constexpr Bytes sizes[] = {17, 0, 4097, 1, 0, 3, 66 << 10, 0, 4095};
    return sizes[static_cast<std::size_t>(from * 5 + to * 7) % std::size(sizes)];
}

CorpusEntry one_exchange(std::string name, int ranks, Sizes const& sizes) {
    return entry_of(std::move(name), ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        add_exchange(builder, all, me, ranks, sizes, "exchange");
    });
}

/// Counts, rows out and the same rows back: a MoE layer with time between.
CorpusEntry dispatch_and_combine(int ranks) {
    Sizes const counts = [](int, int) { return Bytes{8}; };
    Sizes const back = [](int from, int to) { return ragged(to, from); };
    return entry_of("counts, dispatch, experts, combine", ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        StepId const counted = add_exchange(builder, all, me, ranks, counts, "count_exchange");
        StepId const dispatched = add_exchange(builder, all, me, ranks, ragged, "dispatch", {counted});
        StepId const worked = builder.compute(20'000, "experts", {dispatched});
        add_exchange(builder, all, me, ranks, back, "combine", {worked});
    });
}

/// What is sent is written by the step before, which takes a while: a transport that does not wait for it sends what
/// was there (a defect of MCR-DL 47c97a8). Rows of an odd number of numbers that travel packed, some peers without any;
/// and a gather of unequal parts.
CorpusEntry packed_rows(int ranks, BlockFormat const& format, Element element) {
    constexpr std::uint64_t row_numbers = 201;
    auto const rows = [](int from, int to) { return static_cast<std::uint64_t>((from * 3 + to * 5) % 4); };
    return entry_of(fmt::format("rows of {} packed as {}", name_of(element), to_string(format)), ranks,
                    [&](PlanBuilder& builder, GroupId all, Rank me) {
                        std::vector<std::uint64_t> sent;
                        std::vector<std::uint64_t> received;
                        std::vector<std::uint64_t> parts;
                        for (int peer = 0; peer < ranks; ++peer) {
                            sent.push_back(rows(me, peer));
                            received.push_back(rows(peer, me));
                            parts.push_back(static_cast<std::uint64_t>(1 + peer * 333));
                        }
                        StepId const moved =
                            builder.packed_exchange(all, sent, received, row_numbers, {format, element}, "dispatch");
                        builder.packed_all_gather(all, parts, {format, element}, "gather", {moved});
                    });
}

/// Each rank sends its five rows to the ranks after it, the third row to all; who gets them has them in reverse order,
/// and sends them back in two strides. No row is a multiple of 16 bytes; with `packing` each has an odd number of
/// numbers, which travel packed.
CorpusEntry moved_rows(int ranks, std::optional<Packing> packing = std::nullopt) {
    constexpr Bytes row_bytes = 24;
    constexpr std::uint64_t row_numbers = 1001;
    constexpr std::uint64_t own_rows = 5;
    auto const rows_between = [ranks](Rank from, Rank to) {
        std::vector<std::uint64_t> rows;
        for (std::uint64_t row = 0; row < own_rows; ++row) {
            if (row == 2 || (from + static_cast<Rank>(row)) % ranks == to) {
                rows.push_back(row);
            }
        }
        return rows;
    };
    return entry_of(
        packing ? "rows moved and packed" : "rows moved to and from where they travel", ranks,
        [&](PlanBuilder& builder, GroupId all, Rank me) {
            RowOrder sent{.tensor_rows = own_rows, .rank_rows = {}, .moves = {}};
            RowOrder received{.tensor_rows = 0, .rank_rows = {}, .moves = {}};
            RowOrder back{.tensor_rows = 0, .rank_rows = {}, .moves = {}};
            std::uint64_t packed = 0;
            std::vector<std::uint64_t> arriving;
            for (Rank peer = 0; peer < ranks; ++peer) {
                std::vector<std::uint64_t> const to_peer = rows_between(me, peer);
                std::vector<std::uint64_t> const from_peer = rows_between(peer, me);
                for (std::uint64_t const row : to_peer) {
                    sent.moves.push_back({.tensor = row, .packed = packed++});
                    sent.origins.push_back(row);
                }
                sent.rank_rows.push_back(to_peer.size());
                received.rank_rows.push_back(from_peer.size());
                arriving.insert(arriving.end(), from_peer.begin(), from_peer.end());
            }
            received.tensor_rows = arriving.size();
            received.origins = arriving;
            for (std::uint64_t row = 0; row < arriving.size(); ++row) {
                received.moves.push_back({.tensor = arriving.size() - 1 - row, .packed = row});
            }
            RowOrder const going_back{received.tensor_rows, received.rank_rows, received.moves};
            back.tensor_rows = packed;
            back.rank_rows = sent.rank_rows;
            std::uint64_t first = 0;
            for (std::uint64_t const rows : sent.rank_rows) {
                for (std::uint64_t const odd : {0U, 1U}) {
                    if (odd < rows) {
                        back.moves.push_back({(rows + 1 - odd) / 2, first + odd * ((rows + 1) / 2), first + odd, 1, 2});
                    }
                }
                first += rows;
            }
            auto const add = [&](RowOrder const& from, RowOrder const& to, char const* label,
                                 std::vector<StepId> after) {
                return packing ? builder.rearranged_exchange(all, from, to, PackedRowShape{*packing, row_numbers},
                                                             Processor::host, label, std::move(after))
                               : builder.rearranged_exchange(all, from, to, row_bytes, Processor::host, label,
                                                             std::move(after));
            };
            StepId const there = add(sent, received, "dispatch", {});
            add(going_back, back, "combine", {there});
        });
}

/// One step, two that wait for it and may run together, one that waits for both.
CorpusEntry diamond(int ranks) {
    return entry_of("diamond of exchanges", ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        auto const add = [&](Sizes const& sizes, std::string label, std::vector<StepId> after) {
            return add_exchange(builder, all, me, ranks, sizes, std::move(label), std::move(after));
        };
        StepId const top = add(ragged, "top", {});
        StepId const left = add([](int from, int to) { return ragged(from + 1, to); }, "left", {top});
        StepId const right = add([](int from, int to) { return ragged(from, to + 1); }, "right", {top});
        add([](int from, int to) { return ragged(to, from); }, "bottom", {left, right});
    });
}

/// Even and odd ranks at the same time. Public code gives a group's ranks as rank modulo size (MCR-DL, arXiv
/// 2303.08374, repository MCR-DL 47c97a8).
CorpusEntry two_groups(int ranks) {
    CorpusEntry entry{"two groups", {}};
    for (Rank me = 0; me < ranks; ++me) {
        Group const mine = parity_group(me, ranks);
        int const place = rank_in(mine, me).value();
        int const size = static_cast<int>(mine.members.size());
        PlanBuilder builder(me);
        GroupId const group = builder.group(mine);
        StepId const exchanged = add_exchange(builder, group, place, size, ragged, "in_group");
        builder.all_gather(group, static_cast<Bytes>(size) * 1000, Element::byte, "gather", {exchanged});
        entry.plans.push_back(std::move(builder).finish());
    }
    return entry;
}

}  // namespace

void add_exchanges(int ranks, std::vector<CorpusEntry>& entries) {
    for (Bytes const bytes : sizes_up_to_66_kib) {
        entries.push_back(
            one_exchange(fmt::format("uniform exchange, {} B", bytes), ranks, [bytes](int, int) { return bytes; }));
    }
    auto const add = [&](std::string name, Sizes const& sizes) {
        entries.push_back(one_exchange(std::move(name), ranks, sizes));
    };
    add("ring shift, 1 MiB", [ranks](int from, int to) { return to == (from + 1) % ranks ? one_mib : 0; });
    add("self block only", [](int from, int to) { return from == to ? Bytes{4097} : 0; });
    add("ragged", ragged);
    add("asymmetric: to higher ranks only", [](int from, int to) { return from < to ? ragged(from, to) + 1 : 0; });
    add("zero row", [](int from, int to) { return from == 0 ? 0 : ragged(from, to) + 1; });
    add("zero column", [ranks](int from, int to) { return to == ranks - 1 ? 0 : ragged(from, to) + 1; });
    add("zero diagonal", [](int from, int to) { return from == to ? 0 : ragged(from, to) + 1; });
    add("single pair", [ranks](int from, int to) { return from == 0 && to == ranks - 1 ? Bytes{4097} : 0; });
    entries.push_back(dispatch_and_combine(ranks));
    entries.push_back(packed_rows(ranks, {Code::int4, 32, ScaleType::fp32}, Element::bf16));
    entries.push_back(packed_rows(ranks, {Code::fp8_e5m2, 128, ScaleType::e8m0}, Element::fp32));
    entries.push_back(moved_rows(ranks));
    entries.push_back(moved_rows(ranks, Packing{{Code::int4, 32, ScaleType::fp32}, Element::bf16}));
    entries.push_back(diamond(ranks));
    if (ranks >= 4) {
        entries.push_back(two_groups(ranks));
    }
}

}  // namespace dlmb::conformance
