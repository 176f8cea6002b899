// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// An environment variable that has a value for as long as this lives.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace dlmb {

/// Made and destroyed while no other thread reads the environment.
class ScopedVariable {
public:
    ScopedVariable(char const* name, char const* value) : name_(name) {
        if (char const* const before = std::getenv(name)) {
            before_ = before;
        }
        setenv(name, value, 1);
    }
    ScopedVariable(ScopedVariable const&) = delete;
    ScopedVariable& operator=(ScopedVariable const&) = delete;
    ~ScopedVariable() {
        if (before_) {
            setenv(name_, before_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }

private:
    char const* name_;
    std::optional<std::string> before_;
};

}  // namespace dlmb
