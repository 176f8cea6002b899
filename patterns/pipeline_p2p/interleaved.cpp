// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Interleaved 1F1B, Megatron-LM schedules.py forward_backward_pipelining_with_interleaving: every rank has several
// chunks, stage c * ranks + r on rank r, so the stages go round in a ring. What a rank receives after a pass is what
// its neighbour made at that neighbour's pass of the same time.
#include "patterns/pipeline_p2p/schedules.hpp"

#include <algorithm>
#include <optional>

namespace dlmb::pipeline_p2p {
namespace {

class InterleavedSchedule {
public:
    InterleavedSchedule(ScheduleShape const& shape, int rank) : shape_(shape), rank_(rank), writer_(shape) {
        for (int first = 0; first < shape.microbatches; first += shape.microbatch_group) {
            int const end = std::min(first + shape.microbatch_group, shape.microbatches);
            for (int chunk = 0; chunk < shape.virtual_stages; ++chunk) {
                for (int microbatch = first; microbatch < end; ++microbatch) {
                    order_.push_back({chunk, microbatch});
                }
            }
        }
    }

    [[nodiscard]] std::vector<ScheduleAction> write() && {
        int const entries = static_cast<int>(order_.size());
        int const warm_up =
            std::min(2 * (shape_.ranks - 1 - rank_) + (shape_.virtual_stages - 1) * shape_.microbatch_group, entries);
        writer_.transfer({input_of(forward(0))});
        for (int k = 0; k < warm_up; ++k) {
            writer_.compute({forward(k)});
            TensorTransfer transfer;
            send_forward(k, transfer);
            receive_forward_after(k, transfer);
            if (k + 1 == warm_up && warm_up < entries) {
                add_message(shape_, transfer, input_of(backward(0)));
            }
            writer_.issue(std::move(transfer));
        }
        if (warm_up == entries) {
            writer_.transfer({input_of(backward(0))});
        }
        for (int i = 0; warm_up + i < entries; ++i) {
            steady(warm_up + i, i);
        }
        for (int k = entries - warm_up; k < entries; ++k) {
            writer_.compute({backward(k)});
            TensorTransfer transfer;
            send_backward(k, transfer);
            receive_backward_after(k, transfer);
            writer_.issue(std::move(transfer));
        }
        return std::move(writer_).finish();
    }

private:
    struct ChunkPass {
        int chunk = 0;
        int microbatch = 0;
    };

    [[nodiscard]] StageWork work(Pass pass, int chunk, int microbatch) const {
        return {pass, 0, chunk * shape_.ranks + rank_, microbatch};
    }
    [[nodiscard]] ChunkPass entry(int k) const { return order_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] StageWork forward(int k) const { return work(Pass::forward, entry(k).chunk, entry(k).microbatch); }
    [[nodiscard]] StageWork backward(int k) const {
        return work(Pass::backward, shape_.virtual_stages - 1 - entry(k).chunk, entry(k).microbatch);
    }

    void steady(int k, int i) {
        writer_.compute({forward(k)});
        TensorTransfer transfer;
        if (shape_.overlapped) {
            send_forward(k, transfer);
            receive_forward_after(k, transfer);
            writer_.issue(std::move(transfer));
            transfer = {};
        }
        writer_.compute({backward(i)});
        send_backward(i, transfer);
        if (!shape_.overlapped) {
            receive_forward_after(k, transfer);
            send_forward(k, transfer);
        }
        receive_backward_after(i, transfer);
        writer_.issue(std::move(transfer));
    }

    void send_forward(int k, TensorTransfer& transfer) const { add_message(shape_, transfer, output_of(forward(k))); }
    void send_backward(int k, TensorTransfer& transfer) const { add_message(shape_, transfer, output_of(backward(k))); }

    /// Rank 0 follows the last rank by ranks - 1 entries and takes what that rank made for the next chunk; all others
    /// take the input of their next entry.
    [[nodiscard]] std::optional<ChunkPass> next_after(int k, bool follows_around_the_ring) const {
        if (!follows_around_the_ring) {
            return k + 1 < static_cast<int>(order_.size()) ? std::optional(entry(k + 1)) : std::nullopt;
        }
        int const made = k - (shape_.ranks - 1);
        if (made < 0 || entry(made).chunk + 1 == shape_.virtual_stages) {
            return std::nullopt;
        }
        return ChunkPass{entry(made).chunk + 1, entry(made).microbatch};
    }
    void receive_forward_after(int k, TensorTransfer& transfer) const {
        if (auto const next = next_after(k, rank_ == 0)) {
            add_message(shape_, transfer, input_of(work(Pass::forward, next->chunk, next->microbatch)));
        }
    }
    void receive_backward_after(int k, TensorTransfer& transfer) const {
        if (auto const next = next_after(k, rank_ == shape_.ranks - 1)) {
            int const chunk = shape_.virtual_stages - 1 - next->chunk;
            add_message(shape_, transfer, input_of(work(Pass::backward, chunk, next->microbatch)));
        }
    }

    ScheduleShape const& shape_;
    int rank_;
    ActionWriter writer_;
    std::vector<ChunkPass> order_;  // of forward passes; backward passes take the chunks from the last one down
};

}  // namespace

std::vector<ScheduleAction> interleaved(ScheduleShape const& shape, int rank) {
    return InterleavedSchedule(shape, rank).write();
}

}  // namespace dlmb::pipeline_p2p
