// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/info.hpp"

#include "common/app/launcher.hpp"
#include "common/app/printouts.hpp"
#include "common/app/probe.hpp"
#include "common/app/reporter.hpp"
#include "common/backend/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/record/environment.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dlmb::app {
namespace {

nlohmann::ordered_json describe(BackendEntry const& entry, BackendContext const& context) {
    nlohmann::ordered_json json{{"name", entry.name}, {"built", entry.make != nullptr}};
    MadeBackend const made = make_backend(entry.name, context);
    json["usable"] = static_cast<bool>(made);
    if (!made) {
        json["reason"] = made.error().reason;
        return json;
    }
    Backend const& backend = *made.value();
    for (MemoryKind const kind : every_memory_kind) {
        if (backend.supports(kind)) {
            json["memory"].push_back(name_of(kind));
        }
    }
    for (MethodInfo const& method : backend.methods()) {
        json["methods"].push_back(
            {{"name", method.name}, {"knobs", method.knobs}, {"description", method.description}});
    }
    for (auto const& [name, value] : backend.provenance()) {
        json["facts"][name] = value;
    }
    return json;
}

nlohmann::ordered_json describe_memory() {
    nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
    for (MemoryKind const kind : every_memory_kind) {
        std::string why_not;
        bool const usable = make_memory(kind, why_not) != nullptr;
        kinds.push_back({{"name", name_of(kind)}, {"usable", usable}, {"reason", why_not}});
    }
    return kinds;
}

nlohmann::ordered_json describe_all(Bootstrap& bootstrap) {
    nlohmann::ordered_json json;
    json["version"] = version_text("dlmb_info");
    record::Environment const environment = record::capture_environment(bootstrap);
    json["machine"] = environment.identity;
    json["warnings"] = environment.warnings;
    json["memory"] = describe_memory();
    for (BackendEntry const& entry : backend_entries()) {
        json["backends"].push_back(describe(entry, BackendContext{bootstrap}));
    }
    return json;
}

std::string to_text(nlohmann::ordered_json const& json) {
    auto const word = [](nlohmann::ordered_json const& value) { return value.get<std::string>(); };
    std::string text = word(json["version"]) + "\nmachine\n";
    for (auto const& [name, value] : json["machine"].items()) {
        text += fmt::format("  {:<20} {}\n", name, word(value));
    }
    text += "memory\n";
    for (auto const& kind : json["memory"]) {
        text += fmt::format("  {:<20} {}\n", word(kind["name"]),
                            kind["usable"].get<bool>() ? "usable" : word(kind["reason"]));
    }
    text += "backends\n";
    for (auto const& backend : json["backends"]) {
        text += fmt::format("  {:<20} {}\n", word(backend["name"]),
                            backend["usable"].get<bool>() ? fmt::format("usable on {}", backend["memory"].dump())
                                                          : word(backend["reason"]));
        for (auto const& method : backend.value("methods", nlohmann::ordered_json::array())) {
            text += fmt::format("    {:<18} {} {}\n", word(method["name"]), word(method["description"]),
                                word(method["knobs"]));
        }
    }
    return text;
}

int print(Bootstrap& bootstrap, bool json) {
    nlohmann::ordered_json const all = describe_all(bootstrap);
    if (bootstrap.rank() == 0) {
        fmt::print("{}", json ? all.dump(2) + "\n" : to_text(all));
    }
    return exit_ok;
}

}  // namespace

int run_info(int argc, char** argv) {
    bool json = false;
    bool probe = false;
    CLI::App app{"What this build and this machine can do, and why something is missing", "dlmb_info"};
    app.add_flag("--json", json, "print one JSON object");
    app.add_flag("--probe-mpi-device", probe, "try whether MPI takes device memory (two ranks; it may crash)");
    try {
        app.parse(argc, argv);
    } catch (CLI::CallForHelp const&) {
        fmt::print("{}", app.help());
        return exit_ok;
    } catch (CLI::ParseError const& error) {
        fmt::print(stderr, "dlmb_info: error: {}\n", error.what());
        return exit_usage;
    }
    try {
        if (mpi_in_this_build()) {
            return run_under_launcher(argc, argv, [&](Bootstrap& bootstrap) {
                return probe ? probe_mpi_device(bootstrap) : print(bootstrap, json);
            });
        }
        if (probe) {
            throw UsageError("--probe-mpi-device: this build has no MPI; configure with -DDLMB_WITH_MPI=ON");
        }
        in_process::run_ranks(1, [&](Bootstrap& bootstrap) { (void)print(bootstrap, json); });
        return exit_ok;
    } catch (UsageError const& error) {
        fmt::print(stderr, "dlmb_info: error: {}\n", error.what());
        return exit_usage;
    } catch (std::exception const& error) {
        fmt::print(stderr, "dlmb_info: error: {}\n", error.what());
        return exit_cell_failed;
    }
}

}  // namespace dlmb::app
