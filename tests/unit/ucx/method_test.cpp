// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/method_table.hpp"
#include "common/base/error.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

/// Rank 2 of 5 in an exchange with everybody, blocks by peer as a plan has them.
LanePlan rank_2_of_5() {
    LanePlan lane;
    for (Rank const peer : {0, 1, 3, 4}) {
        Transfer receive;
        receive.peer = peer;
        receive.distance = (2 - peer + 5) % 5;
        lane.receives.push_back(receive);
        Transfer send;
        send.peer = peer;
        send.distance = (peer - 2 + 5) % 5;
        lane.sends.push_back(send);
    }
    return lane;
}

std::vector<Rank> peers(std::vector<Transfer> const& transfers) {
    std::vector<Rank> order;
    for (Transfer const& transfer : transfers) {
        order.push_back(transfer.peer);
    }
    return order;
}

TEST(Method, BothSendToTheNextRankFirstAndReceiveFromThePreviousOne) {
    for (Method const& method : {linear(), pairwise()}) {
        LanePlan lane = rank_2_of_5();
        method.arrange(lane, std::nullopt);
        EXPECT_EQ(peers(lane.sends), (std::vector<Rank>{3, 4, 0, 1})) << method.info.name;
        EXPECT_EQ(peers(lane.receives), (std::vector<Rank>{1, 0, 4, 3})) << method.info.name;
    }
}

TEST(Method, LinearPostsEverythingAndItsKnobBoundsOnlyTheSends) {
    LanePlan lane = rank_2_of_5();
    linear().arrange(lane, std::nullopt);
    EXPECT_EQ(lane.receive_window, 4U);
    EXPECT_EQ(lane.send_window, 4U);
    linear().arrange(lane, 2);
    EXPECT_EQ(lane.receive_window, 4U);
    EXPECT_EQ(lane.send_window, 2U);
}

TEST(Method, PairwiseBoundsBothSides) {
    LanePlan lane = rank_2_of_5();
    pairwise().arrange(lane, 3);
    EXPECT_EQ(lane.receive_window, 3U);
    EXPECT_EQ(lane.send_window, 3U);
}

Knobs knobs_of(char const* method) {
    MethodTable const table(3);
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
    EXPECT_EQ(knobs_of("auto").window_copies, std::nullopt);
    EXPECT_EQ(knobs_of("auto:window_copies=cached").window_copies, WindowCopies::cached);
    EXPECT_EQ(knobs_of("shared_memory:segment=64K:window_copies=streamed").window_copies, WindowCopies::streamed);
    EXPECT_EQ(knobs_of("auto").messages_from, std::nullopt);
    EXPECT_EQ(knobs_of("auto:messages_from=64K").messages_from, Bytes{64} << 10);
    EXPECT_EQ(knobs_of("auto:messages_from=inf").messages_from, WindowUse::never);
}

TEST(MethodTable, UsesWindowsAsTheUserSaysAndElseAsWasFound) {
    MethodTable const table(3);
    WindowUse const found{WindowCopies::cached, 1000};
    for (auto const& [method, copies, messages_from, all_said] :
         {std::tuple{"default", WindowCopies::cached, Bytes{1000}, false},
          std::tuple{"linear", WindowCopies::cached, Bytes{1000}, false},
          std::tuple{"auto:window_copies=streamed", WindowCopies::streamed, Bytes{1000}, false},
          std::tuple{"auto:messages_from=5", WindowCopies::cached, Bytes{5}, false},
          std::tuple{"auto:messages_from=5:window_copies=streamed", WindowCopies::streamed, Bytes{5}, true},
          std::tuple{"shared_memory", WindowCopies::cached, Bytes{1000}, false},
          std::tuple{"shared_memory:window_copies=streamed", WindowCopies::streamed, Bytes{1000}, true}}) {
        ChosenMethods const chosen = table.choose(parse_method(method));
        EXPECT_EQ(chosen.window_use(found), (WindowUse{copies, messages_from})) << method;
        EXPECT_EQ(chosen.fixes_window_use(), all_said) << method;
    }
}

