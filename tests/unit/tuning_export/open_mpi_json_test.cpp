// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The JSON of Open MPI 6, read as its documentation says: the first communicator entry that holds the ranks, in it the
// first rule that holds the bytes; both ends count; nothing else applies.
#include "common/tuning/exporters/open_mpi.hpp"
#include "tests/unit/tuning_export/agreement.hpp"
#include "tests/unit/tuning_export/open_mpi_names.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dlmb::tuning {
namespace {

using Json = nlohmann::json;

bool holds(Json const& entry, std::string const& key, std::uint64_t value) {
    Json const& max = entry.at(key + "_max");
    return entry.at(key + "_min") <= value && (max == "inf" || value <= max.get<std::uint64_t>());
}

std::string run(Json const& file, Point const& point) {
    std::map<int, std::string> const names{{0, "allgather"}, {2, "allreduce"}, {3, "alltoall"},
                                           {4, "alltoallv"}, {7, "bcast"},     {13, "reducescatterblock"}};
    auto const found = file.at("collectives").find(names.at(collective_id(point)));
    if (found == file.at("collectives").end()) {
        return "";
    }
    bool const ragged = point.operation == TunedOperation::exchange && !point.uniform;
    for (Json const& entry : *found) {
        if (holds(entry, "comm_size", point.ranks)) {
            for (Json const& rule : entry.at("rules")) {
                if (holds(rule, "msg_size", ragged ? 0 : point.bytes)) {
                    return rule.at("alg");
                }
            }
            return "";
        }
    }
    return "";
}

TEST(OpenMpiJson, SaysWhatTheTableSays) {
    expect_agreement(open_mpi_shape(), [](TuningTable const& table, std::vector<Lost>& lost) {
        Export const made = to_open_mpi6(table, {{}, "host", "fp32", ""}, {"5.9.0"});
        lost = made.lost;
        return [file = Json::parse(made.files.at(0).text)](Point const& point) { return run(file, point); };
    });
}

TEST(OpenMpiJson, KeepsRulesOfOneNodeOnOneNode) {
    TuningTable table;
    table.rules = {make_rule(open_mpi_shape(), TunedOperation::allreduce, "ring", {4, 4}, {65536, no_limit})};
    table.rules[0].when.nodes = CountInterval{1, 1};
    Json const file = Json::parse(to_open_mpi6(table, {1, "host", "", ""}, {"6.0.0"}).files.at(0).text);
    EXPECT_EQ(file, Json::parse(R"({"rule_file_version": 3, "module": "tuned", "collectives": {"allreduce": [
        {"comm_size_min": 4, "comm_size_max": 4, "comm_rank_distribution": "single-node",
         "rules": [{"msg_size_min": 65536, "msg_size_max": "inf", "alg": "ring"}]}]}})"));
}

}  // namespace
}  // namespace dlmb::tuning
