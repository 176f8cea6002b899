// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Predicts times of collectives on more nodes than were measured.
#include "common/tools/predict/commands/run_predict.hpp"

int main(int argc, char** argv) {
    return dlmb::predict::run_predict(argc, argv);
}
