// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/formats/input/json_scan.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/line_fields.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace dlmb {
namespace {

using input::Input;
using json::Json;

constexpr Bytes most_plan_bytes = Bytes{1} << 62U;           // of one rank
constexpr Bytes most_messages = Bytes{1} << 20U;             // of a window
constexpr Bytes longest_edge = Bytes{1} << 24U;              // of a matrix
constexpr Nanoseconds longest_ns = 1'000'000'000'000;        // beyond which no launch waits
constexpr std::size_t longest_line = std::size_t{64} << 20;  // a step with a block for each of 131,072 ranks has 16 MiB

struct StopReading {};

/// An operation of the kind, with nothing in it.
template <std::size_t Alternative = 0>
Operation empty_operation(OperationKind kind) {
    if constexpr (Alternative < std::variant_size_v<Operation>) {
        using Type = std::variant_alternative_t<Alternative, Operation>;
        return !std::is_same_v<Type, Collective> && kind == Type{}.kind ? Operation(Type{})
                                                                        : empty_operation<Alternative + 1>(kind);
    } else if (kind == OperationKind::offer) {
        return Put{.kind = kind};
    } else if (kind == OperationKind::get) {
        return WaitSignal{.kind = kind};
    } else {
        return Collective{.kind = kind};
    }
}

/// A group of the file: its ranks in order, and the place of each.
struct KnownGroup {
    Group group;
    std::unordered_map<Rank, Rank> places;
};

/// Bytes of a step's blocks or buffer; throws std::overflow_error above what a plan may have.
class StepBytes {
public:
    void add(Bytes bytes, Bytes times = 1) {
        if (bytes > (most_plan_bytes - sum_) / times) {
            throw std::overflow_error("the bytes of this rank are more than 2^62");
        }
        sum_ += bytes * times;
    }
    void add(Operation const& operation) {
        for (auto const blocks : {sent_blocks(operation), received_blocks(operation)}) {
            for (Block const& block : blocks) {
                add(block.bytes, messages_of_block(operation));
            }
        }
        if (auto const* collective = std::get_if<Collective>(&operation)) {
            add(collective->bytes);
        }
    }

private:
    Bytes sum_ = 0;
};

/// One file, which may hold the plans of several iterations.
class FileReader {
public:
    FileReader(Input& input, PlanVisitor const& visitor) : input_(input), visitor_(visitor) {}

    void read() {
        std::string_view text;
        while (input_.line(text, longest_line)) {
            if (!text.empty()) {
                line(text);
            }
        }
        require_end();
        if (!header_) {
            input_.refuse("is empty: it is no plan; make one with --plan jsonl or dlmb_plan import");
        }
    }

    [[nodiscard]] PlanHeader header_of(std::string_view text) {
        refuse_old(text);
        Json const line = parsed(text);
        std::string const schema = line.is_object() && line.contains("schema") ? line["schema"].dump() : "";
        if (!schema.starts_with("\"dlmb.plan/2.")) {
            input_.refuse(fmt::format("{}; plans begin with a line of schema dlmb.plan/2.x, as --plan jsonl and "
                                      "dlmb_plan import write it",
                                      schema.empty() ? "has no schema" : "schema is " + schema.substr(0, 64)));
        }
        PlanHeader header;
        try {
            LineReader io(line);
            fields(io, header);
        } catch (UsageError const& error) {
            input_.refuse(error.what());
        }
        if (header.world.ranks < 1 || header.world.ranks > most_recorded_ranks || header.world.ranks_per_node < 0 ||
            header.world.ranks_per_node > most_recorded_ranks) {
            input_.refuse(fmt::format("world: ranks must be from 1 to {}, ranks_per_node from 0", most_recorded_ranks));
        }
        header.file = input_.name();
        return header;
    }

private:
    void refuse_old(std::string_view text) const {
        if (text.substr(0, std::size_t{64}).find("\"dlmb.plan/1.") != std::string_view::npos) {
            input_.refuse("is a plan of schema dlmb.plan/1.x, one JSON document; this version reads JSON Lines, "
                          "dlmb.plan/2.x: write it again with --plan jsonl or dlmb_plan import");
        }
    }
    [[nodiscard]] Json parsed(std::string_view text) const {
        Json line = Json::parse(text, nullptr, false);
        if (line.is_discarded()) {
            (void)input::parse_piece(input_, "", text);  // says what is wrong and where
            input_.refuse("is no JSON");
        }
        return line;
    }

