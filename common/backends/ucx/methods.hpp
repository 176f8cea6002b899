// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All methods of this backend. A method orders the messages of one step (linear, pairwise) or is an algorithm of
// several rounds (common/formats/plan/algorithms). A method is one row of the table in methods.cpp.
#pragma once

#include "common/backends/ucx/messages.hpp"
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb::ucx {

/// Settings of a user; each method lists in MethodInfo::knobs which ones it reads.
struct MethodKnobs {
    std::optional<std::size_t> max_outstanding;
    algorithms::Knobs algorithm;
    ContextSettings context;  // thresholds of a UCX context of its own
};

/// Direction of memory accesses: a sender puts, a receiver gets.
enum class Verb : std::uint8_t { put, get };

struct Method {
    MethodInfo info;
    /// Orders the transfers of one step and sets its windows; nullptr: the method is an algorithm.
    void (*arrange)(BatchPlan& batch, std::optional<std::size_t> max_outstanding) = nullptr;
    /// Steps of this method are micro-steps of the algorithm of its name; else they are one batch of messages.
    bool by_algorithm = false;
    std::optional<Verb> verb = std::nullopt;  // instead of messages (one_sided.hpp)
    /// Values of its knob, besides the default, that are worth a measurement of their own.
    std::span<std::string_view const> worth_measuring = {};
};

/// A user's choice: it holds for the operations that the method has, the others are done as by default.
class ChosenMethods {
public:
    ChosenMethods(std::span<Method const> table, Method const* chosen, MethodKnobs knobs)
        : table_(table), chosen_(chosen), knobs_(std::move(knobs)) {}

    [[nodiscard]] Method const& method_for(OperationKind kind) const;
    /// The knobs of the chosen method; none for the others.
    [[nodiscard]] MethodKnobs knobs_of(Method const& method) const {
        return &method == chosen_ ? knobs_ : MethodKnobs{};
    }
    /// Settings of the context that the whole plan runs in.
    [[nodiscard]] ContextSettings const& context_settings() const { return knobs_.context; }
    [[nodiscard]] bool one_sided() const { return chosen_ != nullptr && chosen_->verb.has_value(); }

private:
    std::span<Method const> table_;
    Method const* chosen_;  // nullptr: all by default
    MethodKnobs knobs_;
};

class MethodTable {
public:
    MethodTable();
    MethodTable(MethodTable const&) = delete;
    MethodTable& operator=(MethodTable const&) = delete;
    ~MethodTable() = default;

    /// The first that has an operation is the default for it.
    [[nodiscard]] std::span<MethodInfo const> infos() const { return infos_; }
    /// Without put and get, the last ones.
    [[nodiscard]] std::span<MethodInfo const> by_messages() const { return std::span(infos_).first(infos_.size() - 2); }
    /// Methods that change one of `uses`, with each value of their knob that is worth measuring, and always eager or
    /// always rendezvous for messages: UCX's own choice is one of these two at each size.
    [[nodiscard]] std::vector<MethodChoice> variants(std::span<OperationUse const> uses) const;
    /// Refers to this table. Throws UsageError for an unknown method or knob.
    [[nodiscard]] ChosenMethods choose(MethodChoice const& choice) const;

private:
    std::vector<Method> methods_;
    std::vector<std::string> knob_texts_;  // of methods_
    std::vector<MethodInfo> infos_;
};

}  // namespace dlmb::ucx
