// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/predict/network/interconnect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace dlmb::predict {
namespace {

/// HammingMesh (Hoefler et al. 2022): boards of a x a nodes with four ports each, linked as a mesh. The outer ports of
/// one row of nodes, of all boards in a board row, go to one switch; columns alike. Switches do not block. A route goes
/// to the column of the target first: on the board where that has it, otherwise off the board by the near edge and onto
/// the other one by the edge near its target; then to the row alike. If the board where it turns is removed, it goes to
/// the row first. Nodes are numbered board by board. Links of a node: out of its four ports, and into it from the
/// switches beyond them.
class HammingMesh : public Interconnect {
    /// Ports of a node; in each dimension that down and that up the coordinate.
    static constexpr LinkId ports = 4;
    static constexpr std::array<std::string_view, ports> port_names{"west", "east", "north", "south"};
    static constexpr double port_capacity = 1.0 / ports;

public:
    explicit HammingMesh(Topology const& topology)
        : Interconnect(topology, std::int64_t{topology.nodes()} * 2 * ports), side_(topology.shape[0]),
          boards_x_(topology.shape[1]), boards_y_(topology.shape[2]),
          numbers_(static_cast<std::size_t>(boards_x_ * boards_y_), -1) {
        for (int row = 0; row < boards_y_; ++row) {
            for (int column = 0; column < boards_x_; ++column) {
                if (std::find(topology.removed.begin(), topology.removed.end(), Board{column, row}) ==
                    topology.removed.end()) {
                    numbers_[place(column, row)] = static_cast<int>(boards_.size());
                    boards_.push_back({column, row});
                }
            }
        }
        check_routes(topology);
    }
    [[nodiscard]] std::vector<int> order(Placement placement) const override {
        std::vector<int> nodes = Interconnect::order(placement);
        if (placement == Placement::row_major) {
            std::sort(nodes.begin(), nodes.end(), [&](int a, int b) {
                auto const at = coordinates(a);
                auto const other = coordinates(b);
                return std::pair(at[1], at[0]) < std::pair(other[1], other[0]);
            });
        }
        return nodes;
    }

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override {
        LinkId const port = link % ports;
        bool const into = link % (2 * ports) >= ports;
        std::size_t const dimension = port / 2;
        int const at = coordinates(static_cast<int>(link / (2 * ports)))[dimension] % side_;
        bool const edge = at == (port % 2 == 0 ? 0 : side_ - 1);
        bool const switched = (dimension == 0 ? boards_x_ : boards_y_) > 1;
        return edge ? (switched ? port_capacity : 0) : (into ? 0 : port_capacity);
    }
    [[nodiscard]] std::string inner_name(LinkId link) const override {
        int const node = static_cast<int>(link / (2 * ports));
        auto const at = coordinates(node);
        return fmt::format("node {} ({},{} of board {}/{}) {} {}", node, at[0] % side_, at[1] % side_, at[0] / side_,
                           at[1] / side_, link % (2 * ports) >= ports ? "from the switch" : "out",
                           port_names[link % ports]);
    }
    void add_inner(int from, int to, std::vector<LinkId>& route) const override {
        auto at = coordinates(from);
        auto const last = coordinates(to);
        // Messages that go half a ring alternate by how far they go in the other dimension.
        std::array<int, 2> const extents{boards_x_ * side_, boards_y_ * side_};
        std::array<bool, 2> half_up{};
        for (std::size_t dimension = 0; dimension < 2; ++dimension) {
            int const apart = last[1 - dimension] - at[1 - dimension];
            half_up[dimension] = (apart + extents[1 - dimension]) % extents[1 - dimension] % 2 == 0;
        }
        std::size_t const first = has_board(last[0] / side_, at[1] / side_) ? 0 : 1;
        for (std::size_t const dimension : {first, 1 - first}) {
            go(at, dimension, last[dimension], half_up[dimension], route);
        }
    }
    [[nodiscard]] int representative_of(int node) const override { return symmetric() ? node % (side_ * side_) : node; }
    [[nodiscard]] LinkId inner_class(LinkId link) const override {
        return symmetric() ? link % static_cast<LinkId>(side_ * side_ * 2 * static_cast<int>(ports)) : link;
    }

private:
    [[nodiscard]] bool symmetric() const { return boards_.size() == numbers_.size(); }
    [[nodiscard]] std::size_t place(int column, int row) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(boards_x_) + static_cast<std::size_t>(column);
    }
    [[nodiscard]] bool has_board(int column, int row) const { return numbers_[place(column, row)] >= 0; }
    void check_routes(Topology const& topology) const {
        // Only where two removed boards are corners of a rectangle, the other two corners have no route.
        for (Board const& a : topology.removed) {
            for (Board const& b : topology.removed) {
                if (a.column != b.column && a.row != b.row && has_board(a.column, b.row) &&
                    has_board(b.column, a.row)) {
                    throw UsageError(fmt::format(
                        "topology '{}': boards {}/{} and {}/{} have no minimal route; remove a column or a row more",
                        topology.text(), a.column, b.row, b.column, a.row));
                }
            }
        }
    }
    /// Column and row of a node in the mesh of all boards.
    [[nodiscard]] std::array<int, 2> coordinates(int node) const {
        int const inside = node % (side_ * side_);
        Board const& board = boards_[static_cast<std::size_t>(node / (side_ * side_))];
        return {board.column * side_ + inside % side_, board.row * side_ + inside / side_};
    }
    /// The inverse, of a board that is there.
    [[nodiscard]] int node_at(std::array<int, 2> at) const {
        int const board = numbers_[place(at[0] / side_, at[1] / side_)];
        return board * side_ * side_ + at[1] % side_ * side_ + at[0] % side_;
    }
    /// From `at` to the coordinate `to` in dimension 0 (columns) or 1; moves `at`. `half_up`: from the middle of a
    /// board half around the boards goes upwards.
    void go(std::array<int, 2>& at, std::size_t dimension, int to, bool half_up, std::vector<LinkId>& route) const {
        auto const port = [&](bool up) {
            return static_cast<LinkId>(node_at(at)) * 2 * ports + static_cast<LinkId>(2 * dimension + (up ? 1 : 0));
        };
        auto const step = [&](int target) {  // on the board
            while (at[dimension] != target) {
                bool const up = target > at[dimension];
                route.push_back(port(up));
                at[dimension] += up ? 1 : -1;
            }
        };
        int const board = at[dimension] / side_;
        int const target = to / side_;
        if (board != target) {
            // From the middle of a board all edges are near: upwards as a ring would go.
            int const boards = dimension == 0 ? boards_x_ : boards_y_;
            int const ahead = (target - board + boards) % boards;
            bool const ring_up = 2 * ahead < boards || (2 * ahead == boards && half_up);
            auto const upper_edge = [&](int inside, bool otherwise) {
                return 2 * inside == side_ - 1 ? otherwise : 2 * inside > side_ - 1;
            };
            bool const leaves_up = upper_edge(at[dimension] % side_, ring_up);
            bool const enters_up = upper_edge(to % side_, !ring_up);
            step(board * side_ + (leaves_up ? side_ - 1 : 0));
            route.push_back(port(leaves_up));
            at[dimension] = target * side_ + (enters_up ? side_ - 1 : 0);
            route.push_back(ports + port(enters_up));
        }
        step(to);
    }
    int side_;
    int boards_x_;
    int boards_y_;
    std::vector<Board> boards_;  // by number
    std::vector<int> numbers_;   // by row and column; -1: removed
};

}  // namespace

std::unique_ptr<Interconnect> hamming_mesh_of(Topology const& topology) {
    return std::make_unique<HammingMesh>(topology);
}

}  // namespace dlmb::predict
