// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The abilities of this build and this machine.
#include "common/run/info/info.hpp"

#include "patterns/registry.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_info(argc, argv, dlmb::pattern_types());
}
