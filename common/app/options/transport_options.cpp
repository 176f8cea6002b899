// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/option_groups.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace dlmb::app {
namespace {

constexpr char const* transport_group = "Transport";

MemoryKind memory_kind(std::string const& name) {
    std::vector<std::string> known;
    for (MemoryKind const kind : every_memory_kind) {
        if (name_of(kind) == name) {
            return kind;
        }
        known.emplace_back(name_of(kind));
    }
    throw UsageError(fmt::format("--memory: {}", unknown_name("memory kind", name, known)));
}

/// What backends read of the options that are theirs.
BackendOptions backend_options(std::string const& mpi_device, bool shared_gpu) {
    std::vector<std::string> const known{"auto", "yes", "no"};
    if (std::find(known.begin(), known.end(), mpi_device) == known.end()) {
        throw UsageError(fmt::format("--mpi-device: {}", unknown_name("answer", mpi_device, known)));
    }
    return {{"mpi", {{"device", mpi_device}}}, {"nccl", {{"shared_gpu", shared_gpu ? "yes" : "no"}}}};
}

std::string backend_names() {
    std::string names;
    for (BackendEntry const& entry : backend_entries()) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
    }
    return names;
}

/// `path`: empty where the option was not given.
void take_table(std::string const& path, Options& options) {
    std::vector<std::string> const& names = options.backends;
    bool const runs_tuned = names.empty() || std::find(names.begin(), names.end(), "tuned") != names.end();
    if (!path.empty()) {
        if (!runs_tuned) {
            throw UsageError("--use-table: only backend tuned runs by a table; add it to --backend");
        }
        options.use_table = path;
    } else if (runs_tuned && !names.empty()) {
        throw UsageError(
            "--backend tuned: give the tuning table that it runs by with --use-table FILE (docs/tuning.md)");
    }
}

}  // namespace

void TransportOptions::add(CLI::App& app, Options& options) {
    app.add_option("--backend", options.backends, backend_names() + " [all usable here]")
        ->delimiter(',')
        ->group(transport_group);
    app.add_option("--method", methods, "methods as NAME or NAME:KNOB=VALUE, or all (dlmb_info lists them)")
        ->delimiter(',')
        ->capture_default_str()
        ->group(transport_group);
    app.add_option("-d,--memory", memory, "host, pinned, cuda, managed, nccl")
        ->delimiter(',')
        ->capture_default_str()
        ->group(transport_group);
    app.add_flag("--shared-gpu", options.shared_gpu, "several ranks on one GPU (nccl): shows correctness, not speed")
        ->group(transport_group);
    app.add_option("--device", options.devices,
                   "GPUs, as CUDA counts them, that the ranks of a node take in turn [the nearest to each rank]")
        ->delimiter(',')
        ->check(CLI::Range(0, 1023))
        ->group(transport_group);
    app.add_option("--mpi-device", mpi_device,
                   "yes, no, auto: whether MPI is given pointers to device memory; auto asks the library")
        ->capture_default_str()
        ->group(transport_group);
    app.add_option("--use-table", use_table,
                   "tuning table (JSON) by which backend tuned runs each operation on another backend")
        ->group(transport_group);
}

void TransportOptions::take(Options& options) const {
    take_table(use_table, options);
    options.backend_options = backend_options(mpi_device, options.shared_gpu);
    options.memory.clear();
    for (std::string const& name : memory) {
        options.memory.push_back(memory_kind(name));
    }
    for (std::string const& method : methods) {
        options.all_methods = options.all_methods || method == "all";
        options.methods.push_back(parse_method(method));
    }
}

}  // namespace dlmb::app
