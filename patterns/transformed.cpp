// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/transformed.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/transform/transform.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dlmb {
namespace {

class TransformedPattern final : public Pattern {
public:
    TransformedPattern(std::unique_ptr<Pattern> pattern, std::vector<Transform> transforms)
        : pattern_(std::move(pattern)), transforms_(std::move(transforms)) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override { return pattern_->setup_of(source, draw); }
    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> received_counts) const override {
        return transformed(pattern_->build(me, draw, own, received_counts), transforms_);
    }
    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        return pattern_->statistics(summed);
    }
    [[nodiscard]] std::vector<OperationUse> operations() const override { return pattern_->operations(); }
    [[nodiscard]] bool draws_differ() const override { return pattern_->draws_differ(); }
    [[nodiscard]] std::uint32_t most_draws() const override { return pattern_->most_draws(); }
    [[nodiscard]] Parameters resolved() const override { return pattern_->resolved(); }
    [[nodiscard]] std::vector<std::string> remarks() const override { return pattern_->remarks(); }
    [[nodiscard]] OsuProgram osu_program() const override { return pattern_->osu_program(); }

private:
    std::unique_ptr<Pattern> pattern_;
    std::vector<Transform> transforms_;
};

}  // namespace

std::unique_ptr<Pattern> transformed(Parameters const& parameters, std::unique_ptr<Pattern> pattern) {
    auto const text = parameters.find(transform_parameter.name);
    if (text == parameters.end()) {
        throw Error("parameter 'transform' was not resolved");
    }
    auto const pack = parameters.find("pack");
    bool const moves_rows = pack != parameters.end() && pack->second != "none";
    std::vector<Transform> transforms = parse_transforms(text->second);
    for (Transform const& transform : transforms) {
        if (moves_rows && transform.kind != Transform::Kind::reorder) {
            throw UsageError(
                fmt::format("--transform {}: steps that move rows (--pack {}) can only be reordered; leave "
                            "one of the two out",
                            transform.text, pack->second));
        }
        std::string const reason = why_not_applicable(transform, pattern->operations());
        if (!reason.empty()) {
            throw UsageError(fmt::format("--transform {}: {}", transform.text, reason));
        }
    }
    return transforms.empty() ? std::move(pattern)
                              : std::make_unique<TransformedPattern>(std::move(pattern), std::move(transforms));
}

bool reorders(Parameters const& parameters) {
    auto const text = parameters.find(transform_parameter.name);
    if (text == parameters.end()) {
        return false;
    }
    std::vector<Transform> const transforms = parse_transforms(text->second);
    return std::any_of(transforms.begin(), transforms.end(),
                       [](Transform const& transform) { return transform.kind == Transform::Kind::reorder; });
}

}  // namespace dlmb
