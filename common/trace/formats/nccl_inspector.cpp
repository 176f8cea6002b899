// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON Lines of NCCL's Inspector plugin (ext-profiler/inspector of NCCL 2.28): one object per collective. Its size is
// what ncclInfo counts: of an AllGather and a ReduceScatter the share of one rank, of the others the vector. Sends and
// receives, and so exchanges that are made of them, are not recorded.
#include "common/base/error.hpp"
#include "common/trace/formats/communicators.hpp"
#include "common/trace/formats/formats.hpp"
#include "common/trace/json_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::trace {
namespace {

class InspectorReader : public Reader {
public:
    explicit InspectorReader(Builder& builder) : builder_(builder) {}

    void read(Input& input) override {
        file_ = input.name();
        scan_json_lines(input, [&](std::uint64_t index, std::string_view text) {
            std::string const where = fmt::format("record {}", index);
            add(input, where, parse_piece(input, where, text));
        });
    }

    void finish() override {
        std::map<std::string, std::size_t> counts;
        for (auto const& [key, numbers] : numbers_) {
            auto const& [communicator, rank] = key;
            if (*numbers.rbegin() - *numbers.begin() + 1 != numbers.size()) {
                builder_.incomplete(
                    fmt::format("communicator {}, rank {}: coll_sn goes from {} to {}, but only {} are there: "
                                "records were lost",
                                communicator, rank, *numbers.begin(), *numbers.rbegin(), numbers.size()));
            }
            auto const [first, added] = counts.emplace(communicator, numbers.size());
            if (!added && first->second != numbers.size()) {
                builder_.incomplete(fmt::format("communicator {}: rank {} has {} records, another rank {}",
                                                communicator, rank, numbers.size(), first->second));
            }
        }
        if (numbers_.empty()) {
            throw_empty();
        }
        builder_.leave_out("sends and receives, which the Inspector does not record", 0);
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

    void add(Input const& input, std::string const& where, Json const& json) {
        Json const& header = member(input, where, json, "header");
        Json const metadata = json.value("metadata", Json::object());
        if (!json.contains("coll_perf")) {
            builder_.leave_out("record without coll_perf");
            return;
        }
        Json const& call = json["coll_perf"];
        if (metadata.is_object() && metadata.contains("inspector_output_format_version")) {
            std::string const version = metadata["inspector_output_format_version"].dump();
            if (!version.starts_with("\"v4.")) {
                input.refuse(fmt::format("{}: format {} of the Inspector is unknown; v4.x is read", where, version));
            }
        }
        auto const number = [&](Json const& object, char const* name) {
            return whole_number(input, fmt::format("{}.{}", where, name), member(input, where, object, name));
        };
        auto const text = [&](Json const& object, char const* name) -> std::string {
            return object.is_object() && object.contains(name) ? object[name].dump() : std::string();
        };
        Bytes const ranks = number(header, "n_ranks");
        Bytes const rank = number(header, "rank");
        if (ranks == 0 || ranks > most_ranks || rank >= ranks) {
            input.refuse(fmt::format("{}: rank {} of {} ranks", where, rank, ranks));
        }
        Json const& name = member(input, where, call, "coll");
        auto const kind = name.is_string() ? operation_named(name.get_ref<std::string const&>()) : std::nullopt;
        if (!kind) {
            input.refuse(fmt::format("{}: coll {} is unknown", where,
                                     name.dump(-1, ' ', false, Json::error_handler_t::replace)));
        }
        std::string const communicator = text(header, "id");
        std::string const process =
            fmt::format("process {} of {} (rank {})", text(metadata, "pid"), text(metadata, "hostname"),
                        text(metadata, "pid").empty() ? std::to_string(rank) : "");
        Bytes const serial = number(call, "coll_sn");
        if (!numbers_[{communicator, static_cast<int>(rank)}].insert(serial).second) {
            builder_.leave_out("second record of one call");
            return;
        }
        TraceOperation operation;
        operation.kind = *kind;
        operation.dtype = builder_.assumptions().dtype.value_or(Dtype{});
        Bytes const bytes = number(call, "coll_msg_size_bytes");
        bool const scatters = *kind == OperationKind::reduce_scatter || *kind == OperationKind::exchange ||
                              *kind == OperationKind::scatter;
        bool const gathers =
            *kind == OperationKind::all_gather || *kind == OperationKind::exchange || *kind == OperationKind::gather;
        operation.sent = product(input, where, bytes, scatters ? ranks : 1);
        operation.received = product(input, where, bytes, gathers ? ranks : 1);
        if (call.contains("coll_exec_time_us") && call["coll_exec_time_us"].is_number()) {
            operation.duration_us = call["coll_exec_time_us"].get<double>();
        }
        communicators_.join(process, communicator, static_cast<int>(rank), static_cast<int>(ranks));
        communicators_.call(process, communicator, std::move(operation));
    }

    Builder& builder_;
    Communicators communicators_;
    std::map<std::pair<std::string, int>, std::set<Bytes>> numbers_;
    std::string file_;
};

void InspectorReader::throw_empty() const {
    throw UsageError(
        fmt::format("{}: no communication in it: no record with coll_perf; record longer, or with a shorter "
                    "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS",
                    file_));
}

bool is_nccl_inspector(std::string_view /*name*/, std::string_view head) {
    return first_character(head) == '{' && has_member(head, "header") &&
           (has_member(head, "coll_perf") || has_member(head, "metadata"));
}

}  // namespace

Format nccl_inspector_format() {
    return {"nccl-inspector", "JSON Lines of NCCL's Inspector plugin", is_nccl_inspector,
            [](Builder& builder) -> std::unique_ptr<Reader> { return std::make_unique<InspectorReader>(builder); }};
}

}  // namespace dlmb::trace
