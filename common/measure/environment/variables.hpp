// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which environment variables a result holds. The launcher's environment may carry anything, and results are passed on:
// values are recorded only of variables that a library lists as its own
// (results-schema/dlmb_results/known_variables.txt, which is part of the program, because asking the library would
// start programs in, or load components into, the process that measures). results-schema/dlmb_results/variables.py has
// the same rules.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dlmb::measure {

/// The variables in `all` under the prefixes of communication libraries, and facts about the job. As value
///  - the value, where a library lists the variable;
///  - "<hash 1a2b3c>" of others: tells two values apart, and is too short to find one;
///  - "<redacted>" where the value, or the name of a variable that no library lists, looks like a credential's.
[[nodiscard]] std::map<std::string, std::string>
recorded_variables(std::map<std::string, std::string, std::less<>> const& all);

/// A login in a URL, an assignment to a password, the shapes of common tokens, or a long random word.
[[nodiscard]] bool looks_like_credential(std::string_view value);

/// The text of known_variables.txt.
extern std::string_view const known_variables_text;

}  // namespace dlmb::measure
