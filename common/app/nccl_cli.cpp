// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/nccl_cli.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace dlmb::app {
namespace {

struct Letter {
    std::string_view theirs;
    std::string_view ours;  // empty: has no meaning here
    std::string_view why;
};

// Letters of nccl-tests 2.19 (src/common.cu).
constexpr std::array<Letter, 12> letters{{
    {"-n", "--iterations", ""},
    {"-w", "--warmup", ""},
    {"-c", "--validation", ""},
    {"-T", "--timeout", ""},
    {"-d", "--element", ""},
    {"-b", "", "the sizes come from the model's parameters"},
    {"-e", "", "the sizes come from the model's parameters"},
    {"-f", "", "the sizes come from the model's parameters"},
    {"-g", "", "one process drives one GPU; start more with mpirun"},
    {"-t", "", "one process drives one GPU; start more with mpirun"},
    {"-o", "", "the operations come from the pattern"},
    {"-G", "", "graph replay is a method of the nccl backend"},
}};

}  // namespace

std::vector<std::string> without_nccl_letters(std::vector<std::string> arguments) {
    if (arguments.empty() || arguments[0] != "--cli") {
        return arguments;
    }
    if (arguments.size() < 2 || arguments[1] != "nccl") {
        throw UsageError("--cli: the only other command line that is understood is 'nccl'");
    }
    arguments.erase(arguments.begin(), arguments.begin() + 2);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        auto const* const letter = std::find_if(letters.begin(), letters.end(),
                                                [&](Letter const& known) { return known.theirs == arguments[i]; });
        if (letter == letters.end()) {
            continue;
        }
        if (letter->ours.empty()) {
            throw UsageError(fmt::format("{}: has no meaning here: {}", letter->theirs, letter->why));
        }
        arguments[i] = letter->ours;
        if (letter->theirs == "-c" && i + 1 < arguments.size()) {
            arguments[i + 1] = arguments[i + 1] == "0" ? "off" : "on";
        }
    }
    return arguments;
}

}  // namespace dlmb::app
