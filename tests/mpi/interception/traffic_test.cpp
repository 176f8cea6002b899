// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What MPI is really given in one iteration of every pattern is what the plan says, message by message.
#include "common/backend_kit/plan_payload.hpp"
#include "common/formats/plan/algorithms/catalogue.hpp"
#include "common/formats/plan/traffic.hpp"
#include "common/formats/plan/validate.hpp"
#include "patterns/registry.hpp"
#include "tests/mpi/interception/intercepted_mpi.hpp"
#include "tests/mpi/interception/pattern_cases.hpp"
#include "tests/mpi/rig.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace dlmb {
namespace intercepted {

void PrintTo(Given const& given, std::ostream* out) {  // NOLINT(readability-identifier-naming): found by that name
    *out << fmt::format(
        "{} messages of {} B, {} notices, {} gets of {} B, {} accumulates of {} B, {} collectives of {} B",
        given.messages, given.message_bytes, given.notices, given.gets, given.get_bytes, given.accumulates,
        given.accumulate_bytes, given.collectives, given.collective_bytes);
}

}  // namespace intercepted

namespace {

/// Of a collective its whole buffer; of a barrier nothing.
Bytes logical_bytes(Operation const& operation) {
    auto const* step = std::get_if<Collective>(&operation);
    return step == nullptr ? 0 : step->bytes;
}

bool is_one_sided(MethodChoice const& method) {
    return method.name == "put" || method.name == "get" || method.name == "accumulate";
}

/// The target makes no call of its own, so both sides tell each other by messages of 0 bytes.
bool has_passive_targets(MethodChoice const& method) {
    auto const sync = method.knobs.find("sync");
    return is_one_sided(method) &&
           (sync == method.knobs.end() || sync->second == "flush" || sync->second.starts_with("lock"));
}

/// Blocks whose other side is another rank.
std::uint64_t with_others(Plan const& plan, Operation const& operation, std::span<Block const> blocks) {
    return static_cast<std::uint64_t>(std::count_if(blocks.begin(), blocks.end(), [&](Block const& block) {
        return world_rank(plan, group_of(operation).value(), block.peer) != plan.me;
    }));
}

/// Bytes of the messages that a method of our own sends for a collective; nothing where the library does it.
std::optional<std::vector<Bytes>> own_messages(Plan const& plan, Operation const& operation,
                                               MethodChoice const& method) {
    OperationKind const kind = kind_of(operation);
    if (method.name != "reproducible" || (kind != OperationKind::all_reduce && kind != OperationKind::reduce_scatter)) {
        return std::nullopt;
    }
    std::vector<Bytes> sent;
    auto const collective = algorithms::shaped_step(plan, operation).value();
    for (algorithms::MicroStep const& step : algorithms::knomial(collective.shape, {.radix = 2}).steps) {
        if (step.action == algorithms::Action::send) {
            sent.push_back(step.bytes);
        }
    }
    return sent;
}

intercepted::Given expected(Plan const& plan, MethodChoice const& method) {
    intercepted::Given given;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        RankTraffic const traffic = traffic_of_step(plan, step);
        Operation const& operation = plan.steps[step].operation;
        switch (kind_of(operation)) {
        case OperationKind::exchange:
        case OperationKind::send:
        case OperationKind::recv: {
            std::uint64_t const in = with_others(plan, operation, received_blocks(operation));
            std::uint64_t const out = with_others(plan, operation, sent_blocks(operation));
            if (method.name == "get") {
                given.gets += messages_of_block(operation) * in;
                given.get_bytes += traffic.in;
            } else {
                given.messages += messages_of_block(operation) * out;
                given.message_bytes += traffic.out;
            }
            given.notices += method.name != "accumulate" && has_passive_targets(method) ? in + out : 0;
            break;
        }
        case OperationKind::compute:
            break;
        default:
            if (auto const* reduce = std::get_if<Collective>(&operation);
                reduce != nullptr && reduce->kind == OperationKind::reduce_scatter && method.name == "accumulate") {
                std::uint64_t const ranks = plan.groups[reduce->group].members.size();
                given.accumulates += ranks - 1;
                given.accumulate_bytes += reduce->bytes / ranks * (ranks - 1);
                given.notices += has_passive_targets(method) ? 2 * (ranks - 1) : 0;
                break;
            }
            if (auto const sent = own_messages(plan, operation, method)) {
                given.messages += sent->size();
                given.message_bytes += std::accumulate(sent->begin(), sent->end(), Bytes{0});
                break;
            }
            ++given.collectives;
            given.collective_bytes += logical_bytes(operation);
            break;
        }
    }
    return given;
}

void expect_as_planned(mpi::Rig& rig, Plan const& plan, std::string const& what, MethodChoice const& method,
                       bool may_decline) {
    Buffers const buffers = rig.bind(plan);
    auto compiled = rig.backend().compile(plan, buffers, method);
    if (!compiled) {
        EXPECT_TRUE(may_decline) << what << ": " << compiled.error().reason;
        return;
    }
    rig.bootstrap().barrier();
    intercepted::reset();
    compiled.value()->launch();
    compiled.value()->finish();
    intercepted::Given const given = intercepted::given();
    rig.backend().quiesce();
    EXPECT_EQ(given, expected(plan, method)) << what;
}

TEST(Interception, MpiIsGivenWhatThePlanSays) {
    mpi::Rig rig;
    WorldShape const world{rig.ranks(), rig.ranks()};
    for (PatternType const* type : pattern_types()) {
        for (Parameters const& parameters : small_traffic_of(*type, rig.ranks())) {
            auto const pattern = type->make(parameters, world);
            Plan const plan = build_one(*pattern, rig.me(), {});
            for (MethodInfo const& method :
                 methods_for(rig.backend().methods_on(MemoryKind::host), pattern->operations())) {
                if (method.name != "persistent") {  // its requests are made once and then only started
                    MethodChoice const choice{std::string(method.name), {}};
                    std::string const what = fmt::format("{} {}", type->name, method.name);
                    expect_as_planned(rig, plan, what, choice, method.uniform_only || is_one_sided(choice));
                    for (char const* sync : {"lock", "lock_all", "fence", "pscw"}) {
                        if (is_one_sided(choice)) {
                            expect_as_planned(rig, plan, what + ":sync=" + sync, {choice.name, {{"sync", sync}}}, true);
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace dlmb
