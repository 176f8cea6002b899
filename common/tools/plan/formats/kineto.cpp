// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Profiles of PyTorch (Kineto): one Chrome trace per rank. Each communication is there twice, as the call
// record_param_comms and as the kernel; the call has what was asked for, the kernel when it ran. "External id" joins
// them. Names of the arguments: torch/csrc/profiler/util.cpp of PyTorch.
#include "common/tools/plan/formats/formats.hpp"
#include "common/tools/plan/formats/torch_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace dlmb::trace {
namespace {

struct EventTimes {
    double start_us = 0;
    double duration_us = 0;
};

/// A time that a thread spends in something that has a name.
struct NamedSpan {
    double start_us = 0;
    double end_us = 0;
    std::string thread;
    std::string name;
};

/// A kernel of communication. Those of one stream run one after the other.
struct GpuKernel {
    std::string stream;
    EventTimes times;
    Bytes id = 0;
};

/// The calls of kernels that began before another one of their stream ended. Rounded times may meet by a microsecond.
std::set<Bytes> overlapping(std::vector<GpuKernel> kernels) {
    constexpr double rounding_us = 1;
    std::sort(kernels.begin(), kernels.end(), [](GpuKernel const& one, GpuKernel const& other) {
        return std::tie(one.stream, one.times.start_us) < std::tie(other.stream, other.times.start_us);
    });
    std::set<Bytes> found;
    GpuKernel const* longest = nullptr;  // of this stream, the one that ends last
    for (GpuKernel const& kernel : kernels) {
        if (longest == nullptr || longest->stream != kernel.stream) {
            longest = &kernel;
            continue;
        }
        double const end_us = longest->times.start_us + longest->times.duration_us;
        if (kernel.times.start_us + rounding_us < end_us) {
            found.insert({longest->id, kernel.id});
        }
        if (kernel.times.start_us + kernel.times.duration_us > end_us) {
            longest = &kernel;
        }
    }
    return found;
}

constexpr std::string_view step_prefix = "ProfilerStep#";
constexpr std::string_view backward_prefix = "autograd::engine::evaluate_function";

/// One call, where and when.
struct TimedCall {
    double time_us = 0;
    std::string thread;
    TorchRecord record;
};

/// The contents of one file, in the order of its events.
struct Profile {
    std::optional<Rank> rank;
    int world = 0;
    std::vector<TimedCall> records;
    std::map<Bytes, EventTimes> kernels;             // by External id
    std::vector<GpuKernel> on_streams;               // each of them
    std::vector<std::pair<Bytes, std::size_t>> ids;  // External id of the call, index in `records`
    std::set<std::pair<Bytes, Bytes>> seen;
    std::map<std::string, std::shared_ptr<NumberList const>> ranks_of;  // by what the calls say
    std::vector<NamedSpan> annotations;                                 // and backward operators
    std::vector<NamedSpan> steps;
    std::uint64_t without_arguments = 0;
    std::uint64_t kernels_alone = 0;
};

bool begins_before(NamedSpan const& one, NamedSpan const& other) {
    return one.start_us < other.start_us;
}

/// The names of what a call lies in, the innermost last. What its own thread does comes after what others do: the
/// backward pass has a thread of its own, while the main one waits in an annotation.
class Labels {
public:
    explicit Labels(std::vector<NamedSpan> spans) : spans_(std::move(spans)) {
        std::sort(spans_.begin(), spans_.end(), begins_before);
    }

