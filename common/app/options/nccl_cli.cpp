// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options/options.hpp"
#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dlmb::app {
namespace {

enum class Meaning { option, parameter, check, min_bytes, max_bytes, factor, only, none };

struct Word {
    std::string_view letter;
    std::string_view name;
    Meaning meaning;
    std::string_view ours;       // option, parameter: its name; only, none: why it means nothing here
    std::string_view only = {};  // the one value that changes nothing
};

constexpr std::string_view size_parameter = "message-size";
constexpr std::string_view one_gpu = "one process drives one GPU; start more with mpirun";

// nccl-tests 2.19, src/common.cu. Values of letters that are not here would be misread, so those are refused.
constexpr Word nccl_words[] = {
    {"-b", "--minbytes", Meaning::min_bytes, size_parameter},
    {"-e", "--maxbytes", Meaning::max_bytes, size_parameter},
    {"-f", "--stepfactor", Meaning::factor, size_parameter},
    {"-n", "--iters", Meaning::option, "iterations"},
    {"-w", "--warmup_iters", Meaning::option, "warmup"},
    {"-c", "--check", Meaning::check, "validation"},
    {"-T", "--timeout", Meaning::option, "timeout"},
    {"-o", "--op", Meaning::parameter, "reduction"},
    {"-d", "--datatype", Meaning::parameter, "element"},
    {"-r", "--root", Meaning::parameter, "root"},
    {"-i", "--stepbytes", Meaning::none, "sizes double (-f 2)"},
    {"-m", "--agg_iters", Meaning::none, "iterations are timed one by one"},
    {"-g", "--ngpus", Meaning::only, one_gpu, "1"},
    {"-t", "--nthreads", Meaning::only, one_gpu, "1"},
    {"-G", "--cudagraph", Meaning::only, "graph replay is --method graph of the nccl backend", "0"},
    {"-J", "--output_file", Meaning::none, "write --results FILE"},
};

Word const* find(std::string_view text) {
    auto const* const found = std::find_if(std::begin(nccl_words), std::end(nccl_words),
                                           [&](Word const& word) { return word.letter == text || word.name == text; });
    return found == std::end(nccl_words) ? nullptr : found;
}

void check_meaning(PatternType const& type, Word const& word) {
    if (word.meaning == Meaning::none) {
        throw UsageError(fmt::format("{}: has no meaning here: {}", word.letter, word.ours));
    }
    bool const of_pattern =
        word.meaning != Meaning::option && word.meaning != Meaning::check && word.meaning != Meaning::only;
    bool const known = std::any_of(type.parameters.begin(), type.parameters.end(),
                                   [&](ParameterInfo const& info) { return info.name == word.ours; });
    if (of_pattern && !known) {
        throw UsageError(fmt::format("{}: has no meaning here: {}", word.letter,
                                     word.ours == size_parameter
                                         ? "the sizes come from the model's parameters"
                                         : fmt::format("{} has no --{}", type.name, word.ours)));
    }
}

/// "-b8" and "--minbytes=8" in two words, as getopt_long reads them.
std::vector<std::string> separated(std::vector<std::string> const& arguments) {
    std::vector<std::string> apart;
    for (std::string const& text : arguments) {
        std::size_t const end = text.starts_with("--") ? text.find('=') : 2;
        if (end < text.size() && find(text.substr(0, end)) != nullptr) {
            apart.push_back(text.substr(0, end));
            apart.push_back(text.substr(text[end] == '=' ? end + 1 : end));
        } else {
            apart.push_back(text);
        }
    }
    return apart;
}

bool is_option(std::string_view text) {
    return text.size() > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9');
}

/// Gathers the sizes, hands the rest on.
class Translator {
public:
    void translate(Word const& word, std::string const& value) {
        if (word.meaning == Meaning::min_bytes) {
            min_ = value;
        } else if (word.meaning == Meaning::max_bytes) {
            max_ = value;
        } else if (word.meaning == Meaning::factor) {
            if (value != "2") {
                throw UsageError(fmt::format("-f {}: sizes double here, only -f 2 is understood", value));
            }
        } else if (word.meaning == Meaning::only) {
            if (value != word.only) {
                throw UsageError(fmt::format("{} {}: {}", word.letter, value, word.ours));
            }
        } else {
            bool const checked = word.meaning == Meaning::check;
            ours_.push_back(fmt::format("--{}", word.ours));
            ours_.push_back(checked ? (value == "0" ? "off" : "on") : value);
        }
    }
    void keep(std::string const& argument) { ours_.push_back(argument); }

    [[nodiscard]] std::vector<std::string> finish() && {
        if (min_.empty() != max_.empty()) {
            throw UsageError("-b MIN and -e MAX: one of them is missing; sizes run from MIN to MAX");
        }
        if (!min_.empty()) {
            ours_.insert(ours_.end(), {fmt::format("--{}", size_parameter), fmt::format("{}:{}", min_, max_)});
        }
        return std::move(ours_);
    }

private:
    std::vector<std::string> ours_;
    std::string min_;
    std::string max_;
};

}  // namespace

std::vector<std::string> without_nccl_letters(PatternType const& type, std::vector<std::string> arguments) {
    if (arguments.empty() || arguments[0] != "--cli") {
        return arguments;
    }
    if (arguments.size() < 2 || arguments[1] != "nccl") {
        throw UsageError("--cli: the only other command line that is understood is 'nccl'");
    }
    Translator translator;
    std::vector<std::string> const theirs = separated({arguments.begin() + 2, arguments.end()});
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        std::string const& text = theirs[i];
        if (Word const* const word = find(text); word != nullptr) {
            check_meaning(type, *word);
            if (i + 1 == theirs.size() || is_option(theirs[i + 1])) {
                throw UsageError(fmt::format("{}: its value is missing", text));
            }
            translator.translate(*word, theirs[++i]);
        } else if (is_option(text) && !text.starts_with("--") && text != "-h") {
            throw UsageError(fmt::format("{}: not understood after --cli nccl; --help lists our options", text));
        } else {
            translator.keep(text);
        }
    }
    return std::move(translator).finish();
}

}  // namespace dlmb::app
