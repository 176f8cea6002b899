// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reshard/routes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dlmb::reshard {
namespace {

std::vector<Rank> joined(std::vector<Rank> const& first, std::vector<Rank> const& second) {
    std::vector<Rank> all;
    std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(all));
    return all;
}

/// Cuts what one owner has into buckets of up to `limit` bytes.
class BucketFiller {
public:
    BucketFiller(Rank owner, Bytes limit) : owner_(owner), limit_(limit) {}

    /// `close(bytes, members)` for every bucket that is full.
    template <class Close>
    void add(Bytes bytes, std::vector<Rank> const& receivers, Close const& close) {
        while (bytes > 0) {
            Bytes const taken = std::min(bytes, limit_ - filled_);
            members_ = joined(filled_ == 0 ? std::vector{owner_} : members_, receivers);
            filled_ += taken;
            bytes -= taken;
            if (filled_ == limit_) {
                finish(close);
            }
        }
    }
    template <class Close>
    void finish(Close const& close) {
        if (filled_ > 0) {
            close(filled_, members_);
        }
        filled_ = 0;
    }

private:
    Rank owner_;
    Bytes limit_;
    Bytes filled_ = 0;
    std::vector<Rank> members_;
};

}  // namespace

Routes::Routes(std::vector<WeightGroup> const& groups, std::uint64_t layers, ParallelLayout const& from,
               ParallelLayout const& to, Bytes element_bytes, int world)
    : from_(from), to_(to), element_bytes_(element_bytes), world_(static_cast<std::size_t>(world)) {
    for (WeightGroup const& each : groups) {
        TensorGroup group{each.unit_elements * element_bytes,
                          meet(stage_parts(each, layers, from.pp), stage_parts(each, layers, to.pp)),
                          meet(expert_parts(each, from.ep), expert_parts(each, to.ep)),
                          meet(unit_parts(each, from.tp), unit_parts(each, to.tp)),
                          {}};
        group.keepers.resize(group.stages.segments.size() * group.experts.segments.size() *
                             group.units.segments.size());
        groups_.push_back(std::move(group));
    }
    find_keepers();
}

Routes::Box Routes::box_at(TensorGroup const& group, std::uint64_t stage, std::uint64_t expert, std::uint64_t unit) {
    Segment const& stages = group.stages.segments[stage];
    Segment const& experts = group.experts.segments[expert];
    Segment const& units = group.units.segments[unit];
    std::size_t const number = (stage * group.experts.segments.size() + expert) * group.units.segments.size() + unit;
    return {group, stages, experts,
            units, number, stages.units.size() * experts.units.size() * units.units.size() * group.unit_bytes};
}

RankSet Routes::holders_of(Box const& box) const {
    return {from_, box.stages.holders, box.experts.holders, box.units.holders};
}

RankSet Routes::receivers_of(Box const& box) const {
    return {to_, box.stages.receivers, box.experts.receivers, box.units.receivers};
}

Rank Routes::lacking_rank(Box const& box, std::size_t number) const {
    for (std::size_t const keeper : box.keepers()) {
        if (keeper > number) {
            break;
        }
        ++number;
    }
    return receivers_of(box).at(number);
}

template <class Visit>
void Routes::for_boxes(Place const& place, std::vector<Range> Axis::*of, Visit const& visit) const {
    for (TensorGroup const& group : groups_) {
        Range const stages = (group.stages.*of)[static_cast<std::size_t>(place.pp)];
        Range const experts = (group.experts.*of)[static_cast<std::size_t>(place.ep)];
        Range const units = (group.units.*of)[static_cast<std::size_t>(place.tp)];
        for (std::uint64_t stage = stages.begin; stage < stages.end; ++stage) {
            for (std::uint64_t expert = experts.begin; expert < experts.end; ++expert) {
                for (std::uint64_t unit = units.begin; unit < units.end; ++unit) {
                    visit(box_at(group, stage, expert, unit));
                }
            }
        }
    }
}

void Routes::find_keepers() {
    auto const has = [](std::vector<int> const& sorted, int value) {
        return std::binary_search(sorted.begin(), sorted.end(), value);
    };
    for (Rank rank = to_.first; rank < to_.first + to_.ranks(); ++rank) {
        if (!from_.has(rank)) {
            continue;
        }
        Place const held = from_.place_of(rank);
        for_boxes(to_.place_of(rank), &Axis::of_receiver, [&](Box const& box) {
            if (has(box.stages.holders, held.pp) && has(box.experts.holders, held.ep) &&
                has(box.units.holders, held.tp)) {
                groups_[static_cast<std::size_t>(&box.group - groups_.data())].keepers[box.number].push_back(
                    receivers_of(box).position_of(to_.place_of(rank)));
            }
        });
    }
}

Bytes Routes::lacking(Rank rank) const {
    Bytes sum = 0;
    for_pieces(rank, PieceSenders::one,
               [&](Box const&, Rank, Range elements) { sum += elements.size() * element_bytes_; });
    return sum;
}

