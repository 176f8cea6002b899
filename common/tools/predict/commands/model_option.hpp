// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The option that names a machine model, and --force, which lets it answer in spite of its error.
#pragma once

#include "common/base/command_line/subcommands.hpp"
#include "common/base/input_file.hpp"
#include "common/tools/predict/machine_model.hpp"

#include <fmt/core.h>

#include <string>

namespace dlmb::predict::commands {

class ModelOption {
public:
    CLI::Option* add_to(CLI::App& parser, std::string const& name, std::string const& help) {
        CLI::Option* const model = parser.add_option(name, path_, help);
        parser.add_flag("--force", force_, "answer also where the held-out error of " + name + " is above 40 %")
            ->needs(model);
        return model;
    }
    [[nodiscard]] bool given() const { return !path_.empty(); }
    [[nodiscard]] std::string const& path() const { return path_; }
    /// Reads the text of the file. Throws UsageError "PATH: what is wrong".
    [[nodiscard]] MachineModel read(std::string const& text) const { return read_model(text, path_, force_); }
    [[nodiscard]] MachineModel read() const { return read(read_document(path_)); }

private:
    std::string path_;
    bool force_ = false;
};

/// Empty where the model was fitted on so many nodes.
[[nodiscard]] inline std::string extrapolation_note(MachineModel const& model, int nodes) {
    return nodes <= model.most_nodes
               ? ""
               : fmt::format("dlmb_predict: note: extrapolated from {} to {} nodes, x{:.3g}; intervals are void beyond "
                             "the first switch level or group that the measurements did not cross\n",
                             model.most_nodes, nodes, static_cast<double>(nodes) / model.most_nodes);
}

}  // namespace dlmb::predict::commands
