// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "warden.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>

namespace farm::warden {

namespace {

constexpr std::size_t most_groups = 4096;
using group_table = std::array<std::atomic<pid_t>, most_groups>;

group_table* groups = nullptr;  // memory that both processes see
int lifeline = -1;              // closes with this process
pid_t process = 0;
std::string mark_text = "MANTA_FARM_RUN=";

/// Whether the process was started by a line of this rank, as its environment says.
bool has_mark(const char* pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%s/environ", pid);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::string all;
  char part[1 << 14];
  for (ssize_t bytes; (bytes = ::read(file, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(bytes));
  ::close(file);
  return all.find(mark_text) != std::string::npos;
}

/// Kills every process with the mark; false if there was none.
bool kill_marked() {
  DIR* const all = ::opendir("/proc");
  if (all == nullptr) return false;
  bool any = false;
  while (const dirent* const each = ::readdir(all)) {
    pid_t pid = 0;
    const char* const end = each->d_name + std::strlen(each->d_name);
    if (std::from_chars(each->d_name, end, pid).ptr != end || pid <= 1 || !has_mark(each->d_name)) continue;
    any |= ::kill(pid, SIGKILL) == 0;
  }
  ::closedir(all);
  return any;
}

/// The rank has died: ends all lines. A line that was about to start when the rank died shows its mark a little later.
void end_lines() {
  constexpr int looks = 4;
  constexpr timespec between{0, 30'000'000};
  for (const std::atomic<pid_t>& group : *groups) {
    if (group.load() > 0) ::kill(-group.load(), SIGKILL);
  }
  for (int quiet = 0, turn = 0; quiet < looks && turn < 100; ++turn) {
    quiet = kill_marked() ? 0 : quiet + 1;
    ::nanosleep(&between, nullptr);
  }
}

[[noreturn]] void watch(int its_end) {
  ::setsid();
  ::prctl(PR_SET_NAME, "farm-warden");
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(number, SIG_IGN);
  for (int file = 0; file < 1024; ++file) {
    if (file != its_end) ::close(file);
  }
  char byte = 0;
  ssize_t bytes = 0;
  do bytes = ::read(its_end, &byte, 1);
  while (bytes < 0 && errno == EINTR);
  if (bytes != 1) end_lines();
  ::_exit(0);
}

}  // namespace

void start() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  mark_text += std::to_string(::getpid()) + "." + std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec);
  void* const memory = ::mmap(nullptr, sizeof(group_table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  groups = new (memory) group_table{};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  process = ::fork();
  if (process == 0) {
    ::close(ends[1]);
    watch(ends[0]);
  }
  ::close(ends[0]);
  lifeline = ends[1];
}

const std::string& mark() { return mark_text; }

void begin(pid_t group) {
  if (groups == nullptr) return;
  for (std::atomic<pid_t>& place : *groups) {
    pid_t none = 0;
    if (place.compare_exchange_strong(none, group)) return;
  }
}

void end(pid_t group) {
  if (groups == nullptr) return;
  for (std::atomic<pid_t>& place : *groups) {
    if (place.load() != group) continue;
    place.store(0);
    return;
  }
}

void dismiss() {
  if (lifeline < 0 || process <= 0) return;
  const char byte = 'q';
  if (::write(lifeline, &byte, 1) == 1) ::waitpid(process, nullptr, 0);
  ::close(lifeline);
  lifeline = -1;
}

}  // namespace farm::warden
