// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/one_sided.hpp"

#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <map>

namespace dlmb::nccl {
namespace {

PutSignals const& signals_of(std::vector<PutSignals> const& puts, StepId step) {
    return *std::find_if(puts.begin(), puts.end(), [step](PutSignals const& put) { return put.step == step; });
}

/// How many signals of NCCL stand for one of a plan.
int count_of(Signal const& signal) {
    return static_cast<int>(std::max(signal.blocks, 1U));
}

}  // namespace

std::vector<StepId> stream_order(Plan const& plan) {
    std::vector<StepId> order;
    std::vector<StepId> held;  // WaitSignals
    auto const release = [&](auto end) {
        order.insert(order.end(), held.begin(), end);
        held.erase(held.begin(), end);
    };
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (std::holds_alternative<WaitSignal>(plan.steps[step].operation)) {
            held.push_back(step);
            continue;
        }
        auto const& after = plan.steps[step].after;
        auto const last = std::find_if(held.rbegin(), held.rend(), [&](StepId wait) {
            return std::find(after.begin(), after.end(), wait) != after.end();
        });
        release(last.base());
        order.push_back(step);
    }
    release(held.end());
    return order;
}

OneSidedCalls::OneSidedCalls(Plan const& plan, Buffers const& buffers, ncclComm_t world, SignalTable table,
                             std::vector<void*> windows)
    : plan_(plan), buffers_(buffers), world_(world), table_(std::move(table)), windows_(std::move(windows)) {
    for (PutSignals const& put : table_.puts) {
        for (std::size_t i = 0; i < put.peers.size(); ++i) {
            if (put.permissions[i] != no_flag) {
                permissions_.insert(put.peers[i]);
            }
        }
    }
}

OneSidedCall OneSidedCalls::grants() const {
    OneSidedCall call{world_, {}, {}};
    for (Permission const& each : table_.granted) {
        call.writes.push_back({.peer = each.peer});
    }
    return call;
}

OneSidedCall OneSidedCalls::permissions_for(StepId step) {
    OneSidedCall call{world_, {}, {}};
    if (std::holds_alternative<Put>(plan_.steps[step].operation)) {
        for (Rank const peer : signals_of(table_.puts, step).peers) {
            if (permissions_.erase(peer) > 0) {
                call.waits.push_back({1, peer});
            }
        }
    }
    return call;
}

OneSidedCall OneSidedCalls::call_of(StepId step) {
    Operation const& operation = plan_.steps[step].operation;
    auto const* const put = std::get_if<Put>(&operation);
    return put != nullptr ? writes_of(*put, signals_of(table_.puts, step)) : waits_of(std::get<WaitSignal>(operation));
}

OneSidedCall OneSidedCalls::writes_of(Put const& put, PutSignals const& signals) const {
    OneSidedCall call{world_, {}, {}};
    std::byte const* const base = buffers_.base[put.buffer];
    for (SentSignal const& signal : signals.signals) {
        if (signal.blocks == 0) {
            call.writes.push_back({.peer = signal.peer});
        }
        for (std::size_t i = signal.first; i < signal.first + signal.blocks; ++i) {
            Block const& block = put.send[i];
            call.writes.push_back(
                {base + block.offset, block.bytes, signal.peer, windows_[signal.buffer], put.targets[i]});
        }
    }
    return call;
}

OneSidedCall OneSidedCalls::waits_of(WaitSignal const& wait) {
    std::map<Rank, int> counts;
    for (Signal const& signal : wait.signals) {
        counts[world_rank(plan_, wait.group, signal.peer)] += count_of(signal);
    }
    OneSidedCall call{world_, {}, {}};
    for (auto const& [peer, count] : counts) {
        call.waits.push_back({count + static_cast<int>(permissions_.erase(peer)), peer});
    }
    return call;
}

Expected<std::vector<void*>, Unsupported> register_signal_windows(Plan const& plan, Buffers const& buffers,
                                                                  Bootstrap& bootstrap, ncclComm_t world,
                                                                  Registration& registration) {
    auto const count = static_cast<std::size_t>(
        reduce_over_ranks(bootstrap, static_cast<std::int64_t>(plan.buffers.size()), Fold::max));
    if (any_rank(bootstrap, buffers.base.size() < count)) {
        return Unsupported{"nccl: puts need as many buffers on each rank, of one size on all: NCCL's windows are so"};
    }
    std::vector<std::int64_t> bytes(count);  // the most of any rank
    std::vector<std::int64_t> used(count);
    for (BufferId id = 0; id < plan.buffers.size(); ++id) {
        bytes[id] = static_cast<std::int64_t>(plan.buffers[id].bytes);
    }
    for (Step const& step : plan.steps) {
        if (has_signals(step.operation)) {
            std::visit([&](auto const& operation) { for_each_buffer(operation, [&](BufferId id) { used[id] = 1; }); },
                       step.operation);
        }
    }
    bootstrap.all_reduce(bytes, Fold::max);
    bootstrap.all_reduce(used, Fold::max);
    std::vector<void*> windows(count);
    for (BufferId id = 0; id < count; ++id) {
        if (used[id] != 0 && bytes[id] > 0) {
            Registration::Handle const made =
                register_window(bootstrap, world, buffers.base[id], static_cast<Bytes>(bytes[id]));
            registration.add(made);
            windows[id] = made.handle;
        }
    }
    return windows;
}

}  // namespace dlmb::nccl
