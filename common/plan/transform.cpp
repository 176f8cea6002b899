// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/transform.hpp"

#include "common/base/error.hpp"
#include "common/plan/builder.hpp"
#include "common/plan/lay_out.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

namespace dlmb {
namespace {

/// A step without places in buffers: these are laid out anew.
struct Draft {
    Operation operation;
    std::vector<StepId> after;
    std::string label;
    int microbatch = -1;
    bool in_place = false;
    bool shared = false;
};

template <class Operation>
constexpr bool has_shares = requires(Operation operation) {
    operation.shares;
};
template <class Operation>
constexpr bool has_bytes = requires(Operation operation) {
    operation.bytes;
};  // the collectives with data

Draft draft_of(Plan const& plan, Step const& step) {
    Draft draft{step.operation, step.after, step.label, step.microbatch};
    std::visit(
        [&](auto const& operation) {
            if constexpr (requires { operation.recv_buffer; }) {
                draft.shared = plan.buffers.at(operation.recv_buffer).shared;
            } else if constexpr (requires { operation.buffer; }) {
                draft.shared = plan.buffers.at(operation.buffer).shared;
            } else if constexpr (requires { operation.data; }) {
                draft.shared = plan.buffers.at(operation.data.buffer).shared;
            } else if constexpr (requires { operation.send.buffer; }) {
                draft.shared = plan.buffers.at(operation.recv.buffer).shared;
                draft.in_place = !draft.shared && operation.send.buffer == operation.recv.buffer;
            }
        },
        step.operation);
    return draft;
}

std::vector<Draft> drafts_of(Plan const& plan) {
    std::vector<Draft> drafts;
    drafts.reserve(plan.steps.size());
    for (Step const& step : plan.steps) {
        drafts.push_back(draft_of(plan, step));
    }
    return drafts;
}

/// Gives the drafts their places.
Plan lay_out_all(Plan const& plan, std::vector<Draft> const& drafts) {
    PlanBuilder builder(plan.me);
    for (Group const& group : plan.groups) {
        builder.group(group);
    }
    for (Draft const& draft : drafts) {
        builder.in_place(draft.in_place);
        builder.share_buffers(draft.shared);
        builder.microbatch(draft.microbatch);
        lay_out(builder, plan, draft.operation, draft.label, draft.after);
    }
    return std::move(builder).finish();
}

// Joining.

/// Whether two steps can be one: the same operation but for its bytes.
bool alike(Draft const& one, Draft const& other, bool exchanges) {
    if (one.operation.index() != other.operation.index() || phase_of(one.label) != phase_of(other.label) ||
        one.microbatch != other.microbatch || one.in_place != other.in_place || one.shared != other.shared) {
        return false;
    }
    return std::visit(
        [&](auto const& a) {
            using Kind = std::remove_cvref_t<decltype(a)>;
            auto const& b = std::get<Kind>(other.operation);
            if constexpr (std::is_same_v<Kind, Exchange>) {
                return exchanges && a.group == b.group;
            } else if constexpr (has_bytes<Kind>) {
                bool same = a.group == b.group && a.element == b.element;
                if constexpr (requires { a.reduction; }) {
                    same = same && a.reduction == b.reduction;
                }
                if constexpr (requires { a.root; }) {
                    same = same && a.root == b.root;
                }
                if constexpr (has_shares<Kind>) {
                    same = same && a.shares.empty() == b.shares.empty();
                }
                return same;
            } else {
                return false;
            }
        },
        one.operation);
}

/// Adds the blocks of `more`, by peer.
void add_blocks(std::vector<Block>& blocks, std::span<Block const> more) {
    for (Block const& block : more) {
        auto const found = std::lower_bound(blocks.begin(), blocks.end(), block,
                                            [](Block const& a, Block const& b) { return a.peer < b.peer; });
        if (found != blocks.end() && found->peer == block.peer) {
            found->bytes += block.bytes;
        } else {
            blocks.insert(found, block);
        }
    }
}

void join(Operation& into, Operation const& more) {
    std::visit(
        [&](auto& a) {
            using Kind = std::remove_cvref_t<decltype(a)>;
            auto const& b = std::get<Kind>(more);
            if constexpr (std::is_same_v<Kind, Exchange>) {
                add_blocks(a.send, b.send);
                add_blocks(a.recv, b.recv);
            } else if constexpr (has_bytes<Kind>) {
                a.bytes += b.bytes;
                if constexpr (has_shares<Kind>) {
                    for (std::size_t rank = 0; rank < a.shares.size(); ++rank) {
                        a.shares[rank] += b.shares[rank];
                    }
                }
            }
        },
        into);
}

Bytes bytes_of(Operation const& operation) {
    return std::visit(
        [](auto const& step) -> Bytes {
            if constexpr (has_bytes<std::remove_cvref_t<decltype(step)>>) {
                return step.bytes;
            } else {
                return 0;
            }
        },
        operation);
}

/// Steps that become one, in order.
struct Bucket {
    std::vector<StepId> members;
    Bytes bytes = 0;
};

/// Puts each step into the open bucket of its group, or into one of its own.
std::vector<Bucket> buckets_of(std::vector<Draft> const& drafts, std::optional<Bytes> limit) {
    std::vector<Bucket> buckets;
    std::vector<std::size_t> bucket_of(drafts.size());
    std::vector<std::size_t> open;  // at most one of each group
    auto const group_at = [&](StepId step) { return group_of(drafts[step].operation); };
    for (StepId step = 0; step < drafts.size(); ++step) {
        std::optional<std::size_t> joined;
        for (std::size_t const candidate : open) {
            StepId const first = buckets[candidate].members.front();
            if (group_at(step) == group_at(first) && alike(drafts[first], drafts[step], !limit)) {
                joined = candidate;
            }
        }
        // Whoever waits for a step of a bucket, or stands behind it in the order of its group, ends the bucket.
        std::erase_if(open, [&](std::size_t candidate) {
            bool const waits = std::any_of(drafts[step].after.begin(), drafts[step].after.end(),
                                           [&](StepId earlier) { return bucket_of[earlier] == candidate; });
            bool const behind = group_at(step) && group_at(step) == group_at(buckets[candidate].members.front());
            return candidate != joined && (waits || behind);
        });
        if (!joined) {
            joined = buckets.size();
            buckets.emplace_back();
            if (group_at(step)) {
                open.push_back(*joined);
            }
        }
        bucket_of[step] = *joined;
        buckets[*joined].members.push_back(step);
        buckets[*joined].bytes += bytes_of(drafts[step].operation);
        if (limit && buckets[*joined].bytes >= *limit) {
            std::erase(open, *joined);
        }
    }
    // A bucket stands where its last step stood: behind all that its steps wait for.
    std::stable_sort(buckets.begin(), buckets.end(),
                     [](Bucket const& one, Bucket const& other) { return one.members.back() < other.members.back(); });
    return buckets;
}

Plan joined(Plan const& plan, std::optional<Bytes> limit) {
    std::vector<Draft> drafts = drafts_of(plan);
    std::vector<Bucket> const buckets = buckets_of(drafts, limit);
    std::vector<StepId> place_of(drafts.size());
    for (StepId place = 0; place < buckets.size(); ++place) {
        for (StepId const member : buckets[place].members) {
            place_of[member] = place;
        }
    }
    std::vector<Draft> result;
    for (StepId place = 0; place < buckets.size(); ++place) {
        std::vector<StepId> const& members = buckets[place].members;
        Draft draft = drafts[members.front()];
        std::set<StepId> after;
        for (StepId const member : members) {
            if (member != members.front()) {
                join(draft.operation, drafts[member].operation);
            }
            for (StepId const earlier : drafts[member].after) {
                after.insert(place_of[earlier]);
            }
        }
        after.erase(place);
        draft.after.assign(after.begin(), after.end());
        if (members.size() > 1) {
            draft.label += fmt::format("+{}", members.size() - 1);
        }
        result.push_back(std::move(draft));
    }
    return lay_out_all(plan, result);
}

// Cutting.

/// Units before part `part` of `parts`: floor(units * part / parts), without the product that could overflow.
std::uint64_t before(std::uint64_t units, std::uint64_t part, std::uint64_t parts) {
    return units / parts * part + units % parts * part / parts;
}

struct Part {
    std::uint64_t index;
    std::uint64_t parts;

