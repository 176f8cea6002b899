// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/ucx_steps.hpp"

#include "common/backends/ucx/step_runner.hpp"
#include "common/backends/ucx/worker.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

#include <fmt/core.h>

namespace dlmb::torch {
namespace {

class NativeUcxSteps final : public UcxSteps {
public:
    explicit NativeUcxSteps(std::span<MethodChoice const> methods)
        : bootstrap_(make_mpi_bootstrap()), runner_({*bootstrap_}, methods) {}

    [[nodiscard]] std::string refusal(Plan const& plan, MethodChoice const& method) const override {
        return runner_.refusal(plan, method);
    }
    void run(Plan const& plan, Buffers const& buffers, MethodChoice const& method) override {
        runner_.run(plan, buffers, method);
    }

private:
    std::unique_ptr<Bootstrap> bootstrap_;
    ucx::StepRunner runner_;
};

}  // namespace

std::unique_ptr<UcxSteps> make_ucx_steps(std::span<MethodChoice const> methods, std::string const& version,
                                         std::string& why_not) {
    // Before anything is set up: another UCX may lack a setting that the methods need.
    if (std::string const here = ucx::run_time_version(); !version.empty() && version != here) {
        why_not = fmt::format("it was measured with UCX {}, and this is {}", version, here);
        return nullptr;
    }
    return std::make_unique<NativeUcxSteps>(methods);
}

}  // namespace dlmb::torch
