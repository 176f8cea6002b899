// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/mpi_trial.hpp"
#include "common/app/tune/consumers/verification.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app::tune {
namespace {

class MpiVerification {
public:
    MpiVerification(VerifyRequest const& request, MpiLibraryFound library)
        : request_(request), trial_(std::move(library), request.mpiexec) {}

    Verification run() {
        tuning::Slice const slice =
            complete(request_.request.slice, request_.table, scope_of(request_.request.consumer));
        for (Probe const& probe : probes(request_.table, slice, request_.made.lost, request_.ranks)) {
            check(probe);
            if (!probe.algorithm.empty() && request_.rounds != 0) {
                time(probe);
            }
        }
        if (result_.checks.empty()) {
            result_.skipped = "no rule of the table that could be exported holds for these ranks";
        }
        return std::move(result_);
    }

private:
    static std::string place(Probe const& probe) {
        return fmt::format("{} of {} bytes, {} ranks", name_of(probe.collective), probe.bytes, probe.ranks);
    }

    void check(Probe const& probe) {
        std::string const seen = trial_.fingerprint(probe, request_.environment);
        std::string const by_default = trial_.fingerprint(probe, {});
        bool const chosen = !probe.algorithm.empty();
        std::string const expected =
            chosen ? trial_.fingerprint(probe, trial_.force(probe.collective, probe.algorithm)) : by_default;
        std::string what = fmt::format("{}: {}: {}", place(probe), chosen ? probe.algorithm : "default", seen);
        if (seen != expected) {
            what += fmt::format(", expected {}", expected);
        } else if (chosen && expected == by_default) {
            what += ", as without the export";
        }
        result_.checks.push_back({seen == expected, std::move(what)});
    }

    /// With and without in turns, so that a slow minute hits both.
    void time(Probe const& probe) {
        std::vector<double> without;
        std::vector<double> with;
        for (std::size_t round = 0; round < request_.rounds; ++round) {
            without.push_back(trial_.nanoseconds(probe, {}));
            with.push_back(trial_.nanoseconds(probe, request_.environment));
        }
        std::sort(without.begin(), without.end());
        std::sort(with.begin(), with.end());
        result_.timings.push_back(fmt::format("{}: {} us without the export, {} us with it", place(probe),
                                              human_us(without[without.size() / 2]), human_us(with[with.size() / 2])));
    }

    VerifyRequest const& request_;
    MpiTrial trial_;
    Verification result_;
};

}  // namespace

Verification verify_mpi(VerifyRequest const& request) {
    MpiLibraryFound library = find_mpi_library();
    std::string const wanted = request.request.consumer == "mpich" ? "MPICH" : "Open MPI";
    if (library.name != wanted) {
        return {{}, {}, fmt::format("this build runs with {}, not with {}", library.name, wanted)};
    }
    return MpiVerification(request, std::move(library)).run();
}

}  // namespace dlmb::app::tune
