// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/pairing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace dlmb::nccl {
namespace {

bool is_message(Transfer const& transfer) {
    return transfer.channel != Transfer::no_channel;
}

class Orderer {
public:
    explicit Orderer(ChannelOrder const& arriving) : arriving_(arriving) {}

    std::string order(std::vector<Transfer>& receives) {
        for (std::size_t i = 0; i < receives.size(); ++i) {
            if (!is_message(receives[i])) {
                continue;
            }
            Rank const peer = receives[i].peer;
            int const channel = next_channel(peer);
            // The first of this channel that is left: a channel keeps its order.
            auto const found = std::find_if(
                receives.begin() + static_cast<std::ptrdiff_t>(i), receives.end(),
                [&](Transfer const& receive) { return receive.peer == peer && receive.channel == channel; });
            if (found == receives.end()) {
                return fmt::format("rank {} sends on channel {} before channel {}, which is received first; NCCL pairs "
                                   "messages by their order",
                                   peer, channel, receives[i].channel);
            }
            std::rotate(receives.begin() + static_cast<std::ptrdiff_t>(i), found, found + 1);
        }
        return "";
    }

private:
    int next_channel(Rank peer) {
        auto const found = arriving_.find(peer);
        std::size_t const place = taken_[peer]++;
        return found == arriving_.end() || place >= found->second.size() ? Transfer::no_channel : found->second[place];
    }

    ChannelOrder const& arriving_;
    std::map<Rank, std::size_t> taken_;
};

}  // namespace

ChannelOrder channels_sent(std::vector<Item> const& items) {
    ChannelOrder sent;
    for (Item const& item : items) {
        if (auto const* group = std::get_if<GroupedCall>(&item.work)) {
            for (Transfer const& send : group->sends) {
                if (is_message(send)) {
                    sent[send.peer].push_back(send.channel);
                }
            }
        }
    }
    return sent;
}

ChannelOrder channels_arriving(Bootstrap& bootstrap, ChannelOrder const& sent) {
    std::vector<Letter> letters;
    for (auto const& [peer, channels] : sent) {
        auto const bytes = std::as_bytes(std::span(channels));
        letters.push_back({peer, Blob(bytes.begin(), bytes.end())});
    }
    ChannelOrder arriving;
    for (Letter const& letter : bootstrap.exchange(std::move(letters))) {
        std::vector<int> channels(letter.blob.size() / sizeof(int));
        std::memcpy(channels.data(), letter.blob.data(), channels.size() * sizeof(int));
        arriving[letter.peer] = std::move(channels);
    }
    return arriving;
}

std::string take_as_sent(std::vector<Item>& items, ChannelOrder const& arriving) {
    Orderer orderer(arriving);
    for (Item& item : items) {
        if (auto* group = std::get_if<GroupedCall>(&item.work)) {
            if (std::string problem = orderer.order(group->receives); !problem.empty()) {
                return problem;
            }
        }
    }
    return "";
}

}  // namespace dlmb::nccl
