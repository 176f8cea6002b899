// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Interfaces for a backend that hands its steps to other backends: the chooser for a step, and the other backends.
#pragma once

#include "common/backend_kit/backend.hpp"

namespace dlmb {

namespace tuning {
struct Key;  // common/formats/table/query.hpp
}

struct StepChoice {
    std::string backend;
    MethodChoice method = {};
    std::string rule = {};     // what decided: "r003"; empty: nothing did, this is the default
    std::string why_not = {};  // why nobody can do what was chosen; empty: somebody may
};

/// Pure: the same answer to the same question, and on every rank whose digest is the same.
class Chooser {
public:
    virtual ~Chooser() = default;
    /// SHA-256 of what it chooses by, 64 hex digits.
    [[nodiscard]] virtual std::string const& digest() const = 0;
    /// Names of all backends that it can choose, each once, in an order that depends on the digest only.
    [[nodiscard]] virtual std::vector<std::string> backends() const = 0;
    /// The choice for a step. `step`: what all ranks that take part in it know of it.
    [[nodiscard]] virtual StepChoice choose(tuning::Key const& step) const = 0;
    /// The choice for a step that no table has rules for, and for a plan in which nobody communicates. `memory`: as
    /// name_of() has it.
    [[nodiscard]] virtual StepChoice baseline(std::string_view memory) const = 0;
};

/// The backends of a launch by name, one of each: a second one would connect all ranks again.
class BackendSource {
public:
    virtual ~BackendSource() = default;
    /// Collective. Throws UsageError for a name that nobody knows.
    [[nodiscard]] virtual Expected<std::shared_ptr<Backend>, Unsupported> backend(std::string_view name) = 0;
};

/// Both, as a BackendContext has them. They outlive the backends that are made from it.
struct Delegation {
    Chooser const& chooser;
    BackendSource& backends;
};

}  // namespace dlmb
