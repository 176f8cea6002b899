// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace dlmb::kv_transfer {
namespace {

constexpr std::uint64_t most_ranks = 8;
constexpr std::uint64_t unit_counts[] = {1, 2, 3, 4, 5, 7, 8, 12, 32, 576};

/// `check` takes each split of all unit_counts over (m, n) ranks, m and n from 1 to 8.
void for_each_split(auto const& check) {
    for (std::uint64_t const units : unit_counts) {
        for (std::uint64_t m = 1; m <= most_ranks; ++m) {
            for (std::uint64_t n = 1; n <= most_ranks; ++n) {
                SCOPED_TRACE(testing::Message() << units << " units, " << m << " to " << n << " ranks");
                check(CacheSplit{{units, m}, {units, n}});
            }
        }
    }
}

TEST(KvSplit, EveryRankHoldsConsecutiveUnitsAndEveryUnitHasItsHolders) {
    for_each_split([](CacheSplit const& split) {
        UnitDivision const& division = split.prefill;
        for (std::uint64_t unit = 0; unit < division.units; ++unit) {
            std::vector<std::uint64_t> holders;
            for (std::uint64_t rank = 0; rank < division.ranks; ++rank) {
                UnitRange const held = division.held_by(rank);
                if (held.first <= unit && unit < held.end()) {
                    holders.push_back(rank);
                }
            }
            ASSERT_FALSE(holders.empty());
            EXPECT_EQ(division.holders_of(unit), (UnitRange{holders.front(), holders.size()}));
            EXPECT_EQ(holders.back() - holders.front() + 1, holders.size());
            if (division.ranks <= division.units) {
                EXPECT_EQ(holders.size(), 1U);
            }
        }
    });
}

// The proof for all (m, n) to 8: each decode rank receives each head that it holds from one prefill rank, which holds
// it, and no head that it does not hold.
TEST(KvSplit, EveryHeadArrivesOnceAndNoOther) {
    for_each_split([](CacheSplit const& split) {
        for (std::uint64_t to = 0; to < split.decode.ranks; ++to) {
            std::vector<int> arrivals(split.decode.units);
            for (std::uint64_t from = 0; from < split.prefill.ranks; ++from) {
                UnitRange const share = split.share(from, to);
                UnitRange const held = split.prefill.held_by(from);
                for (std::uint64_t unit = share.first; unit < share.end(); ++unit) {
                    ++arrivals[unit];
                    EXPECT_TRUE(held.first <= unit && unit < held.end());
                }
            }
            UnitRange const wanted = split.decode.held_by(to);
            for (std::uint64_t unit = 0; unit < split.decode.units; ++unit) {
                bool const is_wanted = wanted.first <= unit && unit < wanted.end();
                ASSERT_EQ(arrivals[unit], is_wanted ? 1 : 0) << "unit " << unit << " at rank " << to;
            }
        }
    });
}

TEST(KvSplit, PeersAreAmongThoseThatAreLookedAt) {
    for_each_split([](CacheSplit const& split) {
        std::uint64_t most = 0;
        for (std::uint64_t from = 0; from < split.prefill.ranks; ++from) {
            std::uint64_t sent = 0;
            for (std::uint64_t to = 0; to < split.decode.ranks; ++to) {
                UnitRange const share = split.share(from, to);
                UnitRange const receivers = split.receivers(from);
                UnitRange const senders = split.senders(to);
                if (share.count > 0) {
                    EXPECT_TRUE(receivers.first <= to && to < receivers.end());
                    EXPECT_TRUE(senders.first <= from && from < senders.end());
                }
                sent += share.count;
                most = std::max(most, split.decode.held_by(to).count);
            }
            most = std::max(most, sent);
        }
        EXPECT_EQ(split.most_units(), most);
    });
}

// vLLM: a latent is on every rank, and decode rank r reads from prefill rank r / (N / M).
TEST(KvSplit, ReplicasArePairedInOrder) {
    CacheSplit const wider{{1, 2}, {1, 8}};
    CacheSplit const narrower{{1, 8}, {1, 2}};
    for (std::uint64_t to = 0; to < 8; ++to) {
        EXPECT_EQ(wider.share(to / 4, to).count, 1U);
        EXPECT_EQ(wider.share(1 - to / 4, to).count, 0U);
    }
    EXPECT_EQ(narrower.share(0, 0).count, 1U);
    EXPECT_EQ(narrower.share(4, 1).count, 1U);
}

}  // namespace
}  // namespace dlmb::kv_transfer
