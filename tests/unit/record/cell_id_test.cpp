// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/hash.hpp"
#include "tests/unit/record/sample_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace dlmb::record {
namespace {

using testing::HasSubstr;
using testing::Not;

std::map<std::string, std::string> const no_preset;

bool only_allowed(std::string const& id) {
    return id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._=/+-") ==
           std::string::npos;
}

TEST(CellId, IsTheSameTextInEveryVersionOfTheProgram) {
    // Written out by hand after the rule in identifiers.hpp: stored files and histories are joined by this text.
    EXPECT_EQ(sample_cell().cell_id,
              "backend=mpi/cache=rotate/draws=1/fill=random/memory=host/method=alltoallv/mode=isolated/p.hidden=2048/"
              "p.skew=lognormal+3A0.3/p.tokens=16/"
              "pattern=moe_alltoall/preset=mixtral-8x7b/ranks=4/ranks_per_node=2/seed=1");
}

TEST(CellId, HoldsOnlyTheAllowedCharactersWhateverTheValuesAre) {
    CellIdentity identity = sample_cell().identity;
    identity.parameters["skew"] = "file:a b\n\"\xC3\xA9%20";
    identity.method = "pairwise:max_outstanding=4";
    EXPECT_TRUE(only_allowed(cell_id(identity, no_preset))) << cell_id(identity, no_preset);
}

TEST(CellId, DiffersWhenAnyPartOfTheIdentityDiffers) {
    CellIdentity const identity = sample_cell().identity;
    std::vector<CellIdentity> others(17, identity);
    others[0].pattern = "x";
    others[1].preset = "x";
    others[2].parameters["tokens"] = "32";
    others[3].backend = "x";
    others[4].method = "x";
    others[5].memory = "x";
    others[6].mode = "stream";
    others[7].world.ranks = 8;
    others[8].world.ranks_per_node = 4;
    others[9].seed = 2;
    others[10].draws = 2;
    others[11].cache = record::CacheMode::warm;
    others[12].cache = record::CacheMode::flush;
    others[13].fill = record::Fill::zeros;
    others[14].beside = "compute";
    others[15].beside = "traffic:moe.jsonl@0123";
    others[16].beside = "traffic:moe.jsonl@0124";
    std::set<std::string> ids{cell_id(identity, no_preset)};
    for (std::size_t i = 0; i < others.size(); ++i) {
        EXPECT_TRUE(ids.insert(cell_id(others[i], no_preset)).second) << "part " << i;
    }
}

TEST(CellId, DoesNotTakeAValueWithSeparatorsForTwoParts) {
    CellIdentity one = sample_cell().identity;
    one.parameters = {{"a", "1/p.b=2"}};
    CellIdentity two = one;
    two.parameters = {{"a", "1"}, {"b", "2"}};
    CellIdentity three = one;
    three.parameters = {{"a", "1+2Fp.b+3D2"}};
    EXPECT_NE(cell_id(one, no_preset), cell_id(two, no_preset));
    EXPECT_NE(cell_id(one, no_preset), cell_id(three, no_preset));
}

TEST(CellId, KeepsAPatternParameterCalledModeApartFromTheMeasuringMode) {
    CellIdentity identity = sample_cell().identity;
    identity.parameters = {{"mode", "batched"}};
    std::string const id = cell_id(identity, no_preset);
    EXPECT_THAT(id, HasSubstr("/mode=isolated/"));
    EXPECT_THAT(id, HasSubstr("/p.mode=batched/"));
}

TEST(CellId, LeavesOutParametersAtTheirPresetsValue) {
    CellIdentity identity = sample_cell().identity;
    EXPECT_THAT(cell_id(identity, identity.parameters), Not(HasSubstr("p.")));
    identity.parameters["tokens"] = "17";
    EXPECT_THAT(cell_id(identity, sample_cell().identity.parameters), HasSubstr("p.tokens=17"));
}

TEST(CellId, StaysBelow1000BytesAndStillTellsLongIdentitiesApart) {
    CellIdentity identity = sample_cell().identity;
    identity.parameters["skew"] = "file:" + std::string(2000, 'a') + "1";
    std::string const one = cell_id(identity, no_preset);
    identity.parameters["skew"].back() = '2';
    std::string const two = cell_id(identity, no_preset);
    EXPECT_EQ(one.size(), 1000U);
    EXPECT_EQ(two.size(), 1000U);
    EXPECT_NE(one, two);
    EXPECT_TRUE(only_allowed(one));
}

TEST(StableHash, AgreesWithThePublishedFnv1aVectors) {
    // Test vectors of the FNV authors (http://www.isthe.com/chongo/tech/comp/fnv): "", "a" and "foobar", 64-bit FNV-1a.
    EXPECT_EQ(stable_hash(""), "cbf29ce484222325");
    EXPECT_EQ(stable_hash("a"), "af63dc4c8601ec8c");
    EXPECT_EQ(stable_hash("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace dlmb::record
