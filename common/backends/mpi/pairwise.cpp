// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method pairwise. Round s: receive from the rank s before, send to the rank s after. At most `max_outstanding` rounds
// are in flight, so that no rank is the target of all others at once.
#include "common/backends/mpi/messages.hpp"
#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::mpi {
namespace {

void append_block(std::vector<Block> const& blocks, int peer, std::byte* base, bool outgoing, Limits const& limits,
                  std::vector<Message>& messages) {
    auto const block =
        std::lower_bound(blocks.begin(), blocks.end(), peer, [](Block const& b, int p) { return b.peer < p; });
    if (block != blocks.end() && block->peer == peer) {
        append_messages(base + block->offset, block->bytes, peer, outgoing, limits, messages);
    }
}

class Pairwise {
public:
    Pairwise(Exchange const& exchange, CompileContext const& context)
        : window_(static_cast<std::size_t>(context.method.max_outstanding)),
          copy_(self_copy(exchange, *context.buffers, context.me(exchange.group), context.queue)),
          tag_(context.next_tag(exchange.group)), comm_(context.comm(exchange.group)) {
        int const me = context.me(exchange.group);
        int const ranks = context.ranks(exchange.group);
        for (int distance = 1; distance < ranks; ++distance) {
            std::size_t const first = messages_.size();
            int const from = (me - distance + ranks) % ranks;
            int const to = (me + distance) % ranks;
            append_block(exchange.recv, from, context.recv_base(exchange), false, context.limits, messages_);
            append_block(exchange.send, to, context.send_base(exchange), true, context.limits, messages_);
            if (messages_.size() > first) {
                rounds_.push_back({first, messages_.size() - first});
            }
        }
        requests_.assign(messages_.size(), MPI_REQUEST_NULL);
    }
    void start() {
        posted_ = 0;
        finished_ = 0;
        while (posted_ < rounds_.size() && posted_ < window_) {
            post_next();
        }
        copy_.start();
    }
    void wait() {
        for (; finished_ < rounds_.size(); ++finished_) {
            Round const& oldest = rounds_[finished_];
            check(MPI_Waitall(static_cast<int>(oldest.count), &requests_[oldest.first], MPI_STATUSES_IGNORE),
                  "MPI_Waitall");
            if (posted_ < rounds_.size()) {
                post_next();
            }
        }
        copy_.wait();
    }
    [[nodiscard]] bool test() {
        while (finished_ < rounds_.size()) {
            Round const& oldest = rounds_[finished_];
            int done = 0;
            check(MPI_Testall(static_cast<int>(oldest.count), &requests_[oldest.first], &done, MPI_STATUSES_IGNORE),
                  "MPI_Testall");
            if (done == 0) {
                return false;
            }
            ++finished_;
            if (posted_ < rounds_.size()) {
                post_next();
            }
        }
        return copy_.test();
    }

private:
    struct Round {
        std::size_t first;
        std::size_t count;
    };
    void post_next() {
        Round const& round = rounds_[posted_++];
        for (std::size_t i = round.first; i < round.first + round.count; ++i) {
            post(messages_[i], tag_, comm_, requests_[i]);
        }
    }

    std::vector<Message> messages_;  // of round 0, of round 1 ...
    std::vector<MPI_Request> requests_;
    std::vector<Round> rounds_;  // without the empty ones
    std::size_t window_;
    std::size_t posted_ = 0;
    std::size_t finished_ = 0;
    SelfCopy copy_;
    int tag_;
    MPI_Comm comm_;
};

PreparedCall compile_pairwise(Operation const& operation, CompileContext const& context) {
    return PreparedCall(Pairwise(std::get<Exchange>(operation), context));
}

bool read_window(ChosenMethod& method, std::string_view knob, std::string_view value) {
    if (knob != "max_outstanding") {
        return false;
    }
    method.max_outstanding = parse_whole<int>(value).value_or(0);
    if (method.max_outstanding < 1) {
        throw UsageError(fmt::format("--method pairwise:max_outstanding={}: expected a whole number from 1 up", value));
    }
    return true;
}

}  // namespace

Method pairwise() {
    return {.info = {"pairwise",
                     "MPI_Irecv and MPI_Isend in rotated rounds, a window of them in flight",
                     {OperationKind::exchange},
                     "max_outstanding=N (rounds, default 1)"},
            .compile = compile_pairwise,
            .read_knob = read_window};
}

}  // namespace dlmb::mpi
