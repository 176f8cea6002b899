// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All methods of this backend, and which of them does an operation once the user has chosen one.
#pragma once

#include "common/backends/ucx/method.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::ucx {

/// A user's choice: it holds for the operations that the method has, the others are done as by default.
class ChosenMethods {
public:
    ChosenMethods(std::span<Method const> table, Method const* chosen, Knobs knobs)
        : table_(table), chosen_(chosen), knobs_(std::move(knobs)) {}

    [[nodiscard]] Method const& method_for(OperationKind kind) const;
    /// The default for messages of an exchange.
    [[nodiscard]] Method const& lane_method() const;
    /// The knobs of the chosen method; none for the others.
    [[nodiscard]] Knobs knobs_of(Method const& method) const { return &method == chosen_ ? knobs_ : Knobs{}; }

    /// As the user said, else as was found.
    [[nodiscard]] WindowUse window_use(WindowUse found) const;
    /// Whether the user said all that matters.
    [[nodiscard]] bool fixes_window_use() const;

    /// Those of the context that the whole plan runs in.
    [[nodiscard]] ContextSettings const& context_settings() const { return knobs_.context; }

private:
    std::span<Method const> table_;
    Method const* chosen_;  // nullptr: all by default
    Knobs knobs_;
};

class MethodTable {
public:
    /// `peers`: with many, posting to all of them at once loads matching and links, and pairwise is the default.
    explicit MethodTable(int peers);
    MethodTable(MethodTable const&) = delete;
    MethodTable& operator=(MethodTable const&) = delete;
    ~MethodTable() = default;

    /// The first that has an operation is the default for it.
    [[nodiscard]] std::span<MethodInfo const> infos() const { return infos_; }
    /// Those that need no memory which ranks share.
    [[nodiscard]] std::span<MethodInfo const> infos_of_messages() const { return infos_of_messages_; }
    /// Methods that change one of `uses`, with each value of their knob that is worth measuring, and always eager or
    /// always rendezvous where messages are likely to do it: UCX's own choice is one of these two at each size.
    /// `by_messages`: also what ranks of a node would do in shared memory.
    [[nodiscard]] std::vector<MethodChoice> variants(std::span<OperationUse const> uses, bool by_messages) const;
    /// Refers to this table. Throws UsageError for an unknown method or knob.
    [[nodiscard]] ChosenMethods choose(MethodChoice const& choice) const;

private:
    std::vector<Method> methods_;
    std::vector<std::string> knob_texts_;  // of methods_
    std::vector<MethodInfo> infos_;
    std::vector<MethodInfo> infos_of_messages_;
};

}  // namespace dlmb::ucx
