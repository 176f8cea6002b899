// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/message_progress.hpp"

#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace dlmb::fake_gpu {
namespace {

constexpr std::string_view call_names[] = {"nothing",       "ncclSend/ncclRecv", "ncclAllReduce", "ncclReduceScatter",
                                           "ncclAllGather", "ncclBroadcast",     "ncclAlltoAll",  "ncclReduce"};

std::uint64_t packed(Tag tag) {
    return static_cast<std::uint64_t>(tag.call) | std::uint64_t{tag.type} << 8U | std::uint64_t{tag.reduction} << 16U |
           std::uint64_t{tag.root} << 24U;
}

std::string text_of(std::uint64_t tag) {
    return fmt::format("{} (type {}, reduction {}, root {})", call_names[tag & 0xFFU], tag >> 8U & 0xFFU,
                       tag >> 16U & 0xFFU, tag >> 24U);
}

}  // namespace

MessageLane::MessageLane(Communicator& communicator, int peer, bool sends, std::vector<Message> const& messages,
                         std::uint64_t connects)
    : communicator_(communicator), peer_(peer), sends_(sends),
      ring_(sends ? communicator.segment.ring(communicator.rank, peer)
                  : communicator.segment.ring(peer, communicator.rank)),
      connects_(connects) {
    std::copy_if(messages.begin(), messages.end(), std::back_inserter(messages_),
                 [peer](Message const& message) { return message.peer == peer; });
}

bool MessageLane::progress() {
    return !done() && (sends_ ? send() : receive());
}

bool MessageLane::send() {
    Message const& message = messages_[current_];
    bool moved = false;
    while (!started_ || moved_ < message.bytes) {
        Slot* const slot = ring_.to_write();
        if (slot == nullptr) {
            return moved;
        }
        slot->message_bytes = message.bytes;
        slot->tag = packed(message.tag);
        slot->connects = connects_;
        slot->bytes = std::min(Slot::capacity, message.bytes - moved_);
        std::memcpy(slot->data, message.data + moved_, slot->bytes);
        moved_ += slot->bytes;
        ring_.wrote();
        last_slot_ = ring_.written.load(std::memory_order_relaxed);
        started_ = true;
        moved = true;
    }
    if (ring_.read.load(std::memory_order_acquire) == last_slot_) {
        next_message();
        moved = true;
    }
    return moved;
}

bool MessageLane::receive() {
    Message const& message = messages_[current_];
    bool moved = false;
    while (!started_ || moved_ < message.bytes) {
        Slot const* const slot = ring_.to_read();
        if (slot == nullptr) {
            return moved;
        }
        require_match(*slot, message);
        std::memcpy(message.data + moved_, slot->data, slot->bytes);
        moved_ += slot->bytes;
        ring_.did_read();
        started_ = true;
        moved = true;
    }
    next_message();
    return true;
}

void MessageLane::require_match(Slot const& first, Message const& message) const {
    if (first.tag != packed(message.tag)) {
        wrong_use(fmt::format("rank {} is in {}, but rank {} sends it data of {}", communicator_.rank,
                              text_of(packed(message.tag)), peer_, text_of(first.tag)));
    }
    if (current_ == 0 && peer_ != communicator_.rank && message.tag.call == Call::message &&
        first.connects != seen_from_there(connects_)) {
        wrong_use(
            fmt::format("ranks {} and {} connect for messages: the group of one names one direction first and that "
                        "of the other both; NCCL says \"Message truncated\" then",
                        communicator_.rank, peer_));
    }
    if (first.message_bytes != message.bytes) {
        wrong_use(fmt::format("{}: rank {} sends {} B to rank {}, which expects {} B", call_names[first.tag & 0xFFU],
                              peer_, first.message_bytes, communicator_.rank, message.bytes));
    }
}

void MessageLane::next_message() {
    ++current_;
    moved_ = 0;
    started_ = false;
}

std::string MessageLane::text() const {
    Message const& message = messages_[current_];
    return fmt::format("{} of {} B {} rank {}, {} B done, {}", sends_ ? "send" : "receive", message.bytes,
                       sends_ ? "to" : "from", peer_, moved_, call_names[static_cast<std::size_t>(message.tag.call)]);
}

}  // namespace dlmb::fake_gpu
