// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/puts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

constexpr std::uint64_t of_flags = ~std::uint64_t{0};  // a buffer has its number as name

}  // namespace

void Puts::exchange_memory(Plan const& plan, Buffers const& buffers, SignalTable const& signals) {
    auto const tell = [&](std::uint64_t name, std::byte* data, Bytes bytes) {
        for (Rank const peer : signals.peers) {
            memory_.tell(peer, name, data, memory_.key_to(data, bytes));
        }
    };
    tell(of_flags, reinterpret_cast<std::byte*>(flags_), signals.flags * flag_bytes);
    for (BufferId const buffer : accessed_buffers(plan)) {
        if (plan.buffers.at(buffer).bytes > 0) {
            tell(buffer, buffers.base.at(buffer), plan.buffers[buffer].bytes);
        }
    }
    memory_.exchange();
}

RemoteMemory::Place Puts::flag_of(Rank peer, FlagId flag) const {
    RemoteMemory::Place place = memory_.of(peer, of_flags);
    place.address += flag * flag_bytes;
    return place;
}

Puts::Puts(Plan const& plan, Buffers const& buffers, SignalTable const& signals, Worker& worker)
    : worker_(worker), me_(plan.me), memory_(worker),
      flags_(reinterpret_cast<std::uint64_t*>(memory_.allocate(signals.flags * flag_bytes))),
      in_flight_(static_cast<std::size_t>(worker.bootstrap().size())) {
    exchange_memory(plan, buffers, signals);
    for (PutSignals const& put : signals.puts) {
        tasks_.push_back(task_of(std::get<Put>(plan.steps[put.step].operation), put, buffers));
    }
    for (AwaitedSignals const& wait : signals.waits) {
        tasks_.push_back(task_of(std::get<WaitSignal>(plan.steps[wait.step].operation), wait, buffers));
    }
    auto const what = [this](Rank peer) { return fmt::format("rank {}, one-sided accesses to rank {}", me_, peer); };
    for (SignalTask& task : tasks_) {
        State& state = states_.emplace_back();
        for (PeerAccess& access : task.accesses) {
            state.accesses.push_back({RemoteAccesses(access.verb, access.peer, access.endpoint,
                                                     std::move(access.accesses), what(access.peer)),
                                      Requests(what(access.peer), access.flags.size())});
        }
    }
    for (Permission const& each : signals.granted) {
        granted_.push_back(
            {.peer = each.peer, .endpoint = worker.endpoint(each.peer), .flags = {flag_of(each.peer, each.flag)}});
        granting_.emplace_back(what(each.peer), 1);
    }
}

SignalTask Puts::task_of(Put const& put, PutSignals const& signals, Buffers const& buffers) const {
    SignalTask task{.step = signals.step, .awaited = signals.read};
    task.accesses.push_back({.peer = me_});
    for (std::size_t i = 0; i < signals.peers.size(); ++i) {
        task.accesses.push_back({.peer = signals.peers[i],
                                 .endpoint = worker_.endpoint(signals.peers[i]),
                                 .permission = signals.permissions[i]});
    }
    std::byte* const base = buffers.base.at(put.buffer);
    for (SentSignal const& signal : signals.signals) {
        PeerAccess& to = *std::find_if(task.accesses.begin(), task.accesses.end(),
                                       [&](PeerAccess const& each) { return each.peer == signal.peer; });
        std::size_t const written = is_read(put.kind) ? 0 : signal.blocks;
        for (std::size_t i = signal.first; i < signal.first + written; ++i) {
            Block const& block = put.send[i];
            if (signal.peer == me_) {
                to.copies.push_back({.to = buffers.base.at(signal.buffer) + put.targets[i],
                                     .left = base + block.offset,
                                     .bytes = block.bytes});
                continue;
            }
            RemoteMemory::Place const& place = memory_.of(signal.peer, signal.buffer);
            to.accesses.push_back({base + block.offset, block.bytes, place.address + put.targets[i], place.key});
        }
        if (signal.peer == me_) {
            to.own_flags.push_back(signal.flag);
        } else {
            to.flags.push_back(flag_of(signal.peer, signal.flag));
        }
    }
    return task;
}

