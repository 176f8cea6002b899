// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One defect at a time in a set of plans that is sound without it.
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dlmb {
namespace {

using Plans = std::vector<Plan>;

struct Defect {
    char const* name;
    void (*make)(Plans&);
    char const* said;  // part of a problem's text
};

template <class Kind>
Kind& get(Plans& plans, StepId step, Rank rank = 2) {
    return std::get<Kind>(plans[static_cast<std::size_t>(rank)].steps[step].operation);
}
Exchange& dispatch(Plans& plans) {
    return get<Exchange>(plans, test::mixed::dispatch);
}
Bytes& buffer_size(Plans& plans, BufferId buffer) {
    return plans[2].buffers[buffer].bytes;
}

constexpr Defect defects[] = {
    // Ids.
    {"UnknownGroup", [](Plans& p) { dispatch(p).group = 9; },
     R"(rank 2 step 1 "dispatch" uses group 9, the plan has 1 groups)"},
    {"UnknownGroupOfAMessage", [](Plans& p) { get<Send>(p, test::mixed::send).group = 1; }, "uses group 1"},
    {"UnknownSendBuffer", [](Plans& p) { dispatch(p).send_buffer = 99; }, "send: uses buffer 99"},
    {"UnknownRecvBuffer", [](Plans& p) { get<Collective>(p, test::mixed::reduce).recv.buffer = 99; },
     "recv: uses buffer 99"},
    {"UnknownStep", [](Plans& p) { p[2].steps[3].after = {77}; }, "waits for step 77, the plan has 13 steps"},
    {"WaitForALaterStep", [](Plans& p) { p[2].steps[3].after = {4}; }, "waits for step 4, which is not an earlier one"},
    {"WaitForItself", [](Plans& p) { p[2].steps[3].after = {3}; }, "waits for step 3, which is not an earlier one"},
    {"PlansOutOfOrder", [](Plans& p) { std::swap(p[1], p[2]); }, "the plan of rank 1 says that it is of rank 2"},
    // Groups.
    {"GroupWithoutTheRank",
     [](Plans& p) {
         p[2].groups[0].members = {0, 1, 3};
     },
     "rank 2 group 0 does not contain the rank"},
    {"MemberTwice",
     [](Plans& p) {
         p[2].groups[0].members = {0, 2, 2, 3};
     },
     "rank 2 group 0 names rank 2 twice"},
    {"NegativeMember", [](Plans& p) { p[2].groups[0].members[0] = -1; }, "rank 2 group 0 names rank -1"},
    {"MemberOutsideTheWorld", [](Plans& p) { p[2].groups[0].members[3] = 4; },
     "rank 2 group 0 names rank 4 of a world of 4"},
    {"GroupTwice", [](Plans& p) { p[2].groups.push_back(p[2].groups[0]); }, "rank 2 group 1 repeats group 0"},
    {"MembersDiffer",
     [](Plans& p) {
         p[2].groups[0].members = {1, 0, 2, 3};
     },
     "rank 2 does not have the group [0 1 2 3] of rank 0"},
    {"GroupOfOneSideOnly",
     [](Plans& p) {
         p[2].groups.push_back({{2, 3}});
     },
     "rank 3 does not have the group [2 3] of rank 2"},
    // Blocks.
    {"BlocksOutOfOrder", [](Plans& p) { std::swap(dispatch(p).send[0], dispatch(p).send[1]); },
     "send: block of peer 0 stands after that of peer 1"},
    {"PeerTwice", [](Plans& p) { dispatch(p).recv[2].peer = 1; }, "recv: lists peer 1 twice"},
    {"PeerAboveTheGroup", [](Plans& p) { dispatch(p).recv[3].peer = 4; },
     "recv: peer 4 is not in the group of 4 ranks"},
    {"PeerBelowTheGroup", [](Plans& p) { get<Send>(p, test::mixed::send).to.peer = -1; },
     "send: peer -1 is not in the group"},
    {"RootOutsideTheGroup", [](Plans& p) { get<Collective>(p, test::mixed::broadcast).root = 4; },
     "root: peer 4 is not in the group"},
    {"ZeroBlock", [](Plans& p) { dispatch(p).send[2].bytes = 0; }, "send: lists a block of 0 B for peer 2"},
    {"BlockPastItsBuffer", [](Plans& p) { dispatch(p).send[3].bytes += 1000; },
     R"(are outside buffer "dispatch.send")"},
    {"BlockThatWrapsAround", [](Plans& p) { dispatch(p).send[3].offset = std::numeric_limits<Bytes>::max() - 7; },
     "at offset 18446744073709551608 are outside buffer"},
    {"MessagePastItsBuffer", [](Plans& p) { get<Recv>(p, test::mixed::recv).from.offset = 4096; },
     "recv: 300 B at offset 4096 are outside"},
    {"SendBlocksOverlap", [](Plans& p) { dispatch(p).send[1].offset = dispatch(p).send[0].offset + 8; },
     "send: blocks overlap"},
    {"RecvBlocksOverlap", [](Plans& p) { dispatch(p).recv[2].offset = dispatch(p).recv[0].offset; },
     "recv: blocks overlap"},
    // Elements and numbers.
    {"HalfAnElement", [](Plans& p) { get<Collective>(p, test::mixed::reduce).bytes = 58; },
     "58 B are not a whole number of fp32 in each of 1 parts"},
    {"UnevenShares", [](Plans& p) { get<Collective>(p, test::mixed::gather).bytes = 120; },
     "120 B are not a whole number of int64 in each of 4 parts"},
    {"SharesOfAWhole",
     [](Plans& p) {
         get<Collective>(p, test::mixed::reduce).shares = {16, 16, 16, 16};
     },
     "names shares, which allreduce does not have"},
    {"TooFewShares", [](Plans& p) { get<Collective>(p, test::mixed::gather_to).shares.pop_back(); },
     "names 3 shares for a group of 4 ranks"},
    {"SharesThatDoNotAddUp", [](Plans& p) { get<Collective>(p, test::mixed::gather_to).shares[1] = 8; },
     "has 48 B, its shares have more"},
    {"SharesThatLeaveSomething", [](Plans& p) { get<Collective>(p, test::mixed::gather_to).shares[2] = 16; },
     "has 48 B, its shares have 40 B"},
    {"AShareOfHalfAnElement", [](Plans& p) { get<Collective>(p, test::mixed::gather_to).shares[2] = 20; },
     "20 B are not a whole number of int64"},
    {"AResultWhereThereIsNone",
     [](Plans& p) {
         get<Collective>(p, test::mixed::reduce_to).recv = get<Collective>(p, test::mixed::gather_to - 1).recv;
         get<Collective>(p, test::mixed::reduce_to).recv.offset += 8;
     },
     "names two regions on a rank that is not the root"},
    {"ABroadcastOfTwoRegions", [](Plans& p) { get<Collective>(p, test::mixed::broadcast).recv.offset += 8; },
     "names two regions"},
    {"UnalignedRegion",
     [](Plans& p) {
         auto& reduce = get<Collective>(p, test::mixed::reduce);
         buffer_size(p, reduce.send.buffer) += 64;
         reduce.send.offset = 2;
     },
     "send: offset 2 is not aligned to fp32"},
    {"NegativeCompute", [](Plans& p) { get<Compute>(p, test::mixed::route).busy_ns = -1; }, "computes for -1 ns"},
    {"NegativeChannel", [](Plans& p) { get<Recv>(p, test::mixed::recv).channel = -3; }, "recv: channel -3 is below 0"},
    // Regions.
    {"DeliveredThenOverwritten",
     [](Plans& p) {
         auto& gather = get<Collective>(p, test::mixed::gather);
         gather.recv = {dispatch(p).recv_buffer, dispatch(p).recv[0].offset};
     },
     R"(rank 2 step 3 "gather" overwrites what rank 2 step 1 "dispatch" delivers in buffer "dispatch.recv")"},
    {"SentThenOverwritten",
     [](Plans& p) {
         get<Collective>(p, test::mixed::gather).recv = {dispatch(p).send_buffer, 0};
     },
     R"(rank 2 step 3 "gather" overwrites what rank 2 step 1 "dispatch" sends in buffer "dispatch.send")"},
    {"ReceivedWhereItIsSent",
     [](Plans& p) {
         buffer_size(p, dispatch(p).send_buffer) *= 2;
         dispatch(p).recv_buffer = dispatch(p).send_buffer;
     },
     R"("dispatch" receives where rank 2 step 1 "dispatch" sends)"},
    {"InPlaceAtTheWrongPart",
     [](Plans& p) {
         auto& gather = get<Collective>(p, test::mixed::gather);
         gather.send = gather.recv;  // the part of rank 0, on rank 2
     },
     R"("gather" receives where rank 2 step 3 "gather" sends)"},
    {"SentBeforeItArrived",
     [](Plans& p) {
         get<Send>(p, test::mixed::send).buffer = get<Recv>(p, test::mixed::recv).buffer;
         get<Send>(p, test::mixed::send).to.offset = get<Recv>(p, test::mixed::recv).from.offset;
     },
     R"(rank 2 step 8 "forward" does not wait for what rank 2 step 7 "forward" delivers)"},
    // Order on one rank.
    {"BatchThatIsNotReadyTogether", [](Plans& p) { p[2].steps[test::mixed::send].after = {test::mixed::recv}; },
     R"(rank 2 step 8 "forward" is in batch 0 with rank 2 step 7 "forward", but does not wait for the same steps)"},
    // Exchanges between ranks.
    {"BytesDiffer", [](Plans& p) { dispatch(p).recv[1].bytes = 4; },
     R"(rank 2 step 1 "dispatch" expects 4 B from rank 1, rank 1 sends 2002 B)"},
    {"BlockOnlySent", [](Plans& p) { dispatch(p).recv.erase(dispatch(p).recv.begin()); },
     R"(rank 0 step 1 "dispatch" sends 1002 B to rank 2, rank 2 expects 0 B)"},
    {"BlockOnlyReceived", [](Plans& p) { dispatch(p).send.pop_back(); },
     R"(rank 3 step 1 "dispatch" expects 3003 B from rank 2, rank 2 sends 0 B)"},
    // Collectives between ranks.
    {"CollectiveMissing", [](Plans& p) { p[2].steps[test::mixed::broadcast].operation = Compute{}; },
     "rank 2 has 9 collective steps on group [0 1 2 3], rank 0 has 10"},
    {"CollectivesSwapped",
     [](Plans& p) { std::swap(p[2].steps[test::mixed::reduce].operation, p[2].steps[test::mixed::scatter].operation); },
     R"(rank 2 step 4 "reduce" is reduce_scatter of 64 B bf16 max where rank 0 step 4 "reduce" is allreduce of 60 B )"
     "fp32 sum"},
    {"LabelsSwapped", [](Plans& p) { std::swap(p[2].steps[1].label, p[2].steps[2].label); },
     R"(rank 2 step 1 "combine" is an exchange where rank 0 step 1 "dispatch" is an exchange)"},
    {"CollectiveBytesDiffer", [](Plans& p) { get<Collective>(p, test::mixed::reduce).bytes = 56; },
     R"(is allreduce of 56 B fp32 sum where rank 0 step 4 "reduce" is allreduce of 60 B fp32 sum)"},
    {"ElementsDiffer", [](Plans& p) { get<Collective>(p, test::mixed::gather).element = Element::int32; },
     R"(is allgather of 128 B int32 where rank 0 step 3 "gather" is allgather of 128 B int64)"},
    {"ReductionsDiffer", [](Plans& p) { get<Collective>(p, test::mixed::scatter).reduction = Reduction::min; },
     "is reduce_scatter of 64 B bf16 min where"},
    {"RootsDiffer", [](Plans& p) { get<Collective>(p, test::mixed::broadcast).root = 0; },
     R"(is broadcast of 100 B byte from group rank 0 where rank 0 step 6 "broadcast" is broadcast of 100 B byte from )"
     "group rank 1"},
    {"SharesDiffer",
     [](Plans& p) {
         get<Collective>(p, test::mixed::gather_to).shares = {8, 8, 24, 8};
     },
     "is gather of 48 B int64 to group rank 1 in shares of 8 8 24 8 where rank 0 step 10 \"rooted.gather\" is gather "
     "of "
     "48 B int64 to group rank 1 in shares of 8 0 24 16"},
    {"SharesOnOneSideOnly",
     [](Plans& p) {
         get<Collective>(p, test::mixed::scatter_from).shares = {3, 3, 3, 3};
     },
     "is scatter of 12 B byte from group rank 1 in shares of 3 3 3 3 where"},
    {"ABarrierOfOneSideOnly", [](Plans& p) { p[2].steps[test::mixed::barrier].operation = Exchange{}; },
     "is an exchange where rank 0 step 12 \"rooted.barrier\" is a barrier"},
    // Messages between ranks.
    {"SendWithoutReceive", [](Plans& p) { p[2].steps[test::mixed::recv].operation = Compute{}; },
     R"(rank 1 step 8 "forward" sends 300 B to rank 2 on channel 0, which has no receive for it)"},
    {"ReceiveWithoutSend", [](Plans& p) { p[2].steps[test::mixed::send].operation = Compute{}; },
     R"(rank 3 step 7 "forward" expects 300 B from rank 2 on channel 0, which has no send for it)"},
    {"ChannelsDiffer", [](Plans& p) { get<Send>(p, test::mixed::send).channel = 5; },
     R"(rank 2 step 8 "forward" sends 300 B to rank 3 on channel 5, which has no receive for it)"},
    {"MessageSizesDiffer", [](Plans& p) { get<Recv>(p, test::mixed::recv).from.bytes = 299; },
     R"(rank 2 step 7 "forward" expects 299 B from rank 1 on channel 0, rank 1 step 8 "forward" sends 300 B)"},
    {"GroupsOfAMessageDiffer",
     [](Plans& p) {
         p[1].groups.push_back({{1, 2}});
         p[2].groups.push_back({{1, 2}});
         get<Recv>(p, test::mixed::recv).group = 1;
         get<Recv>(p, test::mixed::recv).from.peer = 0;
     },
     R"(rank 2 step 7 "forward" is on another group than rank 1 step 8 "forward")"},
    // Waits between ranks.
    {"SendThatWaitsForItsAnswer",
     [](Plans& p) {
         for (Plan& plan : p) {
             plan.steps[test::mixed::send].after = {test::mixed::recv};
             std::get<Send>(plan.steps[test::mixed::send].operation).batch = -1;
         }
     },
     R"(deadlock: rank 0 step 7 "forward" waits for rank 3 step 8 "forward")"},
};

class ValidateFinds : public testing::TestWithParam<Defect> {};

TEST_P(ValidateFinds, TheDefect) {
    Plans plans = test::mixed_plans();
    ASSERT_EQ(test::texts(validate(plans)), "");
    GetParam().make(plans);
    std::string const found = test::texts(validate(plans));
    EXPECT_NE(found.find(GetParam().said), std::string::npos) << "found instead: " << found;
}

INSTANTIATE_TEST_SUITE_P(Mutation, ValidateFinds, testing::ValuesIn(defects),
                         [](auto const& defect) { return std::string(defect.param.name); });

}  // namespace
}  // namespace dlmb
