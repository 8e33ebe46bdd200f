// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The nameless file on a disk to which values move that do not fit in memory. An array moves in place: pages of the
// file replace the array's pages. A value of another shape moves as a whole: the store writes its encoding.
#pragma once

#include <string>

#include "manta/base/error.hpp"
#include "manta/store/large.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::store {

class disk_store {
 public:
  /// Sets the folder of the file, which is made when it is needed; "none": no value moves to a disk.
  void set_folder(const std::string& folder) {
    if (folder != "none") folder_ = base::absolute_path(folder);
  }
  bool is_allowed() const { return !folder_.empty(); }
  /// Bytes of the values on the disk.
  std::uint64_t bytes() const { return bytes_; }
  /// Bytes of all values that have moved to the disk so far.
  std::uint64_t written() const { return written_; }
  /// Why the last attempt to write failed.
  const std::string& why_not() const { return why_not_; }

  /// Moves the pages of an array. False if the disk takes no more.
  bool write_array(large& e, region& r) {
    if (!open()) return false;
    // The pages around the array of a view hold nothing else and move too, else they would keep the node's file alive.
    const bool whole = &r == &e.view;
    const std::size_t before = whole ? page_offset(r.array) : 0;
    const std::size_t length = whole ? whole_pages(before + e.bytes) : e.bytes;
    std::byte* const begin = r.array - before;
    const std::uint64_t at = whole_pages(end_) + page_offset(begin);
    if (!file_.write(begin, length, at) || !take_place_of(begin, length, file_, at)) {
      note_why_not();
      return false;
    }
    end_ = at + length;
    bytes_ += e.bytes;
    written_ += e.bytes;
    r.place = region::place::disk;
    r.disk_at = at + before;
    return true;
  }
  void release_array(const large& e, const region& r) {
    punch(r.disk_at, r.disk_at + e.bytes);
    given_back(e.bytes);
  }

  /// Writes the encoding of a value; its object stays. False if the disk takes no more, or if the value cannot be
  /// encoded: in this case the value is `fixed` from now on.
  bool write_encoding(large& e) {
    if (!open()) return false;
    const std::uint64_t begin = whole_pages(end_);
    writer to(file_, begin);
    bool written = false;
    try {
      wire::sink out(to);
      wire::type_at(e.node->type).write(e.node->boxed.object, out);
      to.flush();
      written = to.at != begin;
      e.fixed = !written;
    } catch (const write_error& error) {
      errno = error.number;
      note_why_not();
    } catch (...) {  // save() of its type throws, which is reported when the value is sent
      e.fixed = true;
    }
    if (!written) {
      punch(begin, to.at);
      return false;
    }
    e.encoding.at = begin;
    e.encoding.bytes = to.at - begin;
    end_ = to.at;
    bytes_ += e.encoding.bytes;
    written_ += e.encoding.bytes;
    return true;
  }
  void read_encoding(const large& e, wire::buffer& out) const {
    if (!file_.read(out.extend(e.encoding.bytes), e.encoding.bytes, e.encoding.at)) {
      throw error("manta: a value that was moved to a disk cannot be read: " + folder_ + ": " + std::strerror(errno));
    }
  }
  void release_encoding(const large& e) {
    if (e.encoding.bytes == 0) return;
    punch(e.encoding.at, e.encoding.at + e.encoding.bytes);
    given_back(e.encoding.bytes);
  }

  /// The encoding of a value, for decoding. A small one is read; a large one is mapped, because a copy would take as
  /// much memory again.
  struct encoding {
    const std::byte* data = nullptr;

    encoding(const disk_store& disk, const large& e) {
      if (e.encoding.bytes < shared_bytes) {
        disk.read_encoding(e, copy_);
        data = copy_.data();
        return;
      }
      const std::uint64_t before = e.encoding.at & (page_bytes() - 1);
      mapped_bytes_ = before + e.encoding.bytes;
      mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, disk.file_.get(),
                     static_cast<off_t>(e.encoding.at - before));
      if (mapped_ == MAP_FAILED) throw std::bad_alloc();
      data = static_cast<const std::byte*>(mapped_) + before;
    }
    encoding(const encoding&) = delete;
    encoding& operator=(const encoding&) = delete;
    ~encoding() {
      if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
    }

   private:
    wire::buffer copy_;
    void* mapped_ = nullptr;
    std::uint64_t mapped_bytes_ = 0;
  };

 private:
  struct write_error {
    int number;
  };
  /// Writes a value to the file while it is encoded.
  struct writer : wire::outlet {
    const file& disk;
    std::uint64_t at;
    wire::buffer part = {};

    writer(const file& to, std::uint64_t begin) : wire::outlet{&put}, disk(to), at(begin) {}
    static void put(wire::outlet& self, const void* data, std::size_t bytes) {
      constexpr std::size_t most = 256 * 1024;
      auto& w = static_cast<writer&>(self);
      if (w.part.size() + bytes > most) w.flush();
      if (bytes < most) return w.part.append(data, bytes);
      w.write(static_cast<const std::byte*>(data), bytes);
    }
    void flush() {
      write(part.data(), part.size());
      part.clear();
    }
    void write(const std::byte* data, std::size_t bytes) {
      if (!disk.write(data, bytes, at)) throw write_error{errno};
      at += bytes;
    }
  };

  bool open() {
    if (folder_.empty()) return false;
    if (!file_.is_open()) file_ = file::of_folder(folder_);
    if (!file_.is_open()) note_why_not();
    return file_.is_open();
  }
  void note_why_not() { why_not_ = folder_ + ": " + std::string(std::strerror(errno)); }
  /// Frees the file's pages that hold only these bytes.
  void punch(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t begin = from & ~(page_bytes() - 1);
    fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
              static_cast<off_t>(whole_pages(to) - begin));
  }
  void given_back(std::uint64_t bytes) {
    bytes_ -= bytes;
    if (bytes_ == 0) end_ = 0;
  }

  std::string folder_, why_not_;
  file file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t end_ = 0;  // end of the written part
};

}  // namespace manta::store
