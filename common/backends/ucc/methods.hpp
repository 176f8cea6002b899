// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The methods of this backend, and the algorithms of TL/UCP (UCC's transport layer over UCX) that one of them chooses.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlmb::ucc {

/// A method and its settings.
struct Method {
    bool persistent = false;  // a request is made in compile() and posted again in every iteration
    /// By UCC's name of the collective ("allreduce", "bcast"): the algorithm. Empty: UCC decides.
    std::map<std::string, std::string, std::less<>> algorithms = {};
};

[[nodiscard]] std::span<MethodInfo const> method_table();

/// Throws UsageError for a method, knob or algorithm that does not exist.
[[nodiscard]] Method read_method(MethodChoice const& choice);

/// `algorithm` once for every algorithm of the collectives that do `uses`.
[[nodiscard]] std::vector<MethodChoice> algorithm_variants(std::span<OperationUse const> uses);

/// Whether a step of this rank is a call that the method names an algorithm for. Calls with parts of their own sizes
/// are others.
[[nodiscard]] bool makes_named_call(Plan const& plan, Method const& method);

/// The value of UCC_TL_UCP_TUNE that chooses these algorithms: "allreduce:@ring#bcast:@knomial"; empty for none.
[[nodiscard]] std::string tune_text(Method const& method);

}  // namespace dlmb::ucc
