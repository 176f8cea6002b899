// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/parameter_files.hpp"

#include "common/base/units.hpp"
#include "common/measure/environment/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <vector>

namespace dlmb::measure {
namespace {

namespace fs = std::filesystem;

std::string trimmed(std::string_view text) {
    auto const blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && blank(text.back())) {
        text.remove_suffix(1);
    }
    bool const quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back();
    return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

std::string variable(Variables const& environment, std::string_view name) {
    auto const found = environment.find(name);
    return found == environment.end() ? std::string{} : found->second;
}

/// Adds what lines "name = value" set and nothing set before. '#' and ';' begin comments; behind "[name]" UCX's files
/// have what holds on some processors only, of which they do not say here whether it does.
void read(fs::path const& path, std::string const& prefix, Variables const& environment, Variables& settings) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::size_t const equals = line.find('=');
        std::string const name = trimmed(std::string_view(line).substr(0, std::min(equals, line.size())));
        if (name.starts_with('[')) {
            return;
        }
        if (equals == std::string::npos || name.empty() || name.front() == '#' || name.front() == ';') {
            continue;
        }
        std::string const known_as = name.starts_with(prefix) ? name : prefix + name;
        if (!environment.contains(known_as)) {
            settings.try_emplace(known_as, trimmed(std::string_view(line).substr(equals + 1)));
        }
    }
}

}  // namespace

Variables file_settings(Variables const& environment, std::string_view open_mpi_files, fs::path const& root) {
    Variables settings;
    auto const add = [&](std::string const& path, std::string const& prefix) {
        if (!path.empty()) {
            read(root / fs::path(path).relative_path(), prefix, environment, settings);
        }
    };
    std::string const home = variable(environment, "HOME");
    auto const in = [](std::string const& folder, std::string const& file) {
        return folder.empty() ? std::string{} : folder + '/' + file;
    };
    for (std::string_view const path : words(open_mpi_files, ":,")) {
        add(std::string(path), "OMPI_MCA_");
    }
    add(in(variable(environment, "UCX_CONFIG_DIR"), "ucx.conf"), "UCX_");
    add(in(home, "ucx.conf"), "UCX_");
    add("/etc/ucx/ucx.conf", "UCX_");
    std::string const ucc = variable(environment, "UCC_CONFIG_FILE");
    add(ucc.empty() ? in(home, "ucc.conf") : ucc, "UCC_");
    std::string const nccl = variable(environment, "NCCL_CONF_FILE");
    add(nccl.empty() ? in(home, ".nccl.conf") : nccl, "NCCL_");
    add("/etc/nccl.conf", "NCCL_");
    return settings;
}

std::string file_settings_text(Variables const& settings) {
    std::string text;
    for (auto const& [name, value] : recorded_variables(settings)) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
    return text;
}

}  // namespace dlmb::measure
