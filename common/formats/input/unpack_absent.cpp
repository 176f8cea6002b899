// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A build without libarchive: plain files are read, and others are refused.
#include "common/formats/input/unpack.hpp"

namespace dlmb::input {

void visit_unpacked(std::string const& name, ByteSource& packed, std::function<void(Input&)> const& visit) {
    constexpr std::size_t tar_magic_at = 257;
    Input input(name, packed);
    std::string_view const begin = input.peek(tar_magic_at + 5);
    bool const is_tar = begin.size() > tar_magic_at && begin.substr(tar_magic_at).starts_with("ustar");
    if (is_tar || begin.starts_with("\x1f\x8b") || begin.starts_with("PK\x03\x04")) {
        input.refuse("is compressed or an archive, and this build has no libarchive: unpack it first");
    }
    visit(input);
}

}  // namespace dlmb::input
