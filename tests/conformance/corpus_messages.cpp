// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/corpus.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::conformance {
namespace {

/// Every rank passes something on when it has got something: the waves of a pipeline.
CorpusEntry chain(int ranks, Bytes bytes) {
    std::string const name = fmt::format("chain of messages, {} B", bytes);
    return entry_of(name, ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        std::vector<StepId> after;
        if (me > 0) {
            after.push_back(builder.recv(all, me - 1, bytes, 0, -1, "forward.in"));
        }
        if (me + 1 < ranks) {
            builder.send(all, me + 1, bytes, 0, -1, "forward.out", after);
        }
    });
}

/// Everyone sends right and left at once, with several messages per pair that only their order tells apart. All sends
/// are posted before the first receive: one that blocks hangs here (a defect of MCR-DL 47c97a8, arXiv 2303.08374).
CorpusEntry ring_of_batches(int ranks) {
    return entry_of("ring, both directions in one batch", ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        Rank const right = (me + 1) % ranks;
        Rank const left = (me + ranks - 1) % ranks;
        constexpr std::array sizes{Bytes{4097}, Bytes{17}, Bytes{66 << 10}};
        for (Bytes const bytes : sizes) {
            builder.send(all, right, bytes, 0, 0, "right.out");
            builder.send(all, left, bytes + 1, 1, 0, "left.out");
        }
        for (Bytes const bytes : sizes) {
            builder.recv(all, left, bytes, 0, 0, "right.in");
            builder.recv(all, right, bytes + 1, 1, 0, "left.in");
        }
    });
}

/// The receiver posts both messages of a wave before it waits; the sender sends them one after the other, the second
/// posted first. Waiting in the order of posting hangs here.
CorpusEntry crossing(int ranks) {
    return entry_of("messages sent in the other order", ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        if (me == 0) {
            builder.recv(all, ranks - 1, one_mib, 0, -1, "first.in");
            builder.recv(all, ranks - 1, one_mib, 1, -1, "second.in");
        } else if (me == ranks - 1) {
            StepId const second = builder.send(all, 0, one_mib, 1, -1, "second.out");
            builder.send(all, 0, one_mib, 0, -1, "first.out", {second});
        }
    });
}

/// Windows from the first half to the second, answered by one message, or both ways at once; with an odd number of
/// ranks the last one has nothing to do.
CorpusEntry windows(int ranks, Bytes bytes, MessageWindow const& window, bool both_ways) {
    std::string const name = fmt::format("windows of {} messages of {} B, {} B apart{}", window.messages, bytes,
                                         window.stride, both_ways ? ", both ways" : "");
    int const half = ranks / 2;
    return entry_of(name, ranks, [&](PlanBuilder& builder, GroupId all, Rank me) {
        Rank const peer = me < half ? me + half : me - half;
        if (me >= 2 * half) {
        } else if (both_ways) {
            builder.recv(all, peer, bytes, 0, 0, "window.in", {}, window);
            builder.send(all, peer, bytes, 0, 0, "window.out", {}, window);
        } else if (me < half) {
            StepId const sent = builder.send(all, peer, bytes, 0, -1, "window.out", {}, window);
            builder.recv(all, peer, 4, 0, -1, "answer.in", {sent});
        } else {
            StepId const received = builder.recv(all, peer, bytes, 0, -1, "window.in", {}, window);
            builder.send(all, peer, 4, 0, -1, "answer.out", {received});
        }
    });
}

}  // namespace

void add_messages(int ranks, std::vector<CorpusEntry>& entries) {
    for (Bytes const bytes : sizes_up_to_66_kib) {
        entries.push_back(chain(ranks, bytes));
    }
    entries.push_back(chain(ranks, one_mib));
    if (ranks >= 2) {
        entries.push_back(ring_of_batches(ranks));
        entries.push_back(crossing(ranks));
        for (bool const both_ways : {false, true}) {
            entries.push_back(windows(ranks, 0, {16, 0}, both_ways));
            entries.push_back(windows(ranks, 17, {64, 0}, both_ways));
            entries.push_back(windows(ranks, 17, {64, 24}, both_ways));
            entries.push_back(windows(ranks, 66 << 10, {16, 0}, both_ways));
            entries.push_back(windows(ranks, 66 << 10, {16, 68 << 10}, both_ways));
        }
    }
}

}  // namespace dlmb::conformance
