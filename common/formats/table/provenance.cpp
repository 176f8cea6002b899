// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/provenance.hpp"

#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/formats/record/environment.hpp"
#include "common/formats/table/table_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>
#include <limits>
#include <set>
#include <vector>

namespace dlmb::tuning {

std::string sha256(std::string_view content) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(content.data(), content.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
        throw Error("EVP_Digest: SHA-256 failed");
    }
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
        text += fmt::format("{:02x}", digest[i]);
    }
    return text;
}

std::string sha256_of_file(std::filesystem::path const& path) {
    // A FIFO is empty when it is read a second time, and a device may have no end.
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) {
        throw UsageError(
            fmt::format("{}: is no regular file, so no SHA-256 can name it in a table; give a file", path.string()));
    }
    return sha256(read_document(path, std::numeric_limits<Bytes>::max()));
}

std::string digest_of(TuningTable const& table) {
    return sha256(to_json(table));
}

std::map<std::string, std::string> system_identity(std::map<std::string, std::string> identity) {
    for (char const* shape : {"ranks", "nodes", "ranks_per_node"}) {
        identity.erase(shape);
    }
    return identity;
}

std::string system_key(std::map<std::string, std::string> const& identity) {
    return record::environment_key(system_identity(identity));
}

std::string system_differences(std::map<std::string, std::string> const& these,
                               std::map<std::string, std::string> const& first) {
    if (these.empty() || first.empty()) {
        return {};
    }
    std::set<std::string> names;
    for (auto const* identity : {&these, &first}) {
        for (auto const& [name, value] : *identity) {
            names.insert(name);
        }
    }
    auto const value_in = [](auto const& identity, std::string const& name) {
        auto const found = identity.find(name);
        return found == identity.end() ? std::string{"nothing"} : found->second;
    };
    std::vector<std::string> differences;
    for (std::string const& name : names) {
        if (value_in(these, name) != value_in(first, name)) {
            differences.push_back(
                fmt::format("{} {} instead of {}", name, value_in(these, name), value_in(first, name)));
        }
    }
    return fmt::format("{}", fmt::join(differences, ", "));
}

}  // namespace dlmb::tuning
