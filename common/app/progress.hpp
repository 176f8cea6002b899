// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One line on a terminal that says what is going on between two rows of the table. Silent where standard error is not
// a terminal (logs, most launchers): there the rows themselves are the progress.
#pragma once

#include <string_view>

namespace dlmb::app {

class Progress {
public:
    explicit Progress(bool speaks);
    Progress(Progress const&) = delete;
    Progress& operator=(Progress const&) = delete;
    ~Progress() { clear(); }

    void show(std::string_view text);
    void clear();

private:
    bool active_;
    bool shown_ = false;
};

}  // namespace dlmb::app
