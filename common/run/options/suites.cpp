// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/options/suites.hpp"

#include "common/base/error.hpp"
#include "common/base/lower_case.hpp"
#include "common/run/options/suite_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dlmb::run {
namespace {

SuiteOption const* find_option(Suite suite, std::string_view text) {
    std::span<SuiteOption const> const all = options_of(suite);
    auto const found = std::find_if(all.begin(), all.end(),
                                    [&](SuiteOption const& row) { return row.letter == text || row.name == text; });
    return found == all.end() ? nullptr : &*found;
}

using Name = std::pair<std::string_view, std::string_view>;

/// Our name for a value of theirs, without regard to case; empty: none of `names`.
std::string_view renamed(std::span<Name const> names, std::string_view value) {
    auto const found = std::find_if(names.begin(), names.end(), [&](Name const& name) { return name.first == value; });
    return found == names.end() ? std::string_view{} : found->second;
}

constexpr Name osu_elements[] = {
    {"mpi_char", "int8"}, {"mpi_int", "int32"}, {"mpi_float", "fp32"}, {"all", "int8,int32,fp32"}};
constexpr Name nccl_elements[] = {{"f8e4m3", "fp8"}, {"all", "uint8,int32,int64,fp8,fp16,bf16,fp32,fp64"}};
constexpr Name nccl_reductions[] = {{"all", "sum,prod,min,max"}};
constexpr Name osu_buffers[] = {{"single", "warm"}, {"multiple", "rotate"}};
constexpr Name osu_places[] = {{"D", "cuda"}, {"MD", "managed"}, {"MH", "managed"}, {"M", "managed"}, {"H", "host"}};

bool is_option_word(std::string_view text) {
    return text.size() > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9');
}

class SuiteTranslator {
public:
    SuiteTranslator(PatternType const& type, Suite suite) : type_(type), suite_(suite) { command_.suite = suite; }

    [[nodiscard]] SuiteCommand translate(std::vector<std::string> const& theirs) && {
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            std::string const& text = theirs[i];
            std::string const* const next =
                i + 1 < theirs.size() && !is_option_word(theirs[i + 1]) ? &theirs[i + 1] : nullptr;
            if (text.starts_with("--")) {
                i += long_option(text, next) ? 1U : 0U;
            } else if (is_option_word(text)) {
                i += letters(text, next) ? 1U : 0U;
            } else {
                i += bare_word(text, next, i == 0 || last_was_theirs_) ? 1U : 0U;
            }
        }
        add_list("element", elements_);
        if (!has_neighbors_ && added_.count("--skew") > 0) {
            throw UsageError("-N: is of osu_neighbor_alltoall and its like; others take --skew neighbors:D:R");
        }
        add_one_sided();
        add_blocking();
        if (command_.host_times && blocking_ == "3") {
            throw UsageError("-C 1 beside -z 3: where each call is waited for the host's time is the time");
        }
        add_registration();
        add_unless_given("layout", suite_ == Suite::osu ? "osu" : "nccl");
        return std::move(command_);
    }

private:
    // Each returns whether it took the next word as well.
    bool long_option(std::string const& text, std::string const* next) {
        std::size_t const equals = std::min(text.find('='), text.size());
        SuiteOption const* const row = find_option(suite_, text.substr(0, equals));
        last_was_theirs_ = row != nullptr;
        if (row == nullptr) {
            command_.words.push_back(text);
            return false;
        }
        bool const glued = equals < text.size();
        return take(*row, row->name, glued, glued ? text.substr(equals + 1) : "", next);
    }

    /// "-i20", "-i 20", and several in one word: "-fl".
    bool letters(std::string const& text, std::string const* next) {
        last_was_theirs_ = true;
        for (std::size_t at = 1; at < text.size(); ++at) {
            std::string const letter{'-', text[at]};
            SuiteOption const* const row = find_option(suite_, letter);
            if (row == nullptr) {
                throw UsageError(fmt::format("{}: not an option of {}; --help lists ours", letter, suite_name()));
            }
            if (!row->argument.empty()) {
                return take(*row, row->letter, at + 1 < text.size(), text.substr(at + 1), next);
            }
            (void)take(*row, row->letter, false, "", nullptr);
        }
        return false;
    }

