// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/compile.hpp"

#include "common/backend_kit/device_compute.hpp"
#include "common/backends/ucx/choose_ways.hpp"
#include "common/backends/ucx/scratch.hpp"
#include "common/backends/ucx/shared_windows.hpp"
#include "common/backends/ucx/tag.hpp"
#include "common/backends/ucx/task_builder.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

std::string why_not(Plan const& plan, Buffers const& buffers, std::optional<std::uint64_t> operations,
                    Transport const& transport) {
    if (!transport.memory_types().has(buffers.kind)) {
        return fmt::format("{} memory: {}", name_of(buffers.kind), transport.why_no(buffers.kind));
    }
    if (!operations) {
        return fmt::format("{} steps do not fit the {} operation ids of a message tag beside the plans in use",
                           plan.steps.size(), tag_field_limit);
    }
    return works_on_device(buffers.kind) ? why_no_products(plan) : "";
}

std::vector<Rank> peers_of(std::vector<LoweredStep> const& steps) {
    std::vector<Rank> peers;
    for (LoweredStep const& step : steps) {
        for (std::vector<Message> const* const messages : {&step.sends, &step.receives}) {
            for (Message const& message : *messages) {
                peers.push_back(message.peer);
            }
        }
    }
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    return peers;
}

/// By StepId; the memory itself goes into `memory`.
std::vector<std::byte*> provide_scratch(Plan const& plan, MemoryKind kind, std::vector<StepWay> const& ways,
                                        Allocation& memory) {
    std::vector<Bytes> needed;
    for (StepWay const& way : ways) {
        needed.push_back(way.micro ? way.micro->scratch_bytes : 0);
    }
    ScratchLayout const layout = lay_out_scratch(plan, needed);
    memory = allocate_scratch(kind, layout.bytes);
    std::vector<std::byte*> scratch;
    for (Bytes const offset : layout.offsets) {
        scratch.push_back(memory.data() + offset);
    }
    return scratch;
}

std::unique_ptr<DeviceQueues> make_queues(Plan const& plan, std::vector<LoweredStep> const& steps) {
    std::size_t work = 0;
    for (LoweredStep const& step : steps) {
        work += step.work.size();
    }
    auto const computes = std::count_if(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
        return std::holds_alternative<Compute>(step.operation);
    });
    return std::make_unique<DeviceQueues>(work, static_cast<std::size_t>(computes));
}

bool shares(std::vector<StepWay> const& ways) {
    return std::any_of(ways.begin(), ways.end(), [](StepWay const& way) { return way.shared.has_value(); });
}

/// Throws what any rank found wrong.
void agree(Bootstrap& bootstrap, std::optional<std::string> const& problem) {
    if (std::string const text = first_refusal(bootstrap, problem.value_or("")); !text.empty()) {
        throw Error(text);
    }
}

}  // namespace

Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                             ChosenMethods const& methods, Transports& transports,
                                                             WindowTrial& trial) {
    auto const made = transports.with(methods.context_settings());
    if (!made) {
        return made.error();
    }
    Transport& transport = *made.value();
    std::optional<std::uint64_t> const first = transport.operation_ids().take(plan.steps.size());
    Holdings holdings;
    holdings.operations = first ? std::make_unique<OperationRange>(transport.operation_ids(), *first) : nullptr;
    Bootstrap& bootstrap = transport.bootstrap();
    if (std::string reason = first_refusal(bootstrap, why_not(plan, buffers, first, transport)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    auto chosen = choose_ways(plan, buffers, methods, transports, transport, trial);
    if (!chosen) {
        return chosen.error();
    }
    std::vector<StepWay> const& ways = chosen.value().by_step;
    holdings.window_use = std::move(chosen.value().record);
    auto const scratch = provide_scratch(plan, buffers.kind, ways, holdings.scratch);
    std::vector<LoweredStep> const steps = lower(plan, buffers, ways, scratch);
    std::optional<SharedWindows> windows;
    if (any_rank(bootstrap, shares(ways))) {
        windows.emplace(transport, plan, ways, steps);
        agree(bootstrap, windows->problem());
        transport.connect(shared_peers(plan, ways));
        if (std::string reason = first_refusal(bootstrap, windows->map()); !reason.empty()) {
            transport.share_no_memory(std::move(reason));
            return compile(plan, buffers, methods, transports, trial);  // by messages
        }
    }
    MatchedTags const matched = match(bootstrap, plan, steps, *first);
    agree(bootstrap, matched.problem);
    transport.connect(peers_of(steps));
    holdings.messages = std::make_unique<Messages>(transport, ucx_type_of(buffers.kind));
    holdings.device = works_on_device(buffers.kind) ? make_queues(plan, steps) : nullptr;
    Tasks tasks =
        build_tasks({plan, steps, ways, methods, matched, *first, windows ? &*windows : nullptr, holdings.device.get()},
                    *holdings.messages, transport);
    if (windows) {
        if (std::string copies = windows->window_copies(); !copies.empty()) {
            holdings.window_use["window_copies"] = std::move(copies);
        }
        holdings.shared = std::move(*windows).mappings();
    }
    return std::unique_ptr<CompiledPlan>(
        std::make_unique<Schedule>(std::move(tasks), std::move(holdings), transport, transports));
}

}  // namespace dlmb::ucx
