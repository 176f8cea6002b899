// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// PyTorch's record of one communication (record_param_comms), in a profile and in an execution trace alike.
#pragma once

#include "common/formats/input/json_scan.hpp"
#include "common/tools/plan/builder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::trace {

/// A list of numbers, which PyTorch writes as a list or as a text ("[1, 2, ..., 9]"). `cut`: it left some out.
struct NumberList {
    std::vector<Bytes> numbers;
    bool cut = false;
};
[[nodiscard]] NumberList number_list(Input const& input, std::string_view where, Json const& value);

/// Counts are of elements.
struct TorchRecord {
    std::string where;
    std::string name;
    std::optional<Dtype> dtype;
    Bytes in_elements = 0;
    Bytes out_elements = 0;
    NumberList in_split;  // in rows of the tensor
    NumberList out_split;
    std::string group;  // its name, or what stands for it in this process
    int group_size = 0;
    bool has_no_group = false;                // where others tell theirs
    std::shared_ptr<NumberList const> ranks;  // of the group, shared by its calls; none: they are not listed
    std::optional<int> argument;              // rank in the group: of the peer, of the root, else of the caller
    std::optional<int> peer;                  // world rank
    std::optional<double> start_us;
    std::optional<double> duration_us;
};

/// PyTorch cuts lists of more than 30 ranks off, but says where they begin and how far they are apart. The ranks of a
/// group of `size`: as listed, or where that is cut off and fits to what is said, all of them.
[[nodiscard]] NumberList regular_ranks(NumberList listed, int size, Bytes start, Bytes stride);

/// The world rank of the caller, where the record tells it; of a group of `world` ranks it needs no list.
[[nodiscard]] std::optional<Rank> own_rank(TorchRecord const& record, int world);

/// In older versions of PyTorch the argument is the caller's rank in calls with a root, too: then no root is known.
void forget_callers_as_roots(Trace& trace);

/// A number of ranks, or a rank.
[[nodiscard]] int rank_number(Input const& input, std::string_view where, Json const& value);

/// Ranks of a group; refuses one that is none.
[[nodiscard]] std::vector<Rank> members_of(Input const& input, std::string_view where, std::span<Bytes const> ranks);

/// Nothing for what is no communication (wait, init).
[[nodiscard]] std::optional<TraceOperation> operation_of(Builder& builder, Input const& input,
                                                         TorchRecord const& record);

}  // namespace dlmb::trace