    /// Of `bytes`, which are whole elements.
    [[nodiscard]] Bytes of(Bytes bytes, Bytes element) const {
        Bytes const elements = bytes / element;
        Bytes const rest = index + 1 == parts ? bytes % element : 0;
        return (before(elements, index + 1, parts) - before(elements, index, parts)) * element + rest;
    }
    /// Blocks have no element; parts of whole 8 bytes keep every element whole.
    void cut(std::vector<Block>& blocks) const {
        for (Block& block : blocks) {
            block.bytes = of(block.bytes, 8);
        }
        std::erase_if(blocks, [](Block const& block) { return block.bytes == 0; });
    }
};

bool stays_whole(Operation const& operation) {
    return std::holds_alternative<Barrier>(operation) || messages_of_block(operation) > 1;
}

/// The part of an operation; nothing where no byte is left.
std::optional<Operation> part_of(Plan const& plan, Operation const& operation, Part const& part) {
    return std::visit(
        [&](auto step) -> std::optional<Operation> {
            using Kind = std::remove_cvref_t<decltype(step)>;
            if constexpr (std::is_same_v<Kind, Exchange>) {
                part.cut(step.send);
                part.cut(step.recv);
            } else if constexpr (std::is_same_v<Kind, Send>) {
                step.to.bytes = part.of(step.to.bytes, 8);
                return step.to.bytes == 0 ? std::nullopt : std::optional<Operation>(step);
            } else if constexpr (std::is_same_v<Kind, Recv>) {
                step.from.bytes = part.of(step.from.bytes, 8);
                return step.from.bytes == 0 ? std::nullopt : std::optional<Operation>(step);
            } else if constexpr (std::is_same_v<Kind, Compute>) {
                auto const ns = static_cast<std::uint64_t>(step.busy_ns);
                step.busy_ns = static_cast<Nanoseconds>(part.of(ns, 1));
            } else if constexpr (has_shares<Kind>) {
                Bytes const element = size_of(step.element);
                Bytes const ranks = plan.groups.at(step.group).members.size();
                for (Bytes& share : step.shares) {
                    share = part.of(share, element);
                }
                step.bytes =
                    step.shares.empty() ? ranks * part.of(step.bytes / ranks, element) : SharedBytes(step.shares).bytes;
                return step.bytes == 0 ? std::nullopt : std::optional<Operation>(std::move(step));
            } else if constexpr (has_bytes<Kind>) {
                step.bytes = part.of(step.bytes, size_of(step.element));
                return step.bytes == 0 ? std::nullopt : std::optional<Operation>(step);
            }
            return step;
        },
        operation);
}

/// The parts of a step that hold anything; the step itself where it stays whole.
std::vector<Operation> parts_of(Plan const& plan, Operation const& operation, std::uint64_t parts, bool overlaps) {
    bool const whole = stays_whole(operation) || (std::holds_alternative<Compute>(operation) && !overlaps);
    std::vector<Operation> found;
    for (std::uint64_t index = 0; index < parts && !whole; ++index) {
        if (std::optional<Operation> part = part_of(plan, operation, {index, parts})) {
            found.push_back(*std::move(part));
        }
    }
    return found.empty() ? std::vector<Operation>{operation} : found;
}

/// Of the steps that an earlier one became those that part `index` of `count` waits for.
void add_dependencies(std::vector<StepId> const& earlier, std::size_t index, std::size_t count, bool overlaps,
                      std::vector<StepId>& after) {
    std::size_t const from = overlaps ? index * earlier.size() / count : 0;
    std::size_t const to = overlaps ? ((index + 1) * earlier.size() + count - 1) / count : earlier.size();
    after.insert(after.end(), earlier.begin() + static_cast<std::ptrdiff_t>(from),
                 earlier.begin() + static_cast<std::ptrdiff_t>(to));
}

int* batch_of(Operation& operation) {
    if (auto* const send = std::get_if<Send>(&operation)) {
        return &send->batch;
    }
    auto* const recv = std::get_if<Recv>(&operation);
    return recv == nullptr ? nullptr : &recv->batch;
}

/// Cuts the steps of a plan one after the other, those of a batch together.
class Cutter {
public:
    Cutter(Plan const& plan, std::uint64_t parts, bool overlaps)
        : plan_(plan), parts_(parts), overlaps_(overlaps), drafts_(drafts_of(plan)), became_(drafts_.size()) {}

