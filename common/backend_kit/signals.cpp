// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/signals.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/ready_queue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

namespace dlmb {
namespace {

/// A rank's description of the signals between it and another one. Travels as words between ranks of one launch.
struct PairInfo {
    std::uint64_t permission_flag = no_flag;  // which it wants raised for its puts
    /// One signal, as the end that has the memory tells of it: the sender of an offer, the receiver of a put. The other
    /// end tells no_flag or no_place.
    struct SignalInfo {
        std::uint64_t flag = no_flag;
        std::uint64_t buffer = 0;
        std::vector<std::uint64_t> places = {};  // offset and bytes of each block
    };
    std::vector<SignalInfo> sent = {}, awaited = {};  // to the other one, from it

    [[nodiscard]] Blob packed() const {
        std::vector<std::uint64_t> words{permission_flag};
        for (auto const* signals : {&sent, &awaited}) {
            words.push_back(signals->size());
            for (SignalInfo const& each : *signals) {
                words.insert(words.end(), {each.flag, each.buffer, each.places.size()});
                words.insert(words.end(), each.places.begin(), each.places.end());
            }
        }
        return blob_of(words);
    }
    explicit PairInfo(Blob const& blob) {
        auto const words = values_in<std::uint64_t>(blob);
        std::size_t next = 0;
        auto const word = [&] {
            if (next == words.size()) {
                throw Error("another rank sent less of its signals than it has");
            }
            return words[next++];
        };
        permission_flag = word();
        for (auto* signals : {&sent, &awaited}) {
            for (std::uint64_t left = word(); left > 0; --left) {
                SignalInfo& each = signals->emplace_back(SignalInfo{word(), word()});
                for (std::uint64_t places = word(); places > 0; --places) {
                    each.places.push_back(word());
                }
            }
        }
    }
    PairInfo() = default;
};

constexpr std::uint64_t no_place = ~std::uint64_t{0};  // of a block at the other end of a read

class SignalTableBuilder {
public:
    explicit SignalTableBuilder(Plan const& plan) : plan_(plan) {
        for (StepId step = 0; step < plan.steps.size(); ++step) {
            Operation const& operation = plan.steps[step].operation;
            if (auto const* put = std::get_if<Put>(&operation)) {
                add(step, *put);
            } else if (auto const* wait = std::get_if<WaitSignal>(&operation)) {
                add(step, *wait);
            }
        }
        for (PutSignals& put : table_.puts) {
            add_permissions(put);
        }
        for (auto const& [peer, info] : told_) {
            if (peer != plan.me) {
                table_.peers.push_back(peer);
            }
        }
    }

    [[nodiscard]] std::map<Rank, PairInfo> const& told() const { return told_; }

    /// Returns what does not fit, or nothing.
    std::string read(std::map<Rank, PairInfo> const& heard) {
        std::map<Rank, std::size_t> next;
        for (PutSignals& put : table_.puts) {
            auto const& step = std::get<Put>(plan_.steps[put.step].operation);
            for (SentSignal& signal : put.signals) {
                auto const peer = heard.find(signal.peer);
                std::size_t const number = next[signal.peer]++;
                if (peer == heard.end() || number >= peer->second.awaited.size()) {
                    return named(put.step, fmt::format("signals rank {}, which does not wait for it", signal.peer));
                }
                PairInfo::SignalInfo const& awaited = peer->second.awaited[number];
                if (awaited.places != awaited_places(step, signal)) {
                    return named(put.step, fmt::format("signals other blocks than rank {} waits for", signal.peer));
                }
                signal.flag = awaited.flag;
                signal.buffer = static_cast<BufferId>(awaited.buffer);
            }
        }
        for (auto const& [peer, own] : told_) {
            auto const other = heard.find(peer);
            if (own.awaited.size() > (other == heard.end() ? 0 : other->second.sent.size())) {
                return fmt::format("rank {} waits for more signals of rank {} than that sends", plan_.me, peer);
            }
        }
        if (std::string problem = read_offers(heard); !problem.empty()) {
            return problem;
        }
        for (auto const& [peer, info] : heard) {
            if (info.permission_flag != no_flag && peer != plan_.me) {
                table_.granted.push_back({peer, info.permission_flag});
            }
        }
        return {};
    }

    [[nodiscard]] SignalTable take() && { return std::move(table_); }

private:
    [[nodiscard]] std::string named(StepId step, std::string const& text) const {
        return fmt::format("rank {} step {} \"{}\" {}", plan_.me, step, plan_.steps[step].label, text);
    }

    /// Where the blocks of gets lie. Their senders have compared the sizes.
    std::string read_offers(std::map<Rank, PairInfo> const& heard) {
        std::map<Rank, std::size_t> next;
        for (AwaitedSignals& wait : table_.waits) {
            auto const& step = std::get<WaitSignal>(plan_.steps[wait.step].operation);
            for_each_signal(step.signals, step.recv, [&](Signal const& signal, auto blocks, std::size_t first) {
                Rank const peer = world_rank(plan_, step.group, signal.peer);
                PairInfo::SignalInfo const& sent = heard.at(peer).sent[next[peer]++];
                if (is_read(step.kind) && sent.flag != no_flag && sent.places.size() == 2 * blocks.size()) {
                    OfferedBlocks& offered = wait.offered.emplace_back(
                        OfferedBlocks{peer, first, sent.flag, static_cast<BufferId>(sent.buffer)});
                    for (std::size_t i = 0; i < blocks.size(); ++i) {
                        offered.offsets.push_back(sent.places[2 * i]);
                    }
                }
            });
            if (wait.offered.size() != (is_read(step.kind) ? step.signals.size() : 0)) {
                return named(wait.step, "reads blocks that are not offered");
            }
        }
        return {};
    }

