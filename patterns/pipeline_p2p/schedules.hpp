// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The words of a schedule, which rank has which stage, and one function per schedule: the actions of one rank of the
// chain. Each file names the source of its order. A pipe is a row of stages that micro-batches pass through; most
// schedules have one, bidirectional ones several that run over the same ranks. No sizes, no times, no steps: what the
// actions become (messages, batches, who waits for whom) is decided in pipeline_p2p.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace dlmb::pipeline_p2p {

enum class Direction : std::uint8_t { forward, backward };  // of data: activations forward, gradients backward

/// backward: the whole backward pass. Zero-bubble schedules split it into the gradient of the input, which the previous
/// stage waits for, and the gradient of the weights, which nobody waits for.
enum class Pass : std::uint8_t { forward, backward, backward_input, backward_weight };

/// One pass of one micro-batch through one stage of one pipe.
struct StageWork {
    Pass pass = Pass::forward;
    int pipe = 0;
    int stage = 0;
    int microbatch = 0;
    bool operator==(StageWork const&) const = default;
};

/// One tensor that arrives at, or leaves, the stage `stage` of this rank.
struct TensorMessage {
    Direction direction = Direction::forward;
    bool incoming = false;
    int pipe = 0;
    int stage = 0;
    int microbatch = 0;
    bool operator==(TensorMessage const&) const = default;
};

/// One computation: one work, or a forward and a backward that are overlapped and end together (DualPipe).
using PipelineTask = std::vector<StageWork>;

/// Messages that are issued together.
using TensorTransfer = std::vector<TensorMessage>;

/// AllReduce of a stage's gradients over its replicas (Chimera).
struct GradientSync {
    int pipe = 0;
    int stage = 0;
    bool operator==(GradientSync const&) const = default;
};

using ScheduleAction = std::variant<PipelineTask, TensorTransfer, GradientSync>;

enum class PipelineSchedule : std::uint8_t { gpipe, one_f_one_b, interleaved, chimera, zb_h1, zb_v, dualpipe };

/// Everything that decides the order of a schedule. Ranks here are places in one pipeline chain, 0 to ranks - 1.
struct ScheduleShape {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    int ranks = 1;
    int virtual_stages = 1;    // interleaved: chunks per rank
    int pipe_pairs = 1;        // chimera
    int microbatches = 1;      // of all pipes
    int microbatch_group = 1;  // interleaved: micro-batches that pass a chunk before the next chunk's turn
    bool overlapped = false;   // interleaved: forward and backward messages are issued apart
    bool operator==(ScheduleShape const&) const = default;
};

/// 1; DualPipe 2; Chimera 2 * pipe_pairs, alternately down (stage 0 on a low rank) and up.
[[nodiscard]] int pipes_of(ScheduleShape const& shape);
[[nodiscard]] int stages_per_pipe(ScheduleShape const& shape);
/// Stages over all pipes on one rank, the same on all.
[[nodiscard]] int stages_per_rank(ScheduleShape const& shape);

/// interleaved: stage mod ranks (a ring). zb_v: there and back. Chimera (Li and Hoefler, arXiv 2107.06925): stage j of
/// down pipe i on rank (j + i*D/f) mod D, of up pipe i on (D-1-j + i*D/f) mod D. DualPipe: pipe 1 runs downwards.
[[nodiscard]] int rank_of(ScheduleShape const& shape, int pipe, int stage);

/// One stage of a pipe feeds only micro-batches of that pipe. Chimera assigns them in turn, DualPipe by halves.
[[nodiscard]] int pipe_of_microbatch(ScheduleShape const& shape, int microbatch);

/// The stage at the other end of a message; nothing at the ends of a pipe.
[[nodiscard]] std::optional<int> other_stage(ScheduleShape const& shape, TensorMessage const& message);

/// Appends the message unless a pipe ends there or the other end is the same rank.
void add_message(ScheduleShape const& shape, TensorTransfer& transfer, TensorMessage const& message);

/// The messages before and behind a work.
[[nodiscard]] TensorMessage input_of(StageWork const& work);
[[nodiscard]] TensorMessage output_of(StageWork const& work);

/// Messages of tensors between ranks in one iteration, over the whole chain: 2 per micro-batch and boundary between two
/// ranks. 1F1B 2*m*(p-1), interleaved 2*m*(p*v-1), ZB-V 4*m*(p-1).
[[nodiscard]] std::uint64_t tensor_messages(ScheduleShape const& shape);

/// The actions of one rank by the schedule that shape.schedule names.
[[nodiscard]] std::vector<ScheduleAction> actions_of(ScheduleShape const& shape, int rank);

/// Its computations alone.
[[nodiscard]] std::vector<PipelineTask> tasks_of(ScheduleShape const& shape, int rank);

[[nodiscard]] std::vector<ScheduleAction> interleaved(ScheduleShape const& shape, int rank);
[[nodiscard]] std::vector<ScheduleAction> chimera(ScheduleShape const& shape, int rank);
[[nodiscard]] std::vector<PipelineTask> zb_h1_tasks(ScheduleShape const& shape, int rank);
[[nodiscard]] std::vector<PipelineTask> zb_v_tasks(ScheduleShape const& shape, int rank);
[[nodiscard]] std::vector<ScheduleAction> dualpipe(ScheduleShape const& shape, int rank);

class ActionWriter {
public:
    explicit ActionWriter(ScheduleShape const& shape) : shape_(shape) {}

    void compute(PipelineTask task) { actions_.emplace_back(std::move(task)); }
    void transfer(std::initializer_list<TensorMessage> messages) {
        TensorTransfer kept;
        for (TensorMessage const& message : messages) {
            add_message(shape_, kept, message);
        }
        issue(std::move(kept));
    }
    void issue(TensorTransfer transfer) {
        if (!transfer.empty()) {
            actions_.emplace_back(std::move(transfer));
        }
    }

    [[nodiscard]] std::vector<ScheduleAction> finish() && { return std::move(actions_); }

private:
    ScheduleShape const& shape_;
    std::vector<ScheduleAction> actions_;
};

}  // namespace dlmb::pipeline_p2p
