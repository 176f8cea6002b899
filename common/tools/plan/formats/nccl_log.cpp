// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Logs of NCCL and RCCL with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL. A call is a line
//   host:pid:tid [0] NCCL INFO AllReduce: opCount 0 sendbuff .. recvbuff .. count 1024 datatype 7 op 0 root 0 comm 0x..
//   [nranks=8] ..
// (ncclEnqueueCheck in src/enqueue.cc), and which rank of which communicator wrote it, lines of its start say. The root
// of a send or receive is the peer.
#include "common/base/error.hpp"
#include "common/tools/plan/formats/communicators.hpp"
#include "common/tools/plan/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dlmb::trace {
namespace {

struct Joined {
    int rank = 0;
    int size = 0;
    std::string name;     // the same on all ranks
    std::string process;  // with its device
};

/// The writer of a line. A process may be a rank for each of its devices; then its calls may all come from one thread,
/// which has one device.
struct Writer {
    std::string process;
    std::string device;  // "[0]"
    [[nodiscard]] std::string both() const { return fmt::format("{} {}", process, device); }
};

/// The text behind the word `name`, up to a blank or a bracket.
std::string_view behind(std::string_view text, std::string_view name) {
    for (std::size_t place = text.find(name); place != std::string_view::npos; place = text.find(name, place + 1)) {
        std::size_t const end = place + name.size();
        bool const begins = place == 0 || text[place - 1] == ' ' || text[place - 1] == '[';
        if (begins && end < text.size() && (text[end] == ' ' || text[end] == '=')) {
            std::string_view const rest = text.substr(end + 1);
            return rest.substr(0, rest.find_first_of(" ],"));
        }
    }
    return {};
}

class NcclLogReader : public TraceReader {
public:
    using TraceReader::TraceReader;

    void read(Input& input) override {
        file_ = input.name();
        std::string_view line;
        while (input.line(line)) {
            std::size_t mark = line.find(mark_of_message);
            std::string_view prefix = line.substr(0, mark);
            if (mark != std::string_view::npos) {
                remember_host(prefix);
            }
            while (mark != std::string_view::npos) {
                std::string_view message = line.substr(mark + mark_of_message.size());
                Writer const writer = writer_of(input, prefix);
                mark = line.find(mark_of_message, mark + mark_of_message.size());
                if (mark != std::string_view::npos) {
                    message = message.substr(0, message.size() - (line.size() - mark));
                    prefix = prefix_at_end(input, message);
                    message.remove_suffix(prefix.size());
                }
                take(input, writer, message);
            }
        }
    }

    void finish() override {
        if (!any_) {
            throw UsageError(
                fmt::format("{}: no call in this log; set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL", file_));
        }
        communicators_.finish(builder_, file_);
    }

private:
    static constexpr std::string_view mark_of_message = "NCCL INFO ";

    void take(Input const& input, Writer const& writer, std::string_view message) {
        std::size_t const colon = message.find(": opCount ");
        if (colon != std::string_view::npos) {
            add(input, writer, message.substr(0, colon), message);
        } else {
            start(writer, message);
        }
    }

    /// The word "host:pid:tid" of a prefix; empty: there is none.
    static std::string_view writer_word(std::string_view prefix) {
        auto const parts = words(prefix, " \t");
        auto const found = std::find_if(parts.rbegin(), parts.rend(), [](std::string_view part) {
            return std::count(part.begin(), part.end(), ':') >= 2;
        });
        return found == parts.rend() ? std::string_view() : *found;
    }
    void remember_host(std::string_view prefix) {
        auto const names = split(writer_word(prefix), ":");
        if (names.size() >= 3) {
            hosts_.emplace(names[names.size() - 3]);
        }
    }
    /// Processes write into one file, and the end of a line may come late: "stream 0x1node0:7:9 [0] NCCL INFO ". Where
    /// the second message begins, its host tells, if it began a line before.
    std::string_view prefix_at_end(Input const& input, std::string_view text) const {
        std::string_view const word = writer_word(text);
        auto const names = split(word, ":");
        std::string_view host;
        for (std::string const& known : hosts_) {
            if (names.size() >= 3 && std::string_view(names[names.size() - 3]).ends_with(known) &&
                known.size() > host.size()) {
                host = known;
            }
        }
        if (host.empty()) {
            input.refuse("two messages on one line, and no line before begins with the host of the second; let each "
                         "process write a file of its own: NCCL_DEBUG_FILE=nccl.%h.%p.log");
        }
        std::size_t const end_of_host =
            word.size() - names[names.size() - 1].size() - names[names.size() - 2].size() - 2;
        auto const begin = static_cast<std::size_t>(word.data() - text.data()) + end_of_host - host.size();
        return text.substr(begin);
    }

    /// "host:pid:tid [dev] " without the thread, behind whatever a launcher wrote in front and before a time. Without
    /// it each file is a process.
    static Writer writer_of(Input const& input, std::string_view prefix) {
        auto const parts = words(prefix, " \t");
        std::string_view device;
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
            auto const names = split(*part, ":");
            if (names.size() >= 3) {
                return {fmt::format("{}:{}", names[names.size() - 3], names[names.size() - 2]), std::string(device)};
            }
            device = part->starts_with('[') ? *part : device;
        }
        return {input.name(), std::string(device)};
    }

