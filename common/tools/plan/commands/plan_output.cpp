// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/commands/plan_output.hpp"

#include "common/base/error.hpp"
#include "common/base/output_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace dlmb::trace::commands {

void make_folder(std::string const& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
        throw OutputError(fmt::format("{}: cannot be made: {}", path, error.message()));
    }
    if (!std::filesystem::is_empty(path, error) || error) {
        throw UsageError(fmt::format("-o {}: there are files in it; give a new folder", path));
    }
}

void PlanOutput::add(CLI::App& parser) {
    parser.add_option("-o,--output", path_, "file of the plans [-: standard output, as they come]");
}

TextSink PlanOutput::sink() {
    if (is_standard_output(path_)) {
        return [](std::string_view text) { write_output("-", text); };
    }
    return [this](std::string_view text) { text_ += text; };
}

void PlanOutput::close() const {
    if (!is_standard_output(path_)) {
        write_output(path_, text_);
    }
}

}  // namespace dlmb::trace::commands
