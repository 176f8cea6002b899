// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/verify/consumers.hpp"

#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/run_program.hpp"
#include "common/base/command_line/siblings.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/row_named.hpp"
#include "common/base/units.hpp"
#include "common/formats/record/cell_identity.hpp"
#include "common/formats/table/table_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

namespace dlmb::tuning::commands {
namespace {

Export export_open_mpi(TuningTable const& table, ExportRequest const& request) {
    if (!request.library_version.empty()) {
        return to_open_mpi(table, request.slice, request.library_version, request.commutative);
    }
    bool const says = table.stack.mpi && table.stack.mpi->name == "Open MPI";
    MpiLibraryFound const library = says ? MpiLibraryFound{*table.stack.mpi, {}} : find_mpi_library();
    if (library.name != "Open MPI") {
        throw UsageError("the table names no version of Open MPI; give it with --library-version, as 4.1.4");
    }
    return to_open_mpi(table, request.slice, library.version, request.commutative);
}

Export export_mpich(TuningTable const& table, ExportRequest const& request) {
    MpiLibraryFound const running = request.library.empty() ? find_mpi_library() : MpiLibraryFound{{}, request.library};
    if (request.library.empty() && running.name != "MPICH") {
        throw UsageError(fmt::format(
            "this build runs with {}; give the libmpich.so that programs run with by --library", running.name));
    }
    MpichInfo info = read_mpich(running.path);
    bool const says = table.stack.mpi && table.stack.mpi->name == "MPICH";
    if (!request.library_version.empty()) {
        info.version = request.library_version;
    } else if (!running.version.empty() || says) {
        info.version = running.version.empty() ? table.stack.mpi->version : running.version;
    }
    if (info.version.empty()) {  // some collectives cannot be told from 4.1 on
        throw UsageError(fmt::format("neither the table nor {} says which version of MPICH it is; give it with "
                                     "--library-version, as 4.0.2",
                                     info.origin));
    }
    return to_mpich(table, request.slice, info);
}

Export export_ucx(TuningTable const& table, ExportRequest const& request) {
    auto const found = table.stack.versions.find("ucx");
    std::string const in_table = found == table.stack.versions.end() ? "" : found->second;
    std::string const version = request.library_version.empty() ? in_table : request.library_version;
    if (version.empty()) {
        throw UsageError("the table names no version of UCX; give it with --library-version, as 1.13.1");
    }
    return to_ucx(table, complete(request.slice, table, "ucx", keys_of_ucx(version)), version);
}

/// Behind the first line: that of Open MPI may have to be the number of its format. JSON has no comments.
void add_comment(File& file, std::string const& text) {
    if (!file.name.ends_with(".json") && !file.text.empty()) {
        file.text.insert(file.text.find('\n') + 1, fmt::format("# {}\n", one_line(text)));
    }
}

struct Consumer {
    char const* name;
    char const* scope;
    DistinguishedKeys keys;
    Verification (*verify)(VerifyRequest const&);
    Export (*make)(TuningTable const&, ExportRequest const&);
    bool reads_version = false;
    bool reads_library = false;
    bool reads_commutative = false;
};
constexpr std::array consumers{
    Consumer{"openmpi", "mpi", mpi_keys, verify_mpi, export_open_mpi, true, false, true},
    Consumer{"mpich", "mpi", mpi_keys, verify_mpi, export_mpich, true, true},
    // Its export asks for the nodes where its version needs them.
    Consumer{"ucx", "ucx", {.nodes = true}, verify_ucx, export_ucx, true},
    Consumer{"ucc", "ucc", ucc_keys, verify_ucc,
             [](auto const& table, auto const& request) { return to_ucc(table, request.slice); }},
    Consumer{"nccl", "nccl", nccl_keys, verify_nccl, [](auto const& table, auto const& request) {
                 return to_nccl(table, request.slice, sibling_library("libnccl-tuner-dlmb.so").string());
             }}};

std::vector<std::string> consumer_names() {
    std::vector<std::string> names;
    for (Consumer const& consumer : consumers) {
        names.emplace_back(consumer.name);
    }
    return names;
}

Consumer const& consumer_named(std::string const& name) {
    return row_named(consumers, name, "consumer", "--to: ");
}

/// With absolute paths.
std::map<std::string, std::string> environment_of(Export const& made, std::filesystem::path const& folder) {
    auto environment = made.env;
    for (auto& [name, value] : environment) {
        if (auto const at = value.find(folder_mark); at != value.npos) {
            value.replace(at, folder_mark.size(), std::filesystem::absolute(folder).lexically_normal().string());
        }
    }
    return environment;
}

constexpr std::size_t shown_characters = 80;  // of a line of a file

/// Without comments and blank lines.
std::vector<std::string> content_lines(std::istream& text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        line = without_blanks_around(std::string_view(line).substr(0, line.find('#')));
        if (!line.empty()) {
            lines.push_back(line);
        }
    }
    return lines;
}

std::string shell_word(std::string_view text) {
    std::string result = "'";
    for (char const one : text) {
        result += one == '\'' ? "'\\''" : std::string(1, one);
    }
    return result + "'";
}

std::string environment_script(Export const& made, std::filesystem::path const& folder) {
    std::string text = "# Made by dlmb_tune export; to be sourced before the program starts.\n";
    for (std::string const& note : made.notes) {
        text += fmt::format("# Note: {}.\n", one_line(note));  // it may quote the table, and a shell reads it
    }
    for (auto const& [name, value] : environment_of(made, folder)) {
        text += fmt::format("export {}={}\n", name, shell_word(value));
    }
    return text;
}

/// The options that made the export, so that verify expects the same of it.
std::string options_of(ExportRequest const& request) {
    std::string options = " --to " + shell_word(request.consumer);
    auto const add = [&](char const* name, std::string const& value) {
        options += value.empty() ? "" : fmt::format(" {} {}", name, shell_word(value));
    };
    add("--nodes", request.slice.nodes ? fmt::format("{}", *request.slice.nodes) : "");
    add("--memory", request.slice.memory);
    add("--element", request.slice.dtype);
    add("--reduction", request.slice.reduction);
    add("--library-version", request.library_version);
    add("--library", request.library);
    add("--accept", request.accept);
    return options + (request.commutative ? " --commutative" : "");
}

std::string verify_script(ExportRequest const& request) {
    return fmt::format("#!/bin/sh\n"
                       "# Made by dlmb_tune export; runs the consumer with these files and says whether they act.\n"
                       "here=$(cd \"$(dirname \"$0\")\" && pwd)\n"
                       "exec {} verify{} --files \"$here\" \"$here/table.json\" \"$@\"\n",
                       shell_word(sibling_program("dlmb_tune").string()), options_of(request));
}

}  // namespace

