// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan_file/plan_file.hpp"

#include "common/base/error.hpp"
#include "common/formats/input/json_scan.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/record/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace dlmb {

using input::Input;
using input::Json;
using input::JsonPieces;
using input::parse_piece;
using input::whole_number;

namespace {

constexpr Bytes most_plan_bytes = Bytes{1} << 62U;           // of one rank
constexpr std::size_t most_messages = std::size_t{1} << 20;  // of a window

/// The fields of one step, by the schema.
class StepReader {
public:
    /// `where`: of the step, for messages.
    StepReader(Input const& input, std::string const& where, Json const& step, Plan& plan)
        : input_(input), where_(where), step_(step), plan_(plan) {}

    Step read() {
        if (!step_.is_object()) {
            refuse("", "must be an object");
        }
        if (number("id") != plan_.steps.size()) {
            refuse("id", fmt::format("must be {}, the place of the step", plan_.steps.size()));
        }
        OperationKind const kind = one_of("operation", kinds);
        label_ = text("label");
        if (label_.empty() || label_.find('\n') != std::string::npos) {
            refuse("label", "must be one line that is not empty");
        }
        Step step{operation(kind), {}, label_, -1};
        for (Bytes const before : numbers("after")) {
            if (before >= plan_.steps.size()) {
                refuse("after", fmt::format("names step {}, which is not an earlier one", before));
            }
            step.after.push_back(static_cast<StepId>(before));
        }
        if (step_.contains("microbatch")) {
            step.microbatch = small("microbatch", std::numeric_limits<int>::max());
        }
        return step;
    }
    /// Of all blocks and buffers of the step.
    [[nodiscard]] Bytes bytes() const { return bytes_; }

private:
    [[noreturn]] void refuse(std::string_view field, std::string_view why) const {
        input_.refuse(fmt::format("{}{}{}: {}", where_, field.empty() ? "" : ".", field, why));
    }
    [[nodiscard]] Json const& field(char const* name) const {
        auto const found = step_.find(name);
        if (found == step_.end()) {
            refuse(name, "is missing");
        }
        return *found;
    }
    [[nodiscard]] std::string text(char const* name) const {
        Json const& value = field(name);
        if (!value.is_string()) {
            refuse(name, "must be a text");
        }
        return value.get<std::string>();
    }
    [[nodiscard]] Bytes number_in(std::string const& name, Json const& value) const {
        if (!value.is_number()) {
            refuse(name, "must be a number");
        }
        return whole_number(input_, fmt::format("{}.{}", where_, name), value);
    }
    [[nodiscard]] Bytes number(char const* name) const { return number_in(name, field(name)); }
    [[nodiscard]] int small(char const* name, int most) const {
        Bytes const value = number(name);
        if (value > static_cast<Bytes>(most)) {
            refuse(name, fmt::format("is {}, more than {}", value, most));
        }
        return static_cast<int>(value);
    }
    /// -1 is allowed.
    [[nodiscard]] int stream(char const* name) const {
        Json const& value = field(name);
        if (value.is_number_integer() && value == -1) {
            return -1;
        }
        return small(name, std::numeric_limits<int>::max());
    }
    [[nodiscard]] Json const& list(char const* name) const {
        Json const& value = field(name);
        if (!value.is_array()) {
            refuse(name, "must be a list");
        }
        return value;
    }
    [[nodiscard]] std::vector<Bytes> numbers(char const* name) const {
        std::vector<Bytes> found;
        for (Json const& value : list(name)) {
            found.push_back(number_in(name, value));
        }
        return found;
    }
    template <std::size_t Count, class Value>
    [[nodiscard]] Value one_of(char const* name, std::array<Value, Count> const& values) const {
        std::string const word = text(name);
        auto const found =
            std::find_if(values.begin(), values.end(), [&](Value value) { return name_of(value) == word; });
        if (found == values.end()) {
            std::vector<std::string> known;
            std::transform(values.begin(), values.end(), std::back_inserter(known),
                           [](Value value) { return std::string(name_of(value)); });
            refuse(name, unknown_name(name, word, known));
        }
        return *found;
    }

