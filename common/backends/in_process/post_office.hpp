// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the two ends of a block find their mailbox while a plan is compiled. One per compile(), shared by all ranks.
#pragma once

#include "common/backend_kit/step_match.hpp"
#include "common/backends/in_process/mailbox.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace dlmb::in_process {

/// World ranks and the step they share.
struct Address {
    StepMatch step;
    Rank from = 0;
    Rank to = 0;
    auto operator<=>(Address const&) const = default;  // NOLINT(modernize-use-nullptr): false alarm of clang-tidy 14
};

/// What one end says about a block; both ends must say the same.
struct Ticket {
    Bytes bytes = 0;
    std::string operation;  // "allreduce fp32 sum"
    std::string step;       // "step 1 \"dispatch\"": for messages, may differ
};

class PostOffice {
public:
    std::shared_ptr<Mailbox> sender(Address const& address, Ticket ticket, std::byte const* data);
    std::shared_ptr<Mailbox> reader(Address const& address, Ticket ticket);

    /// When all ranks have registered: throws Error for the first block of `rank` whose two ends do not fit.
    void check(Rank rank) const;

private:
    struct Entry {
        std::shared_ptr<Mailbox> box = std::make_shared<Mailbox>();
        std::optional<Ticket> sender;
        std::optional<Ticket> reader;
    };
    std::map<Address, Entry> entries_;
    mutable std::mutex mutex_;
};

}  // namespace dlmb::in_process
