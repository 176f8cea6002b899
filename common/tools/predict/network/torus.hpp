// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Torus: each node has two ports in each dimension, but one where two nodes share a link, and none where it is alone.
// Ways go one dimension after another, the fastest first, the short way around.
#pragma once

#include "common/tools/predict/network/interconnect.hpp"

namespace dlmb::predict {

/// Over half a ring both ways are short.
enum class HalfRing : std::uint8_t {
    upwards,    // all go up
    alternate,  // nodes with an even coordinate go up, the others down
};

/// How many links leave each node of a torus of this shape.
[[nodiscard]] int ports_of(std::vector<int> const& shape);

/// The steps of a route; a link's number is 2 * (node * dimensions + dimension), plus 1 upwards.
class TorusSteps {
public:
    explicit TorusSteps(std::vector<int> shape);

    [[nodiscard]] LinkId links() const { return links_; }
    [[nodiscard]] std::vector<int> const& shape() const { return shape_; }
    [[nodiscard]] int coordinate(int node, std::size_t dimension) const {
        return node / strides_[dimension] % shape_[dimension];
    }

    /// The last dimension first; calls add(link) for each, and returns their number.
    template <class Add>
    int each(int from, int to, HalfRing half_ring, Add&& add) const {
        int hops = 0;
        int node = from;
        std::size_t const dimensions = shape_.size();
        for (std::size_t dimension = dimensions; dimension-- > 0;) {
            int const extent = shape_[dimension];
            int const stride = strides_[dimension];
            int at = coordinate(node, dimension);
            int const ahead = (coordinate(to, dimension) - at + extent) % extent;
            bool const up =
                2 * ahead < extent || (2 * ahead == extent && (half_ring == HalfRing::upwards || at % 2 == 0));
            for (int left = up ? ahead : extent - ahead; left > 0; --left) {
                add(static_cast<LinkId>(2 * (static_cast<std::size_t>(node) * dimensions + dimension) + (up ? 1 : 0)));
                int const next = up ? (at + 1 == extent ? 0 : at + 1) : (at == 0 ? extent - 1 : at - 1);
                node += (next - at) * stride;
                at = next;
                ++hops;
            }
        }
        return hops;
    }

private:
    std::vector<int> shape_;
    std::vector<int> strides_;
    LinkId links_ = 0;
};

/// Where the nodes of a job are in the torus of the machine.
struct TorusFold {
    std::vector<int> shape;
    std::vector<int> place{};  // of each node of the job, in row-major order
};

/// A job of as many dimensions as the machine has its own shape. One of fewer has extents that are longer than the
/// machine's: each is laid into several dimensions, back and forth, so that neighbours stay neighbours, with lengths as
/// near to the cube root of the nodes (of a machine of three dimensions) as its divisors allow: 64x64 is 16x4x16x4. So
/// a system lays a logical shape into a torus of more dimensions; in which of them is not known of a job. Of Tofu the
/// machine's dimensions are the three rings that it makes of X, Y, Z and the unit of 2x3x2 (Ajima et al. 2009).
[[nodiscard]] TorusFold fold_of(Topology const& topology);
[[nodiscard]] bool is_folded(Topology const& topology);

}  // namespace dlmb::predict
