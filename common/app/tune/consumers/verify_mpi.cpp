// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Open MPI and MPICH: whether an export acts as forcing the algorithm does, and beside its rules as no export does.
#include "common/app/tune/consumers/consumers.hpp"
#include "common/app/tune/consumers/run_program.hpp"
#include "common/base/error.hpp"
#include "common/tuning/exporters/select_rules.hpp"
#include "common/tuning/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <set>

namespace dlmb::app::tune {
namespace {

using namespace tuning;
using Environment = std::map<std::string, std::string>;

struct Probe {
    MpiCollective collective;
    Bytes bytes = 0;  // native basis, a multiple of 4 * ranks
    std::uint64_t ranks = 0;
    std::string algorithm;  // what the table says; empty: the library's own choice
    bool operator==(Probe const&) const = default;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Probe const&) const = default;
};

constexpr Bytes most_bytes = Bytes{64} << 20;
constexpr std::uint64_t element_bytes = 4;

/// What the table says of a collective at a size; nothing: a rule that is lost.
std::optional<Probe> probe_at(TuningTable const& table, Slice const& slice, std::vector<Lost> const& lost,
                              TunedOperation operation, MpiCollective collective, Bytes bytes, std::uint64_t ranks) {
    Query const query{.operation = operation,
                      .backend = "mpi",
                      .bytes = bytes,
                      .ranks = ranks,
                      .nodes = slice.nodes,
                      .dtype = slice.dtype,
                      .reduction = slice.reduction,
                      .memory = slice.memory,
                      .in_place = {},
                      .uniform = operation == TunedOperation::exchange
                                     ? std::optional(collective == MpiCollective::alltoall)
                                     : std::nullopt,
                      .imbalance = {}};
    Rule const* const rule = lookup(table, query).deciding();
    auto const is_of_rule = [&](Lost const& one) { return one.rule == rule->id; };
    if (rule != nullptr && std::any_of(lost.begin(), lost.end(), is_of_rule)) {
        return std::nullopt;
    }
    bool const chosen = rule != nullptr && rule->choose.algorithm;
    return Probe{collective, bytes, ranks, chosen ? rule->choose.algorithm->name : ""};
}

/// At the ends of a rule, beside them, and with other numbers of ranks: bytes and ranks.
std::vector<std::pair<Bytes, std::uint64_t>> around(Carried const& one, std::uint64_t ranks) {
    Bytes const unit = ranks * element_bytes;
    Bytes const first = (one.bytes.min + unit - 1) / unit * unit;
    Bytes const last = std::min(one.bytes.max, most_bytes) / unit * unit;
    if (first > last) {
        return {};
    }
    std::vector<std::pair<Bytes, std::uint64_t>> places{{first, ranks}, {last, ranks}};
    if (first >= unit) {
        places.emplace_back(first - unit, ranks);
    }
    if (last + unit <= most_bytes) {
        places.emplace_back(last + unit, ranks);
    }
    for (std::uint64_t const other : {std::uint64_t{2}, ranks - 1, ranks + 1}) {
        if (other >= 2 && other != ranks) {
            places.emplace_back(first / (other * element_bytes) * (other * element_bytes), other);
        }
    }
    return places;
}

/// Where an export is tried. Rules in `lost` are left out. `ranks`: only rules that hold for this number.
std::set<Probe> probes(TuningTable const& table, Slice const& slice, std::vector<Lost> const& lost,
                       std::optional<std::uint64_t> ranks) {
    std::set<Probe> found;
    for (Carried const& one : select_rules(table, "mpi", slice, {}).rules) {
        When const& when = one.rule->when;
        auto const collective = collective_of(when);
        std::uint64_t const tried = ranks.value_or(std::max<std::uint64_t>(one.ranks.min, 2));
        if (one.keeps_default() || !collective || !one.ranks.contains(tried)) {
            continue;
        }
        for (auto const& [bytes, by_ranks] : around(one, tried)) {
            if (auto probe = probe_at(table, slice, lost, when.operation, *collective, bytes, by_ranks)) {
                found.insert(std::move(*probe));
            }
        }
    }
    return found;
}

constexpr int fingerprint_calls = 10;
constexpr int timed_calls = 100;

/// What a run shows of the algorithm that ran, or why it shows nothing. Two that failed are never alike.
struct Fingerprint {
    std::string text;
    bool failed = false;
    [[nodiscard]] bool is_like(Fingerprint const& other) const {
        return !failed && !other.failed && text == other.text;
    }
};

/// With the first line that is not empty.
Fingerprint failure(Finished const& finished) {
    std::string_view output = finished.output;
    output.remove_prefix(std::min(output.find_first_not_of('\n'), output.size()));
    return {fmt::format("exit {}: {}", finished.exit_code, output.substr(0, output.find('\n'))), true};
}

/// Runs dlmb_plain_mpi under a launcher and takes a fingerprint of the algorithm that ran: the functions of coll/base
/// that coll/tuned called (Open MPI, by LD_DEBUG=bindings) or the number of messages of all ranks (MPICH, by
/// LD_PRELOAD). Needs no message from the library, which release builds do not print.
class MpiTrial {
public:
    MpiTrial(MpiLibraryFound library, std::string mpiexec)
        : library_(std::move(library)), mpiexec_(std::move(mpiexec)) {}