    /// Asked in the order of time.
    std::string at(TimedCall const& call) {
        for (; next_ < spans_.size() && spans_[next_].start_us <= call.time_us; ++next_) {
            active_.push_back(next_);
        }
        std::erase_if(active_, [&](std::size_t span) { return spans_[span].end_us <= call.time_us; });
        std::string label;
        for (bool const own : {false, true}) {
            for (std::size_t const span : active_) {
                if ((spans_[span].thread == call.thread) == own) {
                    label += (label.empty() ? "" : "/") + spans_[span].name;
                }
            }
        }
        return label;
    }

private:
    std::vector<NamedSpan> spans_;
    std::vector<std::size_t> active_;
    std::size_t next_ = 0;
};

class KinetoReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        Profile profile;
        scan_json(input, {[](std::string_view name) { return name == "traceEvents"; },
                          [&](std::string_view /*list*/, std::uint64_t index, Json const& value) {
                              event(input, profile, index, value);
                          },
                          [&](std::string_view name, Json const& value) {
                              if (name == "distributedInfo") {
                                  distributed_info(input, profile, value);
                              } else if (name == "traceEvents") {
                                  input.refuse("traceEvents must be a list");
                              }
                          }});
        finish_file(input, profile);
    }

    void finish() override { forget_callers_as_roots(builder_.trace()); }