    void line(std::string_view text) {
        if (!header_ || text.substr(0, std::size_t{16}).find("\"schema\"") != std::string_view::npos) {
            require_end();
            header_ = header_of(text);
            groups_.clear();
            next_ = 0;
            if (!visitor_.begin(*header_)) {
                throw StopReading{};
            }
            return;
        }
        Json const object = parsed(text);
        try {
            LineReader io(object);
            io.has("rank") ? rank_line(io, object) : group_line(io);
        } catch (UsageError const& error) {
            input_.refuse(error.what());
        }
        if (plan_ && plan_->steps.size() == step_count_) {
            end_plan();
        }
    }

    /// Behind the last line of an iteration.
    void require_end() const {
        if (plan_) {
            input_.refuse(fmt::format("rank {} has {} of its {} steps: the file is cut off", plan_->me,
                                      plan_->steps.size(), step_count_));
        }
        if (header_ && next_ != header_->world.ranks) {
            input_.refuse(fmt::format("has {} plans, and world.ranks is {}", next_, header_->world.ranks));
        }
    }

    void group_line(LineReader& io) {
        std::size_t number = 0;
        KnownGroup known;
        io("group", number);
        io("members", known.group.members);
        if (number != groups_.size()) {
            io.refuse("group", fmt::format("must be {}: groups are numbered in their order", groups_.size()));
        }
        for (Rank const member : known.group.members) {
            if (member < 0 || member >= header_->world.ranks) {
                io.refuse("members", fmt::format("has rank {}, and world.ranks is {}", member, header_->world.ranks));
            }
            if (!known.places.emplace(member, static_cast<Rank>(known.places.size())).second) {
                io.refuse("members", fmt::format("has rank {} twice", member));
            }
        }
        groups_.push_back(std::move(known));
    }

    void rank_line(LineReader& io, Json const& object) {
        Rank rank = 0;
        io("rank", rank);
        if (!plan_) {
            begin_plan(io, rank);
        } else if (rank != plan_->me) {
            io.refuse("rank", fmt::format("is {}, and rank {} has {} of its {} steps", rank, plan_->me,
                                          plan_->steps.size(), step_count_));
        }
        if (!object.contains("steps") || !object["steps"].is_array()) {
            io.refuse("steps", "must be a list");
        }
        for (Json const& step : object["steps"]) {
            json::Place const steps(LineReader::document, "steps");
            read_step(step, json::Place(steps, plan_->steps.size()));
        }
    }

    void begin_plan(LineReader& io, Rank rank) {
        if (rank != next_ || rank >= header_->world.ranks) {
            io.refuse("rank", fmt::format("is {}; plans stand in the order of ranks, {} comes next of {}", rank, next_,
                                          header_->world.ranks));
        }
        plan_.emplace().me = rank;
        bytes_ = {};
        numbers_.clear();
        io("groups", numbers_);
        for (std::size_t const number : numbers_) {
            if (number >= groups_.size() || !groups_[number].places.contains(rank)) {
                io.refuse("groups", fmt::format("{} is not a group before this line that has rank {}", number, rank));
            }
            plan_->groups.push_back(groups_[number].group);
        }
        io.if_known("buffers", plan_->buffers);
        io("step_count", step_count_);
        if (step_count_ > most_steps) {
            io.refuse("step_count", fmt::format("more than {}", most_steps));
        }
        add_bytes(io, [&] {
            for (Buffer const& buffer : plan_->buffers) {
                bytes_.add(buffer.bytes);
            }
        });
    }

    void add_bytes(LineReader const& io, auto const& add) const {
        try {
            add();
        } catch (std::overflow_error const& error) {
            io.refuse("bytes", error.what());
        }
    }

