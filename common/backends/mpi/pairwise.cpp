// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/pairwise.hpp"

#include "common/backends/mpi/isend_irecv.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

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

}  // namespace

Pairwise::Pairwise(Exchange const& exchange, Buffers const& buffers, int me, int ranks, int max_outstanding,
                   Limits const& limits, SelfCopy copy, int tag, MPI_Comm comm)
    : window_(static_cast<std::size_t>(max_outstanding)), copy_(std::move(copy)), tag_(tag), comm_(comm) {
    for (int distance = 1; distance < ranks; ++distance) {
        std::size_t const first = messages_.size();
        int const from = (me - distance + ranks) % ranks;
        int const to = (me + distance) % ranks;
        append_block(exchange.recv, from, buffers.base[exchange.recv_buffer], false, limits, messages_);
        append_block(exchange.send, to, buffers.base[exchange.send_buffer], true, limits, messages_);
        if (messages_.size() > first) {
            rounds_.push_back({first, messages_.size() - first});
        }
    }
    requests_.assign(messages_.size(), MPI_REQUEST_NULL);
}

void Pairwise::start() {
    posted_ = 0;
    finished_ = 0;
    while (posted_ < rounds_.size() && posted_ < window_) {
        post_next();
    }
    copy_.start();
}

void Pairwise::wait() {
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

bool Pairwise::test() {
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

void Pairwise::post_next() {
    Round const& round = rounds_[posted_++];
    for (std::size_t i = round.first; i < round.first + round.count; ++i) {
        post(messages_[i], tag_, comm_, requests_[i]);
    }
}

}  // namespace dlmb::mpi
