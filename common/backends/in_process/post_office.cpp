// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/in_process/post_office.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <utility>

namespace dlmb::in_process {
namespace {

std::string described(std::optional<Ticket> const& ticket) {
    return ticket ? fmt::format("{} of {} B", ticket->operation, ticket->bytes) : std::string("nothing");
}

}  // namespace

std::shared_ptr<Mailbox> PostOffice::sender(Address const& address, Ticket ticket, std::byte const* data) {
    std::lock_guard const lock(mutex_);
    Entry& entry = entries_[address];
    entry.box->hold(data, ticket.bytes);
    entry.sender = std::move(ticket);
    return entry.box;
}

std::shared_ptr<Mailbox> PostOffice::reader(Address const& address, Ticket ticket) {
    std::lock_guard const lock(mutex_);
    Entry& entry = entries_[address];
    entry.reader = std::move(ticket);
    return entry.box;
}

void PostOffice::check(Rank rank) const {
    std::lock_guard const lock(mutex_);
    for (auto const& [address, entry] : entries_) {
        bool const fits = entry.sender && entry.reader && entry.sender->bytes == entry.reader->bytes &&
                          entry.sender->operation == entry.reader->operation;
        if (!fits && (address.from == rank || address.to == rank)) {
            throw Error(fmt::format("{}: rank {} sends {} to rank {}, which expects {}",
                                    (entry.sender ? entry.sender : entry.reader)->step, address.from,
                                    described(entry.sender), address.to, described(entry.reader)));
        }
    }
}

}  // namespace dlmb::in_process