    Plan cut() && {
        for (std::size_t step = 0; step < drafts_.size();) {
            std::size_t end = step + 1;
            int const* const batch = batch_of(drafts_[step].operation);
            while (batch != nullptr && *batch >= 0 && end < drafts_.size() && in_batch(end, *batch)) {
                ++end;
            }
            cut_together(step, end);
            step = end;
        }
        return lay_out_all(plan_, result_);
    }

private:
    bool in_batch(std::size_t step, int batch) {
        int const* const other = batch_of(drafts_[step].operation);
        return other != nullptr && *other == batch;
    }

    /// The first parts of all, then the second ones: what is posted in one call stays together.
    void cut_together(std::size_t begin, std::size_t end) {
        std::vector<std::vector<Operation>> parts;
        std::size_t most = 0;
        for (std::size_t step = begin; step < end; ++step) {
            parts.push_back(parts_of(plan_, drafts_[step].operation, parts_, overlaps_));
            most = std::max(most, parts.back().size());
        }
        for (std::size_t index = 0; index < most; ++index) {
            for (std::size_t step = begin; step < end; ++step) {
                std::vector<Operation>& own = parts[step - begin];
                if (index < own.size()) {
                    add(step, std::move(own[index]), index, own.size());
                }
            }
        }
    }

    void add(std::size_t step, Operation operation, std::size_t index, std::size_t count) {
        Draft const& draft = drafts_[step];
        Draft piece{std::move(operation), {}, draft.label, draft.microbatch, draft.in_place, draft.shared};
        for (StepId const earlier : draft.after) {
            add_dependencies(became_[earlier], index, count, overlaps_, piece.after);
        }
        if (std::holds_alternative<Compute>(piece.operation) && index > 0) {
            piece.after.push_back(became_[step].back());  // one processor computes
        }
        int* const batch = batch_of(piece.operation);
        if (batch != nullptr && *batch >= 0 && overlaps_) {
            *batch = *batch * static_cast<int>(parts_) + static_cast<int>(index);  // parts wait for different steps
        }
        if (count > 1) {
            piece.label += fmt::format(".part{}", index);
        }
        became_[step].push_back(static_cast<StepId>(result_.size()));
        result_.push_back(std::move(piece));
    }

