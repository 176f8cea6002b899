// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/in_process/schedule.hpp"

#include "common/base/error.hpp"
#include "common/base/hash.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

namespace dlmb::in_process {
namespace {

std::string described(std::optional<BlockEnd> const& end) {
    return end ? fmt::format("{} of {} B", end->operation, end->bytes) : std::string("nothing");
}

/// By world rank, of the steps before.
struct SignalCounts {
    std::map<Rank, Bytes> sent, awaited, offered, read;
};
constexpr Bytes first_offer = Bytes{1} << 63U;  // keeps the slots of offers apart from those of puts the other way

/// Makes the Work of one step, by operation.
class StepCompiler {
public:
    StepCompiler(Plan const& plan, Buffers const& buffers, Rendezvous& rendezvous, Aggregation aggregation,
                 StepMatch const& match, SignalCounts& signals, HostComputes& computes, StepId step)
        : plan_(plan), buffers_(buffers), rendezvous_(rendezvous), aggregation_(aggregation), match_(match),
          signals_(signals), computes_(computes), step_(step), text_(name_of(plan.steps[step].operation)) {}

    Work compile() && {
        std::visit([this](auto const& operation) { add(operation); }, plan_.steps[step_].operation);
        return std::move(work_);
    }

private:
    void add(Exchange const& exchange) {
        if (exchange.scattered) {
            add_rows(exchange);
            return;
        }
        for (Block const& block : exchange.send) {
            post(world(exchange.group, block.peer), place({exchange.send_buffer, block.offset}, block.bytes),
                 block.bytes);
        }
        for (Block const& block : exchange.recv) {
            expect(world(exchange.group, block.peer), place({exchange.recv_buffer, block.offset}, block.bytes),
                   block.bytes);
        }
    }
    void add_rows(Exchange const& exchange) {
        ScatteredRows const& rows = *exchange.scattered;
        text_ += fmt::format(" in rows of {} B", rows.row_bytes);
        for_each_block_of_rows(exchange, exchange.send, exchange.send_buffer, rows.sent,
                               [&](Rank peer, Bytes bytes, std::vector<Bytes> places) {
                                   post(peer, buffers_.base.at(exchange.send_buffer), bytes);
                                   work_.outgoing.back()->hold_rows(std::move(places));
                               });
        for_each_block_of_rows(exchange, exchange.recv, exchange.recv_buffer, rows.received,
                               [&](Rank peer, Bytes bytes, std::vector<Bytes> places) {
                                   expect(peer, buffers_.base.at(exchange.recv_buffer), bytes);
                                   work_.arrivals.back().places = std::move(places);
                                   work_.arrivals.back().row_bytes = rows.row_bytes;
                               });
    }
    /// Calls use(world rank, bytes, places of its rows) for each block.
    template <class Use>
    void for_each_block_of_rows(Exchange const& exchange, std::vector<Block> const& blocks, BufferId buffer,
                                ScatteredSide const& side, Use const& use) const {
        Bytes const row_bytes = exchange.scattered->row_bytes;
        std::vector<Bytes> const places = side.places();
        for (Bytes const offset : places) {
            (void)place({buffer, offset}, row_bytes);
        }
        auto next = places.begin();
        for (Block const& block : blocks) {
            auto const end = next + static_cast<std::ptrdiff_t>(block.bytes / row_bytes);
            use(world(exchange.group, block.peer), block.bytes, std::vector<Bytes>(next, end));
            next = end;
        }
    }
    void add(Send const& send) {
        text_ = "message";
        for (Bytes message = 0; message < send.window.messages; ++message) {
            Bytes const offset = send.to.offset + message * send.window.stride;
            post(world(send.group, send.to.peer), place({send.buffer, offset}, send.to.bytes), send.to.bytes, message);
        }
    }
    void add(Recv const& recv) {
        text_ = "message";
        for (Bytes message = 0; message < recv.window.messages; ++message) {
            Bytes const offset = recv.from.offset + message * recv.window.stride;
            expect(world(recv.group, recv.from.peer), place({recv.buffer, offset}, recv.from.bytes), recv.from.bytes,
                   message);
        }
    }
    void add(Barrier const& barrier) {
        for (Rank const peer : members(barrier.group)) {
            post(peer, nullptr, 0);
            expect(peer, nullptr, 0);
        }
    }
    void add(Collective const& step) {
        OperationFacts const& facts = facts_of(step.kind);
        CollectiveSides const sides = sides_of(plan_, step);
        if (facts.root != RootRole::none) {  // both ends of a block must agree on it
            text_ += fmt::format(" {} {}", facts.root == RootRole::sends ? "from" : "to", world(step.group, step.root));
        }
        if (facts.reduces) {
            text_ += fmt::format(" {} {}", name_of(step.element), name_of(step.reduction));
        }
        if (step.kind == OperationKind::all_reduce && aggregation_ != Aggregation::none) {
            work_.port = Port{rendezvous_.aggregator(match_, aggregation_, members(step.group).size(), step),
                              static_cast<std::size_t>(rank_in(plan_.groups.at(step.group), plan_.me).value()),
                              place(step.send, step.bytes), place(step.recv, step.bytes)};
            return;
        }
        if (facts.reduces && sides.receives) {
            begin_reducing(step, sides.received);
        }
        Exchange const direct = direct_blocks(plan_, step);
        for (Block const& block : direct.send) {
            post(world(step.group, block.peer), place({direct.send_buffer, block.offset}, block.bytes), block.bytes);
        }
        for (Block const& block : direct.recv) {
            std::byte* const to = place({direct.recv_buffer, block.offset}, block.bytes);
            expect(world(step.group, block.peer), facts.reduces ? nullptr : to, block.bytes);
        }
    }
    void add(Put const& put) {
        if (is_read(put.kind)) {
            add_offer(put);
            return;
        }
        for_each_signal(put.signals, put.send, [&](Signal const& signal, auto blocks, std::size_t first) {
            Departure departure;
            std::uint64_t places = fnv1a_start;
            Bytes bytes = 0;
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                Bytes const to = put.targets.at(first + i);
                departure.writes.push_back(
                    {place({put.buffer, blocks[i].offset}, blocks[i].bytes), to, blocks[i].bytes});
                places = fnv1a(fnv1a(places, to), blocks[i].bytes);
                bytes += blocks[i].bytes;
            }
            Rank const peer = world(put.group, signal.peer);
            text_ = fmt::format("permission for {} blocks at places {:x}", blocks.size(), places);
            departure.slot = rendezvous_.reader({match_, peer, plan_.me, signals_.sent[peer]++}, end(bytes));
            work_.departures.push_back(std::move(departure));
        });
    }
    void add(WaitSignal const& wait) {
        if (is_read(wait.kind)) {
            add_get(wait);
            return;
        }
        for_each_signal(wait.signals, wait.recv, [&](Signal const& signal, auto blocks, std::size_t /*first*/) {
            std::uint64_t places = fnv1a_start;
            Bytes bytes = 0;
            for (Block const& block : blocks) {
                (void)place({wait.buffer, block.offset}, block.bytes);
                places = fnv1a(fnv1a(places, block.offset), block.bytes);
                bytes += block.bytes;
            }
            Rank const peer = world(wait.group, signal.peer);
            text_ = fmt::format("permission for {} blocks at places {:x}", blocks.size(), places);
            work_.expected.push_back(
                rendezvous_.sender({match_, plan_.me, peer, signals_.awaited[peer]++}, end(bytes), nullptr));
            work_.expected.back()->hold_target(buffers_.base.at(wait.buffer));
        });
    }
    /// Calls use(world rank, offsets and sizes of its blocks) for each signal.
    void for_each_read(auto const& step, std::span<Block const> blocks, auto const& use) {
        for_each_signal(step.signals, blocks, [&](Signal const& signal, auto of_signal, std::size_t /*first*/) {
            std::vector<Bytes> offsets;
            std::vector<Bytes> sizes;
            std::uint64_t hash = fnv1a_start;
            for (Block const& block : of_signal) {
                (void)place({step.buffer, block.offset}, block.bytes);
                offsets.push_back(block.offset);
                sizes.push_back(block.bytes);
                hash = fnv1a(hash, block.bytes);
            }
            text_ = fmt::format("offer of {} blocks with sizes {:x}", sizes.size(), hash);
            use(world(step.group, signal.peer), std::move(offsets), std::move(sizes));
        });
    }
    void add_offer(Put const& offer) {
        for_each_read(offer, offer.send, [&](Rank peer, std::vector<Bytes> offsets, std::vector<Bytes> const&) {
            post(peer, buffers_.base.at(offer.buffer), 0, first_offer + signals_.offered[peer]++);
            work_.outgoing.back()->hold_rows(std::move(offsets));
        });
    }
    void add_get(WaitSignal const& get) {
        for_each_read(get, get.recv, [&](Rank peer, std::vector<Bytes> offsets, std::vector<Bytes> sizes) {
            expect(peer, buffers_.base.at(get.buffer), 0, first_offer + signals_.read[peer]++);
            AwaitedSlot& arrival = work_.arrivals.back();
            arrival.signal = work_.arrivals.size() - 1;
            arrival.places = std::move(offsets);
            arrival.block_bytes = std::move(sizes);
        });
    }
    void add(Compute const& /*compute*/) { work_.compute.emplace(computes_.make(step_)); }