std::string scope_of(std::string const& consumer) {
    return consumer_named(consumer).scope;
}

Verification verify(VerifyRequest const& request) {
    return consumer_named(request.request.consumer).verify(request);
}

DistinguishedKeys keys_of(std::string const& consumer) {
    return consumer_named(consumer).keys;
}

Slice slice_of(ExportRequest const& request, TuningTable const& table) {
    return complete(request.slice, table, scope_of(request.consumer), keys_of(request.consumer));
}

Export export_table(TuningTable const& table, ExportRequest request) {
    Consumer const& consumer = consumer_named(request.consumer);
    for (auto const& [option, value, is_read] :
         {std::tuple("--library-version", request.library_version, consumer.reads_version),
          std::tuple("--library", request.library, consumer.reads_library),
          std::tuple("--commutative", std::string(request.commutative ? "yes" : ""), consumer.reads_commutative)}) {
        if (!value.empty() && !is_read) {
            throw UsageError(fmt::format("{}: no export to {} depends on it; leave it out", option, consumer.name));
        }
    }
    std::string const remark = weak_evidence_remark(table);
    if (std::string const weak = weak_evidence(table); !weak.empty() && request.accept != weak) {
        throw UsageError(fmt::format("{}: {}; --accept {} exports it all the same", request.table, remark, weak));
    }
    request.slice = slice_of(request, table);
    Export made = consumer.make(table, request);
    if (!remark.empty()) {
        made.notes.insert(made.notes.begin(), "this " + remark);
        for (File& file : made.files) {
            add_comment(file, "This " + remark + ".");
        }
    }
    if (std::any_of(table.rules.begin(), table.rules.end(),
                    [&](Rule const& rule) { return rule.scope == consumer.scope && rule.when.in_place == false; })) {
        made.notes.emplace_back("calls in place follow the rules of calls out of place where no note says otherwise");
    }
    if (std::string_view(consumer.scope) == "mpi" &&
        std::any_of(table.rules.begin(), table.rules.end(),
                    [&](Rule const& rule) { return rule.scope == consumer.scope && rule.when.nodes; })) {
        made.notes.emplace_back("the rules act on any number of nodes, in every communicator of their number of ranks, "
                                "also in those that the library makes for itself");
    }
    if (std::string const& load = table.policy.beside; !load.empty()) {
        bool const made_by_ranks = record::load_of(load).has_value();
        std::string const measured = fmt::format("was measured beside {} (--beside {})",
                                                 made_by_ranks ? "a load on each rank" : "other traffic", load);
        made.notes.push_back(fmt::format("this {}; it holds for programs that have such {}", measured,
                                         made_by_ranks ? "a load" : "traffic"));
        for (File& file : made.files) {
            add_comment(file, fmt::format("This {}.", measured));
        }
    }
    return made;
}

