// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Open MPI and MPICH: whether an export acts as forcing the algorithm does, and beside its rules as no export does.
#include "common/base/command_line/siblings.hpp"
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/tools/tune/verify/program_output.hpp"
#include "common/tools/tune/verify/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>

extern char** environ;

namespace dlmb::tuning::commands {
namespace {

constexpr int fingerprint_calls = 10;

/// Runs dlmb_plain_mpi under a launcher and takes a fingerprint of the algorithm that ran: the functions of coll/base
/// that coll/tuned called (Open MPI, by LD_DEBUG=bindings) or the number of messages of all ranks (MPICH, by
/// LD_PRELOAD). Needs no message from the library, which release builds do not print.
class MpiTrial final : public Trial {
public:
    MpiTrial(MpiLibraryFound library, std::vector<std::string> launcher)
        : library_(std::move(library)), launcher_(std::move(launcher)) {}

    [[nodiscard]] TrialVariables force(MpiCall collective, std::string const& algorithm) const override {
        std::string name(name_of(collective));
        if (library_.name == "Open MPI") {
            auto const id = open_mpi_id(collective, algorithm, parse_version(library_.version));
            return {{"OMPI_MCA_coll_han_priority", "0"},  // on several nodes it would run instead
                    {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                    {fmt::format("OMPI_MCA_coll_tuned_{}_algorithm", name), fmt::format("{}", id.value_or(0))}};
        }
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        return {{fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", name), algorithm}};
    }

private:
    /// "ompi_coll_base_allreduce_intra_ring", "240 messages".
    [[nodiscard]] Fingerprint look(Probe const& probe, TrialVariables const& environment) override {
        return library_.name == "Open MPI" ? bound_functions(probe, environment) : messages(probe, environment);
    }

    [[nodiscard]] Finished run(Probe const& probe, TrialVariables const& environment, int calls) const {
        return run_ranks(launcher_, probe.ranks, environment,
                         {sibling_program("dlmb_plain_mpi").string(), std::string(name_of(probe.collective)),
                          fmt::format("{}", probe.bytes), fmt::format("{}", calls)},
                         std::chrono::seconds(120));
    }

    [[nodiscard]] Fingerprint bound_functions(Probe const& probe, TrialVariables environment) const {
        TemporaryFolder const folder;
        environment["LD_DEBUG"] = "bindings";
        environment["LD_DEBUG_OUTPUT"] = (folder.path() / "bindings").string();
        Finished const finished = run(probe, environment, 1);
        if (finished.exit_code != 0) {
            return failure(finished);
        }
        BoundFunctions functions;
        for (auto const& entry : std::filesystem::directory_iterator(folder.path())) {
            std::ifstream file(entry.path());
            add_bound_functions(file, name_of(probe.collective), functions);
        }
        if (functions.by_calls.empty() && functions.before.empty()) {
            return {"no algorithm of coll/tuned was seen in what the loader bound", true};
        }
        std::string const seen = functions.by_calls.empty() ? "nothing that it had not called before"
                                                            : fmt::format("{}", fmt::join(functions.by_calls, " "));
        return {seen, false, std::move(functions.before)};
    }

    [[nodiscard]] Fingerprint messages(Probe const& probe, TrialVariables environment) const {
        environment["MPIR_CVAR_NOLOCAL"] = "1";  // shared memory would hide the messages
        environment["LD_PRELOAD"] = sibling_library("libdlmb_count_sends.so").string();
        Finished const finished = run(probe, environment, fingerprint_calls);
        if (finished.exit_code != 0) {
            return failure(finished);
        }
        // Summed: one rank alone can have as many with two algorithms.
        auto const [ranks, sum] = counted_messages(finished.output);
        if (ranks != probe.ranks || sum == 0) {
            return {fmt::format("{} of {} ranks counted their messages, {} in all", ranks, probe.ranks, sum), true};
        }
        return {fmt::format("{} messages", sum)};
    }

    MpiLibraryFound library_;
    std::vector<std::string> launcher_;
};

struct Setting {
    std::string name;   // of the variable, whether or not it stands in a file
    std::string shown;  // "NAME=VALUE", and the file
};

/// Settings in the environment of this process and, for Open MPI, in the user's file of parameters.
std::vector<Setting> user_settings() {
    std::vector<Setting> found;
    std::filesystem::path home;
    for (char const* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view const variable = *entry;
        std::string_view const name = variable.substr(0, variable.find('='));
        home = name == "HOME" && name.size() < variable.size() ? variable.substr(name.size() + 1) : home;
        found.push_back({std::string(name), std::string(variable)});
    }
    std::filesystem::path const path = home / ".openmpi/mca-params.conf";
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::string_view const text = std::string_view(line).substr(0, line.find('#'));
        std::string_view const name = without_blanks_around(text.substr(0, text.find('=')));
        if (!name.empty()) {
            found.push_back({fmt::format("OMPI_MCA_{}", name),
                             fmt::format("{} in {}", without_blanks_around(text), path.string())});
        }
    }
    return found;
}

/// Settings by which a library does not look at the rules of a file: the algorithm of a call is forced, coll/tuned or
/// its rules are switched off, or another component comes first. What the export sets itself does not count.
std::vector<std::string> overriding_settings(bool open_mpi, TrialVariables const& exported) {
    static std::regex const of_open_mpi("OMPI_MCA_(coll|coll_tuned_.*|coll_[a-z]+_priority)");
    static std::regex const of_mpich("MPIR_CVAR_(.*_INTRA_ALGORITHM|.*DEVICE_COLLECTIVES?|COLL_SELECTION_.*)");
    std::vector<std::string> notes;
    for (Setting const& each : user_settings()) {
        if (exported.count(each.name) == 0 && std::regex_match(each.name, open_mpi ? of_open_mpi : of_mpich)) {
            notes.push_back(fmt::format("{}: the library may obey this before the files; take it away", each.shown));
        }
    }
    return notes;
}

}  // namespace

Verification verify_mpi(VerifyRequest const& request) {
    MpiLibraryFound library = find_mpi_library();
    std::string const wanted = request.request.consumer == "mpich" ? "MPICH" : "Open MPI";
    if (library.name != wanted) {
        return {{}, fmt::format("this build runs with {}, not with {}", library.name, wanted)};
    }
    bool const open_mpi = library.name == "Open MPI";
    MpiTrial trial(std::move(library), request.launcher);
    Verification result = verify_rules(request, trial);
    result.notes = overriding_settings(open_mpi, request.environment);
    return result;
}

}  // namespace dlmb::tuning::commands