    /// Lines about the start of a communicator: "comm 0x.. rank 0 nranks 8 cudaDev 0 .. commId 0x.. - Init COMPLETE",
    /// of a part of another one ".. parent 0x.. splitCount 1 color 2 key 0 - Init COMPLETE" (later: childCount).
    void start(Writer const& writer, std::string_view message) {
        std::string_view const communicator = behind(message, "comm");
        auto const rank = parse_whole<int>(behind(message, "rank"));
        auto const size =
            parse_whole<int>(behind(message, "nranks").empty() ? behind(message, "nRanks") : behind(message, "nranks"));
        if (communicator.empty() || !rank || !size || *size < 1 || *size > most_recorded_ranks || *rank < 0 ||
            *rank >= *size) {
            return;
        }
        std::string identity(behind(message, "commId"));
        if (std::string const parent(behind(message, "parent")); !parent.empty()) {
            identity = fmt::format("{}/{}{}/{}", joined_[writer.process][parent].name, behind(message, "splitCount"),
                                   behind(message, "childCount"), behind(message, "color"));
        }
        Joined& joined = joined_[writer.process][std::string(communicator)];
        joined.rank = *rank;
        joined.size = *size;
        joined.process = writer.both();
        if (!identity.empty()) {
            joined.name = std::move(identity);
            communicators_.join(joined.process, joined.name, *rank, *size);
        }
    }

    void add(Input const& input, Writer const& writer, std::string_view name, std::string_view message) {
        auto const kind = operation_named(name.substr(name.find_last_of(' ') + 1));
        if (!kind) {
            builder_.incomplete(
                fmt::format("{}: '{}' is no operation that is known", input.name(), name.substr(0, 64)));
            return;
        }
        any_ = true;
        auto const number = [&](std::string_view field) {
            auto const value = parse_whole<Bytes>(behind(message, field));
            if (!value || *value >> 63U != 0) {
                input.refuse(fmt::format("{} without a number behind '{}'", name, field));
            }
            return *value;
        };
        std::string const address(behind(message, "comm"));
        auto const size = parse_whole<int>(behind(message, "nranks"));
        if (address.empty() || !size || *size < 1 || *size > most_recorded_ranks) {
            input.refuse(fmt::format("{} without 'comm' and '[nranks=N]'", name));
        }
        auto const dtype = nccl_dtype(number("datatype"));
        if (!dtype) {
            input.refuse(fmt::format("{}: datatype {} is none of NCCL's", name, number("datatype")));
        }
        Joined const joined = joined_of(input, writer, address, *size, message);
        TraceOperation operation = nccl_operation(
            input, name, *kind, *dtype, product(input, name, number("count"), dtype->bytes), static_cast<Bytes>(*size));
        bool const to_peer = is_message(*kind);
        std::string_view const peer = behind(message, "peer");
        auto const root = peer.empty() ? parse_whole<int>(behind(message, "root")) : parse_whole<int>(peer);
        bool const names_one = to_peer || has_root(*kind);
        if (names_one && (!root || *root < 0 || *root >= *size)) {
            input.refuse(fmt::format("{}: root is no rank of {}", name, *size));
        }
        (to_peer ? operation.peer : operation.root) = names_one ? root : std::nullopt;
        communicators_.join(joined.process, joined.name, joined.rank, *size);
        communicators_.call(joined.process, joined.name, std::move(operation));
    }

    Joined joined_of(Input const& input, Writer const& writer, std::string const& address, int size,
                     std::string_view message) {
        auto const& joined_here = joined_[writer.process];
        auto const known = joined_here.find(address);
        if (known != joined_here.end()) {
            Joined joined = known->second;
            if (joined.name.empty()) {
                joined.name = fmt::format("{} ranks", joined.size);
            }
            return joined;
        }
        // RCCL writes the rank with each call.
        auto rank = parse_whole<int>(behind(message, "globalrank"));
        if (!rank) {
            rank = rank_of_name(input.name());
        }
        if (!rank || *rank < 0 || *rank >= size) {
            input.refuse(fmt::format("communicator {} was started by no line in front, so the rank is not known; name "
                                     "files nccl.rank3.log, or set "
                                     "NCCL_DEBUG_SUBSYS=INIT,COLL",
                                     address));
        }
        return {*rank, size, fmt::format("{} ranks", size), writer.both()};
    }

    TraceCommunicators communicators_;
    std::map<std::string, std::map<std::string, Joined>> joined_;  // by process and address
    std::set<std::string, std::less<>> hosts_;                     // that wrote lines
    std::string file_;
    bool any_ = false;
};

bool is_nccl_log(std::string_view /*name*/, std::string_view head) {
    return head.find("NCCL INFO ") != std::string_view::npos;
}

}  // namespace

TraceFormat nccl_log_format() {
    return {"nccl-log", "logs of NCCL and RCCL with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL", is_nccl_log,
            make_reader<NcclLogReader>};
}

}  // namespace dlmb::trace
