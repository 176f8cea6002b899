// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Control variables that are written for a while and get their old values back.
#pragma once

#include "common/backends/mpi/control_variable.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dlmb::mpi {

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
