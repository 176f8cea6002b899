// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/in_process/rendezvous.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <utility>

namespace dlmb::in_process {
namespace {

std::string described(std::optional<BlockEnd> const& end) {
    return end ? fmt::format("{} of {} B", end->operation, end->bytes) : std::string("nothing");
}

}  // namespace

std::shared_ptr<Slot> Rendezvous::sender(BlockKey const& key, BlockEnd end, std::byte const* data) {
    std::lock_guard const lock(mutex_);
    Meeting& meeting = meetings_[key];
    meeting.slot->hold(data, end.bytes);
    meeting.sender = std::move(end);
    return meeting.slot;
}

std::shared_ptr<Slot> Rendezvous::reader(BlockKey const& key, BlockEnd end) {
    std::lock_guard const lock(mutex_);
    Meeting& meeting = meetings_[key];
    meeting.reader = std::move(end);
    return meeting.slot;
}

void Rendezvous::check(Rank rank) const {
    std::lock_guard const lock(mutex_);
    for (auto const& [key, meeting] : meetings_) {
        bool const fits = meeting.sender && meeting.reader && meeting.sender->bytes == meeting.reader->bytes &&
                          meeting.sender->operation == meeting.reader->operation;
        if (!fits && (key.from == rank || key.to == rank)) {
            throw Error(fmt::format("{}: rank {} sends {} to rank {}, which expects {}",
                                    (meeting.sender ? meeting.sender : meeting.reader)->step, key.from,
                                    described(meeting.sender), key.to, described(meeting.reader)));
        }
    }
}

}  // namespace dlmb::in_process
