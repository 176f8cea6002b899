// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL's own records name ranks inside of communicators. Which rank of the run a process is, its largest communicator
// tells, if that is the one of all ranks.
#pragma once

#include "common/tools/plan/builder.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::trace {

/// A call of NCCL's of which `bytes` is count times size: of what is gathered or scattered that is one rank's share.
/// The caller fills in the peer of a send or receive.
[[nodiscard]] TraceOperation nccl_operation(Input const& input, std::string_view where, OperationKind kind, Dtype dtype,
                                            Bytes bytes, Bytes ranks);

class TraceCommunicators {
public:
    /// `process` is rank `rank` of `size` in the communicator that all its members call `name`.
    void join(std::string const& process, std::string const& name, int rank, int size);
    /// A call in a communicator that the process has joined; root and peer are ranks in it.
    void call(std::string const& process, std::string const& name, TraceOperation operation);
    /// Makes a program of each process. Throws UsageError where a process cannot be told a rank; `file` is named then.
    void finish(Builder& builder, std::string const& file);

private:
    struct TraceCommunicator {
        int size = 0;
        std::map<int, std::string> processes;  // by rank in it
        bool has_namesake = false;             // two processes are the same rank: there are two of this name
    };
    struct Process {
        std::map<std::string, int> ranks;  // by communicator
        std::vector<std::pair<std::string, TraceOperation>> calls;
    };
    std::map<std::string, TraceCommunicator> communicators_;
    std::map<std::string, Process> processes_;
};

}  // namespace dlmb::trace
