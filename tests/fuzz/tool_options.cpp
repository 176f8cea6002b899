// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The command lines of dlmb_tune, dlmb_predict and dlmb_info, an argument per line, the program first, as far as the
// options are read: nothing runs.
#include "common/base/units.hpp"
#include "common/run/info/info.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/tune/commands/run_tune.hpp"
#include "patterns/model_parameters.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <CLI/CLI.hpp>

#include <vector>

namespace dlmb::fuzz {

void tool_options(std::string_view input) {
    std::vector<std::string> words;
    for (std::string_view const word : split(input, "\n")) {
        words.emplace_back(word);
    }
    CLI::App program{"", words.front()};
    int exit_code = 0;
    run::InfoOptions info;
    if (words.front() == "dlmb_tune") {
        tuning::add_tune_commands(program, exit_code);
    } else if (words.front() == "dlmb_predict") {
        predict::add_predict_commands(program, exit_code);
    } else {
        run::add_options(program, info);
    }
    for (CLI::App* const command : program.get_subcommands({})) {
        command->parse_complete_callback([] { throw CLI::Success(); });  // before it runs
    }
    try {
        program.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
        (void)accepts([&] { (void)parse_parallelism(info.parallel, "--parallel"); });
    } catch (CLI::Success const&) {  // a command would run, or --help
    } catch (CLI::ParseError const& error) {
        require_line(one_line(error.what()));
    } catch (UsageError const& error) {
        require_line(one_line(error.what()));
    }
    require(exit_code == 0, "a command ran");
}

}  // namespace dlmb::fuzz
