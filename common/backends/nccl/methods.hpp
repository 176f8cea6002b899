// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The methods of nccl and their knobs. Method algorithm: which algorithm and protocol of NCCL do a collective,
// "algorithm:allreduce=ring:protocol=ll128".
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/formats/table/nccl_tuner_control.hpp"

#include <map>
#include <optional>

namespace dlmb::nccl {

/// Numbers are NCCL's (nccl_tuner_control.hpp).
struct AlgorithmChoice {
    std::map<nccl_tuner::Function, int> algorithms;
    int protocol = 0;
    int channels = 0;  // 0: as many as NCCL likes
};

inline constexpr OperationSet tuned_operations{OperationKind::all_reduce, OperationKind::reduce,
                                               OperationKind::reduce_scatter, OperationKind::all_gather,
                                               OperationKind::broadcast};

struct Method {
    bool all_to_all = false;                   // exchanges by ncclAlltoAll
    bool graph = false;                        // the iteration is captured and replayed
    bool registered = false;                   // the plan's buffers are registered
    std::optional<AlgorithmChoice> algorithm;  // of the library, for its collectives
    bool falls_back = false;  // exchanges that ncclAlltoAll does not take are grouped when the plan holds more
};

[[nodiscard]] std::span<MethodInfo const> method_table();
/// Methods that need no knob, for memory of this kind: puts go to windows, which memory of NCCL has.
[[nodiscard]] std::span<MethodInfo const> plain_methods(MemoryKind kind);
/// Throws UsageError for an unknown method, knob or value.
[[nodiscard]] Method read_method(MethodChoice const& choice);

/// Pairs of algorithm and protocol that NCCL has for the collectives among `uses`; whether it can run one here it says
/// when asked.
[[nodiscard]] std::vector<MethodChoice> algorithm_variants(std::span<OperationUse const> uses);

/// {"nccl_algorithm.allreduce", "ring"}, {"nccl_algorithm_id.allreduce", "1"}, {"nccl_protocol", "ll"} ...
[[nodiscard]] Provenance facts_of(AlgorithmChoice const& choice);

/// Calls of an iteration that the choice is for: NCCL asks its tuner about no others. Ranks alone and empty buffers
/// are none.
[[nodiscard]] std::uint64_t calls_of(AlgorithmChoice const& choice, Plan const& plan);

/// While it lives, collectives that are enqueued or captured take the choice.
class Forcing {
public:
    Forcing(nccl_tuner::Control const& control, AlgorithmChoice const& choice);
    Forcing(Forcing const&) = delete;
    Forcing& operator=(Forcing const&) = delete;
    ~Forcing() { control_.clear(); }

    /// Since it was made.
    [[nodiscard]] nccl_tuner::Counters seen() const;

private:
    nccl_tuner::Control const& control_;
    nccl_tuner::Counters before_;
};

}  // namespace dlmb::nccl
