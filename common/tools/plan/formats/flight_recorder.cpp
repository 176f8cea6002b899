// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Dumps of PyTorch's flight recorder as JSON (version 2.x): one file per rank, with the last calls before a timeout and
// their states, and how far each process group came. Which call hung, this tells; it has no begin of kernels, no roots,
// and no splits of an all_to_all_single. Fields: torch/csrc/distributed/c10d/FlightRecorder of PyTorch.
#include "common/base/error.hpp"
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dlmb::trace {
namespace {

constexpr std::string_view completed_state = "completed";

/// One entry, read but for what others tell.
struct RecorderEntry {
    Bytes record = 0;
    std::int64_t number = 0;  // of the collective in its group
    std::string pg_id;
    std::string state;
    bool hides_splits = false;
    TorchRecord details;  // with the name of the call
};

/// Whole numbers, of which some versions write texts; -1: none.
std::optional<std::int64_t> last_number(Input const& input, std::string const& where, Json const& value) {
    if (value.is_null() || value == -1 || value == "-1") {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(whole_number(input, where, value));
}

class FlightRecorderReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        groups_.clear();
        std::map<std::string, Progress> status;  // by number of the group in this process
        std::vector<RecorderEntry> entries;
        std::optional<Rank> rank;
        scan_json(input, {[](std::string_view name) { return name == "entries"; },
                          [&](std::string_view /*list*/, std::uint64_t index, Json const& value) {
                              entries.push_back(entry(input, fmt::format("entries[{}]", index), value));
                          },
                          [&](std::string_view name, Json const& value) {
                              if (name == "pg_config") {
                                  read_groups(input, value);
                              } else if (name == "pg_status") {
                                  read_status(input, value, status);
                              } else if (name == "rank") {
                                  rank = rank_number(input, name, value);
                              } else if (name == "entries") {
                                  input.refuse("entries must be a list");
                              }
                          }});
        rank = rank ? rank : rank_of_name(input.name());
        if (!rank) {
            input.refuse(
                "neither the dump nor the name of the file tells the rank; name it like nccl_trace_rank_3.json");
        }
        file_ = input.name();
        any_call_ = any_call_ || !entries.empty();
        add(input, *rank, std::move(entries), std::move(status));
    }

    void finish() override {
        if (!any_call_) {
            throw UsageError(fmt::format("{}: no call in it; set TORCH_FR_BUFFER_SIZE (before PyTorch 2.8: "
                                         "TORCH_NCCL_TRACE_BUFFER_SIZE) to a number of calls, and dump without "
                                         "onlyActive",
                                         file_));
        }
        leave_out_begins();
    }

private:
    void read_groups(Input const& input, Json const& groups) {
        if (!groups.is_object()) {
            input.refuse("pg_config must be an object");
        }
        for (auto const& [key, group] : groups.items()) {
            std::string const where = fmt::format("pg_config.{}", key);
            if (!group.is_object() || !group.contains("ranks")) {
                input.refuse(fmt::format("{} has no ranks", where));
            }
            groups_[key] = std::make_shared<NumberList const>(number_list(input, where + ".ranks", group["ranks"]));
        }
    }

    static void read_status(Input const& input, Json const& groups, std::map<std::string, Progress>& status) {
        if (!groups.is_object()) {
            input.refuse("pg_status must be an object");
        }
        for (auto const& group : groups.items()) {
            std::string const& key = group.key();
            Json const& told = group.value();
            auto const number = [&](char const* name) {
                return last_number(input, fmt::format("pg_status.{}.{}", key, name),
                                   told.is_object() ? told.value(name, Json()) : Json());
            };
            Progress& progress = status[key];
            progress.enqueued = number("last_enqueued_collective");
            progress.started = number("last_started_collective");
            progress.completed = number("last_completed_collective");
        }
    }

    RecorderEntry entry(Input const& input, std::string const& where, Json const& told) const {
        if (!told.is_object()) {
            input.refuse(fmt::format("{} must be an object", where));
        }
        auto const number = [&](char const* name) {
            return whole_number(input, fmt::format("{}.{}", where, name), told.value(name, Json(0U)));
        };
        auto const text = [&](char const* name) {
            if (!told.contains(name) || !told[name].is_string()) {
                input.refuse(fmt::format("{}.{} must be a text", where, name));
            }
            return told[name].get<std::string>();
        };
        RecorderEntry entry;
        entry.record = number("record_id");
        entry.number =
            static_cast<std::int64_t>(number(told.contains("collective_seq_id") ? "collective_seq_id" : "seq_id"));
        entry.state = text("state");
        Json const id = told.value("pg_id", Json());
        entry.pg_id = id.is_string() ? id.get<std::string>() : id.dump(-1, ' ', false, Json::error_handler_t::replace);
        TorchRecord& details = entry.details;
        details.where = where;
        // Older versions have the name alone, newer ones name and description.
        for (char const* const name : {"process_group", "pg_name"}) {
            Json const group = told.value(name, Json());
            Json const first = group.is_array() && !group.empty() ? group.front() : group;
            if (details.group.empty() && first.is_string()) {
                details.group = first.get<std::string>();
            }
        }
        // "nccl:all_reduce", "nccl:send 0->1", "nccl:recv 1<-0"
        std::string const profiled = text("profiling_name");
        std::string_view call = std::string_view(profiled).substr(profiled.find(':') + 1);
        std::size_t const blank = call.find(' ');
        details.name = call.substr(0, blank);
        if (blank != std::string_view::npos) {
            peer(input, call.substr(blank + 1), details);
        }
        if (auto const ms = told.value("duration_ms", Json()); ms.is_number()) {
            details.duration_us = ms.get<double>() * 1e3;
        }
        sizes(input, told, entry);
        return entry;
    }

    static void peer(Input const& input, std::string_view ranks, TorchRecord& details) {
        std::size_t const arrow = ranks.find_first_of("-<");
        auto const other = arrow == std::string_view::npos ? std::nullopt : parse_whole<int>(ranks.substr(arrow + 2));
        if (!other || *other < 0 || *other >= most_recorded_ranks) {
            input.refuse(
                fmt::format("{}.profiling_name: '{}' does not name the ranks of a message", details.where, ranks));
        }
        details.argument = *other;
    }

    /// Reads sizes and type of each tensor.
    void sizes(Input const& input, Json const& told, RecorderEntry& entry) const {
        TorchRecord& details = entry.details;
        auto const elements = [&](char const* name, NumberList& tensors) {
            Json const list = told.value(name, Json::array());
            if (!list.is_array()) {
                input.refuse(fmt::format("{}.{} must be a list of sizes", details.where, name));
            }
            for (std::size_t tensor = 0; tensor < list.size(); ++tensor) {
                std::string const where = fmt::format("{}.{}[{}]", details.where, name, tensor);
                Bytes product_of_sizes = 1;
                for (Bytes const size : number_list(input, where, list[tensor]).numbers) {
                    product_of_sizes = product(input, where, product_of_sizes, size);
                }
                tensors.numbers.push_back(product_of_sizes);
            }
            return total(input, fmt::format("{}.{}", details.where, name), tensors.numbers);
        };
        NumberList in;
        NumberList out;
        details.in_elements = elements("input_sizes", in);
        details.out_elements = elements("output_sizes", out);
        bool const exchanges = operation_named(details.name) == OperationKind::exchange;
        if (exchanges && in.numbers.size() > 1 && out.numbers.size() > 1) {  // a tensor per rank
            details.in_split = std::move(in);
            details.out_split = std::move(out);
        }
        entry.hides_splits = exchanges && details.in_split.numbers.empty();
        for (char const* const name : {"input_dtypes", "output_dtypes"}) {
            Json const types = told.value(name, Json::array());
            if (!details.dtype && types.is_array() && !types.empty() && types.front().is_string()) {
                details.dtype = dtype_named(types.front().get_ref<std::string const&>());
            }
        }
        if (!details.dtype) {
            details.dtype = builder_.assumed_dtype();
        }
        auto const kind = operation_named(details.name);
        if (!details.dtype && kind && kind != OperationKind::barrier) {
            input.refuse(fmt::format("{}: no input_dtypes, or a type that is unknown; say it by --assume dtype=TYPE",
                                     details.where));
        }
    }

    void add(Input const& input, Rank rank, std::vector<RecorderEntry> entries,
             std::map<std::string, Progress> status) {
        std::stable_sort(entries.begin(), entries.end(), [](RecorderEntry const& one, RecorderEntry const& other) {
            return one.record < other.record;
        });
        for (std::size_t place = 1; place < entries.size(); ++place) {
            if (entries[place].record == entries[place - 1].record) {
                input.refuse(fmt::format("{} and {} have the same record_id, {}", entries[place - 1].details.where,
                                         entries[place].details.where, entries[place].record));
            }
        }
        if (!entries.empty() && entries.front().record > 0) {
            builder_.incomplete(
                fmt::format("{}: the recorder kept the last {} calls; the {} before them are not in the "
                            "dump: raise TORCH_FR_BUFFER_SIZE",
                            input.name(), entries.size(), entries.front().record));
        }
        Bytes const span = entries.empty() ? 0 : entries.back().record - entries.front().record + 1;
        if (span > entries.size()) {
            builder_.incomplete(fmt::format("{}: {} calls between the first and the last one are not in the dump: dump "
                                            "without onlyActive",
                                            input.name(), span - entries.size()));
        }
        RankProgram program{{rank}, {}};
        bool const has_status = !status.empty();
        for (RecorderEntry& entry : entries) {
            auto const group = groups_.find(entry.details.group);
            entry.details.has_no_group = group == groups_.end();
            if (group != groups_.end()) {
                entry.details.ranks = group->second;
                entry.details.group_size = static_cast<int>(group->second->numbers.size());
            }
            Progress& progress = status[entry.pg_id];
            progress.group = entry.details.group;
            if (entry.state != completed_state) {
                progress.open.push_back({entry.number, entry.details.name, entry.state});
            }
            auto operation = operation_of(builder_, input, entry.details);
            if (!operation) {
                continue;
            }
            if (entry.hides_splits) {
                operation->send_split = operation->recv_split = {};
                builder_.incomplete(fmt::format("{}: the recorder does not keep how {} is split among the ranks",
                                                input.name(), entry.details.name));
            }
            if (!is_message(operation->kind)) {
                numbers_[{entry.details.group, rank}].push_back(entry.number);
                if (!has_status) {
                    follow(entry, progress);
                }
            }
            program.operations.push_back(std::move(*operation));
        }
        for (auto& [key, progress] : status) {
            finish_progress(input, rank, key, progress);
        }
        builder_.add(input.name(), std::move(program));
    }

    /// The numbers that pg_status would have after a collective.
    static void follow(RecorderEntry const& entry, Progress& progress) {
        progress.enqueued = entry.number;
        bool const completed = entry.state == completed_state;
        progress.started = completed || entry.state == "started" ? entry.number : progress.started;
        progress.completed = completed ? entry.number : progress.completed;
    }

    /// A group without a call in the dump has its name from its only description, if that is one.
    void finish_progress(Input const& input, Rank rank, std::string const& key, Progress progress) {
        progress.rank = rank;
        if (progress.group.empty() && groups_.contains(key)) {
            progress.group = key;
        }
        if (auto const group = groups_.find(progress.group); group != groups_.end()) {
            for (Bytes const member : group->second->numbers) {
                progress.members.push_back(static_cast<Rank>(std::min<Bytes>(member, most_recorded_ranks)));
            }
        }
        // Gloo leaves all calls `scheduled`: those up to the last completed one are complete.
        std::erase_if(progress.open, [&](Progress::Call const& call) {
            auto const kind = operation_named(call.name);
            return kind && !is_message(*kind) && call.number <= progress.completed.value_or(-1);
        });
        for (Progress::Call const& call : progress.open) {
            builder_.incomplete(fmt::format("rank {}: {} {} of group '{}' did not complete, it is {}", rank, call.name,
                                            call.number, progress.group, call.state));
        }
        auto const recorded = numbers_.find({progress.group, rank});
        std::int64_t const last = recorded == numbers_.end() ? 0 : recorded->second.back();
        if (progress.enqueued.value_or(0) > last) {
            builder_.incomplete(fmt::format("{}: pg_status says that collective {} of group '{}' was enqueued, but the "
                                            "last one in the dump is {}",
                                            input.name(), *progress.enqueued, progress.group, last));
        }
        if (progress.completed && progress.enqueued && *progress.completed > *progress.enqueued) {
            builder_.incomplete(fmt::format("{}: pg_status says that collective {} of group '{}' completed, but {} was "
                                            "the last one that was enqueued",
                                            input.name(), *progress.completed, progress.group, *progress.enqueued));
        }
        builder_.trace().progress.push_back(std::move(progress));
    }

    /// Ranks keep calls from different moments on: of a group, what not all of them still hold is left out.
    void leave_out_begins() {
        std::map<std::string, std::int64_t> first;  // which all hold
        for (auto const& [of, numbers] : numbers_) {
            auto const [known, is_new] = first.try_emplace(of.first, numbers.front());
            known->second = std::max(known->second, numbers.front());
        }
        for (RankProgram& program : builder_.trace().programs) {
            std::map<std::string, std::size_t> places;
            std::erase_if(program.operations, [&](TraceOperation const& operation) {
                std::string const& group = builder_.trace().groups.at(operation.group).name;
                if (is_message(operation.kind)) {
                    return false;
                }
                bool const left_out = numbers_[{group, program.ranks.front()}].at(places[group]++) < first[group];
                if (left_out) {
                    builder_.leave_out("collective that not all ranks still hold");
                }
                return left_out;
            });
        }
    }

    std::string file_;       // the last one
    bool any_call_ = false;  // in any file: a rank that hung before its first one has none
    std::map<std::string, std::shared_ptr<NumberList const>> groups_;            // of the file: ranks by name
    std::map<std::pair<std::string, Rank>, std::vector<std::int64_t>> numbers_;  // of collectives in the programs
};

bool is_flight_recorder(std::string_view /*name*/, std::string_view head) {
    return first_character(head) == '{' && !has_member(head, "traceEvents") &&
           (has_member(head, "pg_status") || (has_member(head, "pg_config") && has_member(head, "entries")));
}

}  // namespace

TraceFormat flight_recorder_format() {
    return {"flight-recorder", "dumps of PyTorch's flight recorder as JSON, one file per rank", is_flight_recorder,
            make_reader<FlightRecorderReader>};
}

}  // namespace dlmb::trace
