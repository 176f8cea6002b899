// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/operations.hpp"

#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/reductions.hpp"

#include <fmt/core.h>

#include <cstring>

namespace dlmb::fake_gpu {
namespace {

Tag tag_of(Operation const& operation) {
    Tag tag{operation.call, 0, 0, 0};
    if (operation.call != Call::message) {
        tag.type = static_cast<std::uint8_t>(operation.type);
    }
    if (operation.call == Call::all_reduce || operation.call == Call::reduce_scatter ||
        operation.call == Call::reduce) {
        tag.reduction = static_cast<std::uint8_t>(operation.reduction);
    }
    if (operation.call == Call::broadcast || operation.call == Call::reduce) {
        tag.root = static_cast<std::uint8_t>(operation.peer);
    }
    return tag;
}

/// Part `index` of a buffer of equal parts; `stride` 0: everyone's part is the whole.
struct Parts {
    std::byte* base;
    std::size_t stride;
    [[nodiscard]] std::byte* operator[](int index) const { return base + stride * static_cast<std::size_t>(index); }
};

/// Everyone sends everyone a part, by the rank of the receiver, and receives one, by the rank of the sender.
void add_all_pairs(Operation const& operation, int rank, int ranks, Parts send, Parts recv, std::size_t bytes,
                   Transfers& transfers) {
    for (int peer = 0; peer < ranks; ++peer) {
        if (peer != rank) {
            transfers.sends.push_back({peer, send[peer], bytes, tag_of(operation)});
            transfers.receives.push_back({peer, recv[peer], bytes, tag_of(operation)});
        }
    }
    transfers.afterwards.emplace_back([=] {
        if (recv[rank] != send[rank]) {
            std::memmove(recv[rank], send[rank], bytes);
        }
    });
}

void add_message(Operation const& operation, std::byte* send, std::byte* recv, std::size_t bytes,
                 Transfers& transfers) {
    bool const sends = operation.direction == Direction::send;
    (sends ? transfers.sends : transfers.receives)
        .push_back({operation.peer, sends ? send : recv, bytes, tag_of(operation)});
}

void add_broadcast(Operation const& operation, int rank, int ranks, std::byte* send, std::byte* recv, std::size_t bytes,
                   Transfers& transfers) {
    if (rank != operation.peer) {
        transfers.receives.push_back({operation.peer, recv, bytes, tag_of(operation)});
        return;
    }
    for (int peer = 0; peer < ranks; ++peer) {
        if (peer != rank) {
            transfers.sends.push_back({peer, send, bytes, tag_of(operation)});
        }
    }
    transfers.afterwards.emplace_back([=] { std::memmove(recv, send, bytes); });
}

/// Operands of all ranks, in their order, become the result.
std::function<void()> fold(std::shared_ptr<std::vector<std::byte>> operands, int ranks, std::byte* recv,
                           std::size_t bytes, Operation const& operation) {
    return [=, operands = std::move(operands), type = operation.type, reduction = operation.reduction] {
        for (int from = 1; from < ranks; ++from) {
            reduce_elements(operands->data(), operands->data() + bytes * static_cast<std::size_t>(from), bytes, type,
                            reduction);
        }
        std::memcpy(recv, operands->data(), bytes);
    };
}

void add_reduction_at_root(Operation const& operation, int rank, int ranks, std::byte* send, std::byte* recv,
                           std::size_t bytes, Transfers& transfers) {
    if (rank != operation.peer) {
        transfers.sends.push_back({operation.peer, send, bytes, tag_of(operation)});
        return;
    }
    auto const operands = std::make_shared<std::vector<std::byte>>(bytes * static_cast<std::size_t>(ranks));
    Parts const parts{operands->data(), bytes};
    for (int peer = 0; peer < ranks; ++peer) {
        if (peer != rank) {
            transfers.receives.push_back({peer, parts[peer], bytes, tag_of(operation)});
        }
    }
    transfers.afterwards.emplace_back([=] { std::memcpy(parts[rank], send, bytes); });
    transfers.afterwards.push_back(fold(operands, ranks, recv, bytes, operation));
}

/// Everyone receives the operands from all and folds them in the order of ranks: all get the same bits.
void add_reduction(Operation const& operation, int rank, int ranks, Parts send, std::byte* recv, std::size_t bytes,
                   Transfers& transfers) {
    auto const operands = std::make_shared<std::vector<std::byte>>(bytes * static_cast<std::size_t>(ranks));
    add_all_pairs(operation, rank, ranks, send, {operands->data(), bytes}, bytes, transfers);
    transfers.afterwards.push_back(fold(operands, ranks, recv, bytes, operation));
}

}  // namespace

void require_buffers(Operation const& operation, int rank, int ranks, char const* call) {
    std::size_t const part = operation.count * element_size(operation.type).value_or(0);
    std::size_t const whole = part * static_cast<std::size_t>(ranks);
    bool const sends_whole = operation.call == Call::reduce_scatter || operation.call == Call::all_to_all;
    bool const receives_whole = operation.call == Call::all_gather || operation.call == Call::all_to_all;
    bool const receives = operation.call != Call::reduce || operation.peer == rank;
    bool const sends =
        operation.direction != Direction::receive && (operation.call != Call::broadcast || operation.peer == rank);
    if (sends) {
        require_device_memory(operation.send, sends_whole ? whole : part, fmt::format("{}, send buffer", call).c_str());
    }
    if (operation.direction != Direction::send && receives) {
        require_device_memory(operation.recv, receives_whole ? whole : part,
                              fmt::format("{}, receive buffer", call).c_str());
    }
}

void add(Operation const& operation, int rank, int ranks, Transfers& transfers) {
    std::size_t const bytes = operation.count * element_size(operation.type).value_or(0);
    // Sent memory is only read; one pointer type serves both directions.
    auto* const send = const_cast<std::byte*>(view(operation.send));
    std::byte* const recv = view(operation.recv);
    if (operation.call == Call::put) {
        transfers.puts.push_back({operation.peer, send, bytes, operation.window, operation.offset});
        return;
    }
    if (operation.call == Call::wait_signal) {
        transfers.waits.push_back({operation.peer, operation.count});
        return;
    }
    if (operation.call != Call::message && bytes == 0) {
        return;
    }
    switch (operation.call) {
    case Call::message:
        return add_message(operation, send, recv, bytes, transfers);
    case Call::all_to_all:
        return add_all_pairs(operation, rank, ranks, {send, bytes}, {recv, bytes}, bytes, transfers);
    case Call::all_gather:
        return add_all_pairs(operation, rank, ranks, {send, 0}, {recv, bytes}, bytes, transfers);
    case Call::all_reduce:
        return add_reduction(operation, rank, ranks, {send, 0}, recv, bytes, transfers);
    case Call::reduce_scatter:
        return add_reduction(operation, rank, ranks, {send, bytes}, recv, bytes, transfers);
    case Call::broadcast:
        return add_broadcast(operation, rank, ranks, send, recv, bytes, transfers);
    case Call::reduce:
        return add_reduction_at_root(operation, rank, ranks, send, recv, bytes, transfers);
    case Call::none:
    case Call::put:
    case Call::wait_signal:
        return;
    }
}

}  // namespace dlmb::fake_gpu