    /// The program that is imitated, or where OSU's two sides have their buffers.
    bool bare_word(std::string const& text, std::string const* next, bool no_value) {
        if (no_value && find_program(type_, suite_, text) != nullptr) {
            take_program(text, text);
            return false;
        }
        if (std::optional<ProgramVariant> const variant = find_variant(type_, text);
            no_value && suite_ == Suite::osu && variant) {
            take_program(text, variant->program->osu);
            for (std::string const& word : command_.words) {
                if (word.starts_with("--method") || word.starts_with("--compute")) {
                    throw UsageError(fmt::format("{}: chooses --method and --compute itself; name {} and choose them",
                                                 text, variant->program->osu));
                }
            }
            one_sided_ = variant->one_sided ? variant->method : "";
            if (one_sided_.empty()) {
                add("method", std::string(variant->method));
            }
            if (variant->beside_compute) {
                add("compute", "none,busy");
            }
            if (variant->neighbors) {
                add_unless_given("skew", std::string(osu_neighbors));
            }
            has_neighbors_ = variant->neighbors;
            return false;
        }
        if (no_value && names_program(text)) {
            throw UsageError(fmt::format("{}: {}", text, refused_program(type_, text)));
        }
        std::string_view const place =
            suite_ == Suite::osu && no_value ? renamed(osu_places, text) : std::string_view{};
        if (place.empty()) {
            command_.words.push_back(text);
            last_was_theirs_ = false;
            return false;
        }
        if (next == nullptr || renamed(osu_places, *next) != place) {
            throw UsageError(fmt::format("{} {}: both sides have the same kind of memory here; write D D or H H", text,
                                         next == nullptr ? "" : *next));
        }
        add("memory", std::string(place));
        return true;
    }

    void take_program(std::string_view as, std::string_view operation) {
        if (added_.count("--operation") > 0) {
            throw UsageError(fmt::format("{}: a second program; for several give --operation a list", as));
        }
        add("operation", std::string(operation));
    }

    bool take(SuiteOption const& row, std::string_view as, bool glued, std::string const& glued_value,
              std::string const* next) {
        if (row.meaning == Meaning::refused) {
            throw UsageError(fmt::format("{}: not taken over from {}: {}", as, suite_name(), without_markup(row.here)));
        }
        bool const optional = row.argument.starts_with('[') && row.meaning != Meaning::size_range;
        bool const takes = !row.argument.empty();
        if (!takes && glued) {
            throw UsageError(fmt::format("{}: takes no value", as));
        }
        if (takes && !optional && !glued && next == nullptr) {
            throw UsageError(fmt::format("{}: its value is missing", as));
        }
        bool const follows = optional && !glued && next != nullptr && is_value_of(row, *next);
        bool const took_next = (takes && !optional && !glued) || follows;
        value(row, as, took_next ? *next : glued_value);
        return took_next;
    }

    /// Whether the word behind an option whose value may be left out can be nothing else than that. on and off are our
    /// own spelling of the one option that both have.
    static bool is_value_of(SuiteOption const& row, std::string_view word) {
        return row.meaning == Meaning::validation ? word == "on" || word == "off" || word.starts_with("log:")
                                                  : !word.empty() && word[0] >= '0' && word[0] <= '9';
    }

