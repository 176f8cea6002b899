// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/consumers.hpp"

#include "common/app/tune/consumers/run_program.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"
#include "common/tuning/exporters/mpich.hpp"
#include "common/tuning/exporters/nccl.hpp"
#include "common/tuning/exporters/open_mpi.hpp"
#include "common/tuning/exporters/ucc.hpp"
#include "common/tuning/exporters/ucx.hpp"
#include "common/tuning/mpi_library.hpp"

#include <fmt/core.h>

#include <array>
#include <sstream>

namespace dlmb::app::tune {
namespace {

using tuning::Export;
using tuning::Slice;
using tuning::TuningTable;

std::string open_mpi_version(TuningTable const& table, ExportRequest const& request) {
    if (!request.library_version.empty()) {
        return request.library_version;
    }
    if (table.stack.mpi && table.stack.mpi->name == "Open MPI") {
        return table.stack.mpi->version;
    }
    MpiLibraryFound const found = find_mpi_library();
    if (found.name != "Open MPI") {
        throw UsageError("the table names no version of Open MPI; give it with --library-version, as 4.1.4");
    }
    return found.version;
}

Export export_open_mpi(TuningTable const& table, ExportRequest const& request) {
    return to_open_mpi(table, request.slice, {open_mpi_version(table, request)});
}

Export export_open_mpi6(TuningTable const& table, ExportRequest const& request) {
    return to_open_mpi6(table, request.slice, {request.library_version.empty() ? "6.0.0" : request.library_version});
}

Export export_mpich(TuningTable const& table, ExportRequest const& request) {
    return to_mpich(table, request.slice,
                    tuning::read_mpich(request.library.empty() ? find_mpi_library().path : request.library));
}

Export export_ucx(TuningTable const& table, ExportRequest const& request) {
    auto const found = table.stack.versions.find("ucx");
    std::string const in_table = found == table.stack.versions.end() ? "" : found->second;
    std::string const version = request.library_version.empty() ? in_table : request.library_version;
    if (version.empty()) {
        throw UsageError("the table names no version of UCX; give it with --library-version, as 1.13.1");
    }
    return to_ucx(table, request.slice, {version});
}

Export export_ucc(TuningTable const& table, ExportRequest const& request) {
    return to_ucc(table, request.slice);
}

Export export_nccl(TuningTable const& table, ExportRequest const& request) {
    return to_nccl(table, request.slice, {sibling_library("libnccl-tuner-dlmb.so").string()});
}

Export export_ncclx(TuningTable const& table, ExportRequest const& request) {
    return to_ncclx(table, request.slice);
}

struct Consumer {
    char const* name;
    char const* scope;
    Export (*make)(TuningTable const&, ExportRequest const&);
};
constexpr std::array consumers{
    Consumer{"openmpi", "mpi", export_open_mpi}, Consumer{"openmpi6", "mpi", export_open_mpi6},
    Consumer{"mpich", "mpi", export_mpich},      Consumer{"ucx", "ucx", export_ucx},
    Consumer{"ucc", "ucc", export_ucc},          Consumer{"nccl", "nccl", export_nccl},
    Consumer{"ncclx", "nccl", export_ncclx}};

Consumer const& consumer_named(std::string const& name) {
    for (Consumer const& consumer : consumers) {
        if (consumer.name == name) {
            return consumer;
        }
    }
    throw UsageError("--to: " + unknown_name("consumer", name, consumer_names()));
}

std::filesystem::path own_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

std::vector<std::string> consumer_names() {
    std::vector<std::string> names;
    for (Consumer const& consumer : consumers) {
        names.emplace_back(consumer.name);
    }
    return names;
}

std::string scope_of(std::string const& consumer) {
    return consumer_named(consumer).scope;
}

Export export_table(TuningTable const& table, ExportRequest request) {
    Consumer const& consumer = consumer_named(request.consumer);
    request.slice = complete(request.slice, table, consumer.scope);
    return consumer.make(table, request);
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
    tuning::MpiLibrary const library = tuning::mpi_library(version);
    return {path, library.name, library.version};
}

std::string default_mpiexec() {
    return DLMB_MPIEXEC;
}

std::filesystem::path sibling_program(std::string const& name) {
    return own_folder() / name;
}

std::filesystem::path sibling_library(std::string const& name) {
    return (own_folder().parent_path() / DLMB_LIBRARY_FOLDER / name).lexically_normal();
}

}  // namespace dlmb::app::tune
