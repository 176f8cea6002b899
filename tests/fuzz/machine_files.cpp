// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What Linux tells of the machine in files: each of them has the input.
#include "common/measure/environment/cpu_quota.hpp"
#include "common/measure/environment/machine.hpp"
#include "common/measure/environment/parameter_files.hpp"
#include "common/memory/control_groups.hpp"
#include "common/memory/host_space.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/unit/record/temporary_folder.hpp"

namespace dlmb::fuzz {
namespace {

/// A tree of links to one file in memory.
class Machine {
public:
    Machine() {
        for (char const* const name :
             {"proc/cpuinfo", "proc/meminfo", "proc/loadavg", "proc/sys/kernel/osrelease", "proc/self/cgroup",
              "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", "sys/fs/cgroup/memory.stat",
              "sys/fs/cgroup/cpu.max", "sys/fs/cgroup/cpu.stat", "proc/self/mountinfo", "etc/nccl.conf",
              "sys/devices/system/node/node0/cpulist", "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
              "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "sys/class/infiniband/mlx5_0/hca_type"}) {
            std::filesystem::create_directories((folder_ / name).parent_path());
            std::filesystem::create_symlink(file_.path(), folder_ / name);
        }
    }
    void hold(std::string_view content) const { file_.hold(content); }
    [[nodiscard]] std::filesystem::path root() const { return folder_ / ""; }

private:
    MemoryFile file_;
    record::TemporaryFolder folder_;
};

}  // namespace

void machine_files(std::string_view input) {
    static Machine const machine;
    machine.hold(input);
    auto const root = machine.root();
    (void)measure::cpu_model(root);
    require(measure::machine_facts(root).contains("architecture"), "no facts");
    (void)measure::read_affinity(root);
    (void)measure::read_conditions(root);
    require(measure::cores_of({0, 1}, root).size() <= 2, "more cores than units");
    (void)available_host_memory(root);
    (void)measure::QuotaReader(root).read();
    for (auto const& [name, value] : measure::file_settings({}, "/etc/nccl.conf", root)) {
        require(name.starts_with("NCCL_") || name.starts_with("OMPI_MCA_"), "a setting of no library");
    }
    auto const units = measure::parse_cpu_list(std::string(input));
    if (std::is_sorted(units.begin(), units.end()) && std::adjacent_find(units.begin(), units.end()) == units.end()) {
        require(measure::parse_cpu_list(measure::cpu_list(units)) == units, "a list of units is read as another one");
    }
}

}  // namespace dlmb::fuzz
