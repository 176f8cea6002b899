// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/mpi_trial.hpp"

#include "common/app/tune/consumers/run_program.hpp"
#include "common/app/tune/consumers/temporary_folder.hpp"
#include "common/base/error.hpp"
#include "common/tuning/exporters/open_mpi_algorithms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace dlmb::app::tune {
namespace {

constexpr int fingerprint_calls = 10;
constexpr int timed_calls = 100;
constexpr std::chrono::seconds most_time{120};

std::string failure(Finished const& finished) {
    std::istringstream lines(finished.output);
    std::string line;
    std::string first;
    while (first.empty() && std::getline(lines, line)) {
        first = line;
    }
    return fmt::format("exit {}: {}", finished.exit_code, first);
}

}  // namespace

MpiTrial::MpiTrial(MpiLibraryFound library, std::string mpiexec)
    : library_(std::move(library)), mpiexec_(std::move(mpiexec)) {}

std::string MpiTrial::fingerprint(Probe const& probe, Environment const& environment) {
    auto const [place, is_new] = seen_.try_emplace({probe, environment});
    if (is_new) {
        place->second =
            library_.name == "Open MPI" ? bound_functions(probe, environment) : messages(probe, environment);
    }
    return place->second;
}

Environment MpiTrial::force(tuning::MpiCollective collective, std::string const& algorithm) const {
    if (library_.name == "Open MPI") {
        auto const id = open_mpi_id(collective, algorithm, tuning::parse_version(library_.version));
        return {
            {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
            {fmt::format("OMPI_MCA_coll_tuned_{}_algorithm", name_of(collective)), fmt::format("{}", id.value_or(0))}};
    }
    std::string name(name_of(collective));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return {{fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", name), algorithm}};
}

/// Through env, so that the variables are the ranks' and not the launcher's.
std::vector<std::string> MpiTrial::command(Probe const& probe, Environment const& environment, int calls) const {
    std::vector<std::string> words{mpiexec_, "-n", fmt::format("{}", probe.ranks), "env"};
    for (auto const& [name, value] : environment) {
        words.push_back(fmt::format("{}={}", name, value));
    }
    words.push_back(sibling_program("dlmb_plain_mpi").string());
    words.emplace_back(name_of(probe.collective));
    words.push_back(fmt::format("{}", probe.bytes));
    words.push_back(fmt::format("{}", calls));
    return words;
}

std::string MpiTrial::bound_functions(Probe const& probe, Environment environment) const {
    TemporaryFolder const folder;
    environment["LD_DEBUG"] = "bindings";
    environment["LD_DEBUG_OUTPUT"] = (folder.path() / "bindings").string();
    Finished const finished = run_program(command(probe, environment, 1), most_time);
    if (finished.exit_code != 0) {
        return failure(finished);
    }
    std::regex const binding(
        fmt::format(R"(mca_coll_tuned\.so.* symbol `(ompi_coll_base_{}_intra_\w+)')", name_of(probe.collective)));
    std::set<std::string> functions;
    for (auto const& entry : std::filesystem::directory_iterator(folder.path())) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            std::smatch match;
            if (line.find("_intra_") != line.npos && std::regex_search(line, match, binding)) {
                functions.insert(match[1]);
            }
        }
    }
    return fmt::format("{}", fmt::join(functions, " "));
}

std::string MpiTrial::messages(Probe const& probe, Environment environment) const {
    environment["MPIR_CVAR_NOLOCAL"] = "1";  // shared memory would hide the messages
    environment["LD_PRELOAD"] = sibling_library("libdlmb_count_sends.so").string();
    Finished const finished = run_program(command(probe, environment, fingerprint_calls), most_time);
    if (finished.exit_code != 0) {
        return failure(finished);
    }
    // Summed: one rank alone can have as many with two algorithms.
    std::regex const line(R"(dlmb-sends (\d+))");
    std::uint64_t sum = 0;
    std::uint64_t ranks = 0;
    for (std::sregex_iterator at(finished.output.begin(), finished.output.end(), line), end; at != end; ++at) {
        sum += std::stoull((*at)[1]);
        ++ranks;
    }
    return ranks == probe.ranks ? fmt::format("{} messages", sum) : "not every rank counted its messages";
}

double MpiTrial::nanoseconds(Probe const& probe, Environment const& environment) const {
    Finished const finished = run_program(command(probe, environment, timed_calls), most_time);
    std::smatch match;
    bool const found = std::regex_search(finished.output, match, std::regex(R"(median_ns (\d+))"));
    return finished.exit_code == 0 && found ? std::stod(match[1]) : 0;
}

}  // namespace dlmb::app::tune
