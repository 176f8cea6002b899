// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/iteration.hpp"

#include "common/formats/plan/arrivals.hpp"
#include "common/formats/plan/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace dlmb::kv_transfer {

std::vector<LayerChunk> chunks_of_stage(Params const& params, std::uint64_t stage) {
    std::vector<LayerChunk> chunks;
    UnitRange const computed = params.layers_of(stage, params.instances.prefill_pp);
    for (std::uint64_t to_stage = 0; to_stage < params.instances.decode_pp; ++to_stage) {
        UnitRange const needed = params.layers_of(to_stage, params.instances.decode_pp);
        std::uint64_t const end = std::min(computed.end(), needed.end());
        for (std::uint64_t layer = std::max(computed.first, needed.first); layer < end;) {
            std::uint64_t const together = params.granularity == Granularity::layer ? 1 : end - layer;
            chunks.push_back({stage, to_stage, chunks.size(), {layer, together}});
            layer += together;
        }
    }
    return chunks;
}

std::vector<LayerChunk> chunks_of(Params const& params) {
    std::vector<LayerChunk> chunks;
    for (std::uint64_t stage = 0; stage < params.instances.prefill_pp; ++stage) {
        std::vector<LayerChunk> const more = chunks_of_stage(params, stage);
        chunks.insert(chunks.end(), more.begin(), more.end());
    }
    return chunks;
}

std::vector<PeerShare> peers_of(CacheSplit const& split, bool prefills, std::uint64_t tp) {
    std::vector<PeerShare> peers;
    UnitRange const ranks = prefills ? split.receivers(tp) : split.senders(tp);
    for (std::uint64_t peer = ranks.first; peer < ranks.end(); ++peer) {
        UnitRange const units = prefills ? split.share(tp, peer) : split.share(peer, tp);
        if (units.count > 0) {
            peers.push_back({peer, units.count});
        }
    }
    return peers;
}

namespace {

using Steps = std::vector<StepId>;

/// The messages from one rank to another one for a chunk of a request.
struct ChunkMessage {
    Bytes bytes = 0;
    MessageWindow window = {};
};

/// `units`: of a layer. Blocks lie apart as in a paged cache, at multiples of 8 bytes.
ChunkMessage message_of(Params const& params, LayerChunk const& chunk, Moved const& moved, std::uint64_t units) {
    Bytes const token = units * params.unit_bytes * chunk.layers.count;
    if (params.placement == BlockPlacement::contiguous || moved.blocks == 1) {
        return {token * moved.tokens, {}};
    }
    constexpr Bytes word = 8;
    Bytes const bytes = token * params.block_tokens;
    return {bytes, {moved.blocks, (bytes + word - 1) / word * word}};
}

/// Places the blocks of several senders in the buffer of their receiver, one behind the other, with a guard band
/// between two senders.
class ReceiverLayout {
public:
    void skip(ChunkMessage const& message) {
        Bytes const end = place_ + message.window.span(message.bytes);
        place_ = (end / guard_bytes + 2) * guard_bytes;
    }
    void append(ChunkMessage const& message, std::vector<PlacedBytes>& blocks) {
        for (Bytes number = 0; number < message.window.messages; ++number) {
            blocks.push_back({place_ + number * message.window.stride, message.bytes});
        }
        skip(message);
    }

private:
    Bytes place_ = guard_bytes;
};

/// The steps of one rank. Requests that arrive together go through the layers together; of others each goes through all
/// layers by itself, and a rank computes one after the other.
class TransferSteps {
public:
    TransferSteps(Params const& params, std::uint64_t most_units, std::vector<LayerChunk> const& chunks, Rank me,
                  std::vector<TransferRequest> requests)
        : params_(params), most_units_(most_units), chunks_(chunks), place_(params.instances.place_of(me)),
          peers_(peers_of(params.split, place_.prefills, place_.tp)), requests_(std::move(requests)), builder_(me),
          budget_(params.memory_limit),
          moved_(params.instances.prefill_pp, std::vector<std::vector<Steps>>(requests_.size())) {
        for (TransferRequest const& request : requests_) {
            groups_.push_back(exchanges(request) ? builder_.group(both_instances(request.instance)) : GroupId{});
        }
        for (PeerShare const& peer : peers_) {
            senders_before_.push_back(place_.prefills ? peers_of(params.split, false, peer.peer)
                                                      : std::vector<PeerShare>{});
            std::erase_if(senders_before_.back(), [&](PeerShare const& other) { return other.peer >= place_.tp; });
        }
    }

