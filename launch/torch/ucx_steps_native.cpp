// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/ucx_steps.hpp"

#include "common/backends/ucx/step_runner.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

namespace dlmb::torch {
namespace {

class NativeUcxSteps final : public UcxSteps {
public:
    explicit NativeUcxSteps(std::span<MethodChoice const> methods)
        : bootstrap_(make_mpi_bootstrap()), runner_({*bootstrap_}, methods) {}

    [[nodiscard]] std::string version() const override { return runner_.version(); }
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

std::unique_ptr<UcxSteps> make_ucx_steps(std::span<MethodChoice const> methods, std::string& /*why_not*/) {
    return std::make_unique<NativeUcxSteps>(methods);
}

}  // namespace dlmb::torch
