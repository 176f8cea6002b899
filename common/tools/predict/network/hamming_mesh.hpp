// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// HammingMesh (Hoefler et al. 2022): boards of a x a nodes with four ports each, linked as a mesh. The outer ports of
// one row of nodes, of all boards in a board row, go to one switch; columns alike. Switches do not block. A route goes
// to the column of the target first: on the board where that has it, otherwise off the board by the near edge and onto
// the other one by the edge near its target; then to the row alike. If the board where it turns is removed, it goes to
// the row first. Nodes are numbered board by board.
#pragma once

#include "common/tools/predict/network/interconnect.hpp"

#include <array>

namespace dlmb::predict {

class HammingMesh : public Interconnect {
public:
    explicit HammingMesh(Topology const& topology);
    [[nodiscard]] std::vector<int> order(Placement placement) const override;
    /// Column and row of a node in the mesh of all boards.
    [[nodiscard]] std::array<int, 2> coordinates(int node) const;
    /// The inverse; -1: its board is removed.
    [[nodiscard]] int node_at(std::array<int, 2> at) const;

protected:
    [[nodiscard]] double inner_capacity(LinkId link) const override;
    [[nodiscard]] std::string inner_name(LinkId link) const override;
    void add_inner(int from, int to, std::vector<LinkId>& route) const override;
    [[nodiscard]] int representative_of(int node) const override { return symmetric() ? node % (side_ * side_) : node; }
    [[nodiscard]] LinkId inner_class(LinkId link) const override;

private:
    [[nodiscard]] bool symmetric() const { return boards_.size() == numbers_.size(); }
    [[nodiscard]] std::size_t place(int column, int row) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(boards_x_) + static_cast<std::size_t>(column);
    }
    [[nodiscard]] bool has_board(int column, int row) const { return numbers_[place(column, row)] >= 0; }
    void check_routes(Topology const& topology) const;
    /// From `at` to the coordinate `to` in dimension 0 (columns) or 1; moves `at`. `half_up`: from the middle of a
    /// board half around the boards goes upwards.
    void go(std::array<int, 2>& at, std::size_t dimension, int to, bool half_up, std::vector<LinkId>& route) const;

    int side_;
    int boards_x_;
    int boards_y_;
    std::vector<Board> boards_;  // by number
    std::vector<int> numbers_;   // by row and column; -1: removed
};

}  // namespace dlmb::predict
