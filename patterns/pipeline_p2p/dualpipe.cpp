// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// DualPipe (DeepSeek-V3, arXiv 2412.19437; repository deepseek-ai/DualPipe, dualpipe.py): two pipes in opposite
// directions, and in the middle of the iteration a forward of one overlapped with a backward of the other. Messages
// collect in a list; before every computation the whole list is issued as one batch and waited for.
#include "patterns/pipeline_p2p/schedules.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace dlmb::pipeline_p2p {
namespace {

/// A phase is a direction as seen from the rank's end: phase 0 comes from the near end of the chain.
using Phase = std::size_t;

class DualPipeSchedule {
public:
    DualPipeSchedule(ScheduleShape const& shape, int rank)
        : shape_(shape), rank_(rank), half_(shape.ranks / 2), depth_(std::min(rank, shape.ranks - 1 - rank)),
          writer_(shape) {}

    [[nodiscard]] std::vector<ScheduleAction> write() && {
        int const outer = half_ - depth_ - 1;  // ranks between this one and the middle
        bool const middle = outer == 0;
        for (int i = 0; i < 2 * outer; ++i) {
            forward(0);
        }
        fill(middle);
        for (int i = 0; i < outer; ++i) {
            backward(1, true);
            receive_forward(1);
            weight();
            forward(1, false);
        }
        overlap(shape_.microbatches / 2 - shape_.ranks + depth_ + 1, middle);
        for (int i = 0; i < outer; ++i) {
            backward(1, false);
            forward_backward(1, 0);
        }
        for (int call = 0; call < 2 * (depth_ + 1); ++call) {
            backward(call % 2 == 0 ? 1 : 0, call >= depth_ + 1);
        }
        for (int i = 0; i < outer; ++i) {
            weight();
            backward(0, true);
        }
        for (int i = 0; i <= depth_; ++i) {
            weight();
        }
        issue();
        return std::move(writer_).finish();
    }

private:
    void fill(bool middle) {
        receive_forward(0);
        for (int i = 0; i <= depth_; ++i) {
            forward(0, false, middle);
            receive_forward(0);
            forward(1, true, !middle || i < depth_);
            if (!middle) {
                send_forward(0);
            }
        }
    }

    void overlap(int repeats, bool middle) {
        for (int i = 0; i < repeats; ++i) {
            if (i == 0 && middle) {
                forward(0, false, false);
                send_forward(1);
                backward(1, false, false);
                send_forward(0);
                send_backward(1);
            } else {
                forward_backward(0, 1, i > 0);
            }
            forward_backward(1, 0);
        }
    }

    [[nodiscard]] int pipe(Phase phase) const { return static_cast<int>(phase) ^ (rank_ >= half_ ? 1 : 0); }
    [[nodiscard]] StageWork work(Pass pass, Phase phase, int number) const {
        int const stage = pipe(phase) == 0 ? rank_ : shape_.ranks - 1 - rank_;
        return {pass, pipe(phase), stage, pipe(phase) * (shape_.microbatches / 2) + number};
    }

    void receive_forward(Phase phase) {
        add_message(shape_, pending_, input_of(work(Pass::forward, phase, counts_.forward_received[phase]++)));
    }
    void receive_backward(Phase phase) {
        add_message(shape_, pending_, input_of(work(Pass::backward, phase, counts_.backward_received[phase]++)));
    }
    void send_forward(Phase phase) {
        add_message(shape_, pending_, output_of(work(Pass::forward, phase, counts_.forward_sent[phase]++)));
    }
    void send_backward(Phase phase) {
        add_message(shape_, pending_, output_of(work(Pass::backward, phase, counts_.backward_sent[phase]++)));
    }
    void issue() {
        writer_.issue(std::move(pending_));
        pending_ = {};
    }

    [[nodiscard]] StageWork next_forward(Phase phase) { return work(Pass::forward, phase, counts_.forward[phase]++); }
    [[nodiscard]] StageWork next_backward(Phase phase, bool put_weights_off) {
        Pass const pass = put_weights_off ? Pass::backward_input : Pass::backward;
        StageWork const next = work(pass, phase, counts_.backward[phase]++);
        if (put_weights_off) {
            weights_.push_back(next);
        }
        return next;
    }

    void forward(Phase phase, bool receive = true, bool send = true) {
        if (receive) {
            receive_forward(phase);
        }
        issue();
        writer_.compute({next_forward(phase)});
        if (send) {
            send_forward(phase);
        }
    }
    void backward(Phase phase, bool put_weights_off, bool send = true) {
        receive_backward(phase);
        issue();
        writer_.compute({next_backward(phase, put_weights_off)});
        if (send) {
            send_backward(phase);
        }
    }
    void forward_backward(Phase forward, Phase backward, bool receive = true) {
        if (receive) {
            receive_forward(forward);
        }
        receive_backward(backward);
        issue();
        writer_.compute({next_forward(forward), next_backward(backward, false)});
        send_forward(forward);
        send_backward(backward);
    }
    void weight() {
        issue();
        StageWork oldest = weights_.front();
        weights_.pop_front();
        oldest.pass = Pass::backward_weight;
        writer_.compute({oldest});
    }

    struct PhaseCounts {  // by phase
        std::array<int, 2> forward{}, backward{}, forward_received{}, backward_received{}, forward_sent{},
            backward_sent{};
    };

    ScheduleShape const& shape_;
    int rank_;
    int half_;
    int depth_;  // distance from the nearer end of the chain
    ActionWriter writer_;
    PhaseCounts counts_;
    TensorTransfer pending_;
    std::deque<StageWork> weights_;  // put off, oldest first
};

}  // namespace

std::vector<ScheduleAction> dualpipe(ScheduleShape const& shape, int rank) {
    return DualPipeSchedule(shape, rank).write();
}

}  // namespace dlmb::pipeline_p2p
