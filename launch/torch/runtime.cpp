// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/runtime.hpp"

#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/table/table_file.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>

namespace dlmb::torch {
namespace {

using mpi::check;

/// How many processes of `comm` are the first of their node. Collective.
int nodes_of(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    int const first = mpi::Communicator(node).rank() == 0 ? 1 : 0;
    int nodes = 0;
    check(MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
    return nodes;
}

/// Empty: the table may hold for this library.
std::string foreign_library(tuning::TuningTable const& table, std::string const& library) {
    auto const& measured = table.stack.mpi;
    if (!measured || *measured == tuning::mpi_library(library)) {
        return "";
    }
    return fmt::format("it was measured with {} {}, and this is {}", measured->name, measured->version, library);
}

}  // namespace

Runtime::Runtime(std::string const& table) {
    executor_->run([&] { start(table); });
}

void Runtime::start(std::string const& table) {
    int initialized = 0;
    check(MPI_Initialized(&initialized), "MPI_Initialized");
    if (initialized == 0) {
        // Open MPI obeys the choice of an algorithm only where this is set when it starts; a user's value stays.
        setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
        int count = 0;
        char** arguments = nullptr;
        session_ = std::make_unique<MpiSession>(count, arguments, "serialized");
    }
    int provided = 0;
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
    if (provided < MPI_THREAD_SERIALIZED) {
        throw UsageError(fmt::format("dlmb: MPI was started with thread level {}, and a thread of this process group "
                                     "calls it; start it with 'serialized', or import dlmb_torch first",
                                     name_of_thread_level(provided)));
    }
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    if (!table.empty()) {
        read_table(table);
    }
    bool const yield = should_yield(YieldPolicy::automatic, *make_mpi_bootstrap());
    steps_ = std::make_unique<TunedSteps>(chooser_.get(), ucx_version_, yield);
    if (chooser_ && !steps_->why_no_algorithms().empty()) {
        note_ = fmt::format("dlmb: {}: no algorithm can be chosen: {}", table, steps_->why_no_algorithms());
    }
    if (!steps_->why_no_ucx().empty()) {
        note_ += fmt::format("{}dlmb: {}: nothing runs over UCX: {}", note_.empty() ? "" : "\n", table,
                             steps_->why_no_ucx());
    }
}

/// Ranks with different tables would choose differently and wait for each other for ever.
void Runtime::read_table(std::string const& path) {
    std::exception_ptr error;
    std::uint64_t digest = 0;
    try {
        tuning::TuningTable table = tuning::read_table(path);
        note_ = foreign_library(table, mpi_library_version());
        if (note_.empty()) {
            auto const ucx = table.stack.versions.find("ucx");
            ucx_version_ = ucx == table.stack.versions.end() ? "" : ucx->second;
            chooser_ = std::make_unique<tuning::TableChooser>(std::move(table));
            digest = std::stoull(chooser_->digest().substr(0, 15), nullptr, 16) + 1;
        }
    } catch (tuning::TableError const& failure) {
        if (failure.fault() == tuning::TableFault::io) {
            note_ = failure.what();
        } else {
            error = std::current_exception();
        }
    } catch (UsageError const&) {
        error = std::current_exception();
    }
    std::array<std::uint64_t, 2> const mine{digest, ~digest};
    std::array<std::uint64_t, 2> least{};
    check(MPI_Allreduce(mine.data(), least.data(), 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    if (error) {
        std::rethrow_exception(error);
    }
    if (least[0] != ~least[1]) {
        throw UsageError(fmt::format("{}: the ranks have different tables, or some have none; put one file where all "
                                     "can read it",
                                     path));
    }
    if (!note_.empty()) {
        note_ = fmt::format("dlmb: {}; the MPI library decides everything",
                            note_.find(path) == std::string::npos ? path + ": " + note_ : note_);
    }
}

std::string Runtime::broadcast(std::string text) {
    executor_->run([&] {
        int length = static_cast<int>(text.size());
        check(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
        text.resize(static_cast<std::size_t>(length));
        check(MPI_Bcast(text.data(), length, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
    });
    return text;
}

GroupOfRanks const& Runtime::make_group(std::vector<Rank> const& world_ranks) {
    GroupOfRanks const* made = nullptr;
    executor_->run([&] {
        mpi::Communicator messages = mpi::create_group(MPI_COMM_WORLD, world_ranks);
        Members members{world_ranks, nodes_of(messages.get())};
        groups_.push_back(std::make_unique<GroupOfRanks>(GroupOfRanks{std::move(members), std::move(messages)}));
        made = groups_.back().get();
    });
    return *made;
}

void Runtime::close(bool failed) {
    if (!executor_ || what_the_thread_uses_) {
        return;
    }
    // Who waited for an operation may be here before the thread has seen its end.
    constexpr std::chrono::seconds patience{10};
    if (failed || !executor_->idle_within(patience)) {
        what_the_thread_uses_ = shared_from_this();
        executor_->abandon();
        return;
    }
    executor_->run([this] {
        groups_.clear();
        steps_.reset();
        session_.reset();
    });
    executor_.reset();
}

}  // namespace dlmb::torch
