// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/write_export.hpp"

#include "common/base/error.hpp"
#include "common/tuning/write_table.hpp"

#include <fmt/core.h>

#include <fstream>

namespace dlmb::app::tune {
namespace {

void write(std::filesystem::path const& path, std::string const& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
        throw OutputError(fmt::format("{}: cannot be written", path.string()));
    }
}

std::string shell_word(std::string_view text) {
    std::string result = "'";
    for (char const one : text) {
        result += one == '\'' ? "'\\''" : std::string(1, one);
    }
    return result + "'";
}

std::string environment_script(tuning::Export const& made, std::filesystem::path const& folder) {
    std::string text = "# Made by dlmb_tune export; to be sourced before the program starts.\n";
    for (std::string const& note : made.notes) {
        text += fmt::format("# Note: {}.\n", note);
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
    add("--library", request.library.string());
    return options;
}

std::string verify_script(ExportRequest const& request) {
    return fmt::format("#!/bin/sh\n"
                       "# Made by dlmb_tune export; runs the consumer with these files and says whether they act.\n"
                       "here=$(cd \"$(dirname \"$0\")\" && pwd)\n"
                       "exec {} verify{} --files \"$here\" \"$here/table.json\" \"$@\"\n",
                       shell_word(sibling_program("dlmb_tune").string()), options_of(request));
}

}  // namespace

std::map<std::string, std::string> environment_of(tuning::Export const& made, std::filesystem::path const& folder) {
    auto environment = made.env;
    for (auto& [name, value] : environment) {
        if (auto const at = value.find(tuning::folder_mark); at != value.npos) {
            value.replace(at, tuning::folder_mark.size(),
                          std::filesystem::absolute(folder).lexically_normal().string());
        }
    }
    return environment;
}

void write_export(std::filesystem::path const& folder, ExportRequest const& request, tuning::TuningTable const& table,
                  tuning::Export const& made) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        throw OutputError(fmt::format("{}: {}", folder.string(), error.message()));
    }
    for (tuning::File const& file : made.files) {
        write(folder / file.name, file.text);
    }
    write(folder / "env.sh", environment_script(made, folder));
    write(folder / "lost.json", to_json(made.lost));
    tuning::write_table(folder / "table.json", table);
    write(folder / "verify.sh", verify_script(request));
    using std::filesystem::perms;
    std::filesystem::permissions(folder / "verify.sh", perms::owner_exec | perms::group_exec | perms::others_exec,
                                 std::filesystem::perm_options::add);
}

}  // namespace dlmb::app::tune
