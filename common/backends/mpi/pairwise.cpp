// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method pairwise. Round s: receive from the rank s before, send to the rank s after. At most `max_outstanding` rounds
// are in flight, so that no rank is the target of all others at once.
#include "common/backends/mpi/messages.hpp"
#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::mpi {
namespace {

class Pairwise {
public:
    Pairwise(Operation const& operation, CompileContext const& context)
        : step_(messages_of(operation, context)), requests_(step_.messages.size(), MPI_REQUEST_NULL),
          window_(static_cast<std::size_t>(context.method.max_outstanding)) {
        GroupId const group = std::get<Exchange>(operation).group;
        int const ranks = context.ranks(group);
        auto const round_of = [ranks, me = context.me(group)](NativeMessage const& message) {
            return (ranks + (message.outgoing ? message.peer - me : me - message.peer)) % ranks;
        };
        std::stable_sort(step_.messages.begin(), step_.messages.end(),
                         [&](NativeMessage const& a, NativeMessage const& b) { return round_of(a) < round_of(b); });
        int last = 0;
        for (std::size_t i = 0; i < step_.messages.size(); ++i) {
            if (int const round = round_of(step_.messages[i]); round != last) {
                rounds_.push_back({i, 0});
                last = round;
            }
            ++rounds_.back().count;
        }
    }
    void start() {
        posted_ = 0;
        finished_ = 0;
        while (posted_ < rounds_.size() && posted_ < window_) {
            post_next();
        }
        step_.self.start();
    }
    void wait() {
        for (; finished_ < rounds_.size(); ++finished_) {
            PairwiseRound const& oldest = rounds_[finished_];
            check(MPI_Waitall(static_cast<int>(oldest.count), &requests_[oldest.first], MPI_STATUSES_IGNORE),
                  "MPI_Waitall");
            if (posted_ < rounds_.size()) {
                post_next();
            }
        }
        step_.self.wait();
    }
    [[nodiscard]] bool test() {
        while (finished_ < rounds_.size()) {
            PairwiseRound const& oldest = rounds_[finished_];
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
        return step_.self.test();
    }

private:
    struct PairwiseRound {
        std::size_t first;
        std::size_t count;
    };
    void post_next() {
        PairwiseRound const& round = rounds_[posted_++];
        for (std::size_t i = round.first; i < round.first + round.count; ++i) {
            post(step_.messages[i], step_.tag, step_.comm, requests_[i]);
        }
    }

    StepMessages step_;  // messages of round 1, of round 2 ...
    std::vector<MPI_Request> requests_;
    std::vector<PairwiseRound> rounds_;  // without the empty ones
    std::size_t window_;
    std::size_t posted_ = 0;
    std::size_t finished_ = 0;
};

PreparedCall compile_pairwise(Operation const& operation, CompileContext const& context) {
    return PreparedCall(Pairwise(operation, context));
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
            .read_knob = read_window,
            .posts_later = true};
}

}  // namespace dlmb::mpi
