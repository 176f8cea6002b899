// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/info/info.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/record/json.hpp"
#include "common/measure/environment/machine.hpp"
#include "common/run/adopt_device.hpp"
#include "common/run/fixed_text.hpp"
#include "common/run/launch_calibration.hpp"
#include "common/run/launcher/launcher.hpp"
#include "common/run/printouts.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unistd.h>

namespace dlmb::run {
namespace {

InfoJson describe_device(Device const& device) {
    InfoJson json{{"index", device.index},
                  {"name", device.name},
                  {"pci_bus_id", device.pci_bus_id},
                  {"numa_node", device.numa_node},
                  {"memory_bytes", device.memory},
                  {"cache_bytes", device.cache},
                  {"compute_capability", device.compute_capability},
                  {"peers", device.peers},
                  {"nics", InfoJson::array()}};
    for (measure::NearbyNic const& nic : measure::nearby_nics(device.pci_bus_id)) {
        json["nics"].push_back({{"names", nic.names},
                                {"pci_bus_id", nic.pci_bus_id},
                                {"hops", nic.hops},
                                {"meeting_point", nic.meeting_point}});
    }
    return json;
}

/// A backend works on the memory that it supports and that is here.
void add_memory(InfoJson& json, Backend const& backend, InfoJson const& here) {
    json["memory"] = InfoJson::array();
    json["no_memory"] = InfoJson::object();
    for (InfoJson const& each : here) {
        auto const name = each["name"].get<std::string>();
        auto const kind = std::find_if(every_memory_kind.begin(), every_memory_kind.end(),
                                       [&](MemoryKind known) { return name_of(known) == name; });
        if (!backend.supports(*kind)) {
            if (std::string const reason = backend.why_no(*kind); !reason.empty()) {
                json["no_memory"][name] = reason;
            }
        } else if (each["usable"].get<bool>()) {
            json["memory"].push_back(name);
        } else {
            json["no_memory"][name] = each["reason"];
        }
    }
}

}  // namespace

InfoJson describe_memory() {
    InfoJson kinds = InfoJson::array();
    for (MemoryKind const kind : every_memory_kind) {
        std::string why_not;
        bool const usable = make_memory(kind, why_not) != nullptr;
        kinds.push_back({{"name", name_of(kind)}, {"usable", usable}, {"reason", why_not}});
    }
    return kinds;
}

InfoJson describe_gpus(Devices const& devices, measure::DeviceUse const& use) {
    InfoJson json{{"cuda_runtime", devices.runtime_version},
                  {"cuda_driver", devices.driver_version},
                  {"why_none", devices.why_none},
                  {"devices", InfoJson::array()},
                  {"used_by_this_rank", nullptr}};
    for (Device const& device : devices.list) {
        json["devices"].push_back(describe_device(device));
    }
    if (use.device) {
        json["used_by_this_rank"] = {{"index", use.device->index}, {"reason", use.reason}};
    }
    return json;
}

InfoJson stable_operations(OperationSet const& operations) {
    InfoJson names = InfoJson::array();
    for (OperationKind const kind : {OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter}) {
        if (operations.has(kind)) {
            names.push_back(name_of(kind));
        }
    }
    return names;
}

InfoJson describe_backend(BackendEntry const& entry, BackendContext const& context, InfoJson const& memory) {
    InfoJson json{{"name", entry.name}, {"built", entry.make != nullptr}};
    MadeBackend const made = make_backend(entry.name, context);
    json["usable"] = static_cast<bool>(made);
    if (!made) {
        json["reason"] = made.error().reason;
        return json;
    }
    Backend const& backend = *made.value();
    add_memory(json, backend, memory);
    for (MethodInfo const& method : backend.methods()) {
        InfoJson const stable = stable_operations(method.stable.over_arrival);
        json["methods"].push_back({{"name", method.name},
                                   {"knobs", method.knobs},
                                   {"description", method.description},
                                   {"bitwise_stable",
                                    {{"runs", stable},
                                     {"arrival", stable},
                                     {"rank_count", stable_operations(method.stable.over_rank_counts)}}}});
    }
    for (auto const& [name, value] : backend.provenance()) {
        json["facts"][name] = value;
    }
    return json;
}

namespace {

/// Collective. This rank works on the device it was given from now on.
InfoJson collect_info(Bootstrap& bootstrap) {
    measure::DeviceUse const use = adopt_device(bootstrap, {});
    record::Environment const environment = measure::capture_environment(bootstrap, use);
    InfoJson json;
    json["version"] = version_text("dlmb_info");
    json["machine"] = environment.identity;
    json["warnings"] = environment.warnings;
    json["gpus"] = describe_gpus(find_devices(), use);
    json["memory"] = describe_memory();
    for (BackendEntry const& entry : backend_entries()) {
        json["backends"].push_back(describe_backend(entry, BackendContext{bootstrap}, json["memory"]));
    }
    return json;
}

std::string word(InfoJson const& value) {
    return value.get<std::string>();
}

/// Where the line must break next: behind a space, or behind a comma of a word that is longer than a line.
std::size_t break_within(std::string_view text, std::size_t room) {
    if (text.size() <= room) {
        return text.size();
    }
    for (char const separator : {' ', ','}) {
        if (std::size_t const at = text.substr(0, room + 1).rfind(separator); at != text.npos && at > 0) {
            return separator == ' ' && at == room ? at : at + 1;
        }
    }
    std::size_t const end = text.find_first_of(" ,", room);
    return end == text.npos ? text.size() : end + 1;
}

/// Lines of at most 100 characters; those after the first begin below the value.
std::string wrapped(std::string const& name, std::string_view value) {
    constexpr std::size_t line_length = 100;
    std::string text;
    std::string before = name;
    do {
        std::size_t const end = break_within(value, line_length - name.size());
        std::string line = before + std::string(value.substr(0, end));
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        value.remove_prefix(end);
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        before.assign(name.size(), ' ');
    } while (!value.empty());
    return text;
}

std::string row(std::string_view name, std::string_view value) {
    return wrapped(fmt::format("  {:<20} ", name), value);
}

std::string detail(std::string_view name, std::string_view value) {
    return wrapped(fmt::format("    {:<18} ", name), value);
}

std::string device_text(InfoJson const& device) {
    int const node = device["numa_node"];
    std::string text =
        row(fmt::format("{} {}", device["index"].get<int>(), word(device["pci_bus_id"])),
            fmt::format("{}, {}, L2 {}, compute capability {}, NUMA node {}", word(device["name"]),
                        human_bytes(device["memory_bytes"]), human_bytes(device["cache_bytes"]),
                        word(device["compute_capability"]), node < 0 ? "unknown" : std::to_string(node)));
    for (InfoJson const& nic : device["nics"]) {
        text += detail(word(nic["pci_bus_id"]), fmt::format("{}: {} hops, meets at the {}", word(nic["names"]),
                                                            nic["hops"].get<int>(), word(nic["meeting_point"])));
    }
    return text;
}

/// A row per device; x: it addresses the memory of the column's device.
std::string peer_matrix(InfoJson const& devices) {
    std::string header;
    std::string rows;
    for (InfoJson const& device : devices) {
        header += fmt::format("{:>4}", device["index"].get<int>());
        auto const peers = device["peers"].get<std::vector<int>>();
        std::string cells;
        for (InfoJson const& other : devices) {
            int const index = other["index"];
            bool const reaches = std::find(peers.begin(), peers.end(), index) != peers.end();
            cells += fmt::format("{:>4}", index == device["index"].get<int>() ? "-" : reaches ? "x" : ".");
        }
        rows += detail(std::to_string(device["index"].get<int>()), cells);
    }
    return row("peer access", "x: the row's GPU addresses the column's memory") + detail("", header) + rows;
}

std::string gpus_text(InfoJson const& gpus) {
    std::string text = "gpus\n";
    if (!word(gpus["cuda_runtime"]).empty()) {
        text +=
            row("CUDA", fmt::format("runtime {}, driver {}", word(gpus["cuda_runtime"]), word(gpus["cuda_driver"])));
    }
    if (gpus["devices"].empty()) {
        return text + row("none", word(gpus["why_none"]));
    }
    for (InfoJson const& device : gpus["devices"]) {
        text += device_text(device);
    }
    if (gpus["devices"].size() > 1) {
        text += peer_matrix(gpus["devices"]);
    }
    if (InfoJson const& mine = gpus["used_by_this_rank"]; !mine.is_null()) {
        text += row("this rank uses", fmt::format("{} ({})", mine["index"].get<int>(), word(mine["reason"])));
    }
    return text;
}

/// The kinds that a backend does not work on, those for the same reason together. What is said of the memory itself is
/// not said again.
std::string no_memory_text(InfoJson const& backend, InfoJson const& memory) {
    std::vector<std::string> not_here;
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // and of what
    for (auto const& [kind, reason] : backend["no_memory"].items()) {
        bool const known =
            std::any_of(memory.begin(), memory.end(), [&, name = kind, why = word(reason)](auto const& each) {
                return each["name"] == name && !each["usable"].template get<bool>() && each["reason"] == why;
            });
        auto const found = std::find_if(reasons.begin(), reasons.end(),
                                        [why = word(reason)](auto const& each) { return each.first == why; });
        if (known) {
            not_here.push_back(kind);
        } else if (found == reasons.end()) {
            reasons.push_back({word(reason), {kind}});
        } else {
            found->second.push_back(kind);
        }
    }
    std::string text;
    if (!not_here.empty()) {
        text += detail("not here", fmt::format("{}: see memory above", fmt::join(not_here, ", ")));
    }
    for (auto const& [reason, kinds] : reasons) {
        text += detail(fmt::format("not on {}", fmt::join(kinds, ", ")), reason);
    }
    return text;
}

std::string backend_text(InfoJson const& backend, InfoJson const& memory) {
    if (!backend["usable"].get<bool>()) {
        return row(word(backend["name"]), word(backend["reason"]));
    }
    auto const kinds = backend["memory"].get<std::vector<std::string>>();
    std::string text = row(word(backend["name"]), fmt::format("usable on {} memory", fmt::join(kinds, ", ")));
    text += no_memory_text(backend, memory);
    for (InfoJson const& method : backend.value("methods", InfoJson::array())) {
        text += detail(word(method["name"]), fmt::format("{} {}", word(method["description"]), word(method["knobs"])));
        if (auto const stable = method["bitwise_stable"]["arrival"].get<std::vector<std::string>>(); !stable.empty()) {
            bool const any_count = !method["bitwise_stable"]["rank_count"].empty();
            text += detail("", fmt::format("sums have the same bits over runs and arrivals{}: {}",
                                           any_count ? ", some over numbers of ranks" : "", fmt::join(stable, ", ")));
        }
    }
    InfoJson const facts = backend.value("facts", InfoJson::object());  // named: the loop keeps no temporary alive
    for (auto const& [name, value] : facts.items()) {
        text += detail(name, fmt::format("= {}", word(value)));
    }
    return text;
}

}  // namespace

std::string info_text(InfoJson const& info) {
    std::string text = word(info["version"]) + "\nmachine\n";
    for (auto const& [name, value] : info["machine"].items()) {
        text += row(name, word(value));
    }
    text += gpus_text(info["gpus"]) + "memory\n";
    for (InfoJson const& kind : info["memory"]) {
        text += row(word(kind["name"]), kind["usable"].get<bool>() ? "usable" : word(kind["reason"]));
    }
    text += "backends\n";
    for (InfoJson const& backend : info["backends"]) {
        text += backend_text(backend, info["memory"]);
    }
    return text;
}

namespace {

bool is_first_rank() {
    return launcher_info(read_launcher_variables()).rank.value_or(0) == 0;
}

/// Prints on the first rank alone: all ranks end for the same reason.
int complain(std::string_view what, int code) {
    if (is_first_rank()) {
        print_error(fmt::format("dlmb_info: error: {}\n", one_line(what)));
    }
    return code;
}

int print(std::string const& text) {
    try {
        write_output("-", text);
        return exit_ok;
    } catch (OutputError const& error) {
        return complain(error.what(), exit_output);
    }
}

int print(Bootstrap& bootstrap, bool json) {
    InfoJson const info = collect_info(bootstrap);
    return from_rank(bootstrap, bootstrap.rank() == 0 ? print(json ? info.dump(2) + "\n" : info_text(info)) : exit_ok);
}

/// As osu_init: over ranks.
int print_startup(Bootstrap& bootstrap, Nanoseconds init_ns, bool json) {
    constexpr double ns_per_ms = 1e6;
    auto const ms = [&](Fold fold) {
        return static_cast<double>(reduce_over_ranks(bootstrap, init_ns, fold)) / ns_per_ms;
    };
    int const ranks = bootstrap.size();
    InfoJson const found{
        {"ranks", ranks}, {"mean_ms", ms(Fold::sum) / ranks}, {"min_ms", ms(Fold::min)}, {"max_ms", ms(Fold::max)}};
    std::string const text =
        fmt::format("MPI_Init_thread on {} ranks: mean {:.1f} ms, shortest {:.1f} ms, longest {:.1f} ms\n", ranks,
                    found["mean_ms"].get<double>(), found["min_ms"].get<double>(), found["max_ms"].get<double>());
    return from_rank(bootstrap, bootstrap.rank() == 0 ? print(json ? found.dump(2) + "\n" : text) : exit_ok);
}

std::vector<OpenedBackend> usable_backends(Bootstrap& bootstrap) {
    std::vector<OpenedBackend> usable;
    for (BackendEntry const& entry : backend_entries()) {
        MadeBackend made = make_backend(entry.name, BackendContext{bootstrap});
        if (made && made.value()->supports(MemoryKind::host)) {
            usable.push_back({std::string(entry.name), std::move(made).value(), ""});
        }
    }
    return usable;
}

/// Collective, a second or so.
std::optional<record::Calibration> measure_calibration(Bootstrap& bootstrap) {
    constexpr Nanoseconds patience_ns = 60'000'000'000;
    std::string const error = fmt::format("dlmb_info: error: rank {} stood still during ", bootstrap.rank());
    measure::Watchdog watchdog([&](measure::HangReport const& hang) {
        FixedText said;
        said.add("{}{}\n", error, hang.cell);
        put(STDERR_FILENO, said.view());
        _exit(exit_cell_failed);
    });
    watchdog.arm("calibration", patience_ns);
    Options options;
    options.memory = {MemoryKind::host};
    options.calibration = record::Effort::full;
    auto calibration = calibrate_launch(bootstrap, options, usable_backends(bootstrap), {}, watchdog);
    watchdog.disarm();
    return calibration;
}

int calibrate(Bootstrap& bootstrap, bool json) {
    auto const calibration = measure_calibration(bootstrap);
    if (bootstrap.rank() != 0) {
        return from_rank(bootstrap, exit_ok);
    }
    InfoJson const found{{"calibration", record::calibration_json(calibration)},
                         {"remarks", quiet_warnings(*calibration)}};
    std::string text = calibration_line(calibration);
    for (std::string const& remark : quiet_warnings(*calibration)) {
        text += fmt::format("# {}\n", remark);
    }
    return from_rank(bootstrap, print(json ? found.dump(2) + "\n" : text));
}

int print_lint(ModelShape const& model, Parallelism const& parallel, bool json) {
    InfoJson const findings = lint_json(model, parallel);
    int const printed = print(json ? findings.dump(2) + "\n" : lint_text(findings));
    return printed == exit_ok && !findings["fits"].get<bool>() ? exit_cell_failed : printed;
}

}  // namespace

void add_options(CLI::App& app, InfoOptions& options) {
    app.add_flag("--json", options.json, "print one JSON object");
    auto* const calibrating =
        app.add_flag("--calibrate", options.calibrate,
                     "noise floor over the ranks of this launch; dlmb_compare --noise tells that of several launches");
    auto* const linting =
        app.add_option("--lint-model", options.model,
                       "config.json of a model, or nothing with --preset: sizes that the ranks do not "
                       "divide or that leave hardware idle; exit 1 where one does not fit")
            ->expected(0, 1);
    app.add_option("--preset", options.preset, "the model of the presets with this name")->needs(linting);
    app.add_option("--parallel", options.parallel, "ranks that divide the model: tp=8,pp=4,ep=8,cp=2")->needs(linting);
    app.add_flag("--startup", options.startup, "how long MPI's initialisation took on the ranks of this launch")
        ->excludes(linting, calibrating);
    app.add_flag("--probe-mpi-device", options.probe, "try whether MPI takes device memory (two ranks; it may crash)")
        ->excludes(linting, calibrating, app.get_option("--startup"), app.get_option("--json"));
    calibrating->excludes(linting);
    app.parse_complete_callback([&options, linting] { options.lint = linting->count() > 0; });
}

int run_info(int argc, char** argv, std::span<PatternType const* const> patterns) {
    hold_standard_streams();
    InfoOptions given;
    CLI::App app{"What this build and this machine can do, and why something is missing", "dlmb_info"};
    add_options(app, given);
    app.set_version_flag("--version", "", "print version and git revision and exit");
    try {
        require_values(std::vector<std::string>(argv + 1, argv + argc));
        app.parse(argc, argv);
    } catch (UsageError const& error) {
        return complain(error.what(), exit_usage);
    } catch (CLI::CallForHelp const&) {
        return print(app.help());
    } catch (CLI::CallForVersion const&) {
        return print(version_text(app.get_name()));
    } catch (CLI::ParseError const& error) {
        return complain(usage_text(app, error) + "; see dlmb_info --help", exit_usage);
    }
    try {
        if (given.lint) {
            if (!is_first_rank()) {
                return exit_ok;  // the first rank alone reads the file, and says what is wrong with it
            }
            if (given.model.empty() == given.preset.empty()) {
                throw UsageError("--lint-model: give either the config.json of a model or --preset NAME");
            }
            return print_lint(given.preset.empty() ? read_model(given.model) : model_of_presets(given.preset, patterns),
                              parse_parallelism(given.parallel, "--parallel"), given.json);
        }
        if (mpi_in_this_build()) {
            return run_under_launcher(argc, argv, default_mpi_thread, [&](Bootstrap& bootstrap, Nanoseconds init_ns) {
                return given.probe       ? probe_mpi_device(bootstrap)
                       : given.startup   ? print_startup(bootstrap, init_ns, given.json)
                       : given.calibrate ? calibrate(bootstrap, given.json)
                                         : print(bootstrap, given.json);
            });
        }
        if (given.probe || given.startup) {
            throw UsageError(fmt::format("{}: this build has no MPI; configure with -DDLMB_WITH_MPI=ON",
                                         given.probe ? "--probe-mpi-device" : "--startup"));
        }
        int code = exit_ok;
        in_process::run_ranks(1, [&](Bootstrap& bootstrap) {
            code = given.calibrate ? calibrate(bootstrap, given.json) : print(bootstrap, given.json);
        });
        return code;
    } catch (UsageError const& error) {
        return complain(error.what(), exit_usage);
    } catch (std::exception const& error) {
        print_error(fmt::format("dlmb_info: error: {}\n", error.what()));
        return exit_cell_failed;
    }
}

}  // namespace dlmb::run
