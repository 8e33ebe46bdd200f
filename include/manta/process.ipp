// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "manta/base/launch_variables.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/process.hpp"

namespace manta {

namespace detail {

/// A pair of connected sockets, which exec closes: unlike pipes, they never raise SIGPIPE when asked not to.
struct channel {
  channel() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw error(std::string("manta: no channel to a helper program: ") + std::strerror(errno));
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    for (int end : ends)
      if (end >= 0) close(end);
  }
  int take(int which) { return std::exchange(ends[which], -1); }
  int ends[2] = {-1, -1};
};

inline std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return std::string("was ended by signal ") + strsignal(WTERMSIG(status));
  return base::text("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace detail

MANTA_DECL std::string python_program() {
  const char* chosen = std::getenv("MANTA_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

MANTA_DECL std::string python_package_advice(const std::string& error_text) {
  if (error_text.find("ModuleNotFoundError") == std::string::npos) return "";
  return "Python lacks a package: install it for " + python_program() +
         " by pip, or name another Python by MANTA_PYTHON. ";
}

// An answer is 'O' and what the function gave, or 'E' and the text of the exception.
MANTA_DECL const char* python_channel() {
  return R"PYTHON(
import json, os, struct, sys, traceback

def read(n):
    data = bytearray()
    while len(data) < n:
        part = os.read(3, n - len(data))
        if not part:
            os._exit(0)
        data += part
    return bytes(data)

def write(answer):
    answer = memoryview(struct.pack('<Q', len(answer)) + answer)
    while answer:
        answer = answer[os.write(4, answer):]

def answer_messages(make):
    failed = None
    try:
        answer = make()
    except BaseException:
        failed = traceback.format_exc()
    while True:
        request = read(struct.unpack('<Q', read(8))[0])
        try:
            write(b'E' + failed.encode() if failed else b'O' + answer(request))
        except Exception:
            write(b'E' + traceback.format_exc().encode())
)PYTHON";
}

MANTA_DECL std::string checked_python_answer(std::string_view answer) {
  if (!answer.starts_with('E')) return std::string(answer.substr(std::min<std::size_t>(1, answer.size())));
  std::string text(answer.substr(1));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t last = text.rfind('\n');
  throw error("Python says " + (last == std::string::npos ? text : text.substr(last + 1)) + "\n" + text);
}

MANTA_DECL std::string ask_python(process& p, std::string_view request, std::chrono::milliseconds timeout) {
  p.send(request, timeout);
  return checked_python_answer(p.receive(timeout));
}

MANTA_DECL process::process(std::vector<std::string> command) {
  if (command.empty()) throw error("manta: process needs a program to start");
  name_ = command.front();
  detail::channel there, back;
  output_ = memfd_create("manta helper", MFD_CLOEXEC);
  if (output_ >= 0) fcntl(output_, F_SETFL, O_APPEND);

  // Descriptors above all targets first, so that no copy overwrites one that is still needed.
  const int in = fcntl(there.ends[1], F_DUPFD_CLOEXEC, 10), out = fcntl(back.ends[1], F_DUPFD_CLOEXEC, 10);
  const int print = fcntl(output_, F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, print, 1);
  posix_spawn_file_actions_adddup2(&files, print, 2);
  posix_spawn_file_actions_adddup2(&files, in, 3);
  posix_spawn_file_actions_adddup2(&files, out, 4);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&files, 5);
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<char*> arguments;
  for (std::string& a : command) arguments.push_back(a.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables = base::variables_of_no_rank();
  const int failed = posix_spawnp(&pid_, arguments[0], &files, &attributes, arguments.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  for (int copy : {in, out, print})
    if (copy >= 0) close(copy);
  if (failed != 0) {
    pid_ = 0;
    finish(true);
    throw error("manta: cannot start the program " + name_ + ": " + std::strerror(failed) +
                ". Install it, or give its path (for Python: the environment variable MANTA_PYTHON)");
  }
  to_ = there.take(0);
  from_ = back.take(0);
}

MANTA_DECL process::process(process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      output_(std::exchange(other.output_, -1)),
      name_(std::move(other.name_)),
      last_words_(std::move(other.last_words_)) {}

MANTA_DECL process& process::operator=(process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(to_, other.to_);
  std::swap(from_, other.from_);
  std::swap(output_, other.output_);
  std::swap(name_, other.name_);
  std::swap(last_words_, other.last_words_);
  return *this;
}

MANTA_DECL process::~process() { finish(false); }

inline void process::finish(bool at_once) {
  for (int* end : {&to_, &from_})
    if (*end >= 0) close(std::exchange(*end, -1));
  if (pid_ > 0) {
    int status = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(at_once ? 0 : 1);
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= until) {
        ::kill(pid_, SIGKILL);
        waitpid(pid_, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pid_ = 0;
  }
  forward_output();
  if (output_ >= 0) close(std::exchange(output_, -1));
}

inline void process::forward_output() {
  if (output_ < 0) return;
  const off_t size = lseek(output_, 0, SEEK_END);
  if (size <= 0) return;
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = pread(output_, text.data(), text.size(), 0);
  if (got <= 0) return;
  text.resize(static_cast<std::size_t>(got));
  if (ftruncate(output_, 0) != 0) return;  // what came in between is lost: it is text for people
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = write(2, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  last_words_ += text;
  if (last_words_.size() > 4000) last_words_.erase(0, last_words_.size() - 4000);
}

inline void process::fail(const std::string& what) {
  forward_output();
  std::string words = last_words_.substr(last_words_.size() - std::min<std::size_t>(last_words_.size(), 600));
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  const std::string text = "manta: the program " + name_ + " " + what +
                           (words.empty() ? "; it printed nothing" : ". It printed last: " + words);
  finish(true);
  throw error(text);
}

inline void process::transfer(char* data, std::size_t size, bool out, std::chrono::steady_clock::time_point until) {
  while (size > 0) {
    const ssize_t moved =
        out ? ::send(to_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(from_, data, size, MSG_DONTWAIT);
    if (moved > 0) {
      data += moved;
      size -= static_cast<std::size_t>(moved);
      continue;
    }
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {  // the program has closed its end
      int status = 0;
      pid_t ended = 0;
      for (int i = 0; i < 1000 && (ended = waitpid(pid_, &status, WNOHANG)) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::string how = ended == pid_ ? detail::ending_of(status) : "has closed its channel";
      if (ended == pid_) pid_ = 0;  // nobody waits for it again
      fail(how);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) fail(std::string("has ") + (out ? "read" : "answered") + " nothing within its time and is ended");
    pollfd wait{out ? to_ : from_, static_cast<short>(out ? POLLOUT : POLLIN), 0};
    poll(&wait, 1, static_cast<int>(std::min<long long>(left, 1000)));
    forward_output();
  }
}

MANTA_DECL void process::send(std::string_view message, std::chrono::milliseconds timeout) {
  if (!running()) fail("has ended before this message");
  const auto until = std::chrono::steady_clock::now() + timeout;
  std::uint64_t size = message.size();
  char head[8];
  for (char& byte : head) {
    byte = static_cast<char>(size & 0xffU);
    size >>= 8U;
  }
  std::string whole(head, 8);
  whole += message;
  transfer(whole.data(), whole.size(), true, until);
}

MANTA_DECL std::string process::receive(std::chrono::milliseconds timeout) {
  if (!running()) fail("has ended before it answered");
  const auto until = std::chrono::steady_clock::now() + timeout;
  char head[8];
  transfer(head, 8, false, until);
  std::uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8U | static_cast<unsigned char>(head[i]);
  if (size > (std::uint64_t{1} << 40U)) fail("sent no message but something else; is it made for manta::process?");
  std::string message(static_cast<std::size_t>(size), '\0');
  transfer(message.data(), message.size(), false, until);
  forward_output();
  return message;
}

}  // namespace manta