    /// "ompi_coll_base_allreduce_intra_ring", "240 messages".
    [[nodiscard]] Fingerprint const& fingerprint(Probe const& probe, Environment const& environment) {
        auto const [place, is_new] = seen_.try_emplace({probe, environment});
        if (is_new) {
            place->second =
                library_.name == "Open MPI" ? bound_functions(probe, environment) : messages(probe, environment);
        }
        return place->second;
    }

    /// What makes the library run an algorithm whatever the size is.
    [[nodiscard]] Environment force(MpiCollective collective, std::string const& algorithm) const {
        std::string name(name_of(collective));
        if (library_.name == "Open MPI") {
            auto const id = open_mpi_id(collective, algorithm, parse_version(library_.version));
            return {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                    {fmt::format("OMPI_MCA_coll_tuned_{}_algorithm", name), fmt::format("{}", id.value_or(0))}};
        }
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        return {{fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", name), algorithm}};
    }

    /// Median time of a call on rank 0; 0 where the run failed.
    [[nodiscard]] double nanoseconds(Probe const& probe, Environment const& environment) const {
        Finished const finished = run(probe, environment, timed_calls);
        std::smatch match;
        bool const found = std::regex_search(finished.output, match, std::regex(R"(median_ns (\d+))"));
        return finished.exit_code == 0 && found ? parse_whole<double>(match[1].str()).value_or(0) : 0;
    }

private:
    [[nodiscard]] Finished run(Probe const& probe, Environment const& environment, int calls) const {
        return run_ranks(mpiexec_, probe.ranks, environment,
                         {sibling_program("dlmb_plain_mpi").string(), std::string(name_of(probe.collective)),
                          fmt::format("{}", probe.bytes), fmt::format("{}", calls)},
                         std::chrono::seconds(120));
    }

    [[nodiscard]] Fingerprint bound_functions(Probe const& probe, Environment environment) const {
        TemporaryFolder const folder;
        environment["LD_DEBUG"] = "bindings";
        environment["LD_DEBUG_OUTPUT"] = (folder.path() / "bindings").string();
        Finished const finished = run(probe, environment, 1);
        if (finished.exit_code != 0) {
            return failure(finished);
        }
        // The component is a file of its own or a part of the library.
        std::regex const binding(
            fmt::format(R"(binding file \S*/(?:mca_coll_tuned|libmpi)\.so.* symbol `(ompi_coll_base_{}_intra_\w+)')",
                        name_of(probe.collective)));
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
        if (functions.empty()) {
            return {"no algorithm of coll/tuned was seen in what the loader bound", true};
        }
        return {fmt::format("{}", fmt::join(functions, " "))};
    }

    [[nodiscard]] Fingerprint messages(Probe const& probe, Environment environment) const {
        environment["MPIR_CVAR_NOLOCAL"] = "1";  // shared memory would hide the messages
        environment["LD_PRELOAD"] = sibling_library("libdlmb_count_sends.so").string();
        Finished const finished = run(probe, environment, fingerprint_calls);
        if (finished.exit_code != 0) {
            return failure(finished);
        }
        // Summed: one rank alone can have as many with two algorithms.
        std::regex const line(R"(dlmb-sends (\d+))");
        std::uint64_t sum = 0;
        std::uint64_t ranks = 0;
        for (std::sregex_iterator at(finished.output.begin(), finished.output.end(), line), end; at != end; ++at) {
            sum += parse_whole<std::uint64_t>((*at)[1].str()).value_or(0);
            ++ranks;
        }
        if (ranks != probe.ranks || sum == 0) {
            return {fmt::format("{} of {} ranks counted their messages, {} in all", ranks, probe.ranks, sum), true};
        }
        return {fmt::format("{} messages", sum)};
    }

    MpiLibraryFound library_;
    std::string mpiexec_;
    std::map<std::pair<Probe, Environment>, Fingerprint> seen_;
};

std::string where_of(Probe const& probe) {
    return fmt::format("{} of {} bytes, {} ranks", name_of(probe.collective), probe.bytes, probe.ranks);
}

/// Where the table chooses, the forced algorithm has to look otherwise than the library's own choice: only then does a
/// run tell whether the export acts.
Check check(MpiTrial& trial, Probe const& probe, Environment const& exported) {
    bool const chosen = !probe.algorithm.empty();
    Fingerprint const& seen = trial.fingerprint(probe, exported);
    Fingerprint const& by_default = trial.fingerprint(probe, {});
    Fingerprint const& expected =
        chosen ? trial.fingerprint(probe, trial.force(probe.collective, probe.algorithm)) : by_default;
    std::string const what =
        fmt::format("{}: {}: {}", where_of(probe), chosen ? probe.algorithm : "default", seen.text);
    if (by_default.failed || expected.failed) {
        return {Verdict::unseen, fmt::format("{}, {}: {}", what, by_default.failed ? "without the export" : "forced",
                                             (by_default.failed ? by_default : expected).text)};
    }
    if (!seen.is_like(expected)) {
        return {Verdict::wrong, fmt::format("{}, expected {}", what, expected.text)};
    }
    if (chosen && expected.is_like(by_default)) {
        return {Verdict::unseen, what + ", as without the export"};
    }
    return {Verdict::held, what};
}

/// With and without in turns, so that a slow minute hits both.
std::string timing_text(MpiTrial const& trial, Probe const& probe, Environment const& exported, std::size_t rounds) {
    std::vector<double> without;
    std::vector<double> with;
    for (std::size_t round = 0; round < rounds; ++round) {
        without.push_back(trial.nanoseconds(probe, {}));
        with.push_back(trial.nanoseconds(probe, exported));
    }
    std::sort(without.begin(), without.end());
    std::sort(with.begin(), with.end());
    return fmt::format("{}: {} us without the export, {} us with it", where_of(probe), human_us(without[rounds / 2]),
                       human_us(with[rounds / 2]));
}

}  // namespace

Verification verify_mpi(VerifyRequest const& request) {
    MpiLibraryFound library = find_mpi_library();
    std::string const wanted = request.request.consumer == "mpich" ? "MPICH" : "Open MPI";
    Verification result;
    if (library.name != wanted) {
        result.skipped = fmt::format("this build runs with {}, not with {}", library.name, wanted);
        return result;
    }
    MpiTrial trial(std::move(library), request.mpiexec);
    Slice const slice = complete(request.request.slice, request.table, scope_of(request.request.consumer));
    for (Probe const& probe : probes(request.table, slice, request.made.lost, request.ranks)) {
        result.checks.push_back(check(trial, probe, request.environment));
        if (!probe.algorithm.empty() && request.rounds != 0) {
            result.timings.push_back(timing_text(trial, probe, request.environment, request.rounds));
        }
    }
    if (result.checks.empty()) {
        result.skipped = "no rule of the table that could be exported holds for these ranks";
    }
    return result;
}

}  // namespace dlmb::app::tune
