// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One function per schedule: the actions of one rank of the chain. Each file names the source of its order. What the
// actions become (messages, batches, who waits for whom) is decided in pipeline_p2p.cpp.
#pragma once

#include "patterns/pipeline_p2p/layout.hpp"

#include <initializer_list>
#include <utility>
#include <vector>

namespace dlmb::pipeline_p2p {

[[nodiscard]] std::vector<Action> gpipe(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> one_f_one_b(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> interleaved(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> chimera(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> zb_h1(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> zb_v(Shape const& shape, int rank);
[[nodiscard]] std::vector<Action> dualpipe(Shape const& shape, int rank);

/// The one that shape.schedule names.
[[nodiscard]] std::vector<Action> actions_of(Shape const& shape, int rank);

/// Its computations alone.
[[nodiscard]] std::vector<Task> tasks_of(Shape const& shape, int rank);

class ActionWriter {
public:
    explicit ActionWriter(Shape const& shape) : shape_(shape) {}

    void compute(Task task) { actions_.emplace_back(std::move(task)); }
    void transfer(std::initializer_list<TensorMessage> messages) {
        Transfer kept;
        for (TensorMessage const& message : messages) {
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
