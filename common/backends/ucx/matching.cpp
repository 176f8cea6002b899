// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/matching.hpp"

#include "common/backends/ucx/tags.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace dlmb::ucx {
namespace {

/// What a sender tells a receiver about one message. Travels as bytes between ranks of one launch, hence of one build.
struct SendInfo {
    std::uint64_t kind = 0;
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
    std::uint64_t tag = 0;
};

/// Sends of one kind and key from one peer, taken in the sender's plan order.
struct Queue {
    std::vector<SendInfo> sends;
    std::size_t taken = 0;
};
using Announcements = std::map<std::tuple<Rank, std::uint64_t, std::uint64_t>, Queue>;

std::vector<Letter> announce(Plan const& plan, std::vector<LoweredStep> const& steps, std::uint64_t first_operation) {
    std::map<Rank, Blob> blobs;
    for (LoweredStep const& step : steps) {
        for (Message const& message : step.sends) {
            SendInfo const sent{step.kind, step.key, message.bytes, send_tag(first_operation, step.step, plan.me)};
            Blob& blob = blobs[message.peer];
            blob.resize(blob.size() + sizeof sent);
            std::memcpy(blob.data() + blob.size() - sizeof sent, &sent, sizeof sent);
        }
    }
    std::vector<Letter> letters;
    letters.reserve(blobs.size());
    for (auto& [peer, blob] : blobs) {
        letters.push_back({peer, std::move(blob)});
    }
    return letters;
}

Announcements read_announcements(std::vector<Letter> const& letters) {
    Announcements announcements;
    for (Letter const& letter : letters) {
        for (std::size_t at = 0; at + sizeof(SendInfo) <= letter.blob.size(); at += sizeof(SendInfo)) {
            SendInfo sent;
            std::memcpy(&sent, letter.blob.data() + at, sizeof sent);
            announcements[{letter.peer, sent.kind, sent.key}].sends.push_back(sent);
        }
    }
    return announcements;
}

/// Sets `tag` to that of the next send that fits `message`. Returns what does not fit.
std::optional<std::string> take(Announcements& announcements, LoweredStep const& step, Message const& message,
                                ucp_tag_t& tag) {
    Queue& queue = announcements[{message.peer, step.kind, step.key}];
    if (queue.taken == queue.sends.size()) {
        return fmt::format("expects {} B from rank {}, which sends nothing there", message.bytes, message.peer);
    }
    SendInfo const& sent = queue.sends[queue.taken++];
    if (sent.bytes != message.bytes) {
        return fmt::format("expects {} B from rank {}, which sends {} B", message.bytes, message.peer, sent.bytes);
    }
    tag = sent.tag;
    return std::nullopt;
}

std::optional<std::string> left_over(Announcements const& announcements, Rank me) {
    for (auto const& [who, queue] : announcements) {
        if (queue.taken < queue.sends.size()) {
            return fmt::format("ucx: rank {} sends {} B to rank {}, which does not expect it", std::get<0>(who),
                               queue.sends[queue.taken].bytes, me);
        }
    }
    return std::nullopt;
}

std::string describe(Plan const& plan, LoweredStep const& step, std::string_view problem) {
    return fmt::format("ucx: rank {} step {} \"{}\" {}", plan.me, step.step, plan.steps[step.step].label, problem);
}

}  // namespace

ucp_tag_t send_tag(std::uint64_t first_operation, StepId step, Rank me) {
    return make_tag(TagKind::payload, first_operation + step, me);
}

MatchedTags match(Bootstrap& bootstrap, Plan const& plan, std::vector<LoweredStep> const& steps,
                  std::uint64_t first_operation) {
    Announcements announcements = read_announcements(bootstrap.exchange(announce(plan, steps, first_operation)));
    MatchedTags matched;
    for (LoweredStep const& step : steps) {
        if (!step.problem.empty() && !matched.problem) {
            matched.problem = describe(plan, step, step.problem);
        }
        std::vector<ucp_tag_t>& tags = matched.receives.emplace_back();
        for (Message const& message : step.receives) {
            ucp_tag_t tag = 0;
            auto const problem = take(announcements, step, message, tag);
            if (problem && !matched.problem) {
                matched.problem = describe(plan, step, *problem);
            }
            tags.push_back(tag);
        }
    }
    if (!matched.problem) {
        matched.problem = left_over(announcements, plan.me);
    }
    return matched;
}

}  // namespace dlmb::ucx
