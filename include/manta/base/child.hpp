// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A child process in which foreign code may crash, from the side of the process that uses it. The two share a socket
// and a page, in which the child's signal handler writes what happened. zygote.hpp makes children.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "manta/base/text.hpp"

namespace manta::base {

/// The page that a child and its user share.
struct child_page {
  static constexpr int max_frames = 32;
  static constexpr int tell_where = SIGVTALRM;  ///< a signal that ends a child as a fatal one does
  std::atomic<bool> stop{false};                ///< the user writes it: the code should end
  std::atomic<std::uint32_t> calls{0};          ///< the child writes it: grows with each sign of life
  /// The child writes it: when the code has taken longer than it may, in nanoseconds of the steady clock; 0: never.
  std::atomic<std::int64_t> due{0};
  std::atomic<int> signal{0};  ///< the child's signal handler writes it, after the other members
  bool has_address = false;
  bool stack_is_over = false;  ///< the address lies at the end of the stack
  const void* address = nullptr;
  int frame_count = 0;
  void* frames[max_frames] = {};  ///< addresses of the call stack, the innermost first
};

/// One child, from the side of its user. All calls come from one thread.
class child {
 public:
  child(pid_t pid, int socket, child_page* page) : pid_(pid), socket_(socket), page_(page) {
    watch_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // -1 before Linux 5.3
    if (watch_ >= 0) ::fcntl(watch_, F_SETFD, FD_CLOEXEC);
  }
  ~child() {
    ::close(socket_);
    if (watch_ >= 0) ::close(watch_);
    ::munmap(page_, sizeof(child_page));
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }
  child_page& page() { return *page_; }

  /// Waits until there is something to read or the child has ended; false if the time is up first. -1: no limit.
  bool wait(int milliseconds) { return wait_for(POLLIN, milliseconds); }
  /// Whether the child has ended while it had nothing to do.
  bool has_ended() {
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || (got < 0 && ended());
  }
  /// Sends bytes; false if the child has ended before it has taken all of them.
  bool send(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t sent = ::send(socket_, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        at += sent;
        bytes -= static_cast<std::size_t>(sent);
      } else if (errno == EAGAIN) {
        wait_for(POLLOUT, -1);
        if (ended()) return false;
      } else if (errno != EINTR) {
        return false;
      }
    }
    return true;
  }
  /// Receives bytes; false if the child has ended before it has sent all of them.
  bool receive(void* into, std::size_t bytes) {
    auto* at = static_cast<char*>(into);
    for (bool over = false; bytes > 0;) {
      const ssize_t got = ::recv(socket_, at, bytes, MSG_DONTWAIT);
      if (got > 0) {
        at += got;
        bytes -= static_cast<std::size_t>(got);
      } else if (got == 0 || over || (errno != EAGAIN && errno != EINTR)) {
        return false;
      } else if (errno == EAGAIN) {
        wait(-1);
        over = ended();  // bytes that it has written before are still read
      }
    }
    return true;
  }
  /// Kills the child at once, and the processes that it has started.
  void kill() { ::kill(pid_, SIGKILL); }
  /// Asks the child to note in its page where it is; kills it then, or after half a second.
  void kill_where_it_is() {
    constexpr int patience_ms = 500;
    ::syscall(SYS_tgkill, pid_, pid_, child_page::tell_where);
    const auto has_noted = [this] { return page_->signal.load(std::memory_order_acquire) > 0; };
    for (int turn = 0; turn < patience_ms && !has_noted() && !ended(); ++turn) ::usleep(1000);
    kill();
  }

 private:
  bool wait_for(short events, int milliseconds) {
    pollfd both[2] = {{socket_, events, 0}, {watch_, POLLIN, 0}};
    return ::poll(both, 2, milliseconds) > 0;
  }
  bool ended() const {
    pollfd death = {watch_, POLLIN, 0};
    return watch_ >= 0 && ::poll(&death, 1, 0) > 0;
  }

  pid_t pid_;
  int socket_;
  int watch_ = -1;
  child_page* page_;
};

/// The name of a signal for people: "a segmentation fault (SIGSEGV)".
inline std::string describe_signal(int number) {
  switch (number) {
    case SIGSEGV: return "a segmentation fault (SIGSEGV)";
    case SIGBUS: return "a bus error (SIGBUS)";
    case SIGFPE: return "an arithmetic error (SIGFPE)";
    case SIGILL: return "an illegal instruction (SIGILL)";
    case SIGABRT: return "abort (SIGABRT)";
    case SIGKILL: return "SIGKILL";
    case SIGTERM: return "SIGTERM";
    case SIGTRAP: return "a trap (SIGTRAP)";
    case SIGSYS: return "a forbidden system call (SIGSYS)";
    default: return base::text("signal {} ({})", number, ::strsignal(number));
  }
}

}  // namespace manta::base