    void add(StepId step, Put const& put) {
        bool const offers = is_read(put.kind);
        PutSignals signals{.step = step, .read = {table_.flags, offers ? put.signals.size() : 0}};
        for_each_signal(put.signals, put.send, [&](Signal const& signal, auto blocks, std::size_t first) {
            Rank const peer = world_rank(plan_, put.group, signal.peer);
            signals.signals.push_back({.peer = peer, .first = first, .blocks = blocks.size()});
            PairInfo::SignalInfo& info = told_[peer].sent.emplace_back();
            if (offers) {
                info = {table_.flags++, put.buffer};
                for (Block const& block : blocks) {
                    info.places.insert(info.places.end(), {block.offset, block.bytes});
                }
            }
            if (peer != plan_.me) {
                signals.peers.push_back(peer);
            }
        });
        // The next rank after this one first: ranks do not all write to the same one at once.
        std::sort(signals.peers.begin(), signals.peers.end());
        signals.peers.erase(std::unique(signals.peers.begin(), signals.peers.end()), signals.peers.end());
        std::rotate(signals.peers.begin(), std::upper_bound(signals.peers.begin(), signals.peers.end(), plan_.me),
                    signals.peers.end());
        table_.puts.push_back(std::move(signals));
    }

    void add(StepId step, WaitSignal const& wait) {
        table_.waits.push_back({step, {table_.flags, wait.signals.size()}});
        for_each_signal(wait.signals, wait.recv, [&](Signal const& signal, auto blocks, auto) {
            PairInfo::SignalInfo awaited{table_.flags++, wait.buffer};
            for (Block const& block : blocks) {
                Bytes const place = is_read(wait.kind) ? no_place : block.offset;
                awaited.places.insert(awaited.places.end(), {place, block.bytes});
            }
            told_[world_rank(plan_, wait.group, signal.peer)].awaited.push_back(std::move(awaited));
        });
    }

    void add_permissions(PutSignals& put) {
        std::vector<Rank> begun;  // they have, when this step begins
        for (AwaitedSignals const& wait : table_.waits) {
            if (wait.step < put.step && waits_for(plan_, put.step, wait.step)) {
                auto const& step = std::get<WaitSignal>(plan_.steps[wait.step].operation);
                for (Signal const& signal : step.signals) {
                    begun.push_back(world_rank(plan_, step.group, signal.peer));
                }
            }
        }
        std::sort(begun.begin(), begun.end());
        bool const offers = is_read(kind_of(plan_.steps[put.step].operation));
        for (Rank const peer : put.peers) {
            FlagId flag = no_flag;
            if (!offers && !std::binary_search(begun.begin(), begun.end(), peer)) {
                FlagId& wanted = told_[peer].permission_flag;
                wanted = wanted == no_flag ? table_.flags++ : wanted;
                flag = wanted;
            }
            put.permissions.push_back(flag);
        }
    }

    /// As the peer should tell of them.
    static std::vector<std::uint64_t> awaited_places(Put const& put, SentSignal const& signal) {
        std::vector<std::uint64_t> places;
        for (std::size_t i = signal.first; i < signal.first + signal.blocks; ++i) {
            places.insert(places.end(), {is_read(put.kind) ? no_place : put.targets[i], put.send[i].bytes});
        }
        return places;
    }

    Plan const& plan_;
    SignalTable table_;
    std::map<Rank, PairInfo> told_;
};

}  // namespace

std::vector<BufferId> accessed_buffers(Plan const& plan) {
    std::vector<BufferId> buffers;
    auto const add = [&](BufferId buffer) {
        if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) {
            buffers.push_back(buffer);
        }
    };
    for (Step const& step : plan.steps) {
        if (auto const* wait = std::get_if<WaitSignal>(&step.operation); wait != nullptr && !is_read(wait->kind)) {
            add(wait->buffer);
        } else if (auto const* put = std::get_if<Put>(&step.operation); put != nullptr && is_read(put->kind)) {
            add(put->buffer);
        }
    }
    return buffers;
}

SignalTable match_signals(Plan const& plan, Bootstrap& bootstrap) {
    SignalTableBuilder table(plan);
    std::vector<PeerBlob> outgoing;
    std::map<Rank, PairInfo> heard;
    for (auto const& [peer, info] : table.told()) {
        if (peer == plan.me) {
            heard.emplace(peer, info);
        } else {
            outgoing.push_back({peer, info.packed()});
        }
    }
    for (PeerBlob const& each : bootstrap.exchange(std::move(outgoing))) {
        heard.emplace(each.peer, PairInfo(each.blob));
    }
    if (std::string const problem = first_refusal(bootstrap, table.read(heard)); !problem.empty()) {
        throw Error(problem);
    }
    return std::move(table).take();
}

}  // namespace dlmb
