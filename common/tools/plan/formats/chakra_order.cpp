// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/formats/chakra_order.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace dlmb::trace::chakra {
namespace {

class NodeOrder {
public:
    NodeOrder(Builder& builder, std::string const& file, std::vector<Node> const& nodes)
        : builder_(builder), file_(file), nodes_(nodes), open_(nodes.size()), followers_(nodes.size()) {}

    std::vector<std::size_t> find() {
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            auto const [known, is_new] = places_.emplace(nodes_[place].id, place);
            if (!is_new) {
                builder_.incomplete(fmt::format("{}: {} and {} have the same id, {}", file_,
                                                nodes_[known->second].where(), nodes_[place].where(),
                                                nodes_[place].id));
            }
        }
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            for (std::uint64_t const id : nodes_[place].dependencies) {
                auto const known = places_.find(id);
                if (known == places_.end()) {
                    builder_.incomplete(fmt::format("{}: {} waits for node {}, which is not in the file", file_,
                                                    nodes_[place].where(), id));
                } else {
                    ++open_[place];
                    followers_[known->second].push_back(place);
                }
            }
        }
        for (std::size_t place = 0; place < nodes_.size(); ++place) {
            if (open_[place] == 0) {
                ready_.insert({nodes_[place].id, place});
            }
        }
        go_on();
        if (order_.size() < nodes_.size()) {
            report_circle();
        }
        return std::move(order_);
    }

private:
    void go_on() {
        while (!ready_.empty()) {
            std::size_t const place = ready_.extract(ready_.begin()).value().second;
            order_.push_back(place);
            for (std::size_t const follower : followers_[place]) {
                if (--open_[follower] == 0) {
                    ready_.insert({nodes_[follower].id, follower});
                }
            }
        }
    }

    /// From any node that is left, along what it waits for, a node comes twice.
    void report_circle() {
        std::set<std::size_t> seen;
        std::size_t place = 0;
        while (open_[place] == 0) {
            ++place;
        }
        while (seen.insert(place).second) {
            for (std::uint64_t const id : nodes_[place].dependencies) {
                auto const known = places_.find(id);
                if (known != places_.end() && open_[known->second] > 0) {
                    place = known->second;
                    break;
                }
            }
        }
        std::size_t other = place;
        for (std::uint64_t const id : nodes_[place].dependencies) {
            auto const known = places_.find(id);
            other = known != places_.end() && open_[known->second] > 0 ? known->second : other;
        }
        builder_.incomplete(fmt::format("{}: {} and {} wait for each other, so neither can begin", file_,
                                        nodes_[place].where(), nodes_[other].where()));
        for (place = 0; place < nodes_.size(); ++place) {
            if (open_[place] > 0) {
                order_.push_back(place);
            }
        }
    }

    Builder& builder_;
    std::string const& file_;
    std::vector<Node> const& nodes_;
    std::map<std::uint64_t, std::size_t> places_;  // by id
    std::vector<std::size_t> open_;                // of what each waits for
    std::vector<std::vector<std::size_t>> followers_;
    std::set<std::pair<std::uint64_t, std::size_t>> ready_;
    std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> in_order(Builder& builder, std::string const& file, std::vector<Node> const& nodes) {
    return NodeOrder(builder, file, nodes).find();
}

}  // namespace dlmb::trace::chakra
