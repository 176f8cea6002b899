// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/trace.hpp"

#include "common/base/lower_case.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace dlmb::trace {
namespace {

struct NamedType {
    std::string_view name;  // lower case, without prefixes
    std::string_view ours;
    Bytes bytes;
};
constexpr std::array named_types = std::to_array<NamedType>({
    {"float", "fp32", 4},
    {"float32", "fp32", 4},
    {"fp32", "fp32", 4},
    {"double", "fp64", 8},
    {"float64", "fp64", 8},
    {"fp64", "fp64", 8},
    {"half", "fp16", 2},
    {"float16", "fp16", 2},
    {"fp16", "fp16", 2},
    {"bfloat16", "bf16", 2},
    {"bf16", "bf16", 2},
    {"int", "int32", 4},
    {"int32", "int32", 4},
    {"long", "int64", 8},
    {"long int", "int64", 8},
    {"long long", "int64", 8},
    {"int64", "int64", 8},
    {"short", "int16", 2},
    {"short int", "int16", 2},
    {"int16", "int16", 2},
    {"char", "int8", 1},
    {"signed char", "int8", 1},
    {"int8", "int8", 1},
    {"byte", "byte", 1},
    {"unsigned char", "byte", 1},
    {"uint8", "byte", 1},
    {"bool", "bool", 1},
    {"uint16", "uint16", 2},
    {"unsigned short", "uint16", 2},
    {"uint32", "uint32", 4},
    {"unsigned int", "uint32", 4},
    {"uint64", "uint64", 8},
    {"unsigned long", "uint64", 8},
    {"fp8", "fp8", 1},
    {"float8_e4m3fn", "fp8", 1},
    {"float8e4m3", "fp8", 1},
    {"float8_e4m3fnuz", "fp8", 1},
    {"float8e5m2", "fp8e5m2", 1},
    {"float8_e5m2", "fp8e5m2", 1},
    {"float8_e5m2fnuz", "fp8e5m2", 1},
    {"float8_e8m0fnu", "fp8e8m0", 1},
    {"float4_e2m1fn_x2", "fp4x2", 1},
    {"complexhalf", "complex32", 4},
    {"complexfloat", "complex64", 8},
    {"complex64", "complex64", 8},
    {"complex<float>", "complex64", 8},
    {"complex<double>", "complex128", 16},
    {"complexdouble", "complex128", 16},
    {"complex128", "complex128", 16},
});

/// In the order of ncclDataType_t.
constexpr std::array<std::string_view, 12> nccl_types{"int8",   "uint8",    "int32",      "uint32",
                                                      "int64",  "uint64",   "float16",    "float32",
                                                      "double", "bfloat16", "float8e4m3", "float8e5m2"};

/// Words that MPI and torch.distributed put before or behind the name of an operation, in the order in which they are
/// taken off.
constexpr std::string_view forms_before[] = {"i", "s", "r", "b"};
constexpr std::string_view forms_behind[] = {"coalesced", "oop",   "base",      "intotensor", "tensor",
                                             "single",    "block", "anysource", "v"};

/// The letters of `text`, in lower case.
std::string letters_of(std::string_view text) {
    std::string letters;
    for (char const each : text) {
        if (auto const letter = static_cast<unsigned char>(each); std::isalpha(letter) != 0) {
            letters += static_cast<char>(std::tolower(letter));
        }
    }
    return letters;
}

std::optional<OperationKind> kind_named(std::string_view letters) {
    for (OperationFacts const& facts : operation_table) {
        if (!facts.torch.empty() && letters_of(facts.torch) == letters) {
            return facts.kind;
        }
    }
    return letters == "bcast" ? std::optional(OperationKind::broadcast) : std::nullopt;
}

}  // namespace

std::optional<Dtype> dtype_named(std::string_view name) {
    std::string const text = lower_case(name);
    std::string_view word = text;
    for (std::string_view const prefix : {"tensor(", "c10::", "torch.", "nccl", "mpi_"}) {
        if (word.starts_with(prefix)) {
            word.remove_prefix(prefix.size());
        }
    }
    if (word.ends_with(')')) {
        word.remove_suffix(1);
    }
    auto const* const found =
        std::find_if(named_types.begin(), named_types.end(), [&](NamedType const& type) { return type.name == word; });
    if (found == named_types.end()) {
        return std::nullopt;
    }
    return Dtype{std::string(found->ours), found->bytes};
}

std::optional<Dtype> nccl_dtype(std::uint64_t number) {
    return number < nccl_types.size() ? dtype_named(nccl_types.at(number)) : std::nullopt;
}

std::optional<OperationKind> operation_named(std::string_view name) {
    bool const is_mpi = lower_case(name.substr(0, 4)) == "mpi_";
    std::string const letters = letters_of(is_mpi ? name.substr(4) : name);
    std::string_view word = letters;
    auto kind = kind_named(word);
    for (std::string_view const form : forms_before) {
        if (!kind && word.starts_with(form)) {
            kind = kind_named(word.substr(form.size()));
        }
    }
    for (std::string_view const form : forms_behind) {
        if (!kind && word.ends_with(form)) {
            word.remove_suffix(form.size());
            kind = kind_named(word);
        }
    }
    return kind;
}

std::optional<int> TraceGroup::place_of(Rank rank) const {
    if (stride > 0) {
        return rank / stride % size;
    }
    auto const found = std::find(members.begin(), members.end(), rank);
    return found == members.end() ? std::nullopt : std::optional(static_cast<int>(found - members.begin()));
}

std::vector<Rank> TraceGroup::members_around(Rank rank) const {
    if (stride == 0) {
        return members;
    }
    std::vector<Rank> around;
    Rank const first = rank - rank / stride % size * stride;
    for (int place = 0; place < size; ++place) {
        around.push_back(first + place * stride);
    }
    return around;
}

void RankProgram::add(TraceOperation operation) {
    if (computed_after_us) {
        operation.computed_us = *std::exchange(computed_after_us, 0);
    }
    operations.push_back(std::move(operation));
}

std::map<std::string, std::uint64_t> notes_of(Trace const& trace) {
    auto notes = trace.notes;
    for (auto const& [what, times] : trace.left_out) {
        notes.emplace("left out: " + what, times);
    }
    return notes;
}

Bytes own_part(TraceOperation const& operation) {
    return facts_of(operation.kind).parts == PartSide::sent ? operation.sent : operation.received;
}

std::vector<Bytes> const& parts_of(TraceOperation const& operation) {
    return (facts_of(operation.kind).parts == PartSide::sent ? operation.recv_split : operation.send_split).parts;
}

bool sends(Trace const& trace, TraceOperation const& operation, Rank rank) {
    if (facts_of(operation.kind).root != RootRole::sends || !operation.root) {
        return true;
    }
    auto const place = trace.groups.at(operation.group).place_of(rank);
    return !place || *place == *operation.root;
}

}  // namespace dlmb::trace
