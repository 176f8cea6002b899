// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/staged_translator.hpp"

#include "common/backends/mpi/rounds.hpp"
#include "common/plan/group_index.hpp"
#include "common/plan/precedence.hpp"

namespace dlmb::mpi {
namespace {

/// Steps that must start in order share a turn; each of them follows at most one.
std::vector<std::shared_ptr<Turn>> turns_of(Plan const& plan) {
    Precedence const precedence = precedence_of(plan);
    std::vector<std::shared_ptr<Turn>> turns;
    for (std::vector<StepId> const& before : precedence.started) {
        turns.push_back(before.empty() ? std::make_shared<Turn>() : turns[before.front()]);
    }
    return turns;
}

struct GroupOf {
    std::optional<GroupId> operator()(Compute const& /*step*/) const { return std::nullopt; }
    template <class Step>
    std::optional<GroupId> operator()(Step const& step) const {
        return step.group;
    }
};

}  // namespace

StagedTranslator::StagedTranslator(TranslatedPlan const& shared, Buffers const& device, Buffers const& host,
                                   DeviceQueues const& queues, Idle idle)
    : shared_(shared), native_(shared, host, nullptr), device_(device), host_(host), queues_(queues), idle_(idle),
      rounds_(agree_on_rounds(shared.plan, shared.method.chunk_bytes, shared.communicators)),
      turns_(turns_of(shared.plan)) {}

Staged StagedTranslator::operator()(StepId step) {
    std::vector<StagedPart> parts;
    for (Chunk const& chunk : cut(step)) {
        parts.push_back(part(chunk));
    }
    return {std::move(parts), self(shared_.plan.steps[step].operation), queues_, turns_[step], idle_};
}

std::vector<Chunk> StagedTranslator::cut(StepId step) const {
    Operation const& operation = shared_.plan.steps[step].operation;
    if (in_one_call(operation)) {
        return {whole(std::get<Exchange>(operation))};
    }
    Group const& group = shared_.plan.groups.at(std::visit(GroupOf{}, operation).value());
    return chunks_of(operation, {shared_.method.chunk_bytes, rounds_[step], rank_in(group, shared_.plan.me).value(),
                                 static_cast<int>(group.members.size())});
}

StagedPart StagedTranslator::part(Chunk const& chunk) {
    StagedPart part{{}, std::visit(native_, chunk.call), {}, {}};
    for (Range const& range : chunk.reads) {
        part.to_host.push_back(
            {host_.base[range.buffer] + range.offset, device_.base[range.buffer] + range.offset, range.bytes});
    }
    for (Range const& range : chunk.writes) {
        part.to_device.push_back(
            {device_.base[range.buffer] + range.offset, host_.base[range.buffer] + range.offset, range.bytes});
    }
    return part;
}

SelfCopy StagedTranslator::self(Operation const& operation) const {
    auto const* exchange = std::get_if<Exchange>(&operation);
    if (exchange == nullptr || in_one_call(operation)) {
        return {};
    }
    int const me = rank_in(shared_.plan.groups.at(exchange->group), shared_.plan.me).value();
    return self_copy(*exchange, device_, me, &queues_.within);
}

/// MPI_Alltoall takes packed blocks, which chunks of blocks are not, and each MPI_Neighbor_alltoallv has a
/// communicator.
bool StagedTranslator::in_one_call(Operation const& operation) const {
    bool const is_exchange = std::holds_alternative<Exchange>(operation);
    return is_exchange && (shared_.method.id == MethodId::alltoall || shared_.method.id == MethodId::neighbor);
}

}  // namespace dlmb::mpi