template <class Visit>
void Routes::for_pieces(Rank receiver, PieceSenders senders, Visit const& visit) const {
    if (!to_.has(receiver)) {
        return;
    }
    Place const place = to_.place_of(receiver);
    for_boxes(place, &Axis::of_receiver, [&](Box const& box) {
        std::size_t const position = receivers_of(box).position_of(place);
        auto const keeper = std::lower_bound(box.keepers().begin(), box.keepers().end(), position);
        if (keeper != box.keepers().end() && *keeper == position) {
            return;
        }
        RankSet const holders = holders_of(box);
        auto const count = static_cast<int>(holders.size());
        std::uint64_t const elements = elements_of(box);
        if (senders == PieceSenders::all) {
            for (int i = 0; i < count; ++i) {
                visit(box, holders.at(static_cast<std::size_t>(i)), part(elements, count, i));
            }
            return;
        }
        std::size_t const number = position - static_cast<std::size_t>(keeper - box.keepers().begin());
        std::size_t const receivers = lacking_ranks(box);
        Range const own{number * elements, (number + 1) * elements};
        for (std::size_t i = number * holders.size() / receivers; i < holders.size(); ++i) {
            Range const sent = part(receivers * elements, count, static_cast<int>(i));
            if (sent.begin >= own.end) {
                break;
            }
            if (sent.end > own.begin) {
                visit(box, holders.at(i),
                      Range{std::max(sent.begin, own.begin) - own.begin, std::min(sent.end, own.end) - own.begin});
            }
        }
    });
}

std::vector<WeightPiece> Routes::pieces_to(Rank receiver, PieceSenders senders) const {
    std::vector<WeightPiece> pieces;
    for_pieces(receiver, senders, [&](Box const& box, Rank holder, Range elements) {
        pieces.push_back({holder, static_cast<std::size_t>(&box.group - groups_.data()), box.stages.units,
                          box.experts.units, box.units.units, elements});
    });
    return pieces;
}

void Routes::add_sent(Box const& box, std::size_t holder, PieceSenders senders, std::vector<Bytes>& sent) const {
    auto const count = static_cast<int>(holders_of(box).size());
    auto const own = static_cast<int>(holder);
    std::uint64_t const elements = elements_of(box);
    std::size_t const receivers = lacking_ranks(box);
    Range const stripe = part(elements, count, own);
    Range const line = part(receivers * elements, count, own);
    bool const one = senders == PieceSenders::one;
    std::size_t const first = one ? line.begin / elements : 0;
    std::size_t const end = one ? (line.end + elements - 1) / elements : receivers;
    for (std::size_t number = first; number < end; ++number) {
        std::uint64_t const begin = std::max(line.begin, number * elements);
        std::uint64_t const amount = one ? std::min(line.end, (number + 1) * elements) - begin : stripe.size();
        sent[static_cast<std::size_t>(lacking_rank(box, number))] += amount * element_bytes_;
    }
}

PeerBytes Routes::peers_of(Rank rank, PieceSenders senders) const {
    PeerBytes peers{std::vector<Bytes>(world_), std::vector<Bytes>(world_)};
    for_pieces(rank, senders, [&](Box const&, Rank holder, Range elements) {
        peers.received[static_cast<std::size_t>(holder)] += elements.size() * element_bytes_;
    });
    if (from_.has(rank)) {
        Place const place = from_.place_of(rank);
        for_boxes(place, &Axis::of_holder,
                  [&](Box const& box) { add_sent(box, holders_of(box).position_of(place), senders, peers.sent); });
    }
    return peers;
}

std::map<Rank, std::vector<Routes::Owned>> Routes::owned() const {
    std::map<Rank, std::vector<Owned>> by_owner;
    auto const add = [&](TensorGroup const& group, std::uint64_t stage, std::uint64_t expert) {
        std::map<Rank, Owned> here;  // all units of a tensor that an owner has travel together
        for (std::uint64_t unit = 0; unit < group.units.segments.size(); ++unit) {
            Box const box = box_at(group, stage, expert, unit);
            Owned& owned = here[holders_of(box).at(0)];
            owned.bytes += box.bytes;
            std::vector<Rank> receivers;
            for (std::size_t number = 0; number < lacking_ranks(box); ++number) {
                receivers.push_back(lacking_rank(box, number));
            }
            owned.receivers = joined(owned.receivers, receivers);
        }
        for (auto& [owner, owned] : here) {
            if (!owned.receivers.empty()) {
                by_owner[owner].push_back(std::move(owned));
            }
        }
    };
    for (TensorGroup const& group : groups_) {
        for (std::uint64_t stage = 0; stage < group.stages.segments.size(); ++stage) {
            for (std::uint64_t expert = 0; expert < group.experts.segments.size(); ++expert) {
                add(group, stage, expert);
            }
        }
    }
    return by_owner;
}

Broadcasts Routes::broadcasts(Bytes bucket) const {
    struct OwnerTurn {
        std::size_t number = 0;  // of the bucket among those of its owner
        BroadcastBucket bucket;
    };
    std::vector<OwnerTurn> turns;
    std::map<std::vector<Rank>, std::size_t> numbers;
    Bytes const limit = std::max(bucket / element_bytes_, Bytes{1}) * element_bytes_;  // whole elements
    for (auto const& [owner, all] : owned()) {
        std::size_t number = 0;
        auto const close = [&, owner = owner](Bytes bytes, std::vector<Rank> const& members) {
            std::size_t const set = numbers.emplace(members, numbers.size()).first->second;
            turns.push_back({number++, {owner, bytes, set}});
        };
        BucketFiller filler(owner, limit);
        for (Owned const& each : all) {
            filler.add(each.bytes, each.receivers, close);
        }
        filler.finish(close);
    }
    std::stable_sort(turns.begin(), turns.end(),
                     [](OwnerTurn const& first, OwnerTurn const& second) { return first.number < second.number; });
    Broadcasts broadcasts;
    for (OwnerTurn const& turn : turns) {
        broadcasts.buckets.push_back(turn.bucket);
    }
    broadcasts.sets.resize(numbers.size());
    for (auto const& [members, number] : numbers) {
        broadcasts.sets[number] = members;
    }
    return broadcasts;
}

}  // namespace dlmb::reshard
