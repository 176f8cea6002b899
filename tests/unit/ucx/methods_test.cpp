// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/methods.hpp"
#include "common/base/error.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

/// Rank 2 of 5 in an exchange with everybody, blocks by peer as a plan has them.
BatchPlan rank_2_of_5() {
    BatchPlan batch;
    for (Rank const peer : {0, 1, 3, 4}) {
        Transfer receive;
        receive.peer = peer;
        receive.distance = (2 - peer + 5) % 5;
        batch.receives.push_back(receive);
        Transfer send;
        send.peer = peer;
        send.distance = (peer - 2 + 5) % 5;
        batch.sends.push_back(send);
    }
    return batch;
}

std::vector<Rank> peers(std::vector<Transfer> const& transfers) {
    std::vector<Rank> order;
    for (Transfer const& transfer : transfers) {
        order.push_back(transfer.peer);
    }
    return order;
}

Method const& named(char const* method) {
    static MethodTable const table;
    return table.choose(parse_method(method)).method_for(OperationKind::send);
}

TEST(Method, BothSendToTheNextRankFirstAndReceiveFromThePreviousOne) {
    for (char const* const method : {"linear", "pairwise"}) {
        BatchPlan batch = rank_2_of_5();
        named(method).arrange(batch, std::nullopt);
        EXPECT_EQ(peers(batch.sends), (std::vector<Rank>{3, 4, 0, 1})) << method;
        EXPECT_EQ(peers(batch.receives), (std::vector<Rank>{1, 0, 4, 3})) << method;
    }
}

TEST(Method, PutAndGetAreForWhatNoOtherRankReducesAndOnHostMemoryOnly) {
    static MethodTable const table;
    EXPECT_EQ(named("put").verb, Verb::put);
    EXPECT_EQ(named("get:rndv_thresh=4K").verb, Verb::get);
    EXPECT_TRUE(table.choose(parse_method("put")).one_sided());
    EXPECT_FALSE(table.choose(parse_method("put")).method_for(OperationKind::all_reduce).verb);
    EXPECT_FALSE(table.choose(parse_method("linear")).one_sided());
    for (MethodInfo const& info : table.by_messages()) {
        EXPECT_TRUE(info.name != "put" && info.name != "get");
    }
}

TEST(Method, LinearPostsEverythingAndItsKnobBoundsOnlyTheSendsPairwiseBoundsBothSides) {
    auto const windows = [](char const* method, std::optional<std::uint64_t> most) {
        BatchPlan batch = rank_2_of_5();
        named(method).arrange(batch, most);
        return std::pair(batch.receive_window, batch.send_window);
    };
    EXPECT_EQ(windows("linear", std::nullopt), std::pair(4UL, 4UL));
    EXPECT_EQ(windows("linear", 2), std::pair(4UL, 2UL));
    EXPECT_EQ(windows("pairwise", 3), std::pair(3UL, 3UL));
}

MethodKnobs knobs_of(char const* method) {
    MethodTable const table;
    ChosenMethods const chosen = table.choose(parse_method(method));
    for (OperationKind const kind : {OperationKind::exchange, OperationKind::all_reduce, OperationKind::broadcast}) {
        Method const& one = chosen.method_for(kind);
        if (one.info.name == parse_method(method).name) {
            return chosen.knobs_of(one);
        }
    }
    return {};
}

TEST(MethodTable, ReadsTheKnobsThatAMethodHas) {
    EXPECT_EQ(knobs_of("linear").max_outstanding, std::nullopt);
    EXPECT_EQ(knobs_of("linear:max_outstanding=12").max_outstanding, 12U);
    EXPECT_EQ(knobs_of("knomial:radix=8").algorithm.radix, 8);
    EXPECT_EQ(knobs_of("ring:segment=256K").algorithm.segment, Bytes{256} << 10);
    EXPECT_EQ(knobs_of("ring:segment=256K:zcopy_thresh=inf").context, (ContextSettings{{"ZCOPY_THRESH", "inf"}}));
    EXPECT_EQ(knobs_of("linear:max_outstanding=2:rndv_thresh=64K").max_outstanding, 2U);
    EXPECT_EQ(knobs_of("linear:rndv_thresh=64K").context, knobs_of("pairwise:rndv_thresh=65536").context);
    EXPECT_TRUE(knobs_of("linear").context.empty());
    EXPECT_EQ(knobs_of("auto:rndv_thresh=1").context, (ContextSettings{{"RNDV_THRESH", "1"}}));
}

