// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/cell_result.hpp"

#include "common/base/error.hpp"

namespace dlmb::measure {

std::string_view name_of(Status status) {
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::skipped:
        return "skipped";
    case Status::failed:
        return "failed";
    case Status::timeout:
        return "timeout";
    case Status::invalid:
        return "invalid";
    }
    throw Error("status out of range");
}

std::string_view name_of(Suspect::Kind kind) {
    switch (kind) {
    case Suspect::Kind::delayed:
        return "delayed";
    case Suspect::Kind::jittery:
        return "jittery";
    }
    throw Error("kind of a suspect out of range");
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::passed:
        return "passed";
    case Verdict::failed:
        return "failed";
    case Verdict::off:
        return "off";
    }
    throw Error("verdict out of range");
}

}  // namespace dlmb::measure
