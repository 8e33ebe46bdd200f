// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The connection between this process and manta-run, if manta-run has started it: a socket for lines of text (see
// manta-run --help), and a page that manta-run reads after the process has ended in any way.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "environment.hpp"

namespace manta::base {

class launcher {
 public:
  /// What this process does at the moment.
  struct notes {
    std::uint64_t task = 0;  ///< the id of the task that runs; 0: not known
    /// Number of things under way that an end of the process with status 0 would cut off: runs, and MPI.
    std::uint64_t unfinished = 0;
  };

  /// The one launcher object of this process. Programs that this process starts are no ranks of manta-run and do not
  /// inherit the connection.
  static launcher& get() {
    static launcher one;
    return one;
  }
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Descriptor of the connection to manta-run; -1: there is no manta-run.
  int socket() const { return socket_; }
  void tell(const char* line) const {
    if (socket_ >= 0) (void)!::send(socket_, line, std::strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// The notes of this process, which manta-run reads.
  notes& page() { return *page_; }

 private:
  launcher() : socket_(take("MANTA_RUN_FD")) {
    const int file = take("MANTA_RUN_PAGE");
    void* const page =
        file < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof(notes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) page_ = static_cast<notes*>(page);
    if (file >= 0) ::close(file);
  }
  static int take(const char* name) {
    const char* const text = environment(name);
    const int file = text == nullptr ? -1 : std::atoi(text);
    if (text != nullptr) ::unsetenv(name);
    return file >= 0 && ::fcntl(file, F_SETFD, FD_CLOEXEC) == 0 ? file : -1;
  }

  int socket_;
  notes own_;
  notes* page_ = &own_;
};

}  // namespace manta::base