    void begin_reducing(Collective const& reduce, Bytes result_bytes) {
        Reducing reducing{reduce.element, reduce.reduction, place(reduce.recv, result_bytes), {}};
        bool const overlap = reduce.send.buffer == reduce.recv.buffer &&
                             reduce.send.offset < reduce.recv.offset + result_bytes &&
                             reduce.recv.offset < reduce.send.offset + reduce.bytes;
        if (overlap) {
            reducing.scratch.resize(result_bytes);
        }
        work_.reduce = std::move(reducing);
    }

    void post(Rank to, std::byte const* data, Bytes bytes, Bytes message = 0) {
        work_.outgoing.push_back(rendezvous_.sender({match_, plan_.me, to, message}, end(bytes), data));
    }
    void expect(Rank from, std::byte* destination, Bytes bytes, Bytes message = 0) {
        work_.arrivals.push_back({rendezvous_.reader({match_, from, plan_.me, message}, end(bytes)), destination});
    }
    [[nodiscard]] BlockEnd end(Bytes bytes) const {
        return {bytes, text_, fmt::format("step {} \"{}\"", step_, plan_.steps[step_].label)};
    }

    [[nodiscard]] std::byte* place(Region region, Bytes bytes) const {
        Bytes const size = plan_.buffers.at(region.buffer).bytes;
        if (region.offset > size || bytes > size - region.offset) {
            throw Error(fmt::format("rank {} step {} \"{}\": {} B at offset {} of buffer \"{}\", which has {} B",
                                    plan_.me, step_, plan_.steps[step_].label, bytes, region.offset,
                                    plan_.buffers[region.buffer].name, size));
        }
        return buffers_.base.at(region.buffer) + region.offset;
    }
    [[nodiscard]] std::vector<Rank> const& members(GroupId group) const { return plan_.groups.at(group).members; }
    [[nodiscard]] Rank world(GroupId group, Rank peer) const {
        return members(group).at(static_cast<std::size_t>(peer));
    }

