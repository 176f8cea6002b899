// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every wait is MPI_Test + make_progress() + Idle: a rank that blocked inside MPI here would stop the worker that
// another transport's peer is waiting for.
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

#include "common/bootstrap/launch_guard.hpp"
#include "common/bootstrap/mpi/communicator.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "common/bootstrap/mpi/parameter_files.hpp"
#include "common/bootstrap/node_layout.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

namespace dlmb::mpi {
namespace {

/// Facts about the MPI library and the launcher for the record. `size` and `local_rank` as MPI says them, to be held
/// against what the launcher says.
std::map<std::string, std::string, std::less<>> facts(int size, int local_rank) {
    int version = 0;
    int subversion = 0;
    int level = 0;
    check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    LauncherVariables const variables = read_launcher_variables();
    LauncherInfo const launcher = launcher_info(variables);
    std::map<std::string, std::string, std::less<>> facts{
        {"mpi_library", mpi_library_version()},
        {"mpi_standard", fmt::format("{}.{}", version, subversion)},
        {"mpi_thread_level", std::string(name_of_thread_level(level))},
        {"launcher", launcher.name.empty() ? "none" : launcher.name},
        {"launched_ranks", launcher.ranks > 0 ? fmt::format("{}", launcher.ranks) : "unknown"}};
    if (std::string files = parameter_files(); !files.empty()) {
        facts.emplace(std::string(parameter_files_fact), std::move(files));
    }
    if (std::string warning = launch_warning(variables, size, local_rank); !warning.empty()) {
        facts.emplace("launch_warning", std::move(warning));
    }
    return facts;
}

/// MPI goes by the launcher's word, which counts containers on one machine as one node; each has memory to share of its
/// own.
Communicator ranks_that_share_memory(Communicator const& world) {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split_type(world.get(), MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &made),
          "MPI_Comm_split_type");
    Communicator const launched(made);
    constexpr std::size_t longest_id = 128;
    std::array<char, longest_id> mine{};
    std::string const id = shared_memory_id();
    std::copy_n(id.begin(), std::min(id.size(), mine.size()), mine.begin());
    std::vector<std::array<char, longest_id>> all(static_cast<std::size_t>(launched.size()));
    check(MPI_Allgather(mine.data(), longest_id, MPI_CHAR, all.data(), longest_id, MPI_CHAR, launched.get()),
          "MPI_Allgather");
    auto const first = static_cast<int>(std::find(all.begin(), all.end(), mine) - all.begin());
    check(MPI_Comm_split(launched.get(), first, launched.rank(), &made), "MPI_Comm_split");
    return Communicator(made);
}

/// Blobs to one peer packed into one message, so that empty ones and several to one peer need no special case:
/// each as its 8-byte length followed by its bytes.
std::map<Rank, Blob> pack(std::span<PeerBlob const> outgoing, int ranks) {
    std::map<Rank, Blob> messages;
    for (PeerBlob const& each : outgoing) {
        if (each.peer < 0 || each.peer >= ranks) {
            throw Error(fmt::format("bootstrap exchange: blob to rank {} of {}", each.peer, ranks));
        }
        Blob& message = messages[each.peer];
        std::uint64_t const length = each.blob.size();
        auto const head = std::as_bytes(std::span(&length, 1));
        message.insert(message.end(), head.begin(), head.end());
        message.insert(message.end(), each.blob.begin(), each.blob.end());
    }
    return messages;
}

/// Appends the blobs of a message from `peer`. Throws Error on a message that pack() cannot have made.
void unpack(Rank peer, std::span<std::byte const> message, std::vector<PeerBlob>& incoming) {
    while (!message.empty()) {
        std::uint64_t length = 0;
        std::memcpy(&length, message.data(), std::min(sizeof length, message.size()));
        if (message.size() < sizeof length || message.size() - sizeof length < length) {
            throw Error(fmt::format("bootstrap exchange: the message from rank {} ends inside a blob", peer));
        }
        std::span<std::byte const> const body = message.subspan(sizeof length, length);
        incoming.push_back({peer, Blob(body.begin(), body.end())});
        message = message.subspan(sizeof length + length);
    }
}

}  // namespace
}  // namespace dlmb::mpi