    void value(SuiteOption const& row, std::string_view as, std::string const& given) {
        bool const whole_line = row.meaning == Meaning::option || row.meaning == Meaning::validation ||
                                row.meaning == Meaning::memory || row.meaning == Meaning::buffers ||
                                row.meaning == Meaning::blocking || row.meaning == Meaning::registration ||
                                row.meaning == Meaning::synchronization || row.meaning == Meaning::exposed_memory;
        if (!row.ours.empty() && !whole_line && !has_parameter(type_, row.ours)) {
            throw UsageError(fmt::format("{}: has no meaning here: {}", as,
                                         row.ours == "message-size"
                                             ? "the sizes come from the model's parameters"
                                             : fmt::format("{} has no --{}", type_.name, row.ours)));
        }
        switch (row.meaning) {
        case Meaning::option:
        case Meaning::parameter:
            if (row.argument.empty()) {
                command_.words.push_back(fmt::format("--{}", row.ours));
            } else {
                add(row.ours, given.empty() && !row.value.empty() ? std::string(row.value) : not_empty(as, given));
            }
            break;
        case Meaning::fixed:
            add(row.ours, std::string(row.value));
            break;
        case Meaning::only:
            if (given != row.value) {
                throw UsageError(
                    fmt::format("{} {}: only {} is understood: {}", as, given, row.value, without_markup(row.here)));
            }
            break;
        case Meaning::size_range:
            range(as, given);
            break;
        case Meaning::min_bytes:
            command_.min_bytes = not_empty(as, given);
            break;
        case Meaning::max_bytes:
            command_.max_bytes = not_empty(as, given);
            break;
        case Meaning::step_bytes:
            command_.step_bytes = not_empty(as, given);
            break;
        case Meaning::step_factor:
            command_.step_factor = not_empty(as, given);
            break;
        case Meaning::validation:
            check(as, given);
            break;
        case Meaning::element:
        case Meaning::reduction:
        case Meaning::memory:
        case Meaning::root:
        case Meaning::buffers:
        case Meaning::neighbors:
            translated(row, as, given);
            break;
        case Meaning::threads:
            threads(row, as, given);
            break;
        case Meaning::synchronization:
            sync_ = one_of({"flush", "lock", "lock_all", "fence", "pscw"}, row, as, lower_case(given));
            break;
        case Meaning::exposed_memory:
            exposed_ = one_of({"allocate", "create"}, row, as, lower_case(given));
            break;
        case Meaning::blocking:
            blocking_ = one_of({"0", "3"}, row, as, given);
            break;
        case Meaning::host_times:
            command_.host_times = one_of({"0", "1"}, row, as, given) == "1";
            break;
        case Meaning::registration:
            registration_ = one_of({"0", "1", "2"}, row, as, given);
            break;
        case Meaning::ignored:
        case Meaning::refused:
            break;
        }
    }

    /// SENDERS:RECEIVERS of osu_latency_mt; OSU checks what is received where they are as many, too.
    void threads(SuiteOption const& row, std::string_view as, std::string const& given) {
        std::size_t const colon = given.find(':');
        std::string const senders = given.substr(0, colon);
        if (colon == std::string::npos) {
            throw UsageError(fmt::format("{} {}: one sender and {} receivers; threads are in pairs here: {} N:N; {}",
                                         as, given, given, as, without_markup(row.here)));
        }
        if (senders != given.substr(colon + 1)) {
            throw UsageError(
                fmt::format("{} {}: threads are in pairs here, as many that send as that receive", as, given));
        }
        add("channels", senders);
        add("method", "threads");
        add("mpi-thread", "multiple");
    }

    void translated(SuiteOption const& row, std::string_view as, std::string const& given) {
        std::string const small = lower_case(not_empty(as, given));
        std::string value = small;
        if (row.meaning == Meaning::element && suite_ == Suite::osu) {
            value = renamed(osu_elements, small);
        } else if (row.meaning == Meaning::element) {
            std::string_view const known = renamed(nccl_elements, small);
            value = known.empty() ? small : known;
        } else if (row.meaning == Meaning::reduction) {
            std::string_view const known = renamed(nccl_reductions, small);
            value = known.empty() ? small : known;
        } else if (row.meaning == Meaning::memory && (small == "openacc" || small == "rocm" || small == "cxl")) {
            value = "";
        } else if (row.meaning == Meaning::root) {
            value = small.starts_with("fixed:") ? small.substr(6) : "";
        } else if (row.meaning == Meaning::buffers) {
            value = renamed(osu_buffers, small);
        } else if (row.meaning == Meaning::neighbors) {
            value = small.starts_with("cart:") ? "neighbors:" + small.substr(5) : "";
        }
        if (value.empty()) {
            throw UsageError(fmt::format("{} {}: {}", as, given, without_markup(row.here)));
        }
        if (row.meaning == Meaning::element && suite_ == Suite::osu) {
            elements_.push_back(value);
        } else {
            if (row.meaning == Meaning::buffers && has_parameter(type_, "window-buffers")) {
                add("window-buffers", small);
            }
            add(row.ours, value);
        }
    }

