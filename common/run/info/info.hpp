// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info: what this build and this machine can do, and why something is missing. What it finds out is one JSON
// object, and that object as text for people.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/measure/environment/capture.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/pattern.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dlmb::run {

/// Prints a table, or one JSON object with --json. Exit 0; 1 where --lint-model finds what does not fit; 64 for a wrong
/// option.
int run_info(int argc, char** argv, std::span<PatternType const* const> patterns);

/// Collective over two ranks. A launch of its own: a library that does not take device memory crashes, which ends this
/// process with one line and exit_cell_failed. Otherwise exit_ok (it does), exit_cell_failed (payload was wrong) or
/// exit_nothing_ran (no device). Throws UsageError for any other number of ranks.
[[nodiscard]] int probe_mpi_device(Bootstrap& bootstrap);

/// Options of dlmb_info.
struct InfoOptions {
    bool json = false;
    bool calibrate = false;
    bool startup = false;
    bool probe = false;
    bool lint = false;
    std::string model;
    std::string preset;
    std::string parallel;
};
void add_options(CLI::App& app, InfoOptions& options);

using InfoJson = nlohmann::ordered_json;

/// Devices, the network adapters near each, who reaches whose memory, and which one this rank uses.
[[nodiscard]] InfoJson describe_gpus(Devices const& devices, measure::DeviceUse const& use);

/// Which kinds of memory are here, and why others are not.
[[nodiscard]] InfoJson describe_memory();

/// Collective. One backend: on which of these kinds of memory it works, methods, and facts, those on device memory
/// among them.
[[nodiscard]] InfoJson describe_backend(BackendEntry const& entry, BackendContext const& context,
                                        InfoJson const& memory);

[[nodiscard]] std::string info_text(InfoJson const& info);

/// The model that all presets of this name, one per pattern, describe together. Throws UsageError with the nearest
/// names.
[[nodiscard]] ModelShape model_of_presets(std::string const& name, std::span<PatternType const* const> patterns);

/// {"model", "source", "sizes": {name: size, of those that are told}, "fits", "findings": [{"fault", "what"}]}.
[[nodiscard]] InfoJson lint_json(ModelShape const& model, Parallelism const& parallel);
[[nodiscard]] std::string lint_text(InfoJson const& findings);

}  // namespace dlmb::run
