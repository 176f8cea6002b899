// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/byte_matrix.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace dlmb::collective {
namespace {

__extension__ using Wide = unsigned __int128;  // 2^62 elements times a weight of 2^60

constexpr std::uint64_t power_law_units = 1 << 20;  // resolution of its loads; only their ratios count here

std::vector<std::size_t> one_bin_per_rank(int ranks) {
    std::vector<std::size_t> owners(static_cast<std::size_t>(ranks));
    std::iota(owners.begin(), owners.end(), std::size_t{0});
    return owners;
}

}  // namespace

std::vector<std::uint64_t> apportion(std::uint64_t total, std::span<double const> weights) {
    std::vector<Wide> scaled;
    scaled.reserve(weights.size());
    for (double const weight : weights) {
        scaled.push_back(static_cast<std::uint64_t>(weight * 0x1p40));
    }
    Wide const sum = std::accumulate(scaled.begin(), scaled.end(), Wide{0});
    std::vector<std::uint64_t> parts;
    std::vector<Wide> remainders;
    std::uint64_t left = total;
    for (Wide const weight : scaled) {
        parts.push_back(static_cast<std::uint64_t>(total * weight / sum));
        remainders.push_back(total * weight % sum);
        left -= parts.back();
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; i < left; ++i) {
        ++parts[order[i]];
    }
    return parts;
}

std::vector<int> grid_of(int ranks, int dimensions) {
    std::vector<int> factors;
    for (int factor = 2; ranks > 1; ++factor) {
        for (; ranks % factor == 0; ranks /= factor) {
            factors.push_back(factor);
        }
    }
    std::vector<int> sides(static_cast<std::size_t>(dimensions), 1);
    for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
        *std::min_element(sides.begin(), sides.end()) *= *factor;
    }
    std::sort(sides.rbegin(), sides.rend());
    return sides;
}

ByteMatrix::ByteMatrix(Params const& params, WorldShape const& world)
    : world_(world), weights_(params.skew, Bins{one_bin_per_rank(world.ranks), power_law_units, 1,
                                                static_cast<std::size_t>(world.ranks)}),
      spread_(params.spread), neighbors_(params.neighbors),
      grid_(neighbors_ ? grid_of(world.ranks, neighbors_->dimensions) : std::vector<int>{}),
      element_bytes_(size_of(params.element)),
      row_elements_(params.message_bytes / element_bytes_ *
                    (info_of(params.kind).per_rank ? static_cast<std::uint64_t>(world.ranks) : 1)) {}

std::vector<Bytes> ByteMatrix::row(Rank source, std::uint64_t seed) const {
    if (!is_skewed()) {
        std::vector<Bytes> bytes;
        for (Rank peer = 0; peer < world_.ranks; ++peer) {
            bytes.push_back(unskewed(source, peer));
        }
        return bytes;
    }
    std::vector<double> weights = weights_.of(static_cast<std::size_t>(source), seed, 0);
    for (Rank peer = 0; peer < world_.ranks; ++peer) {
        if (world_.node_of(peer) == world_.node_of(source)) {
            weights[static_cast<std::size_t>(peer)] *= weights_.skew().intra_host;
        }
    }
    std::vector<Bytes> bytes = apportion(row_elements_, weights);
    for (Bytes& part : bytes) {
        part *= element_bytes_;
    }
    return bytes;
}

std::vector<Bytes> ByteMatrix::column(Rank me, std::uint64_t seed) const {
    std::vector<Bytes> bytes;
    bytes.reserve(static_cast<std::size_t>(world_.ranks));
    for (Rank source = 0; source < world_.ranks; ++source) {
        if (!is_skewed()) {
            bytes.push_back(unskewed(source, me));
            continue;
        }
        bytes.push_back(source > 0 && same_row(source, source - 1) ? bytes.back()
                                                                   : row(source, seed)[static_cast<std::size_t>(me)]);
    }
    return bytes;
}

Bytes ByteMatrix::by_distance(Rank source, Rank destination) const {
    constexpr Bytes alignment = 16;  // a multiple of every element
    auto const ranks = static_cast<Bytes>(world_.ranks);
    Bytes const total = row_elements_ * element_bytes_;
    if (ranks == 1) {
        return total / alignment * alignment;
    }
    auto const all = static_cast<double>(total);
    auto const distance = static_cast<double>((destination - source + world_.ranks) % world_.ranks);
    double const even = all / static_cast<double>(ranks);
    Bytes const sum_of_distances = ranks * (ranks - 1) / 2;
    double const by_distance = distance * all / static_cast<double>(sum_of_distances);
    return static_cast<Bytes>((1 - *spread_) * even + *spread_ * by_distance) / alignment * alignment;
}

Bytes ByteMatrix::to_neighbor(Rank source, Rank destination) const {
    if (source == destination) {
        return 0;
    }
    for (auto side = grid_.rbegin(); side != grid_.rend(); ++side) {  // the last coordinate changes fastest
        int const apart = std::abs(source % *side - destination % *side);
        if (std::min(apart, *side - apart) > neighbors_->radius) {
            return 0;
        }
        source /= *side;
        destination /= *side;
    }
    return row_elements_ / static_cast<Bytes>(world_.ranks) * element_bytes_;
}

bool ByteMatrix::same_row(Rank a, Rank b) const {
    bool const by_node = weights_.skew().intra_host != 1;
    return weights_.skew().family != Skew::Family::file && (!by_node || world_.node_of(a) == world_.node_of(b));
}

}  // namespace dlmb::collective