    Plan const& plan_;
    std::uint64_t parts_;
    bool overlaps_;
    std::vector<Draft> drafts_;
    std::vector<std::vector<StepId>> became_;  // by step of the plan
    std::vector<Draft> result_;
};

bool computes(Step const& step) {
    return std::holds_alternative<Compute>(step.operation);
}

/// The steps in their new order.
std::vector<StepId> operations_first(Plan const& plan) {
    std::vector<StepId> order;
    std::vector<StepId> computations;
    std::vector<std::size_t> needed(plan.steps.size());  // how many computations come before a step in any order
    std::size_t placed = 0;
    auto const place_computations = [&](std::size_t count) {
        for (; placed < count; ++placed) {
            order.push_back(computations[placed]);
        }
    };
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        for (StepId const earlier : plan.steps[step].after) {
            needed[step] = std::max(needed[step], needed[earlier]);
        }
        if (computes(plan.steps[step])) {
            computations.push_back(step);
            needed[step] = computations.size();
        } else {
            place_computations(needed[step]);
            order.push_back(step);
        }
    }
    place_computations(computations.size());
    return order;
}

struct Named {
    std::string_view name;
    Transform::Kind kind;
};
constexpr std::array<Named, 5> names{{{"bucket", Transform::Kind::bucket},
                                      {"fuse", Transform::Kind::fuse},
                                      {"split", Transform::Kind::split},
                                      {"overlap", Transform::Kind::overlap},
                                      {"reorder", Transform::Kind::reorder}}};

constexpr std::uint64_t most_parts = 1024;

Transform parse_transform(std::string_view text, std::string_view option) {
    auto const colon = text.find(':');
    std::string_view const name = text.substr(0, colon);
    auto const* const found =
        std::find_if(names.begin(), names.end(), [&](Named const& each) { return each.name == name; });
    if (found == names.end()) {
        throw UsageError(
            fmt::format("{} '{}': expected none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder",
                        option, text));
    }
    Transform transform{found->kind, 0, std::string(text)};
    bool const given = colon != std::string_view::npos;
    std::string_view const amount = given ? text.substr(colon + 1) : "";
    bool const takes_parts = found->kind == Transform::Kind::split || found->kind == Transform::Kind::overlap;
    if (found->kind == Transform::Kind::bucket) {
        transform.amount = given ? parse_bytes(amount, fmt::format("{} bucket", option)) : 0;
        if (transform.amount == 0) {
            throw UsageError(fmt::format("{} '{}': expected the bytes of a bucket, as in bucket:25M", option, text));
        }
    } else if (takes_parts) {
        bool const by_default = !given && found->kind == Transform::Kind::overlap;
        transform.amount = by_default ? 2 : parse_whole<std::uint64_t>(amount).value_or(0);
        if (transform.amount < 2 || transform.amount > most_parts) {
            throw UsageError(
                fmt::format("{} '{}': expected 2 to {} parts, as in {}:4", option, text, most_parts, name));
        }
    } else if (given) {
        throw UsageError(fmt::format("{} '{}': {} takes no number", option, text, name));
    }
    return transform;
}

}  // namespace

