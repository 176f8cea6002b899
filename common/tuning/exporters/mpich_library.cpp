// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tuning/exporters/mpich.hpp"

#include <fmt/core.h>

#include <fstream>
#include <sstream>
#include <string_view>

namespace dlmb::tuning {
namespace {

constexpr std::string_view tree_start = R"({"collective=)";
constexpr std::string_view leaf_start = "algorithm=MPIR_";

/// The C string at `begin`, without a newline at its end.
std::string_view text_at(std::string_view bytes, std::size_t begin) {
    std::string_view const text = bytes.substr(begin, bytes.find('\0', begin) - begin);
    return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

/// The device layer has trees of its own, of "composition=" and MPIDI_ leaves; those stay as they are.
bool is_selection_tree(std::string_view text) {
    return text.find("composition=") == text.npos && text.find("=MPIDI_") == text.npos &&
           text.find(R"("collective=ibcast")") != text.npos;
}

}  // namespace

MpichInfo read_mpich(std::filesystem::path const& library) {
    std::ifstream file(library, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    if (!file) {
        throw UsageError(
            fmt::format("{}: cannot be read; give the libmpich.so that programs run with", library.string()));
    }
    std::string const bytes = std::move(content).str();
    MpichInfo info{{}, {}, library.string()};
    for (std::size_t at = bytes.find(tree_start); at != bytes.npos; at = bytes.find(tree_start, at + 1)) {
        if (auto const text = text_at(bytes, at); info.tree.empty() && is_selection_tree(text)) {
            info.tree = text;
        }
    }
    for (std::size_t at = bytes.find(leaf_start); at != bytes.npos; at = bytes.find(leaf_start, at + 1)) {
        // Inside of a tree a name ends with a quote; the list of names that the reader of trees knows does not.
        std::string_view const name = text_at(bytes, at).substr(std::string_view("algorithm=").size());
        if (name.find('"') == name.npos) {
            info.algorithms.emplace(name);
        }
    }
    if (info.tree.empty() || info.algorithms.empty()) {
        throw UsageError(fmt::format(
            "{}: holds no selection tree of MPICH; give the libmpich.so that programs run with", library.string()));
    }
    return info;
}

}  // namespace dlmb::tuning
