// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// exchange in shared memory, in rounds of one segment of every block that has so many. The window has two slots for
// each block, used in turn. Blocks of one segment alternate between two windows instead: nobody waits for the reader.
#include "common/backend_kit/algorithms/shared_algorithms.hpp"
#include "common/backend_kit/algorithms/shared_phases.hpp"

#include <numeric>

namespace dlmb::algorithms {
namespace {

/// What goes between this place and another.
struct Pair {
    SharedBlock sent;
    SharedBlock received;
    SharedArea slots;
};

/// What travels of a block in one round.
struct Piece {
    Bytes offset = 0;  // in the block
    Bytes slot = 0;    // offset in its slots
    Bytes bytes = 0;
};

class SharedExchange {
public:
    SharedExchange(int place, int places, std::span<SharedBlock const> sent, std::span<SharedBlock const> received,
                   Bytes segment)
        : place_(place), segment_(segment), pairs_(static_cast<std::size_t>(places)),
          plan_(place, places, total(received), least_streamed) {
        for (SharedBlock const& block : sent) {
            pair(block.place).sent = block;
            rounds_ = std::max(rounds_, block.place == place_ ? 0 : rounds_of(block));
        }
        for (SharedBlock const& block : received) {
            pair(block.place).received = block;
            rounds_ = std::max(rounds_, block.place == place_ ? 0 : rounds_of(block));
        }
        windows_ = rounds_ == 1 ? 2 : 1;
    }

    SharedPlan make() && {
        Phases const phases(rounds_);
        in_turn([&](int other, Pair& each) {
            each.slots = plan_.window(std::min(each.sent.bytes, 2 * segment_of(each.sent)));
            plan_.offer(other, {each.slots.offset, each.sent.bytes}, each.received.bytes);
        });
        for (std::size_t round = 0; round <= rounds_; ++round) {
            if (round < rounds_) {
                fill(round, phases);
            }
            if (round == 1) {
                // While the others fill their windows.
                plan_.copy({SharedSpace::output, 0, pair(place_).received.offset},
                           {SharedSpace::input, 0, pair(place_).sent.offset}, pair(place_).sent.bytes);
            }
            if (round > 0) {
                use(round - 1, phases);
            }
        }
        return std::move(plan_).finish(phases.count(), windows_);
    }

private:
    static Bytes total(std::span<SharedBlock const> blocks) {
        return std::accumulate(blocks.begin(), blocks.end(), Bytes{0},
                               [](Bytes sum, SharedBlock const& block) { return sum + block.bytes; });
    }

    void fill(std::size_t round, Phases const& phases) {
        in_turn([&](int other, Pair& each) {
            std::size_t const rounds = rounds_of(each.sent);
            if (round >= rounds) {
                return;
            }
            if (round >= 2) {
                plan_.await(other, phases.used(round - 2));
            } else if (round == 0) {
                plan_.await(other, phases.used(rounds - 1), static_cast<std::uint32_t>(windows_));
            }
            Piece const piece = piece_of(each.sent, round);
            plan_.copy(each.slots + piece.slot, {SharedSpace::input, 0, each.sent.offset + piece.offset}, piece.bytes);
        });
        plan_.publish(phases.filled(round));
    }

    void use(std::size_t round, Phases const& phases) {
        in_turn([&](int other, Pair& each) {
            if (round >= rounds_of(each.received)) {
                return;
            }
            plan_.await(other, phases.filled(round));
            Piece const piece = piece_of(each.received, round);
            plan_.copy({SharedSpace::output, 0, each.received.offset + piece.offset},
                       {SharedSpace::window, other, piece.slot}, piece.bytes);
        });
        plan_.publish(phases.used(round));
    }

    template <class Use>
    void in_turn(Use const& use) {
        for (std::size_t distance = 1; distance < pairs_.size(); ++distance) {
            auto const other = (static_cast<std::size_t>(place_) + distance) % pairs_.size();
            use(static_cast<int>(other), pairs_[other]);
        }
    }
    [[nodiscard]] Pair& pair(int place) { return pairs_.at(static_cast<std::size_t>(place)); }
    /// Alike at both ends of a block.
    [[nodiscard]] Bytes segment_of(SharedBlock const& block) const {
        constexpr Bytes least = Bytes{64} << 10;
        constexpr Bytes most = Bytes{256} << 10;
        return segment_ == 0 ? std::clamp((block.bytes + 1) / 2, least, most) : segment_;
    }
    [[nodiscard]] std::size_t rounds_of(SharedBlock const& block) const {
        return (block.bytes + segment_of(block) - 1) / segment_of(block);
    }
    [[nodiscard]] Piece piece_of(SharedBlock const& block, std::size_t round) const {
        Bytes const segment = segment_of(block);
        Bytes const offset = round * segment;
        return {offset, round % 2 * segment, std::min(segment, block.bytes - offset)};
    }

    int place_;
    Bytes segment_;  // 0: half a block, so that no slot is needed twice, within bounds
    std::vector<Pair> pairs_;
    SharedPlanner plan_;
    std::size_t rounds_ = 0;
    int windows_ = 1;
};

}  // namespace

SharedPlan shared_exchange(int place, int places, std::span<SharedBlock const> sent,
                           std::span<SharedBlock const> received, Bytes segment) {
    return SharedExchange(place, places, sent, received, segment).make();
}

}  // namespace dlmb::algorithms
