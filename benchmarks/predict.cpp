// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Predicts times of collectives on more nodes than were measured.
#include "common/app/predict/run_predict.hpp"

int main(int argc, char** argv) {
    return dlmb::app::run_predict(argc, argv);
}