MpiLibraryFound find_mpi_library() {
    auto const program = sibling_program("dlmb_plain_mpi");
    if (!std::filesystem::exists(program)) {
        throw UsageError(
            fmt::format("{} is not there: this build has no MPI; configure with -DDLMB_WITH_MPI=ON", program.string()));
    }
    Finished const finished = run_program({program.string()}, std::chrono::seconds(60));
    std::istringstream lines(finished.output);
    std::string path;
    std::string version;
    if (finished.exit_code != 0 || !std::getline(lines, path) || !std::getline(lines, version)) {
        throw Error(fmt::format("{} does not say which MPI library it runs with", program.string()));
    }
    return {mpi_library(version), path};
}

void ExportRequest::add_to(CLI::App& parser) {
    parser.add_option("table", table, "tuning table (JSON)")->required()->option_text("TABLE");
    parser.add_option("--to", consumer, fmt::format("one of {}", fmt::join(consumer_names(), ", ")))->required();
    parser
        .add_option_function<std::uint64_t>(
            "--nodes", [this](std::uint64_t nodes) { slice.nodes = nodes == 0 ? std::nullopt : std::optional(nodes); },
            "rules for this number of nodes; needed where the format has no key for it")
        ->check(whole_number_check);
    parser.add_option("--memory", slice.memory, "rules for this memory, likewise");
    parser.add_option("--element", slice.dtype, "rules for this element, likewise");
    parser.add_option("--reduction", slice.reduction, "rules for this reduction, likewise");
    parser.add_option("--library-version", library_version,
                      "of the library that reads the files, as 4.1.4; default: what the table says");
    parser.add_option("--library", library, "libmpich.so that programs run with; default: the one of this build");
    parser
        .add_option(
            "--accept", accept,
            "foreign: also a table of another program's numbers, which nothing confirmed; predicted: also one of "
            "dlmb_predict")
        ->check(CLI::IsMember({"foreign", "predicted"}));
    parser.add_flag("--commutative", commutative,
                    "programs that load the export reduce with operations that commute (all of MPI's own do); also "
                    "export algorithms that are wrong for operations that do not");
}

