// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Nameless files: memory from memfd_create, and disk files that are removed as soon as they are made. The system frees
// them with the last process that has them open, whatever ends it. A process can open the files of another process.
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

namespace manta::base {

/// The absolute path of a file, which stays valid when the program changes its folder; unchanged if the
/// file is missing.
inline std::string absolute_path(const std::string& path) {
  char* const found = ::realpath(path.c_str(), nullptr);
  std::string absolute = found != nullptr ? found : path;
  std::free(found);
  return absolute;
}

/// Owns a file descriptor, and closes it.
class file {
 public:
  file() = default;
  explicit file(int descriptor) : descriptor_(descriptor) {}
  file(file&& other) noexcept { *this = std::move(other); }
  file& operator=(file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~file() { reset(); }
  void reset() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// A number that identifies the file within its node; 0 if it is not open.
  std::uint64_t identity() const {
    struct stat about;
    return is_open() && fstat(descriptor_, &about) == 0 ? mix(about.st_dev, about.st_ino) : 0;
  }

  /// Makes a memory file without a name; the result is not open if memory or descriptors are exhausted.
  static file of_memory(std::uint64_t bytes) {
    file made(memfd_create("manta", MFD_CLOEXEC));
    if (made.is_open() && ftruncate(made.get(), static_cast<off_t>(bytes)) != 0) made.reset();
    return made;
  }
  /// Opens a file of another process by its descriptor there. `handle` is the pidfd of that process. Without it,
  /// the function opens the file again through /proc, in the given mode; this needs fewer rights and takes ten
  /// times as long.
  static file of_process(int process, int descriptor, int handle = -1, int mode = O_RDONLY) {
#ifdef SYS_pidfd_getfd
    if (handle >= 0) {
      file copy(static_cast<int>(syscall(SYS_pidfd_getfd, handle, descriptor, 0)));
      if (copy.is_open()) return copy;
    }
#endif
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
    return file(open(path, mode | O_CLOEXEC));
  }
  /// A pidfd of a process; not open where the system has none.
  static file handle_of([[maybe_unused]] int process) {
#ifdef SYS_pidfd_getfd
    return file(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
#else
    return file();
#endif
  }
  /// Makes a nameless file in a folder.
  static file of_folder(const std::string& folder) {
    file made(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (made.is_open()) return made;
    std::string name = folder + "/manta-XXXXXX";  // for file systems that cannot make nameless files directly
    made = file(mkostemp(name.data(), O_CLOEXEC));
    if (made.is_open()) unlink(name.c_str());
    return made;
  }

  /// Writes or reads all bytes from the offset `at` on; false: errno has the reason.
  bool write(const std::byte* data, std::size_t bytes, std::uint64_t at) const {
    return transfer(pwrite, data, bytes, at);
  }
  bool read(std::byte* data, std::size_t bytes, std::uint64_t at) const { return transfer(pread, data, bytes, at); }

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
};

}  // namespace manta::base
