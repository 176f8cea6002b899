// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Messages of the wrong length. A compiled plan cannot have them, because sizes are matched before; so batches are
// built by hand, as a fault in matching or in the library would leave them.
#include "common/backends/ucx/messages.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {
namespace {

void run(BatchPlan plan, Worker& worker) {
    Messages messages(worker, UCS_MEMORY_TYPE_HOST);
    MessageBatch batch(std::move(plan), messages);
    batch.start(iteration_bits(1));
    while (!batch.poll()) {
        worker.progress_or_yield();
    }
}

/// Rank 0 sends `sent` bytes, rank 1 expects `expected`; the text of what rank 1 throws.
std::string text_of_mismatch(Bytes sent, Bytes expected) {
    std::string text;
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        Workers workers({bootstrap, YieldPolicy::always});
        Worker& worker = workers.standard();
        Rank const other = 1 - bootstrap.rank();
        EXPECT_EQ(worker.connect({&other, 1}), "");
        std::vector<std::byte> data(std::max(sent, expected));
        BatchPlan plan;
        plan.name = "step 3 \"combine\"";
        ucp_tag_t const tag = make_tag(TagKind::payload, 3, 0);
        if (bootstrap.rank() == 0) {
            plan.sends.push_back({data.data(), sent, tag, worker.endpoint(1), 1, 1});
            plan.send_window = 1;
            run(std::move(plan), worker);
        } else {
            plan.receives.push_back({data.data(), expected, tag, nullptr, 0, 1});
            plan.receive_window = 1;
            try {
                run(std::move(plan), worker);
            } catch (Error const& error) {
                text = error.what();
            }
        }
    });
    return text;
}

TEST(MessageBatch, ATruncatedMessageIsNamedWithRankStepAndPeer) {
    for (Bytes const sent : {Bytes{64}, Bytes{20000}, Bytes{1} << 20}) {  // eager, eager in pieces, rendezvous
        std::string const text = text_of_mismatch(sent, 32);
        EXPECT_NE(text.find("rank 1, step 3 \"combine\", 32 B from rank 0"), std::string::npos) << text;
        EXPECT_NE(text.find(ucs_status_string(UCS_ERR_MESSAGE_TRUNCATED)), std::string::npos) << text;
    }
}

TEST(MessageBatch, AShortMessageIsNamedWithBothLengths) {
    for (Bytes const sent : {Bytes{1}, Bytes{20000}, Bytes{1} << 20}) {
        std::string const text = text_of_mismatch(sent, sent + 1);
        EXPECT_NE(text.find(std::to_string(sent) + " B arrived instead of " + std::to_string(sent + 1) + " B"),
                  std::string::npos)
            << text;
    }
}

// A plan of messages only is looked at again when the worker has made progress, which it does not for such messages.
TEST(MessageBatch, ReceivesOfMessagesThatHaveArrivedNeedNoProgressToBeComplete) {
    constexpr std::uint64_t messages = 3;
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        Workers workers({bootstrap, YieldPolicy::always});
        Worker& worker = workers.standard();
        Rank const other = 1 - bootstrap.rank();
        EXPECT_EQ(worker.connect({&other, 1}), "");
        std::vector<std::byte> data(messages);
        BatchPlan plan;
        plan.send_window = messages;
        plan.receive_window = 1;
        for (std::uint64_t i = 0; i < messages; ++i) {
            ucp_tag_t const tag = make_tag(TagKind::payload, i, 0);
            if (bootstrap.rank() == 0) {
                plan.sends.push_back({&data[i], 1, tag, worker.endpoint(1), 1, 1});
            } else {
                plan.receives.push_back({&data[i], 1, tag, nullptr, 0, 1});
            }
        }
        if (bootstrap.rank() == 0) {
            run(std::move(plan), worker);
            bootstrap.barrier();
            return;
        }
        ucp_tag_t const last = plan.receives.back().tag | iteration_bits(1);
        ucp_tag_recv_info_t info{};
        while (ucp_tag_probe_nb(worker.handle(), last, full_tag_mask, 0, &info) == nullptr) {
            worker.progress_or_yield();
        }
        Messages receives(worker, UCS_MEMORY_TYPE_HOST);
        MessageBatch batch(std::move(plan), receives);
        batch.start(iteration_bits(1));
        EXPECT_TRUE(batch.poll());
        bootstrap.barrier();
    });
}

TEST(MessageBatch, LocalCopiesLargerThanOnePieceAreWhole) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        Workers workers({bootstrap, YieldPolicy::always});
        Worker& worker = workers.standard();
        std::vector<std::byte> from((Bytes{5} << 19) + 3);  // two and a half pieces of 1 MiB, and a bit
        for (std::size_t i = 0; i < from.size(); ++i) {
            from[i] = static_cast<std::byte>(i % 251);
        }
        std::vector<std::byte> to(from.size());
        BatchPlan plan;
        plan.copies.push_back({.to = to.data(), .left = from.data(), .bytes = from.size()});
        run(std::move(plan), worker);
        EXPECT_EQ(to, from);
    });
}

}  // namespace
}  // namespace dlmb::ucx
