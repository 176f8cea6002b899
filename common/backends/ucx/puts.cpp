// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/puts.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

constexpr std::uint64_t of_flags = ~std::uint64_t{0};  // a buffer has its number as name
constexpr ucp_request_param_t no_options{};

}  // namespace

void Puts::exchange_memory(Plan const& plan, Buffers const& buffers, SignalTable const& signals) {
    auto const tell = [&](std::uint64_t name, std::byte* data, Bytes bytes) {
        for (Rank const peer : signals.peers) {
            memory_.tell(peer, name, data, memory_.key_to(data, bytes));
        }
    };
    tell(of_flags, reinterpret_cast<std::byte*>(flags_), signals.flags * flag_bytes);
    std::vector<BufferId> written;
    for (AwaitedSignals const& wait : signals.waits) {
        BufferId const buffer = std::get<WaitSignal>(plan.steps[wait.step].operation).buffer;
        if (plan.buffers.at(buffer).bytes > 0 && std::find(written.begin(), written.end(), buffer) == written.end()) {
            written.push_back(buffer);
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
        tasks_.push_back({.step = wait.step, .awaited = wait});
    }
    for (SignalTask const& task : tasks_) {
        State& state = states_.emplace_back();
        for (PeerPut const& put : task.puts) {
            state.puts.emplace_back().requests.reserve(put.writes.size() + put.flags.size() + 1);
        }
    }
    for (Permission const& each : signals.granted) {
        granted_.push_back(
            {.peer = each.peer, .endpoint = worker.endpoint(each.peer), .flags = {flag_of(each.peer, each.flag)}});
        granting_.emplace_back().requests.reserve(1);
    }
}

SignalTask Puts::task_of(Put const& put, PutSignals const& signals, Buffers const& buffers) const {
    SignalTask task{.step = signals.step};
    for (std::size_t i = 0; i < signals.peers.size(); ++i) {
        task.puts.push_back({.peer = signals.peers[i],
                             .endpoint = worker_.endpoint(signals.peers[i]),
                             .permission = signals.permissions[i]});
    }
    std::byte* const base = buffers.base.at(put.buffer);
    for (SentSignal const& signal : signals.signals) {
        bool const stays = signal.peer == me_;
        auto const to = std::find_if(task.puts.begin(), task.puts.end(),
                                     [&](PeerPut const& each) { return each.peer == signal.peer; });
        for (std::size_t i = signal.first; i < signal.first + signal.blocks; ++i) {
            Block const& block = put.send[i];
            if (stays) {
                task.copies.push_back({.to = buffers.base.at(signal.buffer) + put.targets[i],
                                       .left = base + block.offset,
                                       .bytes = block.bytes});
                continue;
            }
            RemoteMemory::Place const& place = memory_.of(signal.peer, signal.buffer);
            to->writes.push_back({base + block.offset, block.bytes, place.address + put.targets[i], place.key});
        }
        if (stays) {
            task.own_flags.push_back(signal.flag);
        } else {
            to->flags.push_back(flag_of(signal.peer, signal.flag));
        }
    }
    return task;
}

Puts::~Puts() {
    auto const give_up = [](Running const& running) {
        std::for_each(running.requests.begin(), running.requests.end(), ucp_request_free);
    };
    for (State const& state : states_) {
        std::for_each(state.puts.begin(), state.puts.end(), give_up);
    }
    std::for_each(granting_.begin(), granting_.end(), give_up);
}

std::uint32_t Puts::task_of(StepId step) const {
    auto const found =
        std::find_if(tasks_.begin(), tasks_.end(), [&](SignalTask const& task) { return task.step == step; });
    return static_cast<std::uint32_t>(found - tasks_.begin());
}

void Puts::begin(std::uint64_t iteration) {
    for (std::size_t i = 0; i < granted_.size(); ++i) {
        while (!all_complete(granted_[i].peer, granting_[i])) {
            worker_.progress_or_yield();
        }
    }
    iteration_ = iteration;
    for (std::size_t i = 0; i < granted_.size(); ++i) {
        signal(granted_[i], granting_[i]);
    }
}

void Puts::start(std::uint32_t number) {
    SignalTask const& task = tasks_[number];
    State& state = states_[number];
    state.seen = 0;
    for (Running& running : state.puts) {
        running.stage = Stage::waiting;
    }
    for (LocalWork const& copy : task.copies) {
        std::memcpy(copy.to, copy.left, copy.bytes);
    }
    for (FlagId const flag : task.own_flags) {
        std::atomic_ref(flags_[flag]).store(iteration_, std::memory_order_release);
    }
}

bool Puts::poll(std::uint32_t number) {
    SignalTask const& task = tasks_[number];
    State& state = states_[number];
    bool complete = poll(task.awaited, state.seen);
    for (std::size_t i = 0; i < task.puts.size(); ++i) {
        complete = poll(task.puts[i], state.puts[i]) && complete;
    }
    return complete;
}

bool Puts::poll(AwaitedSignals const& awaited, std::size_t& seen) const {
    for (; seen < awaited.count && is_raised(awaited.first + seen); ++seen) {
        if (watch_ != nullptr && *watch_ != nullptr) {
            (*watch_)->seen(awaited.step, seen);
        }
    }
    return seen == awaited.count;
}

bool Puts::poll(PeerPut const& put, Running& running) {
    switch (running.stage) {
    case Stage::waiting:
        if ((put.permission != no_flag && !is_raised(put.permission)) || !in_flight_.may_access(put.peer)) {
            return false;
        }
        write(put, running);
        running.stage = Stage::writing;
        [[fallthrough]];
    case Stage::writing:
        if (!all_complete(put.peer, running)) {
            return false;
        }
        running.stage = Stage::written;
        [[fallthrough]];
    case Stage::written:
        if (!put.writes.empty()) {
            if (!in_flight_.may_flush(put.peer)) {
                return false;
            }
            keep(ucp_ep_flush_nbx(put.endpoint, &no_options), put.peer, running);
            in_flight_.flushes(put.peer);
        }
        running.stage = Stage::flushing;
        [[fallthrough]];
    case Stage::flushing:
        if (!all_complete(put.peer, running)) {
            return false;
        }
        if (!put.writes.empty()) {
            in_flight_.flushed(put.peer);
        }
        signal(put, running);
        running.stage = Stage::signalling;
        [[fallthrough]];
    case Stage::signalling:
        if (!all_complete(put.peer, running)) {
            return false;
        }
        running.stage = Stage::over;
        [[fallthrough]];
    case Stage::over:
        break;
    }
    return true;
}

void Puts::write(PeerPut const& put, Running& running) {
    for (Access const& each : put.writes) {
        keep(ucp_put_nbx(put.endpoint, each.here, each.bytes, each.there, each.key, &no_options), put.peer, running);
    }
    in_flight_.accesses(put.peer, running.requests.size());
}

void Puts::signal(PeerPut const& put, Running& running) {
    for (RemoteMemory::Place const& flag : put.flags) {
        keep(ucp_put_nbx(put.endpoint, &iteration_, flag_bytes, flag.address, flag.key, &no_options), put.peer,
             running);
    }
}

void Puts::keep(ucs_status_ptr_t request, Rank peer, Running& running) const {
    if (UCS_PTR_IS_ERR(request)) {
        fail(peer, UCS_PTR_STATUS(request));
    }
    if (request != nullptr) {
        running.requests.push_back(request);
    }
}

bool Puts::all_complete(Rank peer, Running& running) {
    while (!running.requests.empty()) {
        ucs_status_t const status = ucp_request_check_status(running.requests.back());
        if (status == UCS_INPROGRESS) {
            return false;
        }
        ucp_request_free(running.requests.back());
        running.requests.pop_back();
        if (running.stage == Stage::writing) {
            in_flight_.accessed(peer);
        }
        if (status != UCS_OK) {
            fail(peer, status);
        }
    }
    return true;
}

void Puts::fail(Rank peer, ucs_status_t status) const {
    throw Error(fmt::format("ucx: rank {}, puts to rank {}: {}", me_, peer, ucs_status_string(status)));
}

}  // namespace dlmb::ucx
