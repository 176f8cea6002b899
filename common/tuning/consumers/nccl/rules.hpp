// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The CSV that dlmb_tune export --to nccl writes: collective,min bytes,max
// bytes,algorithm,protocol,channels,nodes,ranks
// [,pipelined operations[,registered]]. Bytes are NCCL's nBytes, both ends included; -1: any, of channels: NCCL's own
// number. The first line that matches holds; # begins a comment line.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::nccl_tuner {

struct Call {
    int function = 0;  // Function
    std::uint64_t bytes = 0;
    std::int64_t ranks = 0;
    std::int64_t nodes = 0;
    std::int64_t pipe_ops = 0;
};

struct Rule {
    int function = 0;
    std::uint64_t min_bytes = 0;
    std::uint64_t max_bytes = 0;
    int algorithm = 0;
    int protocol = 0;
    int channels = -1;
    std::int64_t nodes = -1;
    std::int64_t ranks = -1;
    std::int64_t pipe_ops = -1;
    [[nodiscard]] bool matches(Call const& call) const;
};

/// Throws std::runtime_error "line 3: ..." for anything that is not as above: half a table would be worse than none.
/// `registered` must be -1, because ranks may differ in it and would then disagree.
[[nodiscard]] std::vector<Rule> parse_rules(std::string_view text);
/// Throws std::runtime_error when the file cannot be read, too.
[[nodiscard]] std::vector<Rule> read_rules(std::string const& path);

}  // namespace dlmb::nccl_tuner
