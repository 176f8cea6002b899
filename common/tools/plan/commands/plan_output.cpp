// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/plan/commands/plan_output.hpp"

#include "common/base/output_file.hpp"

namespace dlmb::trace::commands {

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
