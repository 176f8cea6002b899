// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON Lines of NCCL's Inspector plugin (ext-profiler/inspector of NCCL 2.28): one object per collective, and from
// format 4.1 on one per send and receive. From 4.3 on the header stands in a marker in front of a batch of them. The
// size is what ncclInfo counts: of an AllGather and a ReduceScatter the share of one rank, of the others the vector.
#include "common/base/error.hpp"
#include "common/formats/input/json_scan.hpp"
#include "common/tools/plan/formats/communicators.hpp"
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace dlmb::trace {
namespace {

class InspectorReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        file_ = input.name();
        header_ = metadata_ = Json();
        scan_json_lines(input, "record",
                        [&](std::string const& where, Json const& object) { add(input, where, object); });
    }

    void finish() override {
        std::map<std::pair<std::string, std::string>, std::size_t> counts;
        for (auto const& [key, numbers] : numbers_) {
            auto const& [communicator, rank, prefix] = key;
            if (*numbers.rbegin() - *numbers.begin() + 1 != numbers.size()) {
                builder_.incomplete(
                    fmt::format("communicator {}, rank {}: {}sn goes from {} to {}, but only {} are there: "
                                "records were lost",
                                communicator, rank, prefix, *numbers.begin(), *numbers.rbegin(), numbers.size()));
            }
            auto const [first, added] = counts.emplace(std::pair(communicator, prefix), numbers.size());
            if (prefix == collective && !added && first->second != numbers.size()) {
                builder_.incomplete(fmt::format("communicator {}: rank {} has {} records, another rank {}",
                                                communicator, rank, numbers.size(), first->second));
            }
        }
        if (numbers_.empty()) {
            throw_empty();
        }
        communicators_.finish(builder_, file_);
    }

private:
    [[noreturn]] void throw_empty() const;

    static Json const& member(Input const& input, std::string const& where, Json const& json, char const* name) {
        if (!json.is_object() || !json.contains(name)) {
            input.refuse(fmt::format("{}: {} is missing", where, name));
        }
        return json[name];
    }

    static Json part(Json const& json, char const* name) {
        return json.is_object() ? json.value(name, Json()) : Json();
    }

    void add(Input const& input, std::string const& where, Json const& json) {
        for (auto const& [name, held] : {std::pair("header", &header_), std::pair("metadata", &metadata_)}) {
            if (Json found = part(json, name); !found.is_null()) {
                *held = std::move(found);
            }
        }
        Json const version = part(metadata_, "inspector_output_format_version");
        if (!version.is_null() && !version.dump().starts_with("\"v4.")) {
            input.refuse(fmt::format("{}: format {} of the Inspector is unknown; v4.x is read", where, version.dump()));
        }
        Json const dropped = part(json, "dump_stats");
        for (char const* const name : {"coll_dropped_since_last_dump", "p2p_dropped_since_last_dump"}) {
            if (Json const number = part(dropped, name); !number.is_null() && number != 0) {
                builder_.incomplete(fmt::format("{}: {} is {}: records were lost", input.name(), name, number.dump()));
            }
        }
        for (std::string_view const prefix : {collective, message}) {
            if (Json const call = part(json, fmt::format("{}perf", prefix).c_str()); !call.is_null()) {
                add_call(input, where, prefix, call);
                return;
            }
        }
        builder_.leave_out("record without coll_perf and p2p_perf");
    }

    void add_call(Input const& input, std::string const& where, std::string_view prefix, Json const& call) {
        auto const number = [&](Json const& object, std::string const& name) {
            return whole_number(input, fmt::format("{}.{}", where, name), member(input, where, object, name.c_str()));
        };
        auto const field = [&](std::string_view name) { return fmt::format("{}{}", prefix, name); };
        if (header_.is_null()) {
            input.refuse(fmt::format("{}: header is missing", where));
        }
        Bytes const ranks = number(header_, "n_ranks");
        Bytes const rank = number(header_, "rank");
        if (ranks == 0 || ranks > most_recorded_ranks || rank >= ranks) {
            input.refuse(fmt::format("{}: rank {} of {} ranks", where, rank, ranks));
        }
        Json const& name = member(input, where, call, prefix == collective ? "coll" : "p2p");
        auto const kind = name.is_string() ? operation_named(name.get_ref<std::string const&>()) : std::nullopt;
        if (!kind) {
            input.refuse(fmt::format("{}: operation {} is unknown", where,
                                     name.dump(-1, ' ', false, Json::error_handler_t::replace)));
        }
        std::string const communicator = part(header_, "id").dump();
        std::string const pid = part(metadata_, "pid").dump();
        std::string const process = pid == "null"
                                        ? fmt::format("rank {}", rank)
                                        : fmt::format("process {} of {}", pid, part(metadata_, "hostname").dump());
        auto const [joined, is_new] = ranks_.try_emplace({process, communicator}, rank);
        if (!is_new && joined->second != rank) {
            input.refuse(fmt::format("{}: {} is rank {} and rank {} of communicator {}, and records do not tell its "
                                     "GPUs apart; record with a process per GPU",
                                     where, process, joined->second, rank, communicator));
        }
        if (!numbers_[{communicator, static_cast<int>(rank), std::string(prefix)}]
                 .insert(number(call, field("sn")))
                 .second) {
            builder_.leave_out("second record of one call");
            return;
        }
        if (part(metadata_, "inspector_output_format_version") == "v4.0") {
            builder_.note("calls in format v4.0 of the Inspector, which has no sends and receives");
        }
        TraceOperation operation = nccl_operation(input, where, *kind, builder_.assumed_dtype().value_or(Dtype{}),
                                                  number(call, field("msg_size_bytes")), ranks);
        if (prefix == message) {
            operation.peer = rank_number(input, where + ".p2p_peer", member(input, where, call, "p2p_peer"));
        }
        if (Json const time = part(call, field("exec_time_us").c_str()); time.is_number()) {
            operation.duration_us = time.get<double>();
        }
        if (Json const start = part(part(call, "event_trace_ts"), field("start_ts").c_str()); start.is_number()) {
            operation.start_us = start.get<double>();
        }
        communicators_.join(process, communicator, static_cast<int>(rank), static_cast<int>(ranks));
        communicators_.call(process, communicator, std::move(operation));
    }

    static constexpr std::string_view collective = "coll_";
    static constexpr std::string_view message = "p2p_";

    TraceCommunicators communicators_;
    std::map<std::tuple<std::string, int, std::string>, std::set<Bytes>> numbers_;
    std::map<std::pair<std::string, std::string>, Bytes> ranks_;  // by process and communicator
    Json header_;                                                 // of the record, or of the marker in front of it
    Json metadata_;
    std::string file_;
};

void InspectorReader::throw_empty() const {
    throw UsageError(fmt::format(
        "{}: no communication in it: no record with coll_perf or p2p_perf; record longer, or with a shorter "
        "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS",
        file_));
}

bool is_nccl_inspector(std::string_view /*name*/, std::string_view head) {
    return first_character(head) == '{' && has_member(head, "header") &&
           (has_member(head, "coll_perf") || has_member(head, "metadata"));
}

}  // namespace

TraceFormat nccl_inspector_format() {
    return {"nccl-inspector", "JSON Lines of NCCL's Inspector plugin", is_nccl_inspector, make_reader<InspectorReader>};
}

}  // namespace dlmb::trace
