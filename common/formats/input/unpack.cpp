// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/input/unpack.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <archive.h>
#include <archive_entry.h>
#include <new>
#include <utility>

namespace dlmb::input {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";

// JSON of traces shrinks by 10 to 40. What shrinks by more than this is made to fill memory or time.
constexpr Bytes most_expansion = 250;
constexpr Bytes expansion_allowed = Bytes{256} << 20;

/// Reads a source with libarchive: the members of an archive, or the one file that was compressed or plain.
class Unpacked : public ByteSource {
public:
    Unpacked(std::string name, ByteSource& packed)
        : name_(std::move(name)), packed_(packed), archive_(archive_read_new()) {
        archive* const reader = archive_.get();
        if (reader == nullptr) {
            throw std::bad_alloc();
        }
        for (auto* const support : {archive_read_support_filter_gzip, archive_read_support_format_tar,
                                    archive_read_support_format_zip_streamable, archive_read_support_format_empty,
                                    archive_read_support_format_raw}) {
            require(support(reader));
        }
        require(archive_read_open(reader, this, nullptr, read_packed, nullptr));
    }

    /// Goes on to the next member; false behind the last.
    [[nodiscard]] bool next_member() {
        int const result = archive_read_next_header(archive_.get(), &entry_);
        rethrow();
        if (result == ARCHIVE_EOF) {
            return false;
        }
        require(result);
        return true;
    }
    [[nodiscard]] bool is_plain() const {
        return archive_format(archive_.get()) == ARCHIVE_FORMAT_RAW ||
               archive_format(archive_.get()) == ARCHIVE_FORMAT_EMPTY;
    }
    [[nodiscard]] bool is_file() const { return is_plain() || archive_entry_filetype(entry_) == AE_IFREG; }
    [[nodiscard]] std::string member() const {
        char const* const path = archive_entry_pathname(entry_);
        return path == nullptr ? std::string("?") : std::string(path);
    }

    std::string_view next() override {
        void const* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        do {
            int const result = archive_read_data_block(archive_.get(), &data, &size, &offset);
            rethrow();
            if (result == ARCHIVE_EOF) {
                return {};
            }
            require(result);
        } while (size == 0);
        unpacked_bytes_ += size;
        if (unpacked_bytes_ > expansion_allowed && unpacked_bytes_ / most_expansion > packed_bytes_) {
            throw UsageError(
                fmt::format("{}: unpacks to more than {} times its size, which no trace does", name_, most_expansion));
        }
        return {static_cast<char const*>(data), size};
    }

private:
    struct Free {
        void operator()(archive* reader) const { archive_read_free(reader); }
    };

    /// libarchive is C: an exception waits until it has returned.
    static la_ssize_t read_packed(archive* /*reader*/, void* self, void const** data) {
        auto& mine = *static_cast<Unpacked*>(self);
        try {
            std::string_view const piece = mine.packed_.next();
            mine.packed_bytes_ += piece.size();
            *data = piece.data();
            return static_cast<la_ssize_t>(piece.size());
        } catch (...) {
            mine.fault_ = std::current_exception();
            return ARCHIVE_FATAL;
        }
    }
    void rethrow() {
        if (fault_) {
            std::rethrow_exception(std::exchange(fault_, nullptr));
        }
    }
    void require(int result) {
        rethrow();
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
            char const* const why = archive_error_string(archive_.get());
            throw UsageError(fmt::format("{}: cannot be unpacked: {}", name_, why == nullptr ? "damaged" : why));
        }
    }

    std::string name_;
    ByteSource& packed_;
    Bytes packed_bytes_ = 0;
    Bytes unpacked_bytes_ = 0;
    std::unique_ptr<archive, Free> archive_;
    archive_entry* entry_ = nullptr;
    std::exception_ptr fault_;
};

/// Gives back what was looked at, then the rest.
class Resumed : public ByteSource {
public:
    Resumed(std::string_view first, ByteSource& rest) : first_(first), rest_(rest) {}
    std::string_view next() override {
        if (!first_.empty()) {
            return std::exchange(first_, {});
        }
        return rest_.next();
    }

private:
    std::string_view first_;
    ByteSource& rest_;
};

void visit_packed(std::string const& name, ByteSource& packed, int depth, std::function<void(Input&)> const& visit) {
    Unpacked files(name, packed);
    while (files.next_member()) {
        if (!files.is_plain() && (!files.is_file() || is_hidden(files.member()))) {
            continue;
        }
        std::string const member = files.is_plain() ? name : fmt::format("{}:{}", name, files.member());
        std::string const first(files.next());
        Resumed whole(first, files);
        constexpr int most_packed = 2;  // a tar file of compressed files
        if (depth < most_packed && !files.is_plain() && first.starts_with(gzip_magic)) {
            visit_packed(member, whole, depth + 1, visit);
            continue;
        }
        Input input(member, whole);
        visit(input);
    }
}

}  // namespace

void visit_unpacked(std::string const& name, ByteSource& packed, std::function<void(Input&)> const& visit) {
    visit_packed(name, packed, 1, visit);
}

}  // namespace dlmb::input