Plan bucket(Plan const& plan, Bytes bytes) {
    return joined(plan, bytes);
}

Plan fuse(Plan const& plan) {
    return joined(plan, std::nullopt);
}

Plan split(Plan const& plan, std::uint64_t parts) {
    return Cutter(plan, parts, false).cut();
}

Plan overlap(Plan const& plan, std::uint64_t parts) {
    return Cutter(plan, parts, true).cut();
}

Plan reorder(Plan const& plan) {
    std::vector<StepId> const order = operations_first(plan);
    std::vector<StepId> place_of(order.size());
    for (StepId place = 0; place < order.size(); ++place) {
        place_of[order[place]] = place;
    }
    Plan result = plan;
    for (StepId place = 0; place < order.size(); ++place) {
        result.steps[place] = plan.steps[order[place]];
        for (StepId& earlier : result.steps[place].after) {
            earlier = place_of[earlier];
        }
        std::sort(result.steps[place].after.begin(), result.steps[place].after.end());
    }
    return result;
}

std::vector<Transform> parse_transforms(std::string_view text, std::string_view option) {
    std::vector<Transform> transforms;
    if (text == "none") {
        return transforms;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t const comma = std::min(text.find(',', begin), text.size());
        transforms.push_back(parse_transform(text.substr(begin, comma - begin), option));
        begin = comma + 1;
    }
    return transforms;
}

std::string why_not_applicable(Transform const& transform, std::span<OperationUse const> operations) {
    auto const any = [&](auto const& has) {
        return std::any_of(operations.begin(), operations.end(),
                           [&](OperationUse const& use) { return has(use.kind); });
    };
    auto const is_message = [](OperationKind kind) {
        return kind == OperationKind::send || kind == OperationKind::recv;
    };
    auto const is_barrier = [](OperationKind kind) { return kind == OperationKind::barrier; };
    switch (transform.kind) {
    case Transform::Kind::bucket:
        return any([&](OperationKind kind) {
            return !is_message(kind) && !is_barrier(kind) && kind != OperationKind::exchange;
        })
                   ? ""
                   : "joins collectives, and these plans have none";
    case Transform::Kind::fuse:
        return any([&](OperationKind kind) { return !is_message(kind) && !is_barrier(kind); })
                   ? ""
                   : "joins collectives and exchanges, and these plans have none";
    case Transform::Kind::split:
    case Transform::Kind::overlap:
        return any([&](OperationKind kind) { return !is_barrier(kind); }) ? "" : "a barrier has no parts";
    case Transform::Kind::reorder:
        break;
    }
    return "";
}

Plan transformed(Plan const& plan, std::span<Transform const> transforms) {
    Plan result = plan;
    for (Transform const& transform : transforms) {
        switch (transform.kind) {
        case Transform::Kind::bucket:
            result = bucket(result, transform.amount);
            break;
        case Transform::Kind::fuse:
            result = fuse(result);
            break;
        case Transform::Kind::split:
            result = split(result, transform.amount);
            break;
        case Transform::Kind::overlap:
            result = overlap(result, transform.amount);
            break;
        case Transform::Kind::reorder:
            if (std::none_of(plan.steps.begin(), plan.steps.end(), computes)) {
                throw UsageError("--transform reorder: these plans have no computations; give them a time first");
            }
            result = reorder(result);
            break;
        }
    }
    return result;
}

}  // namespace dlmb
