// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/written_variables.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {

WrittenVariables::~WrittenVariables() {
    try {
        restore();
    } catch (Error const& error) {
        fmt::print(stderr, "mpi: {}\n", error.what());
    }
}

void WrittenVariables::write(ControlVariable const& variable, std::int64_t value) {
    before_.emplace_back(&variable, variable.read());
    variable.write(value);
}

void WrittenVariables::restore() {
    while (!before_.empty()) {
        auto const [variable, value] = before_.back();
        before_.pop_back();
        variable->write(value);
    }
}

std::string WrittenVariables::as_read() const {
    std::string text;
    for (auto const& [variable, before] : before_) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", variable->name(), variable->read());
    }
    return text;
}

}  // namespace dlmb::mpi
