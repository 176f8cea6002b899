// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A control variable of the MPI library (MPI 3.1, chapter 14, the tool interface MPI_T): found by name, read and
// written as a whole number. Of what a variable means this file knows nothing.
#pragma once

#include "common/backends/mpi/mpich_description.hpp"
#include "common/backends/mpi/native_handle.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::mpi {

/// Within the life of MPI, before the first variable; may be called again.
void start_tool_interface();

class ControlVariable {
public:
    /// nullopt: this library has no variable of that name, or not one that holds a single whole number.
    [[nodiscard]] static std::optional<ControlVariable> find(std::string const& name);

    [[nodiscard]] std::string const& name() const { return name_; }
    /// The library's description of it.
    [[nodiscard]] std::string const& description() const { return description_; }
    /// The values that it can have, as the library names them; empty where it does not say.
    [[nodiscard]] std::vector<NamedValue> const& values() const { return values_; }
    [[nodiscard]] std::int64_t read() const;
    /// Whether the library lets programs write it at all.
    [[nodiscard]] bool can_be_written() const { return can_be_written_; }
    /// Throws Error where the library refuses the value, or takes it and then reads as another one.
    void write(std::int64_t value) const;

private:
    ControlVariable() = default;

    std::string name_;
    std::string description_;
    std::vector<NamedValue> values_;
    VariableHandle handle_;
    int bytes_ = 0;
    bool can_be_written_ = false;
};

/// Variables that are written for a while and get their old values back.
class WrittenVariables {
public:
    WrittenVariables() = default;
    WrittenVariables(WrittenVariables const&) = delete;
    WrittenVariables(WrittenVariables&&) = delete;
    WrittenVariables& operator=(WrittenVariables const&) = delete;
    WrittenVariables& operator=(WrittenVariables&&) = delete;
    /// A library that refuses the old value of its own variable is left as it is.
    ~WrittenVariables();

    /// `variable` stays where it is until restore().
    void write(ControlVariable const& variable, std::int64_t value);
    void restore();
    /// "coll_tuned_allreduce_algorithm=4 ...": the written ones as they read now.
    [[nodiscard]] std::string as_read() const;

private:
    std::vector<std::pair<ControlVariable const*, std::int64_t>> before_;
};

}  // namespace dlmb::mpi
