// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What MPI is really given in one iteration of every pattern is what the plan says, message by message.
#include "common/backend_kit/plan_payload.hpp"
#include "common/plan/traffic.hpp"
#include "common/plan/validate.hpp"
#include "patterns/registry.hpp"
#include "tests/mpi/interception/intercepted_mpi.hpp"
#include "tests/mpi/interception/pattern_cases.hpp"
#include "tests/mpi/rig.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace dlmb {
namespace intercepted {

void PrintTo(Given const& given, std::ostream* out) {  // NOLINT(readability-identifier-naming): found by that name
    *out << fmt::format("{} messages of {} B, {} collectives of {} B", given.messages, given.message_bytes,
                        given.collectives, given.collective_bytes);
}

}  // namespace intercepted

namespace {

/// Of a collective its whole buffer; of a barrier nothing.
Bytes logical_bytes(Operation const& operation) {
    return std::visit(
        [](auto const& step) -> Bytes {
            if constexpr (requires { step.bytes; }) {
                return step.bytes;
            } else {
                return 0;
            }
        },
        operation);
}

intercepted::Given expected(Plan const& plan) {
    intercepted::Given given;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        RankTraffic const traffic = traffic_of_step(plan, step);
        switch (kind_of(plan.steps[step].operation)) {
        case OperationKind::exchange:
        case OperationKind::send:
            given.messages += traffic.messages;
            given.message_bytes += traffic.out;
            break;
        case OperationKind::recv:
        case OperationKind::compute:
            break;
        default:
            ++given.collectives;
            given.collective_bytes += logical_bytes(plan.steps[step].operation);
            break;
        }
    }
    return given;
}

void expect_as_planned(mpi::Rig& rig, Plan const& plan, std::string const& what, MethodInfo const& method) {
    Buffers const buffers = rig.bind(plan);
    auto compiled = rig.backend().compile(plan, buffers, {std::string(method.name), {}});
    if (!compiled) {
        EXPECT_TRUE(method.uniform_only) << what << ": " << compiled.error().reason;
        return;
    }
    rig.bootstrap().barrier();
    intercepted::reset();
    compiled.value()->launch();
    compiled.value()->finish();
    intercepted::Given const given = intercepted::given();
    rig.backend().quiesce();
    EXPECT_EQ(given, expected(plan)) << what;
}

TEST(Interception, MpiIsGivenWhatThePlanSays) {
    mpi::Rig rig;
    WorldShape const world{rig.ranks(), rig.ranks()};
    for (PatternType const* type : pattern_types()) {
        for (Parameters const& parameters : small_traffic_of(*type)) {
            auto const pattern = type->make(parameters, world);
            Plan const plan = build_one(*pattern, rig.me(), {});
            for (MethodInfo const& method :
                 methods_for(rig.backend().methods_on(MemoryKind::host), pattern->operations())) {
                if (method.name != "persistent") {  // its requests are made once and then only started
                    expect_as_planned(rig, plan, fmt::format("{} {}", type->name, method.name), method);
                }
            }
        }
    }
}

}  // namespace
}  // namespace dlmb