    Operation operation(OperationKind kind) {
        if (kind == OperationKind::compute) {
            return compute();
        }
        group_ = group();
        switch (kind) {
        case OperationKind::exchange:
            if (step_.contains("scattered")) {
                refuse("scattered",
                       "sends rows from where they lie, which plans of files cannot do yet; write the plan "
                       "without --pack");
            }
            return Exchange{group_, 0, 0, blocks("send"), blocks("recv")};
        case OperationKind::send: {
            auto const [block, window] = messages("send");
            return Send{group_, 0, block, stream("channel"), stream("batch"), window};
        }
        case OperationKind::recv: {
            auto const [block, window] = messages("recv");
            return Recv{group_, 0, block, stream("channel"), stream("batch"), window};
        }
        case OperationKind::put: {
            Put put{.group = group_, .send = placed_blocks("send"), .signals = signals()};
            for (Block& block : put.send) {
                put.targets.push_back(std::exchange(block.offset, 0));
            }
            return put;
        }
        case OperationKind::wait_signal:
            return WaitSignal{group_, 0, placed_blocks("recv"), signals()};
        case OperationKind::barrier:
            return Barrier{group_};
        default:
            return collective(kind);
        }
    }

    Operation collective(OperationKind kind) {
        Bytes const bytes = counted("bytes", number("bytes"));
        Element const element = one_of("element", elements);
        auto const reduction = [&] { return one_of("reduction", reductions); };
        switch (kind) {
        case OperationKind::all_reduce:
            return AllReduce{group_, {}, {}, bytes, element, reduction()};
        case OperationKind::reduce:
            return Reduce{group_, root(), {}, {}, bytes, element, reduction()};
        case OperationKind::reduce_scatter:
            return ReduceScatter{group_, {}, {}, bytes, element, reduction(), shares(bytes)};
        case OperationKind::all_gather:
            return AllGather{group_, {}, {}, bytes, element, shares(bytes)};
        case OperationKind::gather:
            return Gather{group_, root(), {}, {}, bytes, element, shares(bytes)};
        case OperationKind::scatter:
            return Scatter{group_, root(), {}, {}, bytes, element, shares(bytes)};
        default:
            return Broadcast{group_, root(), {}, bytes, element};
        }
    }

    Compute compute() const {
        if (step_.contains("conversion")) {
            refuse("conversion", "packs or unpacks numbers, which plans of files cannot do yet; write the plan without "
                                 "--quantize");
        }
        if (step_.contains("rearrangement")) {
            refuse("rearrangement", "packs or unpacks rows, which plans of files cannot do yet; write the plan without "
                                    "--pack");
        }
        constexpr Bytes longest_ns = 1'000'000'000'000;  // beyond which no launch waits
        Bytes const busy_ns = number("busy_ns");
        if (busy_ns > longest_ns) {
            refuse("busy_ns", fmt::format("is {}, more than {}", busy_ns, longest_ns));
        }
        Compute compute{static_cast<Nanoseconds>(busy_ns)};
        if (step_.contains("product")) {
            Json const& shape = step_["product"];
            auto const edge = [&](char const* name) {
                constexpr Bytes longest = Bytes{1} << 24U;
                Bytes const value = shape.is_object() && shape.contains(name) ? number_in("product", shape[name]) : 0;
                if (value < 1 || value > longest) {
                    refuse("product", fmt::format("{} must be from 1 to {}", name, longest));
                }
                return value;
            };
            compute.product = ProductShape{edge("rows"), edge("columns"), edge("inner")};
        }
        if (step_.contains("uninterrupted")) {
            if (!step_["uninterrupted"].is_boolean()) {
                refuse("uninterrupted", "must be true or false");
            }
            compute.uninterrupted = step_["uninterrupted"].get<bool>();
        }
        return compute;
    }

    /// The group's number in the plan; this rank and no rank twice is in it.
    GroupId group() {
        Group group;
        for (Bytes const member : numbers("group")) {
            if (member >= static_cast<Bytes>(most_recorded_ranks)) {
                refuse("group", fmt::format("rank {} is not below {}", member, most_recorded_ranks));
            }
            group.members.push_back(static_cast<Rank>(member));
        }
        auto const found = std::find(plan_.groups.begin(), plan_.groups.end(), group);
        if (found != plan_.groups.end()) {
            return static_cast<GroupId>(found - plan_.groups.begin());
        }
        std::vector<Rank> sorted = group.members;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
            refuse("group", "has a rank twice");
        }
        plan_.groups.push_back(std::move(group));
        return static_cast<GroupId>(plan_.groups.size() - 1);
    }

