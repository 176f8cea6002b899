// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the actions of one rank. A transfer that turns out empty is left out.
#pragma once

#include "patterns/pipeline_p2p/action.hpp"
#include "patterns/pipeline_p2p/layout.hpp"

#include <initializer_list>
#include <utility>
#include <vector>

namespace dlmb::pipeline_p2p {

class ActionWriter {
public:
    explicit ActionWriter(Shape const& shape) : shape_(shape) {}

    void compute(Task task) { actions_.emplace_back(std::move(task)); }
    void transfer(std::initializer_list<Message> messages) {
        Transfer kept;
        for (Message const& message : messages) {
            add_message(shape_, kept, message);
        }
        issue(std::move(kept));
    }
    void issue(Transfer transfer) {
        if (!transfer.empty()) {
            actions_.emplace_back(std::move(transfer));
        }
    }

    [[nodiscard]] std::vector<Action> finish() && { return std::move(actions_); }

private:
    Shape const& shape_;
    std::vector<Action> actions_;
};

}  // namespace dlmb::pipeline_p2p