TEST(MethodTable, RefusesWrongValuesAndOtherMethodsKnobs) {
    MethodTable const table;
    for (char const* const wrong :
         {"linear:max_outstanding=0", "linear:max_outstanding=-1", "linear:max_outstanding=4x", "linear:outstanding=1",
          "knomial:radix=1", "ring:segment=0", "ring:segment=1MB", "ring:radix=2", "auto:radix=2", "default:radix=2",
          "linear:rndv_tresh=1", "linear:rndv_thresh=1MB", "linear:rndv_thresh=auto", "linaer"}) {
        EXPECT_THROW(static_cast<void>(table.choose(parse_method(wrong))), UsageError) << wrong;
    }
}

TEST(MethodTable, AChosenMethodDoesItsOperationsAndDefaultsTheOthers) {
    MethodTable const table;
    ChosenMethods const chosen = table.choose(parse_method("ring:segment=1K"));
    EXPECT_EQ(chosen.method_for(OperationKind::all_reduce).info.name, "ring");
    EXPECT_EQ(chosen.method_for(OperationKind::broadcast).info.name, "auto");
    EXPECT_EQ(chosen.method_for(OperationKind::exchange).info.name, "linear");
    EXPECT_EQ(chosen.method_for(OperationKind::send).info.name, "linear");
    EXPECT_EQ(chosen.knobs_of(chosen.method_for(OperationKind::broadcast)).algorithm.segment, 0U)
        << "a knob is that of the chosen method";
}

TEST(MethodTable, DefaultsAreTheFirstOfTheTableForTheirOperations) {
    MethodTable const table;
    ChosenMethods const chosen = table.choose({});
    for (OperationKind const kind :
         {OperationKind::exchange, OperationKind::send, OperationKind::recv, OperationKind::all_reduce,
          OperationKind::reduce_scatter, OperationKind::all_gather, OperationKind::broadcast}) {
        EXPECT_EQ(chosen.method_for(kind).info.name, default_method(table.infos(), {kind, false})->name);
    }
    EXPECT_EQ(chosen.method_for(OperationKind::send).info.name, "linear");
}

TEST(Method, VariantsAreMethodsOfTheOperationWithAKnobThatTheyHave) {
    MethodTable const table;
    OperationUse const use{OperationKind::broadcast, false};
    std::vector<std::string> names;
    for (MethodChoice const& choice : table.variants({&use, 1})) {
        EXPECT_NO_THROW((void)table.choose(choice)) << to_string(choice);
        names.push_back(to_string(choice));
    }
    EXPECT_EQ(names, (std::vector<std::string>{"knomial:radix=2", "knomial:radix=8", "chain:segment=64K",
                                               "chain:segment=1M"}));
}

std::vector<std::string> threshold_variants(OperationKind kind) {
    MethodTable const table;
    OperationUse const use{kind, false};
    std::vector<std::string> names;
    for (MethodChoice const& choice : table.variants({&use, 1})) {
        if (!table.choose(choice).context_settings().empty()) {
            names.push_back(to_string(choice));
        }
    }
    return names;
}

TEST(Method, ThresholdsAreVariantsWhereMessagesDoTheWork) {
    std::vector<std::string> const both{"linear:rndv_thresh=1", "linear:rndv_thresh=inf"};
    EXPECT_EQ(threshold_variants(OperationKind::send), both);
    EXPECT_EQ(threshold_variants(OperationKind::exchange), both);
    EXPECT_TRUE(threshold_variants(OperationKind::all_reduce).empty()) << "an algorithm's messages have many sizes";
}

}  // namespace
}  // namespace dlmb::ucx