    Plan build() && {
        switch (params_.arrivals.kind()) {
        case Arrivals::Kind::together:
            serve_together();
            break;
        case Arrivals::Kind::alone:
            serve_alone();
            break;
        case Arrivals::Kind::poisson:
        case Arrivals::Kind::recorded:
            for (std::size_t request = 0; request < requests_.size(); ++request) {
                builder_.microbatch(number_of(requests_[request]));
                arrive(requests_[request]);
                serve(request);
            }
        }
        return std::move(builder_).finish();
    }

private:
    [[nodiscard]] bool exchanges(TransferRequest const& request) const {
        return !place_.prefills || place_.instance == request.instance;
    }
    [[nodiscard]] bool takes_part(LayerChunk const& chunk) const {
        return place_.stage == (place_.prefills ? chunk.stage : chunk.to_stage);
    }
    /// Among those of all instances.
    [[nodiscard]] int number_of(TransferRequest const& request) const {
        return request.number * static_cast<int>(params_.instances.prefilling()) + static_cast<int>(request.instance);
    }

    /// The group of a prefill instance and its decode instance, prefill ranks first.
    [[nodiscard]] Group both_instances(std::uint64_t prefilling) const {
        Instances const& all = params_.instances;
        std::uint64_t const prefill = prefilling * all.prefill_ranks();
        std::uint64_t const decode =
            all.prefilling() * all.prefill_ranks() + prefilling / all.per_decoding * all.decode_ranks();
        Group group{std::vector<Rank>(all.prefill_ranks() + all.decode_ranks())};
        auto const first_decode = group.members.begin() + static_cast<std::ptrdiff_t>(all.prefill_ranks());
        std::iota(group.members.begin(), first_decode, static_cast<Rank>(prefill));
        std::iota(first_decode, group.members.end(), static_cast<Rank>(decode));
        return group;
    }

    void serve_together() {
        for (LayerChunk const& chunk : chunks_) {
            compute(chunk);
            for (std::size_t request = 0; request < requests_.size(); ++request) {
                move(chunk, request);
            }
        }
    }

    void serve(std::size_t request) {
        for (LayerChunk const& chunk : chunks_) {
            if (exchanges(requests_[request])) {
                compute(chunk);
            }
            move(chunk, request);
        }
    }

    /// A request arrives when all ranks are done with the one before it.
    void serve_alone() {
        auto const ranks = static_cast<int>(params_.instances.ranks());
        GroupId const world = builder_.group(consecutive_group({.ranks = ranks}, 0, ranks));
        std::size_t next = 0;
        for (int number = 0; number < static_cast<int>(params_.all_requests()); ++number) {
            builder_.microbatch(number);
            Steps done = std::exchange(served_, {});
            computed_ = {builder_.barrier(world, arrival_label(number), std::move(done))};
            served_ = computed_;
            if (next < requests_.size() && number_of(requests_[next]) == number) {
                serve(next++);
            }
        }
    }

    /// A stage hears of a request when the stages before it have computed their layers.
    void arrive(TransferRequest const& request) {
        if (!place_.prefills || !exchanges(request)) {
            return;
        }
        Nanoseconds const layers = static_cast<Nanoseconds>(
            arrived_.empty() ? params_.layers_of(place_.stage, params_.instances.prefill_pp).first : 0);
        arrived_ = {
            builder_.compute(request.gap + layers * params_.compute_ns, arrival_label(number_of(request)), arrived_)};
        if (params_.compute_ns == 0) {
            computed_.clear();
        }
        computed_.push_back(arrived_.front());
    }

    static std::string arrival_label(int number) { return fmt::format("{}.{}", arrival_phase, number); }

    /// The first chunk of a stage also takes the time of the stages before, unless requests arrive later there.
    void compute(LayerChunk const& chunk) {
        if (params_.compute_ns > 0 && place_.prefills && takes_part(chunk)) {
            std::uint64_t const layers = chunk.place == 0 && arrived_.empty() ? chunk.layers.end() : chunk.layers.count;
            computed_ = {builder_.compute(static_cast<Nanoseconds>(layers) * params_.compute_ns,
                                          fmt::format("compute.{}", chunk.layers.first), computed_)};
        }
    }

    /// All ranks ask with the same bytes: those of the rank that has most.
    [[nodiscard]] bool fits(LayerChunk const& chunk, Moved const& moved) {
        ChunkMessage const most = message_of(params_, chunk, moved, most_units_);
        return budget_.take(moved.tokens == 0 ? 0 : most.window.span(most.bytes));
    }

    /// A chunk of a request, on the ranks that send or receive it.
    void move(LayerChunk const& chunk, std::size_t request) {
        Moved const& moved = requests_[request].moved;
        builder_.share_buffers(!fits(chunk, moved));
        std::vector<Steps>& before = moved_[chunk.stage][request];
        Steps steps;
        if (takes_part(chunk) && moved.tokens > 0 && exchanges(requests_[request]) && !peers_.empty()) {
            Steps const after = start_of(chunk, before);
            steps =
                params_.op_type == OpType::send_recv ? exchange(chunk, request, after) : access(chunk, request, after);
        }
        served_.insert(served_.end(), steps.begin(), steps.end());
        before.push_back(std::move(steps));
        ++batch_;
    }