    [[nodiscard]] Rank place_of(std::string_view field, Bytes rank) const {
        auto const place = rank < static_cast<Bytes>(most_recorded_ranks)
                               ? rank_in(plan_.groups[group_], static_cast<Rank>(rank))
                               : std::optional<Rank>();
        if (!place) {
            refuse(field, fmt::format("rank {} is not in the group", rank));
        }
        return *place;
    }
    [[nodiscard]] Rank root() const { return place_of("root", number("root")); }

    Bytes counted(std::string_view field, Bytes bytes) {
        if (bytes > most_plan_bytes - bytes_) {
            refuse(field, "the bytes of this step are more than 2^62");
        }
        bytes_ += bytes;
        return bytes;
    }

    std::vector<Bytes> shares(Bytes bytes) {
        if (!step_.contains("shares")) {
            return {};
        }
        std::vector<Bytes> shares = numbers("shares");
        Bytes sum = 0;
        for (Bytes const share : shares) {
            sum += std::min(share, most_plan_bytes);
            if (sum > bytes) {
                break;
            }
        }
        if (sum != bytes || shares.size() != plan_.groups[group_].members.size()) {
            refuse("shares", fmt::format("must be one for each rank of the group and {} in all", bytes));
        }
        return shares;
    }

    Block block(char const* name, Json const& value) {
        if (!value.is_object() || !value.contains("peer") || !value.contains("bytes")) {
            refuse(name, "must hold objects with peer and bytes");
        }
        return {place_of(name, number_in(name, value["peer"])), 0, counted(name, number_in(name, value["bytes"]))};
    }

    std::vector<Block> blocks(char const* name) {
        std::vector<Block> found;
        for (Json const& value : list(name)) {
            found.push_back(block(name, value));
        }
        std::sort(found.begin(), found.end(),
                  [](Block const& one, Block const& other) { return one.peer < other.peer; });
        auto const same = [](Block const& one, Block const& other) { return one.peer == other.peer; };
        if (std::adjacent_find(found.begin(), found.end(), same) != found.end()) {
            refuse(name, "has two blocks of one rank");
        }
        std::erase_if(found, [](Block const& each) { return each.bytes == 0; });
        return found;
    }

    /// Of signals: as they are listed, with their places in the receiver's buffer.
    std::vector<Block> placed_blocks(char const* name) {
        std::vector<Block> found;
        for (Json const& value : list(name)) {
            found.push_back(block(name, value));
            if (!value.contains("offset")) {
                refuse(name, "must hold objects with peer, bytes and offset");
            }
            found.back().offset = number_in(name, value["offset"]);
            if (found.back().offset > most_plan_bytes) {
                refuse(name, "an offset is more than 2^62");
            }
        }
        return found;
    }
    /// validate() says whether blocks and signals fit together.
    std::vector<Signal> signals() {
        std::vector<Signal> found;
        for (Json const& value : list("signals")) {
            if (!value.is_object() || !value.contains("peer") || !value.contains("blocks")) {
                refuse("signals", "must hold objects with peer and blocks");
            }
            Bytes const blocks = number_in("signals", value["blocks"]);
            if (blocks > std::numeric_limits<std::uint32_t>::max()) {
                refuse("signals", fmt::format("{} blocks are more than 2^32 - 1", blocks));
            }
            found.push_back(
                {place_of("signals", number_in("signals", value["peer"])), static_cast<std::uint32_t>(blocks)});
        }
        return found;
    }

    /// Several messages are a window: the document does not say where they lie, so each has a place of its own.
    std::pair<Block, MessageWindow> messages(char const* name) {
        Json const& values = list(name);
        if (values.empty() || values.size() > most_messages) {
            refuse(name, fmt::format("must hold from 1 to {} messages", most_messages));
        }
        Block const first = block(name, values.front());
        for (std::size_t each = 1; each < values.size(); ++each) {
            if (block(name, values[each]) != first) {
                refuse(name, "messages of one step must have one peer and one size");
            }
        }
        MessageWindow window;
        if (values.size() > 1) {
            window = {values.size(), (first.bytes + guard_bytes - 1) / guard_bytes * guard_bytes};
        }
        return {first, window};
    }