    void check(std::string_view as, std::string const& given) {
        if (suite_ == Suite::nccl) {
            add("validation", not_empty(as, given) == "0" ? "off" : "on");
            return;
        }
        if (!given.empty() && given != "on" && given != "off") {
            throw UsageError(fmt::format("{} {}: the result line of --results FILE says what was wrong; write {} alone",
                                         as, given, as));
        }
        add("validation", given.empty() ? "on" : given);
    }

    void range(std::string_view as, std::string const& given) {
        std::size_t const colon = given.find(':');
        bool const wrong = given.empty() || given == ":" || colon != given.rfind(':');
        if (wrong) {
            throw UsageError(fmt::format("{} '{}': expected [MIN]:[MAX] or MAX, for example 8:1M", as, given));
        }
        bool const both = colon != std::string::npos;
        command_.min_bytes = both ? given.substr(0, colon) : "";
        command_.max_bytes = both ? given.substr(colon + 1) : given;
    }

    static std::string const& not_empty(std::string_view as, std::string const& given) {
        if (given.empty()) {
            throw UsageError(fmt::format("{}: its value is empty", as));
        }
        return given;
    }

    static std::string const& one_of(std::initializer_list<std::string_view> known, SuiteOption const& row,
                                     std::string_view as, std::string const& given) {
        if (std::find(known.begin(), known.end(), given) == known.end()) {
            throw UsageError(fmt::format("{} {}: only {} are understood: {}", as, given, fmt::join(known, ", "),
                                         without_markup(row.here)));
        }
        return given;
    }

    /// nccl-tests -z 3: its usual number of calls and its buffers, each call timed as OSU times one.
    void add_blocking() {
        if (blocking_ != "3") {
            return;
        }
        refuse_beside("-z 3", "timing");
        add("timing", "osu");
        add_unless_given("iterations", "20");
        add_unless_given("warmup", "1");
        add_unless_given("cache", "rotate");
    }

    void add_one_sided() {
        if (!one_sided_.empty()) {
            add("method", fmt::format("{}:sync={}:window={}", one_sided_, sync_.empty() ? "flush" : sync_,
                                      exposed_.empty() ? "allocate" : exposed_));
            add_unless_given("backend", "mpi");  // others have no such knobs
        } else if (!sync_.empty() || !exposed_.empty()) {
            throw UsageError("-s and -w: are of osu_put_bw and osu_get_bw; elsewhere one-sided calls are methods; "
                             "dlmb_info lists them");
        }
    }

    void add_registration() {
        if (registration_.empty() || registration_ == "0") {
            return;
        }
        std::string const as = "-R " + registration_;
        refuse_beside(as, "method");
        add("method", "registered");
        if (registration_ == "2") {
            std::optional<std::string> const memory = ours("memory");
            if (memory && *memory != "nccl") {
                throw UsageError(
                    fmt::format("{}: symmetric windows are of --memory nccl, and --memory is {}", as, *memory));
            }
            add_unless_given("memory", "nccl");
        }
    }

    void refuse_beside(std::string_view as, std::string_view name) const {
        if (ours(name)) {
            throw UsageError(fmt::format("{}: chooses --{} itself; leave one of them out", as, name));
        }
    }

