// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Arrays whose pages lie in a file: one in memory that the processes of a node
// share, or one on a disk. The file takes the place of the pages under an
// array while the array stays where it is, so that pointers into it go on
// being good. A private mapping keeps writers from seeing each other.
//
// Every file is nameless: memory from memfd_create, disk files removed as soon
// as they are made. The system frees them with the last process that has them,
// whatever ends it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "manta/base/hash.hpp"

namespace manta::store {

inline std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
/// Where in its page an array begins: the same in a file that is to take its place.
inline std::size_t page_offset(const void* at) { return reinterpret_cast<std::uintptr_t>(at) & (page_bytes() - 1); }
inline std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }

/// The pages that lie wholly inside an array; what is left at its ends stays in memory.
struct inner_pages {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  inner_pages(std::byte* array, std::size_t array_bytes) {
    const std::size_t before = whole_pages(page_offset(array)) - page_offset(array);
    if (array_bytes < before + page_bytes()) return;
    begin = array + before;
    bytes = (array_bytes - before) & ~(page_bytes() - 1);
  }
};

/// A file descriptor that is closed.
class file {
 public:
  file() = default;
  explicit file(int descriptor) : descriptor_(descriptor) {}
  file(file&& other) noexcept { *this = std::move(other); }
  file& operator=(file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(identity_, other.identity_);
    return *this;
  }
  ~file() { reset(); }
  void reset() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
    identity_ = 0;
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// Tells files apart within a node; 0 if it is not open.
  std::uint64_t identity() const {
    struct stat about;
    if (identity_ == 0 && is_open() && fstat(descriptor_, &about) == 0) identity_ = base::mix(about.st_dev, about.st_ino);
    return identity_;
  }

  /// Nameless memory of so many bytes; not open if there is none, or no descriptor.
  static file of_memory(std::uint64_t bytes) {
    file made(memfd_create("manta", MFD_CLOEXEC));
    if (made.is_open() && ftruncate(made.get(), static_cast<off_t>(bytes)) != 0) made.reset();
    made.identity();  // now, for later somebody waits for it
    return made;
  }
  /// Another process's file, by its descriptor there. `handle` is that process's pidfd; without one by /proc, which
  /// needs fewer rights and takes ten times as long.
  static file of_process(int process, int descriptor, int handle = -1) {
#ifdef SYS_pidfd_getfd
    if (handle >= 0) {
      file copy(static_cast<int>(syscall(SYS_pidfd_getfd, handle, descriptor, 0)));
      if (copy.is_open()) return copy;
    }
#endif
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
    return file(open(path, O_RDONLY | O_CLOEXEC));
  }
  /// Not open where the system knows no such thing.
  static file handle_of([[maybe_unused]] int process) {
#ifdef SYS_pidfd_getfd
    return file(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
#else
    return file();
#endif
  }
  /// A nameless file in a folder.
  static file of_folder(const std::string& folder) {
    file made(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (made.is_open()) return made;
    std::string name = folder + "/manta-XXXXXX";  // where the file system cannot make it nameless at once
    made = file(mkostemp(name.data(), O_CLOEXEC));
    if (made.is_open()) unlink(name.c_str());
    return made;
  }

  /// errno tells why not.
  bool write(const std::byte* data, std::size_t bytes, std::uint64_t at) const { return transfer(pwrite, data, bytes, at); }
  bool read(std::byte* data, std::size_t bytes, std::uint64_t at) const { return transfer(pread, data, bytes, at); }
  /// Puts the file's pages from `at` (of the array's first byte) in the place of those inside the array, which holds the
  /// same bytes. False if that is not possible: then the array is as it was.
  bool take_place_of(std::byte* array, std::size_t bytes, std::uint64_t at) const {
    const inner_pages inner(array, bytes);
    if (((at ^ page_offset(array)) & (page_bytes() - 1)) != 0) return false;
    const auto offset = static_cast<off_t>(at + static_cast<std::uint64_t>(inner.begin - array));
    return inner.bytes == 0 ||
           mmap(inner.begin, inner.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, descriptor_, offset) != MAP_FAILED;
  }

 private:
  template <class Call, class Byte>
  bool transfer(Call call, Byte* data, std::size_t bytes, std::uint64_t at) const {
    while (bytes > 0) {
      const ssize_t done = call(descriptor_, data, bytes, static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      data += done;
      bytes -= static_cast<std::size_t>(done);
      at += static_cast<std::uint64_t>(done);
    }
    return true;
  }

  int descriptor_ = -1;
  mutable std::uint64_t identity_ = 0;  // once it has been asked for
};

/// Plain memory again, before an array goes back to its allocator. Its bytes are lost.
inline void let_go_of_file(std::byte* array, std::size_t bytes) {
  const inner_pages inner(array, bytes);
  if (inner.bytes == 0) return;
  mmap(inner.begin, inner.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/// The pages need not be in memory until they are read again; for arrays whose pages lie in a file on a disk.
inline void forget_pages(std::byte* array, std::size_t bytes) {
  const inner_pages inner(array, bytes);
  if (inner.bytes != 0) madvise(inner.begin, inner.bytes, MADV_DONTNEED);
}

}  // namespace manta::store