    static constexpr std::array kinds{OperationKind::exchange,    OperationKind::send,    OperationKind::recv,
                                      OperationKind::all_reduce,  OperationKind::reduce,  OperationKind::reduce_scatter,
                                      OperationKind::all_gather,  OperationKind::gather,  OperationKind::scatter,
                                      OperationKind::broadcast,   OperationKind::barrier, OperationKind::put,
                                      OperationKind::wait_signal, OperationKind::compute};
    static constexpr std::array elements{Element::byte, Element::int8, Element::int32, Element::int64, Element::fp8,
                                         Element::fp16, Element::bf16, Element::fp32,  Element::fp64};
    static constexpr std::array reductions{Reduction::sum, Reduction::prod, Reduction::min, Reduction::max};

    Input const& input_;
    std::string const& where_;
    Json const& step_;
    Plan& plan_;
    std::string label_;
    GroupId group_ = 0;
    Bytes bytes_ = 0;
};

struct StopReading {};

class DocumentReader {
public:
    DocumentReader(Input& input, PlanVisitor const& visitor) : input_(input), visitor_(visitor) {}

    void read() {
        scan([](std::string_view name) { return name == "plans" || name == "plans[]" || name == "plans[].steps"; });
        finish();
    }
    /// Its header, which stands before the plans.
    [[nodiscard]] PlanFile header() {
        try {
            scan([](std::string_view name) { return name == "plans" ? throw StopReading{} : false; });
        } catch (StopReading const&) {
            return file_;
        }
        input_.refuse("has no plans");
    }

private:
    void scan(std::function<bool(std::string_view)> is_long) {
        input::scan_json(input_, {std::move(is_long),
                                  [this](std::string_view list, std::uint64_t index, std::string_view text) {
                                      element(list, index, text);
                                  },
                                  [this](std::string_view name, std::string_view text) { member(name, text); }});
    }
    void member(std::string_view name, std::string_view text) {
        if (name == "schema") {
            std::string const schema = word(name, text);
            if (!schema.starts_with("dlmb.plan/1.")) {
                input_.refuse(fmt::format("schema is '{}'; dlmb.plan/1.x is read", schema.substr(0, 64)));
            }
            known_ = true;
        } else if (name == "pattern") {
            file_.pattern = word(name, text);
        } else if (name == "preset") {
            file_.preset = word(name, text);
        } else if (name == "parameters") {
            Json const parameters = object(name, text);
            for (auto const& [parameter, value] : parameters.items()) {
                file_.parameters[parameter] = record::parameter_text(value);
            }
        } else if (name == "draw") {
            file_.seed = whole_number(input_, "draw.seed", object(name, text).value("seed", Json(0)));
        } else if (name == "statistics") {
            Json const statistics = object(name, text);
            for (auto const& [statistic, value] : statistics.items()) {
                if (!value.is_number()) {
                    input_.refuse(fmt::format("statistics.{} must be a number", statistic));
                }
                file_.statistics[statistic] = value.get<double>();
            }
        } else if (name == "world") {
            Json const world = parse_piece(input_, name, text);
            auto const number = [&](char const* field) {
                Bytes const value = world.is_object() && world.contains(field)
                                        ? whole_number(input_, field, world[field])
                                        : most_recorded_ranks + 1;
                if (value > most_recorded_ranks) {
                    input_.refuse(fmt::format("world.{} must be a number up to {}", field, most_recorded_ranks));
                }
                return static_cast<int>(value);
            };
            file_.world = {number("ranks"), number("ranks_per_node")};
        } else if (name == "plans[].rank") {
            Bytes const rank =
                whole_number(input_, fmt::format("plans[{}].rank", ranks_), parse_piece(input_, name, text));
            if (rank != ranks_) {
                input_.refuse(fmt::format("plans[{}].rank is {}; plans stand in the order of ranks", ranks_, rank));
            }
            has_rank_ = true;
        } else if (name == "plans" || name == "plans[].steps") {
            input_.refuse(fmt::format("{} must be a list", name));
        }
    }
    [[nodiscard]] std::string word(std::string_view name, std::string_view text) const {
        Json const value = parse_piece(input_, name, text);
        if (!value.is_string()) {
            input_.refuse(fmt::format("{} must be a text", name));
        }
        return value.get<std::string>();
    }

