// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Open MPI and MPICH: whether an export acts as forcing the algorithm does, and beside its rules as no export does.
#include "common/app/tune/consumers/run_program.hpp"
#include "common/app/tune/consumers/verification.hpp"
#include "common/base/error.hpp"
#include "common/tuning/exporters/open_mpi.hpp"
#include "common/tuning/query.hpp"

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

class ProbePlaces {
public:
    ProbePlaces(TuningTable const& table, Slice const& slice, std::vector<Lost> const& lost)
        : table_(table), slice_(slice), lost_(lost) {}

    void around(Carried const& one, MpiCollective collective, std::uint64_t ranks) {
        Bytes const unit = ranks * element_bytes;
        Bytes const first = (one.bytes.min + unit - 1) / unit * unit;
        Bytes const last = std::min(one.bytes.max, most_bytes) / unit * unit;
        if (first > last) {
            return;
        }
        add(collective, first, ranks);
        add(collective, last, ranks);
        if (first >= unit) {
            add(collective, first - unit, ranks);
        }
        if (last + unit <= most_bytes) {
            add(collective, last + unit, ranks);
        }
        for (std::uint64_t const other : {std::uint64_t{2}, ranks - 1, ranks + 1}) {
            if (other >= 2 && other != ranks) {
                add(collective, first / (other * element_bytes) * (other * element_bytes), other);
            }
        }
    }

    std::vector<Probe> all() const { return {found_.begin(), found_.end()}; }

private:
    [[nodiscard]] bool is_lost(Rule const& rule) const {
        return std::any_of(lost_.begin(), lost_.end(), [&](Lost const& one) { return one.rule == rule.id; });
    }

    void add(MpiCollective collective, Bytes bytes, std::uint64_t ranks) {
        Query query;
        query.backend = "mpi";
        query.operation = operation_of(collective);
        query.bytes = bytes;
        query.ranks = ranks;
        query.nodes = slice_.nodes;
        query.memory = slice_.memory;
        query.dtype = slice_.dtype;
        query.reduction = slice_.reduction;
        if (query.operation == TunedOperation::exchange) {
            query.uniform = collective == MpiCollective::alltoall;
        }
        Match const match = lookup(table_, query);
        Rule const* const rule = match.deciding();
        if (rule != nullptr && is_lost(*rule)) {
            return;
        }
        bool const chosen = rule != nullptr && rule->choose.algorithm;
        found_.insert({collective, bytes, ranks, chosen ? rule->choose.algorithm->name : ""});
    }

    static TunedOperation operation_of(MpiCollective collective) {
        for (TunedOperation const operation : every_tuned_operation) {
            When when;
            when.operation = operation;
            when.uniform = collective == MpiCollective::alltoall;
            if (collective_of(when) == collective) {
                return operation;
            }
        }
        return TunedOperation::exchange;
    }

    TuningTable const& table_;
    Slice const& slice_;
    std::vector<Lost> const& lost_;
    std::set<Probe> found_;
};

/// Where an export is tried: at the ends of each rule, beside them, and with other numbers of ranks.
/// Rules in `lost` are left out. `ranks`: only rules that hold for this number.
std::vector<Probe> probes(TuningTable const& table, Slice const& slice, std::vector<Lost> const& lost,
                          std::optional<std::uint64_t> ranks) {
    ProbePlaces places(table, slice, lost);
    for (Carried const& one : select_rules(table, "mpi", slice, {}).rules) {
        auto const collective = collective_of(one.rule->when);
        std::uint64_t const tried = ranks.value_or(std::max<std::uint64_t>(one.ranks.min, 2));
        if (!one.keeps_default() && collective && one.ranks.contains(tried)) {
            places.around(one, *collective, tried);
        }
    }
    return places.all();
}

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

/// Runs dlmb_plain_mpi under a launcher and takes a fingerprint of the algorithm that ran: the functions of coll/base
/// that coll/tuned called (Open MPI, by LD_DEBUG=bindings) or the number of messages of all ranks (MPICH, by
/// LD_PRELOAD). Needs no message from the library, which release builds do not print.
class MpiTrial {
public:
    MpiTrial(MpiLibraryFound library, std::string mpiexec);

    /// "ompi_coll_base_allreduce_intra_ring", "240 messages", or how the run failed.
    [[nodiscard]] std::string fingerprint(Probe const& probe, Environment const& environment);

    /// What makes the library run an algorithm whatever the size is.
    [[nodiscard]] Environment force(MpiCollective collective, std::string const& algorithm) const;

    /// Median time of a call on rank 0; 0 where the run failed.
    [[nodiscard]] double nanoseconds(Probe const& probe, Environment const& environment) const;

private:
    [[nodiscard]] std::vector<std::string> command(Probe const& probe, Environment const& environment, int calls) const;
    [[nodiscard]] std::string bound_functions(Probe const& probe, Environment environment) const;
    [[nodiscard]] std::string messages(Probe const& probe, Environment environment) const;

    MpiLibraryFound library_;
    std::string mpiexec_;
    std::map<std::pair<Probe, Environment>, std::string> seen_;
};

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

Environment MpiTrial::force(MpiCollective collective, std::string const& algorithm) const {
    if (library_.name == "Open MPI") {
        auto const id = open_mpi_id(collective, algorithm, parse_version(library_.version));
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

class MpiVerification {
public:
    MpiVerification(VerifyRequest const& request, MpiLibraryFound library)
        : request_(request), trial_(std::move(library), request.mpiexec) {}

    Verification run() {
        Slice const slice = complete(request_.request.slice, request_.table, scope_of(request_.request.consumer));
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
