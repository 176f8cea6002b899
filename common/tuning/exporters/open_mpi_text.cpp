// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/open_mpi.hpp"
#include "common/tuning/exporters/open_mpi_rows.hpp"

#include <fmt/format.h>

#include <limits>

namespace dlmb::tuning {
namespace {

constexpr Bytes most_text_bytes = std::numeric_limits<long>::max();  // read with %li
constexpr LibraryVersion second_format{5, 0, 7};                     // github.com/open-mpi/ompi, pull request 12589

class Writer {
public:
    explicit Writer(bool max_requests) : max_requests_(max_requests) {}

    std::string collective(OpenMpiCollective const& one) {
        comms_.clear();
        count_ = 0;
        std::uint64_t next = 0;
        for (OpenMpiComm const& entry : one.comms) {
            if (next < entry.ranks.min) {
                fence(next);
            }
            comm(entry);
            next = entry.ranks.max == no_limit ? no_limit : entry.ranks.max + 1;
        }
        if (next != no_limit) {
            fence(next);
        }
        return fmt::format("{} {}  # {}\n{}", open_mpi_id(one.collective), count_, name_of(one.collective), comms_);
    }

private:
    std::string row(Bytes bytes, OpenMpiRow const& row) const {
        return fmt::format("  {} {} {} {}{}\n", bytes, row.algorithm, row.fanout, row.segment_bytes,
                           max_requests_ ? fmt::format(" {}", row.max_requests) : "");
    }

    void fence(std::uint64_t ranks) {
        comms_ += fmt::format("{} 1\n{}", ranks, row(0, {}));
        ++count_;
    }

    void comm(OpenMpiComm const& entry) {
        std::string rows;
        std::size_t count = 0;
        Bytes next = 0;
        for (OpenMpiRow const& one : entry.rows) {
            if (next < one.bytes.min) {
                rows += row(next, {});
                ++count;
            }
            rows += row(one.bytes.min, one);
            ++count;
            next = one.bytes.max == no_limit ? no_limit : one.bytes.max + 1;
        }
        if (next != no_limit) {
            rows += row(next, {});
            ++count;
        }
        comms_ += fmt::format("{} {}\n{}", entry.ranks.min, count, rows);
        ++count_;
    }

    bool max_requests_;
    std::string comms_;
    std::size_t count_ = 0;
};

bool any_max_requests(OpenMpiRows const& rows) {
    for (OpenMpiCollective const& collective : rows.collectives) {
        for (OpenMpiComm const& comm : collective.comms) {
            for (OpenMpiRow const& row : comm.rows) {
                if (row.max_requests != 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

}  // namespace

Export to_open_mpi(TuningTable const& table, Slice const& slice, OpenMpiInfo const& info) {
    LibraryVersion const version = parse_version(info.version);
    OpenMpiRows rows = open_mpi_rows(table, slice, version, most_text_bytes, version >= second_format);
    // Versions before the second format take its first line for junk and then read no rule, without a word.
    bool const second = any_max_requests(rows);
    std::string text = second ? "rule-file-version-2\n" : "";
    text +=
        fmt::format("{}  # collectives; then: its id, entries; ranks, rows; from bytes, algorithm, fanout, segment\n",
                    rows.collectives.size());
    Writer writer(second);
    for (OpenMpiCollective const& collective : rows.collectives) {
        text += writer.collective(collective);
    }
    return {{{"dlmb_rules.conf", std::move(text)}},
            {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
             {"OMPI_MCA_coll_tuned_dynamic_rules_filename", std::string(folder_mark) + "/dlmb_rules.conf"}},
            std::move(rows.lost),
            {"unset every OMPI_MCA_coll_tuned_*_algorithm: from Open MPI 5 on it beats the file",
             "Open MPI 5 runs coll/han instead on several nodes; add --mca coll ^han for the rules to act there"}};
}

}  // namespace dlmb::tuning
