// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <manta/program.hpp>
#include <utility>

#include "text.hpp"
#include "warden.hpp"

namespace farm {

namespace {

/// A file descriptor of this process that is closed with this object.
class open_file {
 public:
  explicit open_file(int file) : file_(file) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }
  int release() { return std::exchange(file_, -1); }

 private:
  int file_;
};

/// As long as this object lives, the calling thread runs on these cores, and so do the programs that it starts.
class pinned {
 public:
  explicit pinned(const std::vector<int>& cores) {
    if (cores.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &wanted);
    is_pinned_ = ::sched_setaffinity(0, sizeof wanted, &wanted) == 0;
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() {
    if (is_pinned_) ::sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool is_pinned_ = false;
};

/// What is the same for all programs: signals as usual, a group of its own, nothing to read, no open files.
class spawning {
 public:
  explicit spawning(int output) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, output, 1);
    ::posix_spawn_file_actions_adddup2(&files_, 1, 2);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&files_, 3);
#endif
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  spawning(const spawning&) = delete;
  spawning& operator=(const spawning&) = delete;
  ~spawning() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  int start(pid_t& pid, std::vector<char*>& words, std::vector<char*>& variables) {
    return ::posix_spawnp(&pid, words[0], &files_, &attributes_, words.data(), variables.data());
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

std::uint64_t largest_memory(const rusage& used) { return static_cast<std::uint64_t>(used.ru_maxrss) << 10U; }

/// The environment of a program: these variables, and those of this process that are not among them.
std::vector<char*> environment(const std::vector<std::string>& first) {
  static std::vector<std::string> of_this_process = manta::program_environment();
  std::vector<char*> all;
  for (const std::string& each : first) all.push_back(const_cast<char*>(each.c_str()));
  for (std::string& each : of_this_process) {
    const std::string_view name = std::string_view(each).substr(0, each.find('=') + 1);
    bool is_replaced = false;
    for (const std::string& other : first) is_replaced |= other.starts_with(name);
    if (!is_replaced) all.push_back(each.data());
  }
  all.push_back(nullptr);
  return all;
}

std::string why_not(int code, const std::string& program) {
  const std::string reason = program + " cannot be started: " + std::strerror(code);
  if (code == E2BIG) return reason + "; the system passes at most 128 KiB in a line: put the command into a script";
  if (code == ENOENT) return reason + "; install it, or put it into PATH";
  return reason;
}

}  // namespace

process::process(std::vector<std::string> command, const std::vector<std::string>& variables,
                 const std::vector<int>& cores) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw mistake(why_not(errno, command[0]));
  open_file its(ends[1]);
  open_file ours(ends[0]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::vector<char*> all_variables = environment(variables);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  memory_before_ = largest_memory(used);
  const pinned there(cores);
  spawning program(its.get());
  if (const int code = program.start(pid_, words, all_variables); code != 0) throw mistake(why_not(code, command[0]));
  warden::begin(pid_);
  output_ = ours.release();
  input_ = its.release();
  watch();
}

/// The descriptor of the process becomes readable at its end, so that the rank wakes once, with the last output.
void process::watch() {
  events_ = ::epoll_create1(EPOLL_CLOEXEC);
  watch_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  ::epoll_ctl(events_, EPOLL_CTL_ADD, output_, &wanted);
  if (watch_ >= 0) ::epoll_ctl(events_, EPOLL_CTL_ADD, watch_, &wanted);
}

process::~process() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    warden::end(pid_);
  }
  for (const int file : {events_, watch_, output_, input_}) {
    if (file >= 0) ::close(file);
  }
}

std::size_t process::read(char* into, std::size_t most) {
  const ssize_t bytes = ::read(output_, into, most);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

bool process::has_ended(ending& how) {
  siginfo_t about{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid != pid_)
    return false;
  ::kill(-pid_, SIGKILL);  // as long as nobody has waited for the leader, the number of the group is not used again
  int status = 0;
  rusage used{};
  ::wait4(pid_, &status, 0, &used);
  warden::end(std::exchange(pid_, 0));
  how.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  how.status = how.signal != 0 ? 128 + how.signal : WEXITSTATUS(status);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  how.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  // The system counts the memory of the process that has called posix_spawn as the new program's own.
  how.memory_bytes = largest_memory(used) > memory_before_ ? largest_memory(used) : 0;
  return true;
}

void process::signal(int number) {
  if (pid_ > 0) ::kill(-pid_, number);
}

}  // namespace farm