    /// `before`: the steps of the earlier chunks of this stage, for one request. Only who sends waits for what was
    /// computed, or arrived.
    [[nodiscard]] Steps start_of(LayerChunk const& chunk, std::vector<Steps> const& before) const {
        Steps after = place_.prefills ? computed_ : Steps{};
        std::uint64_t const most = params_.layers_in_flight;
        if (most > 0 && chunk.place >= most) {
            Steps const& earlier = before[chunk.place - most];
            after.insert(after.begin(), earlier.begin(), earlier.end());
        }
        return after;
    }

    /// Rank of a peer in the group of both instances.
    [[nodiscard]] Rank rank_of(LayerChunk const& chunk, PeerShare const& peer) const {
        Instances const& all = params_.instances;
        return static_cast<Rank>(place_.prefills ? all.prefill_ranks() + chunk.to_stage * all.decode_tp + peer.peer
                                                 : chunk.stage * all.prefill_tp + peer.peer);
    }

    Steps exchange(LayerChunk const& chunk, std::size_t request, Steps const& after) {
        int const channel = requests_[request].number;
        GroupId const group = groups_[request];
        std::string const label = label_of(chunk, request);
        Steps steps;
        for (PeerShare const& peer : peers_) {
            auto const [bytes, window] = message_of(params_, chunk, requests_[request].moved, peer.units);
            Rank const rank = rank_of(chunk, peer);
            steps.push_back(place_.prefills ? builder_.send(group, rank, bytes, channel, batch_, label, after, window)
                                            : builder_.recv(group, rank, bytes, channel, batch_, label, after, window));
        }
        return steps;
    }

    /// One flag from each prefill rank to each decode rank that it has a share for.
    Steps access(LayerChunk const& chunk, std::size_t request, Steps const& after) {
        bool const reads = params_.op_type == OpType::read;
        Moved const& moved = requests_[request].moved;
        auto const message = [&](PeerShare const& peer) { return message_of(params_, chunk, moved, peer.units); };
        std::vector<Signal> signals;
        std::vector<PlacedBytes> blocks;
        ReceiverLayout own;
        for (std::size_t i = 0; i < peers_.size(); ++i) {
            ReceiverLayout theirs;
            for (PeerShare const& sender : senders_before_[i]) {
                theirs.skip(message(sender));
            }
            ChunkMessage const sent = message(peers_[i]);
            (place_.prefills ? theirs : own).append(sent, blocks);
            signals.push_back({rank_of(chunk, peers_[i]), static_cast<std::uint32_t>(sent.window.messages)});
        }
        GroupId const group = groups_[request];
        std::string label = label_of(chunk, request);
        return {place_.prefills ? builder_.put(group, std::move(signals), blocks, std::move(label), after,
                                               reads ? OperationKind::offer : OperationKind::put)
                                : builder_.wait_signal(group, std::move(signals), blocks, 0, std::move(label), after,
                                                       reads ? OperationKind::get : OperationKind::wait_signal)};
    }

    [[nodiscard]] std::string label_of(LayerChunk const& chunk, std::size_t request) const {
        int const number = number_of(requests_[request]);
        if (params_.granularity == Granularity::block) {
            return fmt::format("request.{}.{}", chunk.stage, number);
        }
        return fmt::format("{}.{}.{}", chunk.layers.first == 0 ? "first_layer" : "layers", chunk.layers.first, number);
    }

    Params const& params_;
    std::uint64_t most_units_;
    std::vector<LayerChunk> const& chunks_;
    InstancePlace place_;
    std::vector<PeerShare> peers_;
    std::vector<std::vector<PeerShare>> senders_before_;  // of those to each of peers_, where this rank prefills
    std::vector<TransferRequest> requests_;
    PlanBuilder builder_;
    std::vector<GroupId> groups_;  // by request
    BufferBudget budget_;
    std::vector<std::vector<std::vector<Steps>>> moved_;  // by stage, request, chunk
    Steps arrived_;                                       // the last request
    Steps computed_;                                      // what the next chunk that leaves waits for
    Steps served_;                                        // the last request's, where requests come alone
    int batch_ = 0;
};

}  // namespace

Plan build_iteration(Params const& params, std::uint64_t most_units, std::vector<LayerChunk> const& chunks, Rank me,
                     std::vector<TransferRequest> requests) {
    return TransferSteps(params, most_units, chunks, me, std::move(requests)).build();
}

}  // namespace dlmb::kv_transfer
