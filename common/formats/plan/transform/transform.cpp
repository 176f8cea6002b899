// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which transformations a text names, and one after the other.
#include "common/formats/plan/transform/transform.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb {
namespace {

struct Named {
    std::string_view name;
    Transform::Kind kind;
};
constexpr std::array<Named, 6> names{{{"bucket", Transform::Kind::bucket},
                                      {"fuse", Transform::Kind::fuse},
                                      {"split", Transform::Kind::split},
                                      {"overlap", Transform::Kind::overlap},
                                      {"reorder", Transform::Kind::reorder},
                                      {"puts", Transform::Kind::puts}}};

constexpr std::uint64_t most_parts = 1024;

Transform parse_transform(std::string_view text) {
    auto const colon = text.find(':');
    std::string_view const name = text.substr(0, colon);
    auto const* const found =
        std::find_if(names.begin(), names.end(), [&](Named const& each) { return each.name == name; });
    if (found == names.end()) {
        throw UsageError(fmt::format(
            "transform '{}': expected none, or some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder, puts",
            text));
    }
    Transform transform{found->kind, 0, std::string(text)};
    bool const given = colon != std::string_view::npos;
    std::string_view const amount = given ? text.substr(colon + 1) : "";
    bool const takes_parts = found->kind == Transform::Kind::split || found->kind == Transform::Kind::overlap;
    if (found->kind == Transform::Kind::bucket) {
        transform.amount = given ? parse_bytes(amount, "transform bucket") : 0;
        if (transform.amount == 0) {
            throw UsageError(fmt::format("transform '{}': expected the bytes of a bucket, as in bucket:25M", text));
        }
    } else if (takes_parts) {
        bool const by_default = !given && found->kind == Transform::Kind::overlap;
        transform.amount = by_default ? 2 : parse_whole<std::uint64_t>(amount).value_or(0);
        if (transform.amount < 2 || transform.amount > most_parts) {
            throw UsageError(fmt::format("transform '{}': expected 2 to {} parts, as in {}:4", text, most_parts, name));
        }
    } else if (given) {
        throw UsageError(fmt::format("transform '{}': {} takes no number", text, name));
    }
    return transform;
}

Plan transformed(Plan const& plan, Transform const& transform) {
    switch (transform.kind) {
    case Transform::Kind::bucket:
        return bucket(plan, transform.amount);
    case Transform::Kind::fuse:
        return fuse(plan);
    case Transform::Kind::split:
        return split(plan, transform.amount);
    case Transform::Kind::overlap:
        return overlap(plan, transform.amount);
    case Transform::Kind::reorder:
        return reorder(plan);
    case Transform::Kind::puts:
        break;
    }
    return plan;
}

}  // namespace

std::vector<Transform> parse_transforms(std::string_view text) {
    std::vector<Transform> transforms;
    if (text == "none") {
        return transforms;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t const comma = std::min(text.find(',', begin), text.size());
        transforms.push_back(parse_transform(text.substr(begin, comma - begin)));
        begin = comma + 1;
    }
    return transforms;
}

std::string why_not_applicable(Transform const& transform, std::span<OperationUse const> operations) {
    auto const any = [&](auto const& has) {
        return std::any_of(operations.begin(), operations.end(),
                           [&](OperationUse const& use) { return has(use.kind); });
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
        return any([&](OperationKind kind) { return !is_barrier(kind); })
                   ? ""
                   : "these plans have no operation that has parts";
    case Transform::Kind::puts:
        return any([&](OperationKind kind) { return is_message(kind) || kind == OperationKind::exchange; })
                   ? ""
                   : "needs exchanges or messages, and these plans have none";
    case Transform::Kind::reorder:
        break;
    }
    return "";
}

bool needs_all_ranks(std::span<Transform const> transforms) {
    return std::any_of(transforms.begin(), transforms.end(), [](Transform const& transform) {
        return transform.kind == Transform::Kind::puts || transform.kind == Transform::Kind::bucket ||
               transform.kind == Transform::Kind::fuse;
    });
}

std::vector<Plan> transformed(std::vector<Plan> plans, std::span<Transform const> transforms) {
    for (Transform const& transform : transforms) {
        if (transform.kind == Transform::Kind::puts) {
            plans = with_puts(plans);
            continue;
        }
        for (Plan& plan : plans) {
            plan = transformed(plan, transform);
        }
    }
    return plans;
}

}  // namespace dlmb