    void read_step(Json const& object, json::Place const& place) {
        LineReader io(object, place);
        StepId id = 0;
        io("id", id);
        if (id != plan_->steps.size() || id >= step_count_) {
            io.refuse("id", fmt::format("is {}; {} comes next of {}", id, plan_->steps.size(), step_count_));
        }
        std::string name;
        io("operation", name);
        auto const kind = operation_kind_named(name);
        if (!kind) {
            std::vector<std::string> names;
            for (OperationFacts const& known : operation_table) {
                names.emplace_back(known.name);
            }
            io.refuse("operation", unknown_name("operation", name, names));
        }
        Step step{empty_operation(*kind), {}, {}};
        step_fields(io, step);
        check(io, step, id);
        std::visit(
            [&](auto& read) {
                if constexpr (requires { read.group; }) {
                    read.group = group_of_plan(io);
                }
                fields(io, read);
                check(io, read);
            },
            step.operation);
        add_bytes(io, [&] { bytes_.add(step.operation); });
        plan_->steps.push_back(std::move(step));
    }

    /// The group's place in the plan.
    [[nodiscard]] GroupId group_of_plan(LineReader& io) const {
        std::size_t number = 0;
        io("group", number);
        auto const place = std::find(numbers_.begin(), numbers_.end(), number);
        if (place == numbers_.end()) {
            io.refuse("group", fmt::format("{} is not in the groups of rank {}", number, plan_->me));
        }
        return static_cast<GroupId>(place - numbers_.begin());
    }

    static void check(LineReader const& io, Step const& step, StepId id) {
        if (step.label.empty() || step.label.find('\n') != std::string::npos) {
            io.refuse("label", "must be one line that is not empty");
        }
        for (StepId const before : step.after) {
            if (before >= id) {
                io.refuse("after", fmt::format("names step {}, which is not an earlier one", before));
            }
        }
        if (step.microbatch < -1) {
            io.refuse("microbatch", "must be -1 or more");
        }
    }

    void check(LineReader const& io, auto& step) const {
        if constexpr (requires { step.group; }) {
            KnownGroup const& known = groups_[numbers_[step.group]];
            each_peer(step, [&](Rank& peer, char const* field) {
                auto const place = known.places.find(peer);
                if (place == known.places.end()) {
                    io.refuse(field, fmt::format("rank {} is not in the group", peer));
                }
                peer = place->second;
            });
            check_sizes(io, step, known.group.members.size());
        }
    }
    static void check(LineReader const& io, Compute const& step) {
        if (step.busy_ns < 0 || step.busy_ns > longest_ns) {
            io.refuse("busy_ns", fmt::format("is {}; must be from 0 to {}", step.busy_ns, longest_ns));
        }
        if (step.product) {
            for (Bytes const edge : {step.product->rows, step.product->columns, step.product->inner}) {
                if (edge < 1 || edge > longest_edge) {
                    io.refuse("product", fmt::format("has an edge of {}; must be from 1 to {}", edge, longest_edge));
                }
            }
        }
    }

    void check_sizes(LineReader const& io, auto& step, std::size_t ranks) const {
        if constexpr (requires { step.window; }) {
            if (step.window.messages < 1 || step.window.messages > most_messages) {
                io.refuse("window", fmt::format("must have from 1 to {} messages", most_messages));
            }
            if (step.channel < 0 || step.channel > most_channels) {
                io.refuse("channel", fmt::format("must be from 0 to {}", most_channels));
            }
            if (step.batch < -1 || step.batch > most_channels) {
                io.refuse("batch", fmt::format("must be from -1 to {}", most_channels));
            }
        }
        if constexpr (requires { step.recv_buffer; }) {
            in_order(io, "send", step.send);
            in_order(io, "recv", step.recv);
        }
        if constexpr (requires { step.targets; }) {
            if (!is_read(step.kind) && step.targets.size() != step.send.size()) {
                io.refuse("targets", fmt::format("must be one for each of the {} blocks of send", step.send.size()));
            }
            in_memory(io, "targets", step.targets);
        }
        if constexpr (requires {
                          step.signals;
                          step.recv;
                      }) {
            for (Block const& block : step.recv) {
                in_memory(io, "recv", {block.offset});
            }
        }
        if constexpr (requires { step.shares; }) {
            Bytes left = step.bytes;
            bool fits = step.shares.empty() || step.shares.size() == ranks;
            for (Bytes const share : step.shares) {
                fits = fits && share <= left;
                left -= fits ? share : 0;
            }
            if (!fits || (!step.shares.empty() && left != 0)) {
                io.refuse("shares", fmt::format("must be one for each rank of the group and {} in all", step.bytes));
            }
        }
    }