    Plan const& plan_;
    Buffers const& buffers_;
    Rendezvous& rendezvous_;
    Aggregation aggregation_;
    StepMatch const& match_;
    SignalCounts& signals_;
    HostComputes& computes_;
    StepId step_;
    std::string text_;
    Work work_;
};

}  // namespace

std::shared_ptr<Slot> Rendezvous::sender(BlockKey const& key, BlockEnd end, std::byte const* data) {
    std::lock_guard const lock(mutex_);
    BlockEnds& ends = blocks_[key];
    ends.slot->hold(data, end.bytes);
    ends.sender = std::move(end);
    return ends.slot;
}

std::shared_ptr<Slot> Rendezvous::reader(BlockKey const& key, BlockEnd end) {
    std::lock_guard const lock(mutex_);
    BlockEnds& ends = blocks_[key];
    ends.reader = std::move(end);
    return ends.slot;
}

std::shared_ptr<Aggregator> Rendezvous::aggregator(StepMatch const& step, Aggregation how, std::size_t hosts,
                                                   Collective const& operation) {
    std::string asked = fmt::format("allreduce {} {} of {} B", name_of(operation.element), name_of(operation.reduction),
                                    operation.bytes);
    std::lock_guard const lock(mutex_);
    auto& [aggregator, first] = aggregators_[step];
    if (aggregator == nullptr) {
        aggregator = std::make_shared<Aggregator>(how, hosts, operation.bytes, operation.element, operation.reduction);
        first = std::move(asked);
    } else if (asked != first) {
        throw Error(fmt::format("one rank asks the switch for an {}, another one for an {}", first, asked));
    }
    return aggregator;
}

void Rendezvous::check(Rank rank) const {
    std::lock_guard const lock(mutex_);
    for (auto const& [key, ends] : blocks_) {
        bool const fits = ends.sender && ends.reader && ends.sender->bytes == ends.reader->bytes &&
                          ends.sender->operation == ends.reader->operation;
        if (!fits && (key.from == rank || key.to == rank)) {
            throw Error(fmt::format("{}: rank {} sends {} to rank {}, which expects {}",
                                    (ends.sender ? ends.sender : ends.reader)->step, key.from, described(ends.sender),
                                    key.to, described(ends.reader)));
        }
    }
}

std::vector<Work> make_schedule(Plan const& plan, Buffers const& buffers, Rendezvous& rendezvous,
                                Aggregation aggregation) {
    std::vector<StepMatch> const matches = match_steps(plan);
    std::vector<Work> schedule;
    SignalCounts signals;
    HostComputes computes(plan, buffers);
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        schedule.push_back(
            StepCompiler(plan, buffers, rendezvous, aggregation, matches[step], signals, computes, step).compile());
    }
    return schedule;
}

}  // namespace dlmb::in_process
