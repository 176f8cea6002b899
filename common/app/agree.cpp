// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/agree.hpp"

#include "common/base/error.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace dlmb::app {
namespace {

enum class Outcome : unsigned char { done, usage_error, output_error };

Blob with_outcome(Outcome outcome, std::span<std::byte const> content) {
    Blob blob(content.size() + 1);
    blob[0] = static_cast<std::byte>(outcome);
    std::copy(content.begin(), content.end(), blob.begin() + 1);
    return blob;
}

Blob attempt(std::function<Blob()> const& work) {
    auto const bytes_of = [](std::string_view text) { return std::as_bytes(std::span{text.data(), text.size()}); };
    try {
        return with_outcome(Outcome::done, work());
    } catch (UsageError const& error) {
        return with_outcome(Outcome::usage_error, bytes_of(error.what()));
    } catch (OutputError const& error) {
        return with_outcome(Outcome::output_error, bytes_of(error.what()));
    }
}

}  // namespace

Blob on_rank_zero(Bootstrap& bootstrap, std::function<Blob()> const& work) {
    Blob blob = bootstrap.rank() == 0 ? attempt(work) : Blob{};
    bootstrap.broadcast(blob, 0);
    auto const outcome = static_cast<Outcome>(blob.at(0));
    blob.erase(blob.begin());
    std::string const text(reinterpret_cast<char const*>(blob.data()), blob.size());
    if (outcome == Outcome::usage_error) {
        throw UsageError(text);
    }
    if (outcome == Outcome::output_error) {
        throw OutputError(text);
    }
    return blob;
}

}  // namespace dlmb::app
