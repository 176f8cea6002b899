// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A selection tree of MPICH, walked as csel.c does: keys in their order, the first that holds; a number is read with
// atoi.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstdlib>
#include <optional>
#include <string>

namespace dlmb::tuning {

using Tree = nlohmann::ordered_json;

struct Call {
    std::string collective;
    std::uint64_t ranks = 1;
    std::uint64_t average = 0;
    std::uint64_t total = 0;
    bool in_place = false;
    bool built_in = true;
    bool commutative = true;
    bool long_vector = true;
};

inline bool number_holds(std::string const& key, std::string_view name, std::uint64_t value) {
    std::string const rest = key.substr(name.size());
    if (rest == "=any") {
        return true;
    }
    if (rest == "=pow2") {
        return std::has_single_bit(value);
    }
    bool const with_end = rest.starts_with("<=");
    EXPECT_TRUE(with_end || rest.starts_with("<")) << key;
    auto const bound = static_cast<std::uint64_t>(std::atoi(rest.substr(with_end ? 2 : 1).c_str()));
    return with_end ? value <= bound : value < bound;
}

inline bool holds(std::string const& key, Call const& call) {
    auto const yes_no = [&](std::string_view name, bool value) {
        return key.starts_with(name) ? std::optional{key.ends_with(value ? "=yes" : "=no")} : std::nullopt;
    };
    if (key.starts_with("avg_msg_size")) {
        bool const known =
            call.collective == "allreduce" || call.collective == "bcast" || call.collective == "alltoall";
        EXPECT_TRUE(known) << "4.0.2 aborts on avg_msg_size in " << call.collective;
        return number_holds(key, "avg_msg_size", call.average);
    }
    if (key.starts_with("total_msg_size")) {
        return number_holds(key, "total_msg_size", call.total);
    }
    if (key.starts_with("comm_size")) {
        return number_holds(key, "comm_size", call.ranks);
    }
    if (key.starts_with("comm_hierarchy")) {
        return true;
    }
    if (key.starts_with("count<pow2")) {
        return !call.long_vector;
    }
    return yes_no("is_sendbuf_inplace", call.in_place)
        .value_or(yes_no("is_commutative", call.commutative)
                      .value_or(yes_no("is_op_built_in", call.built_in)
                                    .value_or(key == "comm_type=intra" || key == "count=any" ||
                                              key == "collective=" + call.collective)));
}

inline std::string walk(Tree const& tree, Call const& call) {
    for (auto const& [key, below] : tree.items()) {
        if (key.starts_with("algorithm=")) {
            return key.substr(std::string("algorithm=").size());
        }
        if (holds(key, call)) {
            return walk(below, call);
        }
    }
    ADD_FAILURE() << "no branch for " << call.collective;
    return "";
}

}  // namespace dlmb::tuning
