// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// libnccl-tuner-dlmb.so as NCCL uses it: opened with RTLD_LOCAL, asked through its symbols. Stands in for NCCL; no GPU.
#pragma once

#include "common/tools/tune/consumers/nccl/tuner_abi.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace dlmb::nccl_tuner {

inline constexpr char const* two_rules = "# a comment\n"
                                         "allreduce,1024,65536,tree,ll,-1,-1,8\n"
                                         "allreduce,65537,8589934592,ring,simple,4,2,8,-1,-1\n";

template <class Symbol>
Symbol const& symbol(char const* name) {
    static void* const library = dlopen(DLMB_NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(dlerror());
    }
    void* const found = dlsym(library, name);
    if (found == nullptr) {
        throw std::runtime_error(std::string("no symbol ") + name);
    }
    return *static_cast<Symbol const*>(found);
}

inline Control const& control() {
    return symbol<Control>(control_symbol);
}

/// NCCL's cost table: flat, as many rows as it knows algorithms.
template <int algorithms>
struct Costs {
    std::array<float, std::size_t{algorithms} * protocol_count> values;
    Costs() { values.fill(10.0F); }
    float& at(int algorithm, int protocol) {
        return values.at(static_cast<std::size_t>(algorithm) * protocol_count + static_cast<std::size_t>(protocol));
    }
    /// As NCCL passes it.
    float** pointer() { return reinterpret_cast<float**>(values.data()); }
    bool operator==(Costs const&) const = default;
};

inline void log(int, unsigned long, char const*, int, char const*, ...) {}

/// Sets DLMB_NCCL_TABLE for the next init to a file with these lines.
class Table {
public:
    explicit Table(std::string const& lines) {
        path_ = std::filesystem::temp_directory_path() / ("dlmb-nccl-" + std::to_string(getpid()) + ".csv");
        std::ofstream(path_) << lines;
        setenv("DLMB_NCCL_TABLE", path_.c_str(), 1);
    }
    ~Table() {
        std::filesystem::remove(path_);
        unsetenv("DLMB_NCCL_TABLE");
    }
    Table(Table const&) = delete;
    Table& operator=(Table const&) = delete;

private:
    std::filesystem::path path_;
};

/// A communicator of version 5.
class Communicator {
public:
    Communicator(std::size_t ranks, std::size_t nodes) {
        EXPECT_EQ(plugin().init(&context_, 1, ranks, nodes, log, nullptr, nullptr), success);
    }
    ~Communicator() { EXPECT_EQ(plugin().finalize(context_), success); }
    Communicator(Communicator const&) = delete;
    Communicator& operator=(Communicator const&) = delete;

    template <int algorithms>
    int ask(Costs<algorithms>& costs, int function, std::size_t bytes, int pipe_ops = 1) const {
        int channels = 0;
        EXPECT_EQ(plugin().get_coll_info(context_, function, bytes, pipe_ops, costs.pointer(), algorithms,
                                         protocol_count, 0, &channels),
                  success);
        return channels;
    }
    static PluginV5 const& plugin() { return symbol<PluginV5>("ncclTunerPlugin_v5"); }

private:
    void* context_ = nullptr;
};

}  // namespace dlmb::nccl_tuner
