// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/variables.hpp"

#include "common/base/hash.hpp"
#include "common/base/units.hpp"
#include "common/formats/record/record.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace dlmb::measure {
namespace {

constexpr std::string_view library_prefixes[]{"NCCL_", "UCX_",  "UCC_",   "OMPI_MCA_", "MPICH_",
                                              "MPIR_", "FI_",   "I_MPI_", "PMIX_MCA_", "CUDA_",
                                              "OMP_",  "GOMP_", "HCOLL_", "SHARP_"};

// Open MPI's launcher passes its own state (job ids, contact addresses, session folders) under the prefix of its
// options.
constexpr std::string_view state_prefixes[]{"OMPI_MCA_orte_", "OMPI_MCA_prte_", "OMPI_MCA_ess_",
                                            "OMPI_MCA_initial_wdir"};
constexpr std::string_view state_parts[]{"URI", "JOBID"};

constexpr std::string_view secret_parts[]{"TOKEN",  "KEY",    "PASS",  "SECRET", "CRED", "AUTH",
                                          "BEARER", "COOKIE", "LOGIN", "PWD",    "JWT"};
// Behind which a value follows, in a value.
constexpr std::string_view secret_assignments[]{"PASSWORD", "PASSWD", "PWD", "TOKEN", "SECRET", "KEY"};
// Tokens of GitHub, GitLab, Hugging Face, Slack, AWS, Google and NVIDIA; and any JSON Web Token.
constexpr std::string_view token_beginnings[]{"ghp_",  "gho_",  "ghs_", "ghu_", "github_pat_", "glpat-", "hf_", "sk-",
                                              "xoxb-", "xoxp-", "AKIA", "ASIA", "AIza",        "nvapi-", "eyJ"};
constexpr std::size_t shortest_token = 16;
constexpr std::size_t shortest_random_word = 20;  // no name of a device or an option has as many letters with digits

bool is_alphanumeric(char character) {
    return std::isalnum(static_cast<unsigned char>(character)) != 0;
}
bool is_digit(char character) {
    return std::isdigit(static_cast<unsigned char>(character)) != 0;
}

std::string upper(std::string_view text) {
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char character) { return static_cast<char>(std::toupper(character)); });
    return result;
}

bool has_prefix(std::string_view name, auto const& prefixes) {
    return std::any_of(std::begin(prefixes), std::end(prefixes),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Whatever the case of its letters.
bool has_part(std::string_view name, auto const& parts) {
    return std::any_of(std::begin(parts), std::end(parts),
                       [name = upper(name)](std::string_view part) { return name.find(part) != std::string::npos; });
}

/// "[PREFIX]" begins a block of names; "#" a comment.
std::set<std::string, std::less<>> known_variables() {
    std::set<std::string, std::less<>> known;
    std::istringstream text{std::string{known_variables_text}};
    std::string prefix;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with('[')) {
            prefix = line.substr(1, line.find(']') - 1);
        } else if (!line.starts_with('#')) {
            std::istringstream names{line};
            for (std::string name; names >> name;) {
                known.insert(prefix + name);
            }
        }
    }
    return known;
}

/// MPICH reads a cvar MPIR_CVAR_X also from MPICH_X and MPIR_PARAM_X.
bool is_known(std::set<std::string, std::less<>> const& known, std::string_view name) {
    for (std::string_view const spelling : {"MPICH_", "MPIR_PARAM_"}) {
        if (name.starts_with(spelling) && known.contains("MPIR_CVAR_" + std::string{name.substr(spelling.size())})) {
            return true;
        }
    }
    return known.contains(name);
}

/// Whether it may tune a measured library, or is a fact about the job; false for addresses and everything unknown.
bool is_recorded(std::set<std::string, std::less<>> const& known, std::string_view name) {
    return known.contains(name) ||
           (has_prefix(name, library_prefixes) && !has_prefix(name, state_prefixes) && !has_part(name, state_parts));
}

/// "scheme://...@host", or "user:password@host"; not ":@", before which UCC names an algorithm.
bool carries_login(std::string_view value) {
    for (std::size_t at = value.find('@'); at != std::string_view::npos; at = value.find('@', at + 1)) {
        std::string_view const before = value.substr(0, at);
        std::string_view const word = before.substr(before.find_last_of(" \t/,;#@") + 1);
        if (before.find("://") != std::string_view::npos ||
            (word.find(':') != std::string_view::npos && !word.ends_with(':'))) {
            return true;
        }
    }
    return false;
}

/// "password=", "api_key: ".
bool assigns_secret(std::string_view value) {
    std::string const text = upper(value);
    return std::any_of(std::begin(secret_assignments), std::end(secret_assignments), [&](std::string_view part) {
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            std::size_t const end = at + part.size();
            if (end < text.size() && (text[end] == '=' || text[end] == ':')) {
                return true;
            }
        }
        return false;
    });
}

/// A run of letters and digits, mixed and long; not a mask ("0x...").
bool has_random_run(std::string_view word) {
    for (std::size_t begin = 0; begin < word.size(); ++begin) {
        auto const* const end =
            std::find_if_not(word.data() + begin, word.data() + word.size(), [](char c) { return is_alphanumeric(c); });
        std::string_view const run{word.data() + begin, static_cast<std::size_t>(end - (word.data() + begin))};
        auto const digits = std::count_if(run.begin(), run.end(), [](char c) { return is_digit(c); });
        if (run.size() >= shortest_random_word && !run.starts_with("0x") && digits > 0 &&
            digits < static_cast<std::ptrdiff_t>(run.size())) {
            return true;
        }
        begin += run.size();
    }
    return false;
}

/// Folders are no secrets, though package managers put hashes into their names.
bool is_token(std::string_view word) {
    return !word.starts_with('/') &&
           ((word.size() >= shortest_token && has_prefix(word, token_beginnings)) || has_random_run(word));
}

std::string hash_text(std::string const& name, std::string const& value) {
    return "<hash " + stable_hash(name + '=' + value).substr(0, 6) + ">";
}

}  // namespace

bool looks_like_credential(std::string_view value) {
    std::string_view constexpr separators = " \t,;:=|\"'";
    if (carries_login(value) || assigns_secret(value) || value.starts_with("Bearer ") || value.starts_with("Basic ") ||
        value.find("-----BEGIN") != std::string_view::npos) {
        return true;
    }
    std::vector<std::string_view> const parts = words(value, separators);
    return std::any_of(parts.begin(), parts.end(), is_token);
}

std::map<std::string, std::string> recorded_variables(std::map<std::string, std::string, std::less<>> const& all) {
    auto const known = known_variables();
    std::map<std::string, std::string> recorded;
    for (auto const& [name, value] : all) {
        if (!is_recorded(known, name)) {
            continue;
        }
        bool const listed = is_known(known, name);
        bool const secret = looks_like_credential(value) || (!listed && has_part(name, secret_parts));
        recorded[name] = secret ? "<redacted>" : listed ? value : hash_text(name, value);
    }
    return recorded;
}

}  // namespace dlmb::measure
