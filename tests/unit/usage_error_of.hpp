// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a refusal says.
#pragma once

#include "common/base/error.hpp"

#include <string>

namespace dlmb {

/// The message of the exception of this kind that `call` throws; "accepted": it throws none.
template <class Kind, class Call>
std::string message_of(Call const& call) {
    try {
        call();
    } catch (Kind const& error) {
        return error.what();
    }
    return "accepted";
}

template <class Call>
std::string usage_error_of(Call const& call) {
    return message_of<UsageError>(call);
}

}  // namespace dlmb