private:
    static void distributed_info(Input const& input, Profile& profile, Json const& info) {
        if (!info.is_object()) {
            input.refuse("distributedInfo must be an object");
        }
        if (info.contains("rank")) {
            profile.rank = rank_number(input, "distributedInfo.rank", info["rank"]);
        }
        if (info.contains("world_size")) {
            profile.world = rank_number(input, "distributedInfo.world_size", info["world_size"]);
        }
    }
    void event(Input const& input, Profile& profile, std::uint64_t index, Json const& event) {
        if (!event.is_object() || !event.contains("name") || !event["name"].is_string()) {
            return;
        }
        auto const& name = event["name"].get_ref<std::string const&>();
        std::string const where = fmt::format("traceEvents[{}]", index);
        if (name == "record_param_comms") {
            add_call(input, profile, where, event);
        } else if (event.contains("args") && event["args"].contains("Collective name")) {
            add_kernel(input, profile, where, event);
        } else if (name.starts_with(backward_prefix) || name.starts_with(step_prefix) ||
                   (event.contains("cat") && event["cat"] == "user_annotation")) {
            add_span(input, profile, where, event);
        }
    }

    /// A step is there again on the side of the GPU.
    static void add_span(Input const& input, Profile& profile, std::string const& where, Json const& event) {
        auto const& name = event["name"].get_ref<std::string const&>();
        bool const of_gpu = event.contains("cat") && event["cat"] == "gpu_user_annotation";
        if (of_gpu || !event.contains("dur") || name.starts_with("nccl:")) {
            return;
        }
        double const start_us = time_of(input, where, event, "ts");
        bool const backward = name.starts_with(backward_prefix);
        NamedSpan span{start_us, start_us + time_of(input, where, event, "dur"), thread_of(event),
                       backward ? "backward" : name};
        (name.starts_with(step_prefix) ? profile.steps : profile.annotations).push_back(std::move(span));
    }
    static std::string thread_of(Json const& event) { return event.contains("tid") ? event["tid"].dump() : ""; }

    static double time_of(Input const& input, std::string const& where, Json const& event, char const* name) {
        if (!event.contains(name)) {
            return 0;
        }
        if (!event[name].is_number()) {
            input.refuse(fmt::format("{}.{} must be a number", where, name));
        }
        return event[name].get<double>();
    }

    static void add_kernel(Input const& input, Profile& profile, std::string const& where, Json const& event) {
        Json const& arguments = event["args"];
        ++profile.kernels_alone;
        if (arguments.contains("External id") && event.contains("ts") && event.contains("dur")) {
            Bytes const id = whole_number(input, where + ".args.External id", arguments["External id"]);
            EventTimes const times{time_of(input, where, event, "ts"), time_of(input, where, event, "dur")};
            profile.kernels[id] = times;
            if (event.contains("tid") && times.duration_us > 0) {
                profile.on_streams.push_back({event.value("pid", Json()).dump() + "/" + thread_of(event), times, id});
            }
        }
    }

    void add_call(Input const& input, Profile& profile, std::string const& where, Json const& event) {
        Json const arguments = event.value("args", Json::object());
        if (!arguments.is_object() || !arguments.contains("Collective name")) {
            ++profile.without_arguments;
            return;
        }
        auto const number = [&](char const* name) -> Bytes {
            return arguments.contains(name)
                       ? whole_number(input, fmt::format("{}.args.{}", where, name), arguments[name])
                       : 0;
        };
        auto const text = [&](char const* name) {
            return arguments.contains(name) && arguments[name].is_string() ? arguments[name].get<std::string>()
                                                                           : std::string();
        };
        auto const list = [&](char const* name) {
            return number_list(input, fmt::format("{}.args.{}", where, name), arguments.value(name, Json()));
        };
        Bytes const id = number("External id");
        if (arguments.contains("External id") && !profile.seen.emplace(id, number("Record function id")).second) {
            builder_.leave_out("second record of one call");
            return;
        }
        TorchRecord record;
        record.where = where;
        record.name = text("Collective name");
        record.dtype = dtype_named(text("dtype"));
        // Before PyTorch 2.3 the counts were called sizes; they were elements then, too.
        record.in_elements = number(arguments.contains("In msg nelems") ? "In msg nelems" : "In msg size");
        record.out_elements = number(arguments.contains("Out msg nelems") ? "Out msg nelems" : "Out msg size");
        record.in_split = list("In split size");
        record.out_split = list("Out split size");
        record.group = text("Process Group Name");
        record.group_size = rank_number(input, where + ".args.Group size", arguments.value("Group size", Json(0U)));
        record.ranks = ranks_of(input, profile, where, record.group_size, arguments);
        peer(input, record, arguments);
        if (arguments.contains("Rank") && arguments["Rank"] != -1) {
            record.argument = rank_number(input, where + ".args.Rank", arguments["Rank"]);
        }
        if (!profile.rank) {
            profile.rank = own_rank(record, profile.world);
        }
        auto const kind = operation_named(record.name);
        if (!record.dtype && kind && kind != OperationKind::barrier) {
            input.refuse(fmt::format("{}: dtype '{}' is unknown", where, text("dtype")));
        }
        profile.ids.emplace_back(id, profile.records.size());
        profile.records.push_back({time_of(input, where, event, "ts"), thread_of(event), std::move(record)});
    }

    /// Read once for all calls of a group: the list may be long.
    static std::shared_ptr<NumberList const> ranks_of(Input const& input, Profile& profile, std::string const& where,
                                                      int size, Json const& arguments) {
        Json const listed = arguments.value("Process Group Ranks", Json());
        Json const start = arguments.value("Global rank start", Json());
        Json const stride = arguments.value("Global rank stride", Json());
        auto const replace = Json::error_handler_t::replace;
        std::shared_ptr<NumberList const>& ranks =
            profile.ranks_of[Json{listed, size, start, stride}.dump(-1, ' ', false, replace)];
        if (!ranks) {
            NumberList list = number_list(input, where + ".args.Process Group Ranks", listed);
            if (!start.is_null() && !stride.is_null()) {
                list =
                    regular_ranks(std::move(list), size, whole_number(input, where + ".args.Global rank start", start),
                                  whole_number(input, where + ".args.Global rank stride", stride));
            }
            ranks = std::make_shared<NumberList const>(std::move(list));
        }
        return ranks;
    }

    static bool names_group(TorchRecord const& record) {
        return !record.group.empty() || !record.ranks->numbers.empty() || record.ranks->cut;
    }

    static void peer(Input const& input, TorchRecord& record, Json const& arguments) {
        auto const kind = operation_named(record.name);
        if (!kind || !is_message(*kind)) {
            return;
        }
        char const* const name = kind == OperationKind::send ? "Dst Rank" : "Src Rank";
        if (arguments.contains(name)) {
            record.peer = rank_number(input, fmt::format("{}.args.{}", record.where, name), arguments[name]);
        }
    }

    void finish_file(Input const& input, Profile& profile) {
        bool const any = std::any_of(profile.records.begin(), profile.records.end(), [](auto const& record) {
            return operation_named(record.record.name).has_value();
        });
        if (profile.without_arguments > 0 && any) {
            builder_.incomplete(fmt::format("{}: {} events record_param_comms tell no \"Collective name\"",
                                            input.name(), profile.without_arguments));
        } else if (profile.without_arguments > 0) {
            input.refuse(
                fmt::format("{} events record_param_comms tell no \"Collective name\", so sizes, splits and groups "
                            "are missing; record with PyTorch 2.2 or newer, or with its ExecutionTraceObserver",
                            profile.without_arguments));
        }
        if (!any && profile.kernels_alone > 0) {
            input.refuse("it has kernels of communication, but no event record_param_comms; record with "
                         "torch.profiler.ProfilerActivity.CPU, too");
        }
        if (!any) {
            input.refuse(
                "no communication in it (no event record_param_comms); record a run of several ranks that uses "
                "torch.distributed");
        }
        auto rank = profile.rank;
        if (!rank) {
            rank = rank_of_name(input.name());
        }
        if (!rank) {
            input.refuse("neither distributedInfo nor the name of the file tells the rank; name it like trace.3.json");
        }
        builder_.world_of(profile.world);
        bool const any_group = std::any_of(profile.records.begin(), profile.records.end(),
                                           [](TimedCall const& call) { return names_group(call.record); });
        for (TimedCall& call : profile.records) {
            call.record.has_no_group = any_group && !names_group(call.record);
        }
        std::set<Bytes> const overlaps = overlapping(profile.on_streams);
        for (auto const& [id, index] : profile.ids) {
            TorchRecord& record = profile.records[index].record;
            record.start_us = profile.records[index].time_us;
            if (auto const kernel = profile.kernels.find(id); id != 0 && kernel != profile.kernels.end()) {
                record.start_us = kernel->second.start_us;
                record.duration_us = kernel->second.duration_us;
                if (overlaps.contains(id)) {
                    record.duration_us.reset();
                    builder_.note("calls that overlap with another one of their stream; their times are left out");
                }
            }
        }
        // Threads have their events one behind the other in the file, not in the order of time.
        std::stable_sort(profile.records.begin(), profile.records.end(),
                         [](TimedCall const& one, TimedCall const& other) { return one.time_us < other.time_us; });
        std::sort(profile.steps.begin(), profile.steps.end(), begins_before);
        RankProgram program{{*rank}, {}};
        for (NamedSpan const& step : profile.steps) {
            program.iterations_us.emplace_back(step.start_us, step.end_us);
        }
        Labels labels(std::move(profile.annotations));
        for (TimedCall const& call : profile.records) {
            if (auto operation = operation_of(builder_, input, call.record)) {
                operation->label = labels.at(call);
                operation->iteration = iteration_at(profile.steps, call.time_us);
                program.add(std::move(*operation));
            }
        }
        Trace& trace = builder_.trace();
        trace.iterations = std::max(trace.iterations, static_cast<int>(profile.steps.size()));
        builder_.add(input.name(), std::move(program));
    }

    static std::optional<int> iteration_at(std::vector<NamedSpan> const& steps, double time_us) {
        auto const found = std::find_if(steps.begin(), steps.end(), [&](NamedSpan const& step) {
            return step.start_us <= time_us && time_us < step.end_us;
        });
        return found == steps.end() ? std::nullopt : std::optional(static_cast<int>(found - steps.begin()));
    }
};

bool is_kineto(std::string_view /*name*/, std::string_view head) {
    char const first = first_character(head);
    bool const object = first == '{' && (has_member(head, "traceEvents") || has_member(head, "deviceProperties") ||
                                         has_member(head, "distributedInfo") || has_member(head, "displayTimeUnit"));
    return object || (first == '[' && has_member(head, "ph"));
}

}  // namespace

TraceFormat kineto_format() {
    return {"kineto", "profiles of PyTorch (Kineto), one file per rank", is_kineto, make_reader<KinetoReader>};
}

}  // namespace dlmb::trace