std::map<std::string, std::string> read_environment(std::filesystem::path const& folder) {
    auto const script = std::filesystem::absolute(folder) / "env.sh";
    // The shell says what a file of shell code means. Variables end with NUL: values may hold newlines.
    Finished const finished = run_program(
        {"env", "-i", "sh", "-c", ". \"$1\" && exec /usr/bin/env -0", "sh", script.string()}, std::chrono::seconds(60));
    if (finished.exit_code != 0) {
        throw UsageError(fmt::format("{}: cannot be sourced: {}; make the folder with dlmb_tune export",
                                     script.string(), finished.output.substr(0, finished.output.find('\n'))));
    }
    static std::set<std::string_view> const of_the_shell{"PWD", "OLDPWD", "SHLVL", "_"};
    std::map<std::string, std::string> environment;
    std::istringstream variables(finished.output);
    for (std::string variable; std::getline(variables, variable, '\0');) {
        auto const end_of_name = variable.find('=');
        if (std::string const name = variable.substr(0, end_of_name);
            end_of_name != variable.npos && !of_the_shell.contains(name)) {
            environment.emplace(name, variable.substr(end_of_name + 1));
        }
    }
    return environment;
}

std::vector<Check> differences(std::filesystem::path const& folder, Export const& made,
                               std::map<std::string, std::string> const& environment) {
    std::vector<Check> found;
    for (auto const& [name, value] : environment_of(made, folder)) {
        auto const set = environment.find(name);
        std::string const is = set == environment.end() ? "" : set->second;
        if (is.empty()) {
            found.push_back({TrialVerdict::wrong, fmt::format("env.sh: does not set {}", name)});
        } else if (made.env.at(name).find(folder_mark) != std::string::npos) {
            if (std::filesystem::weakly_canonical(is) != std::filesystem::weakly_canonical(value)) {
                throw UsageError(fmt::format("{}/env.sh: {} is {}, which is of another folder; export into this one",
                                             folder.string(), name, is));
            }
        } else if (!value.starts_with('/') && is != value) {
            found.push_back(
                {TrialVerdict::wrong, fmt::format("env.sh: {} is '{}', the table says '{}'", name, is, value)});
        }
    }
    for (File const& file : made.files) {
        std::ifstream is(folder / file.name);
        if (!is) {
            found.push_back({TrialVerdict::wrong, file.name + ": is missing"});
            continue;
        }
        std::istringstream expected(file.text);
        std::vector<std::string> theirs = content_lines(is);
        std::vector<std::string> ours = content_lines(expected);
        theirs.resize(std::max(theirs.size(), ours.size()));
        ours.resize(theirs.size());
        auto const [their, our] = std::mismatch(theirs.begin(), theirs.end(), ours.begin());
        if (their != theirs.end()) {
            auto const at = static_cast<std::size_t>(
                std::mismatch(their->begin(), their->end(), our->begin(), our->end()).first - their->begin());
            std::size_t const from = at < shown_characters / 2 ? 0 : at;
            found.push_back({TrialVerdict::wrong,
                             fmt::format("{}: holds '{}', the table says '{}'", file.name,
                                         their->substr(from, shown_characters), our->substr(from, shown_characters))});
        }
    }
    return found;
}

void write_export(std::filesystem::path const& folder, ExportRequest const& request, TuningTable const& table,
                  Export const& made) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        throw OutputError(fmt::format("{}: {}", folder.string(), error.message()));
    }
    for (File const& file : made.files) {
        write_output(folder / file.name, file.text);
    }
    write_output(folder / "env.sh", environment_script(made, folder));
    write_output(folder / "lost.json", to_json(made.lost));
    write_table(folder / "table.json", table);
    write_output(folder / "verify.sh", verify_script(request));
    using std::filesystem::perms;
    std::filesystem::permissions(folder / "verify.sh", perms::owner_exec | perms::group_exec | perms::others_exec,
                                 std::filesystem::perm_options::add);
}

}  // namespace dlmb::tuning::commands
