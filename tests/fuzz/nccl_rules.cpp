// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of the tuner plugin of NCCL: none of half a file, and answers that NCCL can run.
#include "common/tools/tune/consumers/nccl/tuner_abi.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// NOLINTBEGIN(readability-identifier-naming): NCCL's names
extern "C" {
extern dlmb::nccl_tuner::PluginV2 const ncclTunerPlugin_v2;
extern dlmb::nccl_tuner::PluginV5 const ncclTunerPlugin_v5;
}
// NOLINTEND(readability-identifier-naming)

namespace dlmb::fuzz {
namespace {

namespace tuner = nccl_tuner;

std::string logged;

void log(int /*level*/, unsigned long /*subsystem*/, char const* /*file*/, int /*line*/, char const* format, ...) {
    std::array<char, 8192> text{};
    std::va_list arguments;
    va_start(arguments, format);
    int const length = std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    logged.assign(text.data(), std::min<std::size_t>(static_cast<std::size_t>(length), text.size() - 1));
}

constexpr float slow = 10;
constexpr std::array<std::size_t, 3> sizes{0, 65536, ~std::size_t{0}};

}  // namespace

void nccl_rules(std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    setenv("DLMB_NCCL_TABLE", file.path().c_str(), 1);
    void* context = nullptr;
    require(ncclTunerPlugin_v5.init(&context, 1, 8, 2, log, nullptr, nullptr) == tuner::success, "init failed");
    require_line(logged);
    bool const refused = logged.find("no rules from") != logged.npos;
    for (int function = -1; function <= tuner::function_count; ++function) {
        for (std::size_t const bytes : sizes) {
            std::array<float, std::size_t{tuner::algorithm_count} * tuner::protocol_count> costs{};
            costs.fill(slow);
            costs[0] = tuner::forbidden;
            int channels = 0;
            (void)ncclTunerPlugin_v5.get_coll_info(context, function, bytes, 1, reinterpret_cast<float**>(costs.data()),
                                                   tuner::algorithm_count, tuner::protocol_count, 0, &channels);
            auto const chosen = std::count(costs.begin(), costs.end(), 0.0F);
            require(chosen <= (refused ? 0 : 1) && channels >= 0 && costs[0] == tuner::forbidden,
                    "the plugin chose more than a rule says");
            int algorithm = 0;
            int protocol = 0;
            (void)ncclTunerPlugin_v2.get_coll_info(context, function, bytes, 0, 0, 1, &algorithm, &protocol, &channels);
            require(algorithm < tuner::algorithm_count && protocol < tuner::protocol_count, "no such algorithm");
        }
    }
    (void)ncclTunerPlugin_v5.finalize(context);
}

}  // namespace dlmb::fuzz