namespace dlmb {
namespace {

using mpi::check;

// Messages of exchange(), and of send(); the barrier uses its round number, which stays below 31.
constexpr int exchange_tag = 64;
constexpr int message_tag = 65;

int to_count(std::uint64_t bytes, std::string_view call) {
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
        throw Error(fmt::format("bootstrap {}: {} bytes in one call, the limit is 2 GiB - 1", call, bytes));
    }
    return static_cast<int>(bytes);
}

MPI_Op operation_of(Fold fold) {
    return fold == Fold::sum ? MPI_SUM : fold == Fold::max ? MPI_MAX : MPI_MIN;
}

class MpiBootstrap final : public Bootstrap {
public:
    MpiBootstrap() : world_(mpi::duplicate(MPI_COMM_WORLD)), rank_(world_.rank()), size_(world_.size()) {
        // Calls on requests name no communicator; some libraries report their errors here.
        check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        mpi::Communicator const local = mpi::ranks_that_share_memory(world_);
        local_rank_ = local.rank();
        local_size_ = local.size();
        node_leader_ = rank_;
        check(MPI_Bcast(&node_leader_, 1, MPI_INT, 0, local.get()), "MPI_Bcast");
        std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
        int length = 0;
        check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
        host_.assign(name.data(), static_cast<std::size_t>(length));
    }

    void yield_while_waiting(bool yield) { idle_ = Idle(yield); }

    [[nodiscard]] std::string_view kind() const override { return "mpi"; }
    [[nodiscard]] Rank rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] int local_rank() const override { return local_rank_; }
    [[nodiscard]] int local_size() const override { return local_size_; }
    [[nodiscard]] Rank node_leader() const override { return node_leader_; }
    [[nodiscard]] std::string const& host() const override { return host_; }

    [[nodiscard]] std::map<std::string, std::string, std::less<>> facts() const override {
        return mpi::facts(size_, local_rank_);
    }

    // Dissemination: in round k every rank tells the one 2^k places on; after ceil(log2 n) rounds all have heard of
    // all.
    [[nodiscard]] std::int64_t barrier_max(std::int64_t mine) override {
        int round = 0;
        for (int distance = 1; distance < size_; distance *= 2, ++round) {
            std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            int const from = (rank_ - distance + size_) % size_;
            int const to = (rank_ + distance) % size_;
            std::int64_t heard = 0;
            check(MPI_Irecv(&heard, 1, MPI_INT64_T, from, round, world_.get(), requests.data()), "MPI_Irecv");
            check(MPI_Isend(&mine, 1, MPI_INT64_T, to, round, world_.get(), &requests[1]), "MPI_Isend");
            wait(requests);
            mine = std::max(mine, heard);
        }
        return mine;
    }

