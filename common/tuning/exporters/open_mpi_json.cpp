// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/open_mpi.hpp"
#include "common/tuning/exporters/open_mpi_rows.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace dlmb::tuning {
namespace {

using Json = nlohmann::ordered_json;

constexpr Bytes most_json_bytes = std::numeric_limits<std::int64_t>::max();

Json bound(std::uint64_t max) {
    return max == no_limit ? Json("inf") : Json(max);
}

std::string_view name_in_file(MpiCollective collective) {
    return collective == MpiCollective::reduce_scatter_block ? "reducescatterblock" : name_of(collective);
}

Json rule(OpenMpiRow const& row) {
    Json json{{"msg_size_min", row.bytes.min}, {"msg_size_max", bound(row.bytes.max)}, {"alg", row.name}};
    if (row.segment_bytes != 0) {
        json["seg_size"] = row.segment_bytes;
    }
    if (row.max_requests != 0) {
        json["reqs"] = row.max_requests;
    }
    if (row.fanout != 0) {
        json["faninout"] = row.fanout;
    }
    return json;
}

/// The entry of a number of ranks is chosen before its rules are looked at, so all of them are in one entry.
Json entry(OpenMpiComm const& comm) {
    Json json{{"comm_size_min", comm.ranks.min}, {"comm_size_max", bound(comm.ranks.max)}};
    if (comm.single_node) {
        json["comm_rank_distribution"] = "single-node";
    }
    for (OpenMpiRow const& row : comm.rows) {
        json["rules"].push_back(rule(row));
    }
    return json;
}

}  // namespace

Export to_open_mpi6(TuningTable const& table, Slice const& slice, OpenMpiInfo const& info) {
    OpenMpiRows rows = open_mpi_rows(table, slice, parse_version(info.version), most_json_bytes, true);
    Json json{{"rule_file_version", 3}, {"module", "tuned"}, {"collectives", Json::object()}};
    for (OpenMpiCollective const& collective : rows.collectives) {
        for (OpenMpiComm const& comm : collective.comms) {
            json["collectives"][name_in_file(collective.collective)].push_back(entry(comm));
        }
    }
    return {{{"dlmb_rules.json", json.dump(1) + "\n"}},
            {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
             {"OMPI_MCA_coll_tuned_dynamic_rules_filename", std::string(folder_mark) + "/dlmb_rules.json"}},
            std::move(rows.lost),
            {"unset every OMPI_MCA_coll_tuned_*_algorithm: it beats the file"}};
}

}  // namespace dlmb::tuning