TEST(MethodTable, RefusesWrongValuesAndOtherMethodsKnobs) {
    MethodTable const table(3);
    for (char const* const wrong : {"linear:max_outstanding=0",
                                    "linear:max_outstanding=-1",
                                    "linear:max_outstanding=4x",
                                    "linear:outstanding=1",
                                    "knomial:radix=1",
                                    "ring:segment=0",
                                    "ring:segment=1MB",
                                    "ring:radix=2",
                                    "auto:radix=2",
                                    "default:radix=2",
                                    "linear:rndv_tresh=1",
                                    "linear:rndv_thresh=1MB",
                                    "linear:rndv_thresh=auto",
                                    "shared_memory:rndv_thresh=1",
                                    "auto:window_copies=fast",
                                    "linear:window_copies=cached",
                                    "auto:messages_from=never",
                                    "auto:messages_from=1MB",
                                    "shared_memory:messages_from=64K",
                                    "linaer"}) {
        EXPECT_THROW(static_cast<void>(table.choose(parse_method(wrong))), UsageError) << wrong;
    }
}

TEST(MethodTable, AChosenMethodDoesItsOperationsAndDefaultsTheOthers) {
    MethodTable const table(3);
    ChosenMethods const chosen = table.choose(parse_method("ring:segment=1K"));
    EXPECT_EQ(chosen.method_for(OperationKind::all_reduce).info.name, "ring");
    EXPECT_EQ(chosen.method_for(OperationKind::broadcast).info.name, "auto");
    EXPECT_EQ(chosen.method_for(OperationKind::exchange).info.name, "auto");
    EXPECT_EQ(chosen.method_for(OperationKind::send).info.name, "linear");
    EXPECT_EQ(chosen.knobs_of(chosen.method_for(OperationKind::broadcast)).algorithm.segment, 0U)
        << "a knob is that of the chosen method";
}

TEST(MethodTable, DefaultsAreTheFirstOfTheTableForTheirOperations) {
    for (auto const& [peers, messages] : {std::pair{32, "linear"}, std::pair{33, "pairwise"}}) {
        MethodTable const table(peers);
        ChosenMethods const chosen = table.choose({});
        for (OperationKind const kind :
             {OperationKind::exchange, OperationKind::send, OperationKind::recv, OperationKind::all_reduce,
              OperationKind::reduce_scatter, OperationKind::all_gather, OperationKind::broadcast}) {
            EXPECT_EQ(chosen.method_for(kind).info.name, default_method(table.infos(), {kind, false})->name);
        }
        EXPECT_EQ(chosen.method_for(OperationKind::send).info.name, messages);
        EXPECT_EQ(chosen.lane_method().info.name, messages) << "what an exchange leaves to messages";
    }
}

TEST(Method, VariantsAreMethodsOfTheOperationWithAKnobThatTheyHave) {
    MethodTable const table(3);
    OperationUse const use{OperationKind::broadcast, false};
    std::vector<std::string> names;
    for (MethodChoice const& choice : table.variants({&use, 1}, true)) {
        EXPECT_NO_THROW((void)table.choose(choice)) << to_string(choice);
        names.push_back(to_string(choice));
    }
    EXPECT_EQ(names, (std::vector<std::string>{"knomial:radix=2", "knomial:radix=8", "chain:segment=64K",
                                               "chain:segment=1M"}));
}

std::vector<std::string> threshold_variants(OperationKind kind, bool by_messages) {
    MethodTable const table(3);
    OperationUse const use{kind, false};
    std::vector<std::string> names;
    for (MethodChoice const& choice : table.variants({&use, 1}, by_messages)) {
        if (!table.choose(choice).context_settings().empty()) {
            names.push_back(to_string(choice));
        }
    }
    return names;
}

TEST(Method, ThresholdsAreVariantsWhereMessagesDoTheWork) {
    std::vector<std::string> const both{"linear:rndv_thresh=1", "linear:rndv_thresh=inf"};
    EXPECT_EQ(threshold_variants(OperationKind::send, false), both);
    EXPECT_EQ(threshold_variants(OperationKind::exchange, true), both);
    EXPECT_TRUE(threshold_variants(OperationKind::exchange, false).empty()) << "done in shared memory";
    EXPECT_TRUE(threshold_variants(OperationKind::all_reduce, true).empty());
}

}  // namespace
}  // namespace dlmb::ucx
