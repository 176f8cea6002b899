// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/one_sided.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

/// Messages of one step and one peer: they lie next to each other in the list, and have one tag.
struct PairMessages {
    Transfer const* first = nullptr;
    std::size_t count = 0;
};

/// In the rotated order of the method linear.
std::vector<PairMessages> pairs_of(std::vector<Transfer> const& messages) {
    std::vector<PairMessages> pairs;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (i > 0 && messages[i - 1].peer == messages[i].peer) {
            ++pairs.back().count;
        } else {
            pairs.push_back({&messages[i], 1});
        }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](PairMessages const& a, PairMessages const& b) {
        return a.first->distance < b.first->distance;
    });
    return pairs;
}

/// The key to the buffer in which `data` lies.
Blob const& key_to(RemoteMemory& memory, Plan const& plan, Buffers const& buffers, std::byte const* data) {
    BufferId id = 0;
    while (data < buffers.base[id] || data >= buffers.base[id] + plan.buffers.at(id).bytes) {
        ++id;
    }
    return memory.key_to(buffers.base[id], plan.buffers[id].bytes);
}

Transfer notice(ucp_tag_t tag, ucp_ep_h endpoint, Rank peer) {
    static std::byte nothing[1];
    return {nothing, 0, tag, endpoint, peer, 0};
}

}  // namespace

std::unique_ptr<RemoteMemory> exchange_memory(Plan const& plan, Buffers const& buffers,
                                              std::vector<LoweredStep> const& steps,
                                              std::vector<StepMethod> const& methods, Worker& worker) {
    auto memory = std::make_unique<RemoteMemory>(worker);
    for (LoweredStep const& step : steps) {
        if (methods[step.step].messages == nullptr || !methods[step.step].messages->verb) {
            continue;
        }
        bool const reads = *methods[step.step].messages->verb == Verb::get;
        for (PairMessages const& pair : pairs_of(reads ? step.sends : step.receives)) {
            Blob const& key = pair.first->bytes > 0 ? key_to(*memory, plan, buffers, pair.first->data) : Blob{};
            memory->tell(pair.first->peer, pair.first->tag, pair.first->data, key);
        }
    }
    memory->exchange();
    return memory;
}

OneSidedPlan one_sided_plan(Verb verb, LoweredStep const& step, std::string name, Rank me, RemoteMemory const& memory,
                            Worker const& worker) {
    OneSidedPlan plan{verb, std::move(name), {}, {}};
    // From the sender of the payload goes a message with the tag of the payload, and from its receiver the answer.
    auto const to_receiver = [&](PairMessages const& pair) {
        return notice(pair.first->tag, worker.endpoint(pair.first->peer), pair.first->peer);
    };
    auto const to_sender = [&](PairMessages const& pair, Rank receiver) {
        return notice(answer_tag(pair.first->tag, receiver), worker.endpoint(pair.first->peer), pair.first->peer);
    };
    auto const accesses_of = [&](PairMessages const& pair) {
        RemoteMemory::Place const& remote = memory.of(pair.first->peer, pair.first->tag);
        std::vector<Access> accesses;
        for (std::size_t i = 0; i < pair.count && pair.first->bytes > 0; ++i) {
            Transfer const& message = pair.first[i];
            auto const behind = static_cast<std::uint64_t>(message.data - pair.first->data);
            accesses.push_back({message.data, message.bytes, remote.address + behind, remote.key});
        }
        return accesses;
    };
    auto const add = [&](PairMessages const& pair, Transfer const& mine, Transfer const& theirs, bool accesses) {
        if (accesses) {
            plan.accessed.push_back({theirs, accesses_of(pair), mine});
        } else {
            plan.accessing.push_back({mine, theirs});
        }
    };
    for (PairMessages const& pair : pairs_of(step.sends)) {
        add(pair, to_receiver(pair), to_sender(pair, pair.first->peer), verb == Verb::put);
    }
    for (PairMessages const& pair : pairs_of(step.receives)) {
        add(pair, to_sender(pair, me), to_receiver(pair), verb == Verb::get);
    }
    return plan;
}

OneSidedBatch::OneSidedBatch(OneSidedPlan plan, BatchPlan copies, Messages& messages, AccessesInFlight& in_flight,
                             Rank me)
    : plan_(std::move(plan)), copies_(std::move(copies), messages), messages_(messages), in_flight_(in_flight),
      accessing_(plan_.accessing.size()) {
    std::string_view const call = plan_.verb == Verb::put ? "ucp_put_nbx" : "ucp_get_nbx";
    for (AccessedPeer& each : plan_.accessed) {
        Rank const peer = each.over.peer;
        std::string what =
            fmt::format("rank {}, {}, {} of {} blocks of rank {}", me, plan_.name, call, each.accesses.size(), peer);
        running_.push_back(
            {RemoteAccesses(plan_.verb, peer, each.over.endpoint, std::move(each.accesses), std::move(what))});
    }
}

OneSidedBatch::~OneSidedBatch() {
    auto const cancel = [this](void* request) {
        if (request != nullptr) {
            messages_.cancel(request);
        }
    };
    for (Running const& each : running_) {
        cancel(each.notice);
    }
    for (auto const& [ready, over] : accessing_) {
        cancel(ready);
        cancel(over);
    }
}

void OneSidedBatch::start(ucp_tag_t iteration) {
    iteration_ = iteration;
    for (std::size_t i = 0; i < accessing_.size(); ++i) {
        accessing_[i].first = messages_.send(plan_.accessing[i].ready, iteration, plan_.name);
        accessing_[i].second = messages_.receive(plan_.accessing[i].over, iteration, plan_.name);
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
        running_[i].stage = Stage::waiting;
        running_[i].notice = messages_.receive(plan_.accessed[i].ready, iteration, plan_.name);
    }
    copies_.start(iteration);
}

bool OneSidedBatch::poll() {
    bool complete = true;
    for (std::size_t i = 0; i < running_.size(); ++i) {
        complete = poll(plan_.accessed[i], running_[i]) && complete;
    }
    for (std::size_t i = 0; i < accessing_.size(); ++i) {
        complete = poll_sent(plan_.accessing[i].ready, accessing_[i].first) && complete;
        complete = poll_received(plan_.accessing[i].over, accessing_[i].second) && complete;
    }
    return copies_.poll() && complete;
}

bool OneSidedBatch::poll(AccessedPeer const& peer, Running& running) {
    switch (running.stage) {
    case Stage::waiting:
        if (!poll_received(peer.ready, running.notice)) {
            return false;
        }
        running.accesses.start();
        running.stage = Stage::accessing;
        [[fallthrough]];
    case Stage::accessing:
        if (!running.accesses.advance(in_flight_)) {
            return false;
        }
        running.notice = messages_.send(peer.over, iteration_, plan_.name);
        running.stage = Stage::telling;
        [[fallthrough]];
    case Stage::telling:
        if (!poll_sent(peer.over, running.notice)) {
            return false;
        }
        running.stage = Stage::over;
        [[fallthrough]];
    case Stage::over:
        break;
    }
    return true;
}

bool OneSidedBatch::poll_sent(Transfer const& transfer, void*& request) {
    bool const done = request == nullptr || messages_.sent(request, transfer, plan_.name);
    request = done ? nullptr : request;
    return done;
}

bool OneSidedBatch::poll_received(Transfer const& transfer, void*& request) {
    bool const done = request == nullptr || messages_.received(request, transfer, plan_.name);
    request = done ? nullptr : request;
    return done;
}

}  // namespace dlmb::ucx