    /// Places that are given, and not laid out.
    static void in_memory(LineReader const& io, char const* field, std::vector<Bytes> const& offsets) {
        for (Bytes const offset : offsets) {
            if (offset > most_plan_bytes) {
                io.refuse(field, fmt::format("has an offset of more than {}", most_plan_bytes));
            }
        }
    }

    /// Another program may write blocks in any order, and empty ones.
    static void in_order(LineReader const& io, char const* field, std::vector<Block>& blocks) {
        auto const before = [](Block const& one, Block const& other) { return one.peer < other.peer; };
        if (!std::is_sorted(blocks.begin(), blocks.end(), before)) {
            std::sort(blocks.begin(), blocks.end(), before);
        }
        if (std::adjacent_find(blocks.begin(), blocks.end(), [](Block const& one, Block const& other) {
                return one.peer == other.peer;
            }) != blocks.end()) {
            io.refuse(field, "has two blocks of one rank");
        }
        std::erase_if(blocks, [](Block const& block) { return block.bytes == 0; });
    }

    void end_plan() {
        Plan plan = std::move(*plan_);
        plan_.reset();
        ++next_;
        if (!plan.buffers.empty()) {
            if (auto const problems = validate_rank(plan); !problems.empty()) {
                input_.refuse(problems.front().text);
            }
        }
        if (!visitor_.plan(std::move(plan))) {
            throw StopReading{};
        }
    }

    Input& input_;
    PlanVisitor const& visitor_;
    std::optional<PlanHeader> header_;
    std::vector<KnownGroup> groups_;
    Rank next_ = 0;                     // whose plan comes next, or is being read
    std::optional<Plan> plan_;          // that is not complete
    std::vector<std::size_t> numbers_;  // of its groups in the file
    std::size_t step_count_ = 0;
    StepBytes bytes_;
};

}  // namespace

void read_plans(std::filesystem::path const& path, PlanVisitor const& visitor) {
    try {
        input::each_input({path}, [&](Input& input) { FileReader(input, visitor).read(); });
    } catch (StopReading const&) {
        return;
    }
}

void read_plans(Input& file, PlanVisitor const& visitor) {
    try {
        FileReader(file, visitor).read();
    } catch (StopReading const&) {
        return;
    }
}

PlanHeader read_plan_header(std::string const& name, std::string_view text) {
    class Text final : public input::ByteSource {
    public:
        explicit Text(std::string_view text) : left_(text) {}
        std::string_view next() override { return std::exchange(left_, {}); }

    private:
        std::string_view left_;
    };
    Text source(text);
    Input input(name, source);
    std::string_view line;
    if (!input.line(line)) {
        input.refuse("is empty: it is no plan");
    }
    PlanVisitor const nobody;
    return FileReader(input, nobody).header_of(line);
}

PlanFile read_plan_file(std::filesystem::path const& path) {
    PlanFile file;
    read_plans(path, {[&](PlanHeader header) {
                          if (!file.plans.empty()) {
                              throw UsageError(fmt::format("{}: has plans of more than one iteration; give one of them",
                                                           path.string()));
                          }
                          file.header = std::move(header);
                          return true;
                      },
                      [&](Plan plan) {
                          file.plans.push_back(plan.buffers.empty() ? with_buffers(plan, 0) : std::move(plan));
                          return true;
                      }});
    if (auto const problems = validate(file.plans); !problems.empty()) {
        throw UsageError(fmt::format("{}: the ranks do not fit together: {}", path.string(), problems.front().text));
    }
    return file;
}

}  // namespace dlmb