    [[nodiscard]] std::vector<Blob> all_gather(std::span<std::byte const> mine) override {
        std::vector<int> counts(static_cast<std::size_t>(size_));
        int const own = to_count(mine.size(), "all_gather");
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallgather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, world_.get(), &request), "MPI_Iallgather");
        wait(request);
        std::vector<int> offsets;
        std::uint64_t total = 0;
        for (int const count : counts) {
            offsets.push_back(to_count(total, "all_gather"));
            total += static_cast<std::uint64_t>(count);
        }
        Blob all(total);
        check(MPI_Iallgatherv(mine.data(), own, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE,
                              world_.get(), &request),
              "MPI_Iallgatherv");
        wait(request);
        std::vector<Blob> blobs;
        for (std::size_t r = 0; r < counts.size(); ++r) {
            std::span<std::byte const> const part =
                std::span(all).subspan(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(counts[r]));
            blobs.emplace_back(part.begin(), part.end());
        }
        return blobs;
    }

    [[nodiscard]] std::vector<PeerBlob> exchange(std::vector<PeerBlob> outgoing) override {
        std::map<Rank, Blob> const messages = mpi::pack(outgoing, size_);
        std::vector<int> sizes_out(static_cast<std::size_t>(size_));
        std::vector<int> sizes_in(static_cast<std::size_t>(size_));
        for (auto const& [peer, message] : messages) {
            sizes_out[static_cast<std::size_t>(peer)] = to_count(message.size(), "exchange");
        }
        MPI_Request sizes = MPI_REQUEST_NULL;
        check(MPI_Ialltoall(sizes_out.data(), 1, MPI_INT, sizes_in.data(), 1, MPI_INT, world_.get(), &sizes),
              "MPI_Ialltoall");
        wait(sizes);

        std::map<Rank, Blob> arriving;
        std::vector<MPI_Request> requests;
        for (Rank peer = 0; peer < size_; ++peer) {
            if (int const size = sizes_in[static_cast<std::size_t>(peer)]; size > 0) {
                Blob& message = arriving[peer];
                message.resize(static_cast<std::size_t>(size));
                check(MPI_Irecv(message.data(), size, MPI_BYTE, peer, exchange_tag, world_.get(),
                                &requests.emplace_back()),
                      "MPI_Irecv");
            }
        }
        for (auto const& [peer, message] : messages) {
            check(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer, exchange_tag,
                            world_.get(), &requests.emplace_back()),
                  "MPI_Isend");
        }
        wait(requests);
        std::vector<PeerBlob> incoming;
        for (auto const& [peer, message] : arriving) {
            mpi::unpack(peer, message, incoming);
        }
        return incoming;
    }

    void all_reduce(std::span<std::int64_t> values, Fold fold) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), to_count(values.size(), "all_reduce"), MPI_INT64_T,
                             operation_of(fold), world_.get(), &request),
              "MPI_Iallreduce");
        wait(request);
    }

    void broadcast(Blob& blob, Rank root) override {
        MPI_Request request = MPI_REQUEST_NULL;
        std::uint64_t size = blob.size();
        check(MPI_Ibcast(&size, 1, MPI_UINT64_T, root, world_.get(), &request), "MPI_Ibcast");
        wait(request);
        blob.resize(size);
        check(MPI_Ibcast(blob.data(), to_count(size, "broadcast"), MPI_BYTE, root, world_.get(), &request),
              "MPI_Ibcast");
        wait(request);
    }

    void send(Rank peer, std::span<std::byte const> bytes) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(bytes.data(), to_count(bytes.size(), "send"), MPI_BYTE, peer, message_tag, world_.get(),
                        &request),
              "MPI_Isend");
        wait(request);
    }

    void receive(Rank peer, std::span<std::byte> bytes) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Irecv(bytes.data(), to_count(bytes.size(), "receive"), MPI_BYTE, peer, message_tag, world_.get(),
                        &request),
              "MPI_Irecv");
        wait(request);
    }

    void progress() override {
        int found = 0;
        check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_.get(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
    }

    // From any thread, and with the main thread stuck in a blocking call: the exit code reaches the launcher only this
    // way.
    [[noreturn]] void abort(int exit_code) override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized == 0) {
            MPI_Abort(MPI_COMM_WORLD, exit_code);
        }
        std::_Exit(exit_code);
    }

private:
    void wait(MPI_Request& request) const { wait(std::span(&request, 1)); }
    void wait(std::span<MPI_Request> requests) const {
        for (;;) {
            int done = 0;
            check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                  "MPI_Testall");
            if (done != 0) {
                return;
            }
            make_progress();
            idle_();
        }
    }

    mpi::Communicator world_;
    Rank rank_;
    int size_;
    int local_rank_ = 0;
    int local_size_ = 1;
    Rank node_leader_ = 0;
    std::string host_;
    Idle idle_{true};
};

}  // namespace

std::unique_ptr<Bootstrap> make_mpi_bootstrap() {
    auto bootstrap = std::make_unique<MpiBootstrap>();
    bootstrap->yield_while_waiting(oversubscribed(*bootstrap));
    return bootstrap;
}

}  // namespace dlmb
