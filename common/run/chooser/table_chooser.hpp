// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table that chooses for the steps of a plan.
#pragma once

#include "common/backend_kit/chooser.hpp"
#include "common/formats/table/query.hpp"

#include <string_view>

namespace dlmb::tuning {

/// A step is asked about as in lookup() without a backend. Where no rule selects one: policy.baseline of the memory
/// kind, by its own rules, for a table of one backend selects none.
class TableChooser final : public Chooser {
public:
    /// Throws UsageError naming the rule whose method is not written as --method takes it.
    explicit TableChooser(TuningTable table);
    TableChooser(TableChooser const&) = delete;
    TableChooser& operator=(TableChooser const&) = delete;
    ~TableChooser() override = default;

    [[nodiscard]] std::string const& digest() const override { return digest_; }
    [[nodiscard]] std::vector<std::string> backends() const override;
    [[nodiscard]] StepChoice choose(Key const& step) const override;
    [[nodiscard]] StepChoice baseline(std::string_view memory) const override;
    /// The best inside `backend`, also where the table would select another one. Without a rule: its default method.
    [[nodiscard]] StepChoice choose_within(std::string_view backend, Key const& step) const;
    /// The methods of `backend` that it can choose, each once; the default one may be missing.
    [[nodiscard]] std::vector<MethodChoice> methods_of(std::string_view backend) const;

private:
    TuningTable table_;
    RuleIndex index_;
    std::string digest_;
};

}  // namespace dlmb::tuning