SignalTask Puts::task_of(WaitSignal const& wait, AwaitedSignals const& signals, Buffers const& buffers) const {
    if (!is_read(wait.kind)) {
        return {.step = signals.step, .awaited = signals.flags, .is_noted = true};
    }
    SignalTask task{.step = signals.step, .is_noted = true};
    for (OfferedBlocks const& offered : signals.offered) {
        bool const stays = offered.peer == me_;
        PeerAccess& from =
            task.accesses.emplace_back(PeerAccess{.verb = Verb::get,
                                                  .peer = offered.peer,
                                                  .endpoint = stays ? nullptr : worker_.endpoint(offered.peer),
                                                  .permission = signals.flags.first + task.accesses.size()});
        for (std::size_t i = 0; i < offered.offsets.size(); ++i) {
            Block const& block = wait.recv[offered.first + i];
            std::byte* const here = buffers.base.at(wait.buffer) + block.offset;
            if (stays) {
                from.copies.push_back(
                    {.to = here, .left = buffers.base.at(offered.buffer) + offered.offsets[i], .bytes = block.bytes});
                continue;
            }
            RemoteMemory::Place const& place = memory_.of(offered.peer, offered.buffer);
            from.accesses.push_back({here, block.bytes, place.address + offered.offsets[i], place.key});
        }
        if (stays) {
            from.own_flags.push_back(offered.read);
        } else {
            from.flags.push_back(flag_of(offered.peer, offered.read));
        }
    }
    return task;
}

std::uint32_t Puts::task_of(StepId step) const {
    auto const found =
        std::find_if(tasks_.begin(), tasks_.end(), [&](SignalTask const& task) { return task.step == step; });
    return static_cast<std::uint32_t>(found - tasks_.begin());
}

void Puts::begin(std::uint64_t iteration) {
    for (std::size_t i = 0; i < granted_.size(); ++i) {
        while (!granting_[i].all_complete()) {
            worker_.progress_or_yield();
        }
    }
    iteration_ = iteration;
    for (std::size_t i = 0; i < granted_.size(); ++i) {
        signal(granted_[i], granting_[i]);
    }
}

void Puts::start(std::uint32_t number) {
    State& state = states_[number];
    state.seen = 0;
    for (Running& running : state.accesses) {
        running.stage = Stage::waiting;
    }
}

bool Puts::poll(std::uint32_t number) {
    SignalTask const& task = tasks_[number];
    State& state = states_[number];
    bool complete = true;
    for (std::size_t i = 0; i < task.accesses.size(); ++i) {
        bool const was_over = state.accesses[i].stage >= Stage::signalling;
        complete = poll(task.accesses[i], state.accesses[i]) && complete;
        if (task.is_noted && !was_over && state.accesses[i].stage >= Stage::signalling) {
            note(task.step, i);
        }
    }
    for (; state.seen < task.awaited.count && is_raised(task.awaited.first + state.seen); ++state.seen) {
        if (task.is_noted) {
            note(task.step, state.seen);
        }
    }
    return complete && state.seen == task.awaited.count;
}

void Puts::note(StepId step, std::size_t signal) const {
    if (watch_ != nullptr && *watch_ != nullptr) {
        (*watch_)->seen(step, signal);
    }
}

bool Puts::poll(PeerAccess const& access, Running& running) {
    switch (running.stage) {
    case Stage::waiting:
        if (access.permission != no_flag && !is_raised(access.permission)) {
            return false;
        }
        if (access.endpoint == nullptr) {
            do_here(access);
            running.stage = Stage::over;
            break;
        }
        running.accesses.start();
        running.stage = Stage::accessing;
        [[fallthrough]];
    case Stage::accessing:
        if (!running.accesses.advance(in_flight_)) {
            return false;
        }
        signal(access, running.flags);
        running.stage = Stage::signalling;
        [[fallthrough]];
    case Stage::signalling:
        if (!running.flags.all_complete()) {
            return false;
        }
        running.stage = Stage::over;
        [[fallthrough]];
    case Stage::over:
        break;
    }
    return true;
}

void Puts::signal(PeerAccess const& access, Requests& requests) {
    // Where a transport stores the flag by the processor, earlier reads and writes of this rank come first.
    std::atomic_thread_fence(std::memory_order_release);
    for (RemoteMemory::Place const& flag : access.flags) {
        requests.keep(ucp_put_nbx(access.endpoint, &iteration_, flag_bytes, flag.address, flag.key, &no_options));
    }
}

void Puts::do_here(PeerAccess const& access) {
    for (LocalWork const& copy : access.copies) {
        std::memcpy(copy.to, copy.left, copy.bytes);
    }
    for (FlagId const flag : access.own_flags) {
        std::atomic_ref(flags_[flag]).store(iteration_, std::memory_order_release);
    }
}

}  // namespace dlmb::ucx
