// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/puts.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

/// What a rank tells another one of memory that it may write to; the key's bytes follow.
struct MemoryInfo {
    std::uint64_t name = 0;
    std::uint64_t address = 0;
    std::uint64_t key_bytes = 0;
};

constexpr ucp_request_param_t no_options{};

}  // namespace

PutMemory::PutMemory(Plan const& plan, Buffers const& buffers, SignalTable const& signals, Worker& worker)
    : context_(worker.context()) {
    Blob told;
    ucp_mem_map_params_t params{};
    params.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.length = std::max<std::size_t>(signals.flags, 1) * flag_bytes;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    flags_ = reinterpret_cast<std::uint64_t*>(map(of_flags, params, told));
    std::fill_n(flags_, std::max<std::size_t>(signals.flags, 1), 0);
    params.flags = 0;
    std::vector<BufferId> written;
    for (AwaitedSignals const& wait : signals.waits) {
        BufferId const buffer = std::get<WaitSignal>(plan.steps[wait.step].operation).buffer;
        if (plan.buffers.at(buffer).bytes > 0 && std::find(written.begin(), written.end(), buffer) == written.end()) {
            written.push_back(buffer);
            params.address = buffers.base.at(buffer);
            params.length = plan.buffers[buffer].bytes;
            map(buffer, params, told);
        }
    }
    std::vector<PeerBlob> outgoing;
    for (Rank const peer : signals.peers) {
        outgoing.push_back({peer, told});
    }
    for (PeerBlob const& each : worker.bootstrap().exchange(std::move(outgoing))) {
        read(each, worker);
    }
}

std::byte* PutMemory::map(std::uint64_t name, ucp_mem_map_params_t const& params, Blob& told) {
    ucp_mem_h memory = nullptr;
    check(ucp_mem_map(context_, &params, &memory), "ucp_mem_map");
    mapped_.emplace_back(memory, Unmap{context_});
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(memory, &attributes), "ucp_mem_query");
    void* packed = nullptr;
    std::size_t size = 0;
    check(ucp_rkey_pack(context_, memory, &packed, &size), "ucp_rkey_pack");
    MemoryInfo const info{name, reinterpret_cast<std::uint64_t>(attributes.address), size};
    auto const* const head = reinterpret_cast<std::byte const*>(&info);
    auto const* const key = static_cast<std::byte const*>(packed);
    told.insert(told.end(), head, head + sizeof info);
    told.insert(told.end(), key, key + size);
    ucp_rkey_buffer_release(packed);
    return static_cast<std::byte*>(attributes.address);
}

void PutMemory::read(PeerBlob const& received, Worker const& worker) {
    for (std::size_t at = 0; at < received.blob.size();) {
        MemoryInfo info;
        std::memcpy(&info, received.blob.data() + at, sizeof info);
        at += sizeof info;
        Place place{info.address, nullptr};
        check(ucp_ep_rkey_unpack(worker.endpoint(received.peer), received.blob.data() + at, &place.key),
              "ucp_ep_rkey_unpack");
        keys_.emplace_back(place.key);
        at += info.key_bytes;
        places_[{received.peer, info.name}] = place;
    }
}

Puts::Puts(Plan const& plan, Buffers const& buffers, SignalTable const& signals, Worker& worker)
    : worker_(worker), me_(plan.me), memory_(plan, buffers, signals, worker),
      in_flight_(static_cast<std::size_t>(worker.bootstrap().size())) {
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
        PutMemory::Place flag = memory_.flags_of(each.peer);
        flag.address += each.flag * flag_bytes;
        granted_.push_back({.peer = each.peer, .endpoint = worker.endpoint(each.peer), .flags = {flag}});
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
            PutMemory::Place const place = memory_.buffer_of(signal.peer, signal.buffer);
            to->writes.push_back({base + block.offset, block.bytes, place.address + put.targets[i], place.key});
        }
        if (stays) {
            task.own_flags.push_back(signal.flag);
        } else {
            PutMemory::Place flag = memory_.flags_of(signal.peer);
            flag.address += signal.flag * flag_bytes;
            to->flags.push_back(flag);
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
        std::atomic_ref(memory_.flag(flag)).store(iteration_, std::memory_order_release);
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
    for (PutMemory::Place const& flag : put.flags) {
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
