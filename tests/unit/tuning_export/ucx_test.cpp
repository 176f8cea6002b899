// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCX's threshold, read as UCX does: messages of at least so many bytes go by rendezvous. A rule says the same of its
// own sizes only.
#include "tests/unit/tuning_export/agreement.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning::ucx_test {
namespace {

Rule message_rule(ByteInterval bytes, std::string threshold) {
    Rule rule;
    rule.scope = "ucx";
    rule.when.operation = TunedOperation::sendrecv;
    rule.when.bytes = bytes;
    rule.choose.backend = "ucx";
    rule.choose.method = "linear";
    rule.choose.params.knobs["UCX_RNDV_THRESH"] = std::move(threshold);
    return rule;
}

/// The value of the setting, "" for none. A name twice in a file is an error for UCX.
std::string setting(Export const& made) {
    std::string const& text = made.files.at(0).text;
    std::string const name = "\nUCX_RNDV_THRESH=";
    std::size_t const at = text.find(name);
    EXPECT_TRUE(at == text.npos || text.find(name, at + 1) == text.npos);
    return at == text.npos ? "" : text.substr(at + name.size(), text.size() - at - name.size() - 1);
}

TEST(UcxExport, AgreesWithTheRulesAtTenThousandSizes) {
    TuningTable const table = table_of({message_rule({0, 40000}, "64K"), message_rule({50000, 1 << 20}, "50000")});
    Export const made = to_ucx(table, {}, {"1.13.1"});
    Bytes const threshold = std::stoull(setting(made));
    for (Bytes size = 0; size < (1 << 20); size += 105) {
        bool const rendezvous = size >= threshold;
        for (Rule const& rule : table.rules) {
            if (rule.when.bytes->contains(size)) {
                Bytes const own = rule.id == "r0" ? 65536 : 50000;
                EXPECT_EQ(rendezvous, size >= own) << size;
            }
        }
    }
    ASSERT_EQ(made.lost.size(), 1U) << "sizes above the last measured one go by rendezvous, too";
    EXPECT_EQ(made.lost[0].rule, "r1");
    EXPECT_EQ(made.lost[0].why, LostReason::size_ignored);
}

TEST(UcxExport, EndsEagerMessagesWhereTheRuleEnds) {
    EXPECT_EQ(setting(to_ucx(table_of({message_rule({0, 262143}, "inf")}), {}, {"1.13.1"})), "262144");
    Export const from_8k = to_ucx(table_of({message_rule({8192, 262143}, "256K")}), {}, {"1.13.1"});
    EXPECT_EQ(setting(from_8k), "262144");
    EXPECT_EQ(from_8k.lost.at(0).why, LostReason::size_ignored) << "smaller ones go eagerly, too";
}

TEST(UcxExport, SaysThatSmallerMessagesThanThoseOfARendezvousGoEagerly) {
    Export const made = to_ucx(table_of({message_rule({65536, 1 << 20}, "1")}), {}, {"1.13.1"});
    EXPECT_EQ(setting(made), "65536");
    ASSERT_EQ(made.lost.size(), 1U);
    EXPECT_EQ(
        made.lost[0],
        (Lost{"r0", LostReason::size_ignored,
              "messages of 0 to 65535 bytes go eagerly, too; messages from 1048577 bytes on go by rendezvous, too"}));
    EXPECT_EQ(to_ucx(table_of({message_rule({65536, 1 << 20}, "1")}), {}, {"1.17.0"}).lost, made.lost)
        << "once for both kinds of links";
}

TEST(UcxExport, LosesNothingBetweenRangesThatMeet) {
    Export const made = to_ucx(table_of({message_rule({0, 49}, "inf"), message_rule({50, 99}, "inf"),
                                         message_rule({100, 199}, "1"), message_rule({200, no_limit}, "1")}),
                               {}, {"1.13.1"});
    EXPECT_EQ(setting(made), "100");
    EXPECT_TRUE(made.lost.empty());
}

TEST(UcxExport, LosesWhatOneThresholdCannotSay) {
    Export const made =
        to_ucx(table_of({message_rule({1024, 4095}, "1024"), message_rule({4096, 65536}, "inf")}), {}, {"1.13.1"});
    EXPECT_EQ(setting(made), "");
    EXPECT_EQ(made.lost.size(), 2U);
}

TEST(UcxExport, ARuleOfOneNodeIsOfTheLinksInside) {
    TuningTable table = table_of({message_rule({0, 99999}, "inf")});
    table.rules[0].when.nodes = CountInterval{1, 1};
    EXPECT_EQ(setting(to_ucx(table, {1, "", "", ""}, {"1.17.0"})), "intra:100000,inter:auto");
    EXPECT_EQ(setting(to_ucx(table, {1, "", "", ""}, {"1.16.0"})), "100000");
}

TEST(UcxExport, ARuleOfOneRankPerNodeIsOfTheLinksBetween) {
    TuningTable table = table_of({message_rule({0, 99999}, "inf")});
    table.rules[0].when.ranks = table.rules[0].when.nodes = CountInterval{2, 2};
    EXPECT_EQ(setting(to_ucx(table, {2, "", "", ""}, {"1.17.0"})), "intra:auto,inter:100000");
    table.rules[0].when.ranks = CountInterval{4, 4};
    EXPECT_EQ(setting(to_ucx(table, {2, "", "", ""}, {"1.17.0"})), "intra:100000,inter:100000");
}

TEST(UcxExport, RulesOfBothLinksMakeOneFile) {
    TuningTable table = table_of({message_rule({0, 99999}, "inf"), message_rule({0, 49999}, "inf")});
    table.rules[0].when.ranks = table.rules[1].when.ranks = CountInterval{2, 2};
    table.rules[0].when.nodes = CountInterval{1, 1};
    table.rules[1].when.nodes = CountInterval{2, 2};
    EXPECT_EQ(setting(to_ucx(table, {}, {"1.18.0"})), "intra:100000,inter:50000");
    EXPECT_EQ(setting(to_ucx(table, {2, "", "", ""}, {"1.18.0"})), "intra:auto,inter:50000");
}

TEST(UcxExport, RulesOfMixedLinksDoNotMoveTheThresholdOfOne) {
    TuningTable table = table_of({message_rule({0, 99999}, "inf"), message_rule({0, 49999}, "inf")});
    table.rules[0].when.ranks = table.rules[1].when.ranks = CountInterval{4, 4};
    table.rules[0].when.nodes = CountInterval{2, 2};  // two ranks on each
    table.rules[1].when.nodes = CountInterval{1, 1};
    EXPECT_EQ(setting(to_ucx(table, {}, {"1.18.0"})), "intra:50000,inter:100000");
    table.rules.push_back(table.rules[1]);
    table.rules[2].when.nodes = CountInterval{4, 4};
    Export const made = to_ucx(table, {}, {"1.18.0"});
    EXPECT_EQ(setting(made), "intra:50000,inter:50000");
    ASSERT_EQ(made.lost.size(), 1U);
    EXPECT_EQ(made.lost[0].why, LostReason::other_slice);
}

TEST(UcxExport, TheCrossoverIsWhereMeasuredEagerMessagesEnd) {
    TuningTable table = table_of({message_rule({8192, 46340}, "inf"), message_rule({131072, 1 << 20}, "1")});
    table.rules[0].choose.method = "linear:rndv_thresh=inf";
    table.rules[1].choose.method = "linear:rndv_thresh=1";
    EXPECT_EQ(setting(to_ucx(table, {}, {"1.13.1"})), "46341");
}

TEST(UcxExport, LosesCollectivesAndOtherKnobs) {
    TuningTable table = table_of({message_rule({0, 100}, "inf"), message_rule({101, 200}, "inf")});
    table.rules[0].when.operation = TunedOperation::allreduce;
    table.rules[1].choose.params.knobs = {{"UCX_TLS", "tcp"}};
    Export const made = to_ucx(table, {}, {"1.13.1"});
    ASSERT_EQ(made.lost.size(), 2U);
    EXPECT_EQ(made.lost[0].why, LostReason::operation_not_tunable);
    EXPECT_EQ(made.lost[1].why, LostReason::key_not_expressible);
}

}  // namespace
}  // namespace dlmb::tuning::ucx_test
