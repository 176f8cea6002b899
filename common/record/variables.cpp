// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unistd.h>

namespace dlmb::record {
namespace {

using Names = std::string_view;

constexpr std::array allowed_prefixes{Names{"NCCL_"},     Names{"UCX_"},  Names{"UCC_"}, Names{"OMPI_MCA_"},
                                      Names{"MPICH_"},    Names{"MPIR_"}, Names{"FI_"},  Names{"I_MPI_"},
                                      Names{"PMIX_MCA_"}, Names{"CUDA_"}, Names{"OMP_"}, Names{"GOMP_"},
                                      Names{"HCOLL_"},    Names{"SHARP_"}};

// Facts about the size and layout of the job; no user, account, path or host.
constexpr std::array allowed_names{
    Names{"LD_PRELOAD"},           Names{"SLURM_JOB_ID"},        Names{"SLURM_JOB_NUM_NODES"},
    Names{"SLURM_NNODES"},         Names{"SLURM_NTASKS"},        Names{"SLURM_NTASKS_PER_NODE"},
    Names{"SLURM_TASKS_PER_NODE"}, Names{"SLURM_CPUS_PER_TASK"}, Names{"SLURM_CPU_BIND"},
    Names{"SLURM_DISTRIBUTION"},   Names{"SLURM_MPI_TYPE"}};

// Open MPI's launcher passes its own state (job ids, contact addresses, session folders) under the prefix of its
// options.
constexpr std::array refused_prefixes{Names{"OMPI_MCA_orte_"}, Names{"OMPI_MCA_prte_"}, Names{"OMPI_MCA_ess_"},
                                      Names{"OMPI_MCA_initial_wdir"}};
constexpr std::array refused_parts{Names{"URI"}, Names{"JOBID"}};

constexpr std::array secret_parts{Names{"TOKEN"}, Names{"KEY"}, Names{"PASS"}, Names{"SECRET"}, Names{"CRED"}};

std::string upper(std::string_view text) {
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char character) { return static_cast<char>(std::toupper(character)); });
    return result;
}

template <class Range>
bool has_prefix(std::string_view name, Range const& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

template <class Range>
bool has_part(std::string const& name, Range const& parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

/// "scheme://user:password@host".
bool carries_login(std::string_view value) {
    std::size_t const scheme = value.find("://");
    return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

}  // namespace

bool is_recorded(std::string_view name) {
    if (std::find(allowed_names.begin(), allowed_names.end(), name) != allowed_names.end()) {
        return true;
    }
    return has_prefix(name, allowed_prefixes) && !has_prefix(name, refused_prefixes) &&
           !has_part(upper(name), refused_parts);
}

std::string recorded_value(std::string_view name, std::string_view value) {
    return has_part(upper(name), secret_parts) || carries_login(value) ? "<redacted>" : std::string{value};
}

std::map<std::string, std::string> recorded_variables(char const* const* environment) {
    std::map<std::string, std::string> result;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        std::string_view const entry{*environment};
        std::size_t const equals = entry.find('=');
        std::string_view const name = entry.substr(0, equals);
        if (equals != std::string_view::npos && is_recorded(name)) {
            result.emplace(name, recorded_value(name, entry.substr(equals + 1)));
        }
    }
    return result;
}

std::map<std::string, std::string> recorded_variables() {
    return recorded_variables(environ);
}

}  // namespace dlmb::record