    /// The value of an option of ours, given as theirs or by its long name.
    [[nodiscard]] std::optional<std::string> ours(std::string_view name) const {
        std::string const word = fmt::format("--{}", name);
        for (std::size_t at = 0; at < command_.words.size(); ++at) {
            std::string const& here = command_.words[at];
            if (here == word) {
                return at + 1 < command_.words.size() ? command_.words[at + 1] : "";
            }
            if (here.starts_with(word + '=')) {
                return here.substr(word.size() + 1);
            }
        }
        return std::nullopt;
    }
    void add_unless_given(std::string_view name, std::string const& value) {
        if (!ours(name)) {
            add(name, value);
        }
    }

    /// The last one counts, as getopt has it.
    void add(std::string_view name, std::string const& value) {
        std::string const word = fmt::format("--{}", name);
        std::size_t& at = added_[word];
        if (at == 0) {
            command_.words.push_back(word);
            command_.words.emplace_back();
            at = command_.words.size() - 1;
        }
        command_.words[at] = value;
    }
    void add_list(std::string_view name, std::vector<std::string> const& values) {
        if (!values.empty()) {
            add(name, fmt::format("{}", fmt::join(values, ",")));
        }
    }

    [[nodiscard]] std::string_view suite_name() const {
        return suite_ == Suite::osu ? "OSU Micro-Benchmarks" : "nccl-tests";
    }

    PatternType const& type_;
    Suite suite_;
    SuiteCommand command_;
    std::vector<std::string> elements_;                      // OSU's -T may be given several times
    std::string blocking_;                                   // of nccl-tests' -z
    std::string registration_;                               // of nccl-tests' -R
    std::string one_sided_;                                  // "put" or "get": the program is of one-sided calls
    std::string sync_;                                       // of OSU's -s
    std::string exposed_;                                    // of OSU's -w
    bool has_neighbors_ = false;                             // the program is of neighbourhoods
    std::map<std::string, std::size_t, std::less<>> added_;  // where the value of an option that they gave stands
    bool last_was_theirs_ = true;                            // so a bare word is no value of an option of ours
};

}  // namespace

SuiteCommand in_our_words(PatternType const& type, std::vector<std::string> const& arguments) {
    bool const glued = !arguments.empty() && arguments[0].starts_with("--cli=");
    if (arguments.empty() || (arguments[0] != "--cli" && !glued)) {
        if (std::any_of(arguments.begin(), arguments.end(),
                        [](std::string const& word) { return word == "--cli" || word.starts_with("--cli="); })) {
            throw UsageError("--cli: write it as the first option, because it changes what the others mean");
        }
        return {std::nullopt, arguments, "", "", "", "", false};
    }
    std::size_t const used = glued ? 1 : std::min<std::size_t>(2, arguments.size());
    std::string const name = glued ? arguments[0].substr(6) : used == 2 ? arguments[1] : "";
    if (name != "osu" && name != "nccl") {
        throw UsageError(
            fmt::format("--cli '{}': the other command lines that are understood are 'osu' and 'nccl'", name));
    }
    std::vector<std::string> const theirs(arguments.begin() + static_cast<std::ptrdiff_t>(used), arguments.end());
    if (std::any_of(theirs.begin(), theirs.end(),
                    [](std::string const& word) { return word == "--cli" || word.starts_with("--cli="); })) {
        throw UsageError("--cli: given twice; a command line is written in one way");
    }
    return SuiteTranslator(type, name == "osu" ? Suite::osu : Suite::nccl).translate(theirs);
}

std::string suite_hint(std::string_view word) {
    std::string_view const name = word.substr(0, word.find('='));
    std::string_view const key = name.starts_with("--") || name.size() < 2 ? name : name.substr(0, 2);
    std::string text;
    for (auto const& [suite, called, cli] :
         {std::tuple{Suite::osu, "OSU Micro-Benchmarks", "osu"}, std::tuple{Suite::nccl, "nccl-tests", "nccl"}}) {
        SuiteOption const* const row = find_option(suite, key);
        if (row != nullptr) {
            text += fmt::format("; in {} it is {}, here: {}", called, row->name, without_markup(row->here));
            text += row->meaning == Meaning::refused ? "" : fmt::format(" (understood after --cli {})", cli);
        }
    }
    return text;
}

}  // namespace dlmb::run
