// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/trace/read_plan_file.hpp"

#include "common/base/error.hpp"
#include "common/plan/builder.hpp"
#include "common/plan/group_index.hpp"
#include "common/plan/validate.hpp"
#include "common/trace/builder.hpp"
#include "common/trace/json_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace dlmb::trace {
namespace {

constexpr std::array kinds{OperationKind::exchange,   OperationKind::send,    OperationKind::recv,
                           OperationKind::all_reduce, OperationKind::reduce,  OperationKind::reduce_scatter,
                           OperationKind::all_gather, OperationKind::gather,  OperationKind::scatter,
                           OperationKind::broadcast,  OperationKind::barrier, OperationKind::compute};
constexpr std::array reductions{Reduction::sum, Reduction::prod, Reduction::min, Reduction::max};

/// The one of `all` with this name.
template <class Kind, std::size_t number>
std::optional<Kind> named(std::array<Kind, number> const& all, std::string_view name) {
    auto const found = std::find_if(all.begin(), all.end(), [&](Kind each) { return name_of(each) == name; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

/// Reads one step of the file and adds it to the plan.
class StepReader {
public:
    StepReader(Input const& input, Rank me, std::size_t id, Json const& step, PlanBuilder& plan)
        : input_(input), where_(fmt::format("plan of rank {}: step {}", me, id)), me_(me), id_(id), step_(step),
          plan_(plan) {}

    void read() {
        if (!step_.is_object()) {
            refuse("must be an object");
        }
        auto const kind = named(kinds, text("operation"));
        if (!kind) {
            refuse(fmt::format("operation '{}' is unknown", text("operation")));
        }
        label_ = text("label");
        for (Bytes const earlier : numbers("after")) {
            if (earlier >= id_) {
                refuse(fmt::format("waits for step {}, which is not in front of it", earlier));
            }
            after_.push_back(static_cast<StepId>(earlier));
        }
        plan_.microbatch(step_.contains("microbatch") ? small("microbatch") : -1);
        if (*kind == OperationKind::compute) {
            compute();
            return;
        }
        for (Bytes const member : numbers("group")) {
            if (member >= most_ranks) {
                refuse(fmt::format("rank {} of its group is not below {}", member, most_ranks));
            }
            group_.members.push_back(static_cast<Rank>(member));
        }
        std::vector<Rank> sorted = group_.members;
        std::sort(sorted.begin(), sorted.end());
        bool const once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
        if (!once || !std::binary_search(sorted.begin(), sorted.end(), me_)) {
            refuse("its group must have each rank once, and this one");
        }
        communicate(*kind);
    }

private:
    [[noreturn]] void refuse(std::string_view why) const { input_.refuse(fmt::format("{}: {}", where_, why)); }

    [[nodiscard]] Json const& member(char const* name) const {
        auto const found = step_.find(name);
        if (found == step_.end()) {
            refuse(fmt::format("no {}", name));
        }
        return *found;
    }
    [[nodiscard]] std::string text(char const* name) const {
        Json const& value = member(name);
        if (!value.is_string()) {
            refuse(fmt::format("{} must be a text", name));
        }
        return value.get<std::string>();
    }
    [[nodiscard]] Bytes number(char const* name) const {
        return whole_number(input_, fmt::format("{}: {}", where_, name), member(name));
    }
    [[nodiscard]] int small(char const* name) const {
        Bytes const value = number(name);
        if (value > std::numeric_limits<int>::max()) {
            refuse(fmt::format("{} is {}, more than 2^31 - 1", name, value));
        }
        return static_cast<int>(value);
    }
    [[nodiscard]] std::vector<Bytes> numbers(char const* name) const {
        std::vector<Bytes> list;
        for (Json const& value : elements(name)) {
            list.push_back(whole_number(input_, fmt::format("{}: {}", where_, name), value));
        }
        return list;
    }
    [[nodiscard]] Json const& elements(char const* name) const {
        Json const& list = member(name);
        if (!list.is_array()) {
            refuse(fmt::format("{} must be a list", name));
        }
        return list;
    }
    /// World rank -> rank in the group.
    [[nodiscard]] Rank place(Bytes rank) const {
        auto const found = rank < most_ranks ? rank_in(group_, static_cast<Rank>(rank)) : std::nullopt;
        if (!found) {
            refuse(fmt::format("rank {} is not in its group", rank));
        }
        return *found;
    }
    [[nodiscard]] Element element() const {
        auto const found = element_named(text("element"));
        if (!found) {
            refuse(fmt::format("element '{}' is unknown; known are {}", text("element"), element_names));
        }
        return *found;
    }
    [[nodiscard]] Reduction reduction() const {
        auto const found = named(reductions, text("reduction"));
        if (!found) {
            refuse(fmt::format("reduction '{}' is none of sum, prod, min, max", text("reduction")));
        }
        return *found;
    }
    [[nodiscard]] Rank root() const { return place(number("root")); }
    /// A vector, or the parts of all ranks.
    [[nodiscard]] SharedBytes whole() const {
        Bytes const bytes = sum({number("bytes")});
        if (!step_.contains("shares")) {
            return {bytes};
        }
        std::vector<Bytes> shares = numbers("shares");
        if (shares.size() != group_.members.size() || sum(shares) != bytes) {
            refuse("shares must be one per rank of the group, and bytes their sum");
        }
        return SharedBytes(std::move(shares));
    }
    [[nodiscard]] Bytes sum(std::vector<Bytes> const& parts) const {
        constexpr Bytes most = Bytes{1} << 62U;  // of a step, so that places in buffers stay numbers, too
        Bytes total = 0;
        for (Bytes const part : parts) {
            if (part > most - total) {
                refuse("more than 2^62 bytes");
            }
            total += part;
        }
        return total;
    }

    struct Part {
        Rank peer = 0;
        Bytes bytes = 0;
    };
    [[nodiscard]] std::vector<Part> parts(char const* side) const {
        std::vector<Part> list;
        for (Json const& block : elements(side)) {
            if (!block.is_object() || !block.contains("peer") || !block.contains("bytes")) {
                refuse(fmt::format("{} must be a list of objects with peer and bytes", side));
            }
            std::string const where = fmt::format("{}: {}", where_, side);
            list.push_back(
                {place(whole_number(input_, where, block["peer"])), whole_number(input_, where, block["bytes"])});
        }
        return list;
    }
    /// By rank of the group.
    [[nodiscard]] std::vector<Bytes> row(char const* side) const {
        std::vector<Bytes> bytes(group_.members.size(), 0);
        for (Part const& part : parts(side)) {
            Bytes& cell = bytes.at(static_cast<std::size_t>(part.peer));
            if (cell > 0) {
                refuse(fmt::format("{} has rank {} twice", side, group_.members[static_cast<std::size_t>(part.peer)]));
            }
            cell = part.bytes;
        }
        (void)sum(bytes);
        return bytes;
    }

    void compute() {
        std::optional<ProductShape> product;
        if (step_.contains("product")) {
            Json const& shape = member("product");
            auto const side = [&](char const* name) {
                return whole_number(input_, fmt::format("{}: product.{}", where_, name), shape.value(name, Json()));
            };
            if (!shape.is_object()) {
                refuse("product must be an object");
            }
            product = {side("rows"), side("columns"), side("inner")};
        }
        plan_.compute(static_cast<Nanoseconds>(number("busy_ns")), label_, after_, product,
                      step_.contains("uninterrupted"));
    }

    void communicate(OperationKind kind) {
        GroupId const group = plan_.group(group_);
        switch (kind) {
        case OperationKind::exchange:
            plan_.exchange(group, row("send"), row("recv"), label_, after_);
            break;
        case OperationKind::send:
        case OperationKind::recv:
            message(group, kind == OperationKind::send);
            break;
        case OperationKind::all_reduce:
            plan_.all_reduce(group, whole().bytes, element(), reduction(), label_, after_);
            break;
        case OperationKind::reduce:
            plan_.reduce(group, root(), whole().bytes, element(), reduction(), label_, after_);
            break;
        case OperationKind::reduce_scatter:
            plan_.reduce_scatter(group, whole(), element(), reduction(), label_, after_);
            break;
        case OperationKind::all_gather:
            plan_.all_gather(group, whole(), element(), label_, after_);
            break;
        case OperationKind::gather:
            plan_.gather(group, root(), whole(), element(), label_, after_);
            break;
        case OperationKind::scatter:
            plan_.scatter(group, root(), whole(), element(), label_, after_);
            break;
        case OperationKind::broadcast:
            plan_.broadcast(group, root(), whole().bytes, element(), label_, after_);
            break;
        case OperationKind::barrier:
        case OperationKind::compute:
            plan_.barrier(group, label_, after_);
            break;
        }
    }

    /// The messages of a window are equal.
    void message(GroupId group, bool sends) {
        char const* const side = sends ? "send" : "recv";
        std::vector<Part> const messages = parts(side);
        bool const equal = !messages.empty() && std::all_of(messages.begin(), messages.end(), [&](Part const& each) {
            return each.peer == messages.front().peer && each.bytes == messages.front().bytes;
        });
        if (!equal) {
            refuse(fmt::format("{} must have one message, or more of one size with one rank", side));
        }
        auto const& [peer, bytes] = messages.front();
        (void)sum(std::vector<Bytes>(messages.size(), bytes));
        int const channel = small("channel");
        int const batch = member("batch") == Json(-1) ? -1 : small("batch");
        MessageWindow const window{messages.size(), 0};
        sends ? plan_.send(group, peer, bytes, channel, batch, label_, after_, window)
              : plan_.recv(group, peer, bytes, channel, batch, label_, after_, window);
    }

    Input const& input_;
    std::string where_;
    Rank me_;
    std::size_t id_;
    Json const& step_;
    PlanBuilder& plan_;
    Group group_;
    std::string label_;
    std::vector<StepId> after_;
};

Plan read_plan(Input const& input, Rank me, std::string_view text) {
    std::string const where = fmt::format("plan of rank {}", me);
    Json const json = parse_piece(input, where, text);
    if (!json.is_object() || !json.contains("steps") || !json["steps"].is_array() ||
        json.value("rank", Json()) != Json(me)) {
        input.refuse(fmt::format("{}: must be an object with this rank and steps: plans stand by rank", where));
    }
    PlanBuilder plan(me);
    plan.share_buffers(true);
    std::size_t id = 0;
    for (Json const& step : json["steps"]) {
        StepReader(input, me, id++, step, plan).read();
    }
    return std::move(plan).finish();
}

}  // namespace

std::vector<Plan> read_plan_file(std::filesystem::path const& path) {
    std::vector<Plan> plans;
    bool files = false;
    each_input({path}, [&](Input& input) {
        if (std::exchange(files, true)) {
            input.refuse("plans are one file");
        }
        std::string schema;
        scan_json(input, {[](std::string_view name) { return name == "plans"; },
                          [&](std::string_view /*name*/, std::uint64_t index, std::string_view text) {
                              if (schema.empty()) {
                                  input.refuse("no file of --plan json: no schema in front of the plans");
                              }
                              if (index >= most_ranks) {
                                  input.refuse(fmt::format("more than {} plans", most_ranks));
                              }
                              plans.push_back(read_plan(input, static_cast<Rank>(index), text));
                          },
                          [&](std::string_view name, std::string_view text) {
                              if (name == "schema") {
                                  Json const value = parse_piece(input, name, text);
                                  schema = value.is_string() ? value.get<std::string>() : "";
                                  if (!schema.starts_with("dlmb.plan/1.")) {
                                      input.refuse(fmt::format("schema '{}' must be dlmb.plan/1.x", schema));
                                  }
                              }
                          }});
        if (plans.empty()) {
            input.refuse("no file of --plan json: no plans in it");
        }
    });
    auto const problems = validate(plans);
    if (!problems.empty()) {
        throw UsageError(fmt::format("{}: the ranks do not fit together: {}", path.string(), problems.front().text));
    }
    return plans;
}

}  // namespace dlmb::trace