    [[nodiscard]] Json object(std::string_view name, std::string_view text) const {
        Json value = parse_piece(input_, name, text);
        if (!value.is_object()) {
            input_.refuse(fmt::format("{} must be an object", name));
        }
        return value;
    }

    void element(std::string_view list, std::uint64_t index, std::string_view text) {
        if (list == "plans[].steps") {
            step(index, text);
            return;
        }
        if (!text.empty() || !has_rank_) {
            input_.refuse(fmt::format("plans[{}] must be an object with rank and steps", index));
        }
        plan_.me = static_cast<Rank>(index);
        for (Group const& group : plan_.groups) {
            if (!rank_in(group, plan_.me)) {
                input_.refuse(fmt::format("plans[{}]: rank {} is not in the group of one of its steps", index, index));
            }
            highest_ = std::max(highest_, *std::max_element(group.members.begin(), group.members.end()));
        }
        has_rank_ = false;
        ++ranks_;
        bytes_ = 0;
        if (!visitor_.plan(std::exchange(plan_, {}))) {
            throw StopReading{};
        }
    }

    void step(std::uint64_t index, std::string_view text) {
        std::string const where = fmt::format("plans[{}].steps[{}]", ranks_, index);
        if (index >= most_steps) {
            input_.refuse(fmt::format("{}: more than {} steps", where, most_steps));
        }
        Json const value = parse_piece(input_, where, text);
        StepReader reader(input_, where, value, plan_);
        Step step = reader.read();
        if (reader.bytes() > most_plan_bytes - bytes_) {
            input_.refuse(fmt::format("{}: the bytes of this rank are more than 2^62", where));
        }
        bytes_ += reader.bytes();
        plan_.steps.push_back(std::move(step));
    }

    void finish() {
        if (!known_) {
            input_.refuse("has no schema: it is no plan; make one with dlmb_trace import, or with --plan json");
        }
        if (ranks_ == 0 || file_.world.ranks != static_cast<int>(ranks_)) {
            input_.refuse(fmt::format("has {} plans, and world.ranks is {}", ranks_, file_.world.ranks));
        }
        if (highest_ >= file_.world.ranks) {
            input_.refuse(fmt::format("a group has rank {}, and world.ranks is {}", highest_, file_.world.ranks));
        }
        file_.name = input_.name();
        if (!visitor_.end(file_)) {
            throw StopReading{};
        }
    }

    Input& input_;
    PlanVisitor const& visitor_;
    PlanFile file_;
    Plan plan_;
    std::uint64_t ranks_ = 0;
    Rank highest_ = 0;
    Bytes bytes_ = 0;
    bool known_ = false;
    bool has_rank_ = false;
};

}  // namespace

void read_plans(std::filesystem::path const& path, PlanVisitor const& visitor) {
    try {
        input::each_input({path}, [&](Input& input) { DocumentReader(input, visitor).read(); });
    } catch (StopReading const&) {
        return;
    }
}

PlanFile read_plan_header(std::string const& name, std::string_view text) {
    class Text final : public input::ByteSource {
    public:
        explicit Text(std::string_view text) : left_(text) {}
        std::string_view next() override { return std::exchange(left_, {}); }

    private:
        std::string_view left_;
    };
    Text source(text);
    Input input(name, source);
    PlanVisitor const nobody;
    return DocumentReader(input, nobody).header();
}

PlanDocument read_plan_document(std::filesystem::path const& path) {
    PlanDocument document;
    bool ended = false;
    read_plans(path == "-" ? "/dev/stdin" : path,
               {[&](Plan const& plan) {
                    if (ended) {
                        throw UsageError(fmt::format(
                            "{}: more plans behind the first document; name the file of one iteration", path.string()));
                    }
                    document.plans.push_back(with_buffers(plan, 0));
                    return true;
                },
                [&](PlanFile const& file) {
                    document.file = file;
                    return ended = true;
                }});
    if (auto const problems = validate(document.plans); !problems.empty()) {
        throw UsageError(fmt::format("{}: the ranks do not fit together: {}", path.string(), problems.front().text));
    }
    return document;
}

}  // namespace dlmb
