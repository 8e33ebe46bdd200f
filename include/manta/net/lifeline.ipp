// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The connections between rank 0 and the other ranks, and the threads that watch them.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "manta/base/child.hpp"
#include "manta/base/clock.hpp"
#include "manta/base/launcher.hpp"
#include "manta/base/open_files.hpp"
#include "manta/base/text.hpp"
#include "manta/base/thread.hpp"
#include "manta/net/collectives.hpp"
#include "manta/net/lifeline.hpp"

namespace manta::net {

MANTA_DECL std::string lifeline::addresses() {
  std::string all;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return all;
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, text, sizeof text);
    all += std::string(text) + ' ';
  }
  ::freeifaddrs(first);
  return all;
}

MANTA_DECL bool lifeline::may_open_lines() {
  const auto needed = static_cast<unsigned long>(size_) + 64;  // some for the program, MPI and values
  const unsigned long limit = base::raise_open_files(needed + 448);
  if (limit == 0 || limit >= needed) return true;
  why_not_ =
      base::text("rank 0 may open only {} files, and needs {} to notice deaths among {} ranks", limit, needed, size_);
  remedy_ = "raise the hard limit of open files there (ulimit -Hn, or LimitNOFILE of slurmd)";
  return false;
}

MANTA_DECL int lifeline::listen_here(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof here;
  if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&here), sizeof here) != 0 ||
      ::listen(listener, size_) != 0 || ::getsockname(listener, reinterpret_cast<sockaddr*>(&here), &length) != 0) {
    if (listener >= 0) ::close(listener);
    return -1;
  }
  port = ntohs(here.sin_port);
  return listener;
}

MANTA_DECL bool lifeline::accept_all(int listener, std::uint64_t token, const topology& nodes) {
  const std::int64_t end = base::now_ns() + std::int64_t{connect_patience_ms} * 1'000'000;
  for (int missing = size_ - 1; missing > 0;) {
    pollfd ready{listener, POLLIN, 0};
    const std::int64_t left = (end - base::now_ns()) / 1'000'000;
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    hello h{};
    if (socket < 0) continue;
    if (!receive_all(socket, &h, sizeof h) || h.token != token || h.rank >= static_cast<std::uint32_t>(size_)) {
      ::close(socket);  // the peer is no rank of this job
      continue;
    }
    line& l = lines_[h.rank];
    l.socket = socket;
    l.process = h.process;
    l.same_node = nodes.node_of(static_cast<int>(h.rank)) == nodes.node();
    l.heard = base::now_ns();
    --missing;
  }
  return true;
}

MANTA_DECL int lifeline::connect_to(const std::string& all, std::uint16_t port, bool same_node) {
  std::string list = same_node ? "127.0.0.1 " + all : all;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = list.find(' ', begin);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    const std::string text = list.substr(begin, end - begin);
    begin = end + 1;
    if (::inet_pton(AF_INET, text.c_str(), &to.sin_addr) != 1) continue;
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return -1;
    timeval limit{5, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);  // limits connect too
    if (::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return socket;
    ::close(socket);
  }
  return -1;
}

MANTA_DECL lifeline::lifeline(network& net, std::int64_t heartbeat_ns)
    : net_(net),
      rank_(net.rank()),
      size_(net.size()),
      heartbeat_ns_(heartbeat_ns),
      lines_(static_cast<std::size_t>(rank_ == 0 ? size_ : 1)),
      launcher_(rank_ == 0 ? base::launcher::get().socket() : -1) {
  struct {
    std::uint64_t token;
    std::uint16_t port;
  } where{};
  std::string all;
  int listener = -1;
  if (rank_ == 0) {
    if (::getrandom(&where.token, sizeof where.token, 0) != sizeof where.token)
      where.token = static_cast<std::uint64_t>(base::now_ns());
    if (may_open_lines()) listener = listen_here(where.port);
    all = addresses();
  }
  const std::string told =
      broadcast(net.comm(), std::string(reinterpret_cast<const char*>(&where), sizeof where) + all);
  std::memcpy(&where, told.data(), sizeof where);
  all = told.substr(sizeof where);
  bool good = where.port != 0 && ::pipe2(wake_, O_CLOEXEC) == 0;
  if (rank_ == 0) {
    good = good && accept_all(listener, where.token, net.topology()) && watch_lines();
    if (listener >= 0) ::close(listener);
  } else if (good) {
    const bool same_node = net.node_of(0) == net.node();
    lines_[0].socket = connect_to(all, where.port, same_node);
    const hello h{where.token, static_cast<std::uint32_t>(rank_), static_cast<std::int32_t>(::getpid())};
    good = lines_[0].socket >= 0 && send_all(lines_[0].socket, &h, sizeof h);
  }
  int all_good = 0, mine = good ? 1 : 0;
  check(MPI_Allreduce(&mine, &all_good, 1, MPI_INT, MPI_MIN, net.comm()), "MPI_Allreduce");
  if (all_good == 0) return;
  for (line& l : lines_) {
    int on = 1;
    if (l.socket >= 0) ::setsockopt(l.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (rank_ != 0) last_words_to_ = lines_[0].socket;
  const auto body = [](void* self) -> void* {
    auto& me = *static_cast<lifeline*>(self);
    me.rank_ == 0 ? me.watch_all() : me.watch_zero();
    return nullptr;
  };
  up_ = base::start_thread(thread_, body, this);
}

MANTA_DECL bool lifeline::barrier() {
  if (rank_ != 0) {
    (void)!::send(lines_[0].socket, "b", 1, MSG_NOSIGNAL);
    while (released_.load(std::memory_order_acquire) < 0) ::usleep(100);
    return released_.load() == 1;
  }
  while (here_.load(std::memory_order_acquire) + dead_.load(std::memory_order_acquire) < size_) ::usleep(100);
  const bool all_live = dead_.load() == 0;
  for (line& l : lines_) {
    if (l.left) (void)!::send(l.socket, all_live ? "a" : "d", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  return all_live;
}

MANTA_DECL lifeline::~lifeline() {
  if (rank_ != 0) last_words_to_ = -1;
  if (up_) {
    over_.store(true, std::memory_order_release);
    (void)!::write(wake_[1], "", 1);
    ::pthread_join(thread_, nullptr);
  }
  for (line& l : lines_) {
    if (l.socket >= 0) ::close(l.socket);
  }
  for (const int end : {wake_[0], wake_[1], watched_}) {
    if (end >= 0) ::close(end);
  }
}

// --- the thread of rank 0

MANTA_DECL bool lifeline::watch_lines() {
  watched_ = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [this](int descriptor, std::uint32_t number) {
    epoll_event news{.events = EPOLLIN, .data = {.u32 = number}};
    return descriptor < 0 || ::epoll_ctl(watched_, EPOLL_CTL_ADD, descriptor, &news) == 0;
  };
  bool good = watched_ >= 0 && watch(wake_[0], own_news) && watch(launcher_, launcher_news);
  for (std::uint32_t r = 1; good && r < lines_.size(); ++r) good = watch(lines_[r].socket, r);
  return good;
}

MANTA_DECL void lifeline::unwatch(int descriptor) {
  (void)::epoll_ctl(watched_, EPOLL_CTL_DEL, descriptor, nullptr);  // it may have been taken out before
}

MANTA_DECL void lifeline::watch_all() {
  constexpr std::int64_t look_every_ns = 500'000'000;
  epoll_event news[64];
  std::int64_t looked_at_all = looked_ = base::now_ns();
  while (!over_.load(std::memory_order_acquire)) {
    const bool looks = heartbeat_ns_ > 0 || unexplained_ != 0;
    const int count = ::epoll_wait(watched_, news, std::size(news), looks ? look_every_ns / 1'000'000 : -1);
    if (count < 0 && errno != EINTR) return;
    bool of_launcher = false;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t number = news[i].data.u32;
      of_launcher = of_launcher || number == launcher_news;
      if (number < lines_.size() && lines_[number].watched() && lines_[number].gone == 0) read(number);
    }
    if (of_launcher) read_launcher();
    const std::int64_t now = base::now_ns();
    forgive_silence(now);
    if (!looks || now - looked_at_all < look_every_ns) continue;
    looked_at_all = now;
    for (std::uint32_t r = 1; r < lines_.size(); ++r) look_at(r, now);
  }
}

MANTA_DECL void lifeline::forgive_silence(std::int64_t now) {
  // This thread looks every half a second. If two seconds are missing, the process was stopped: scontrol suspend,
  // Slurm's gang scheduling, a paused machine. The others were stopped too, and may go on a little later.
  const bool was_stopped = now - looked_ > std::int64_t{2'000'000'000};
  for (std::uint32_t r = 1; was_stopped && r < lines_.size(); ++r) {
    lines_[r].heard = now;
    if (lines_[r].gone != 0) lines_[r].gone = now;
  }
  looked_ = now;
}

/// Reports a rank as dead if it was silent for too long, or if manta-run has not said in time how it has ended.
MANTA_DECL void lifeline::look_at(std::uint32_t rank, std::int64_t now) {
  line& l = lines_[rank];
  if (!l.watched()) return;
  if (l.gone != 0) {
    if (now - l.gone >= launcher_patience_ns)
      lost(rank, l.presumed.empty() ? "its process has ended" : l.presumed, end_by::loss, 0);
  } else if (heartbeat_ns_ > 0 && now - l.heard >= heartbeat_ns_) {
    l.presumed = "it did not answer any more (MANTA_HEARTBEAT), and is taken for dead";
    if (!l.same_node) return lost(rank, l.presumed, end_by::loss, 0);
    ::kill(l.process, SIGKILL);
    has_gone(rank);
  }
}

MANTA_DECL void lifeline::read(std::uint32_t rank) {
  line& l = lines_[rank];
  char data[1024];
  const ssize_t bytes = ::recv(l.socket, data, sizeof data, MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  l.heard = base::now_ns();
  for (ssize_t i = 0; i < bytes; ++i) {
    if (l.words_missing != 0) {
      l.words += data[i];
      --l.words_missing;
    } else if (data[i] == 'w') {
      l.words.clear();
      l.words_missing = last_words_bytes;
    } else if (data[i] == 'b') {
      l.left = true;
      unwatch(l.socket);
      here_.fetch_add(1, std::memory_order_release);
      return;
    }
  }
  if (bytes <= 0) has_gone(rank);
}

/// Handles the end of a rank's connection: reports the death if the rank has sent its last words, else
/// waits for manta-run.
MANTA_DECL void lifeline::has_gone(std::uint32_t rank) {
  line& l = lines_[rank];
  unwatch(l.socket);
  if (l.words.size() == last_words_bytes) {
    std::uint64_t task = 0;
    std::memcpy(&task, l.words.data(), sizeof task);
    return lost(rank, l.words.c_str() + sizeof task, end_by::itself, task);
  }
  if (launcher_ < 0) return lost(rank, l.presumed.empty() ? "its process has ended" : l.presumed, end_by::unknown, 0);
  l.gone = base::now_ns();
  ++unexplained_;
}

/// Reads lines of manta-run: "died RANK SIGNAL STATUS MEMORY TASK".
MANTA_DECL void lifeline::read_launcher() {
  char data[1024];
  const ssize_t bytes = ::recv(launcher_, data, sizeof data, MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes <= 0) unwatch(std::exchange(launcher_, -1));  // no more reports will arrive
  if (bytes > 0) from_launcher_.append(data, static_cast<std::size_t>(bytes));
  for (std::size_t end; (end = from_launcher_.find('\n')) != std::string::npos; from_launcher_.erase(0, end + 1)) {
    from_launcher_[end] = '\0';
    unsigned rank = 0;
    int number = 0, status = 0, for_memory = 0;
    unsigned long long task = 0;
    if (std::sscanf(from_launcher_.c_str(), "died %u %d %d %d %llx", &rank, &number, &status, &for_memory, &task) != 5)
      continue;
    if (rank != 0 && rank < lines_.size() && lines_[rank].watched())
      heard_of(rank, number, status, for_memory != 0, task);
  }
}

/// Handles manta-run's report about the end of a process. The last words of the process may still be in its socket.
MANTA_DECL void lifeline::heard_of(std::uint32_t rank, int number, int status, bool for_memory, std::uint64_t task) {
  line& l = lines_[rank];
  if (l.gone == 0 && number >= 0) {
    char data = 0;
    while (l.watched() && l.gone == 0 && ::recv(l.socket, &data, 1, MSG_DONTWAIT | MSG_PEEK) >= 0) read(rank);
    if (!l.watched()) return;
  }
  bool from_outside = false;
  for (const int each : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) from_outside = from_outside || number == each;
  std::string why = number < 0    ? "its node or the connection to it is lost"
                    : number == 0 ? base::text("its process ended with status {}", status)
                                  : "its process was killed by " + base::describe_signal(number);
  if (for_memory) why += ", and the kernel has counted a kill for want of memory";
  if (!l.presumed.empty()) why = l.presumed;
  lost(rank, why,
       number < 0                    ? end_by::loss
       : from_outside && !for_memory ? end_by::kill
                                     : end_by::itself,
       number < 0 ? 0 : task);
}

MANTA_DECL void lifeline::lost(std::uint32_t rank, const std::string& why, end_by by, std::uint64_t task) {
  if (!mourns_.load(std::memory_order_relaxed) && launcher_ < 0) end_job(rank, why);
  unexplained_ -= lines_[rank].gone != 0;
  lines_[rank].lost = true;
  unwatch(lines_[rank].socket);
  note_dead(rank);
  for (const line& l : lines_) {
    char news[1 + sizeof rank] = {'r'};
    std::memcpy(news + 1, &rank, sizeof rank);
    if (l.socket >= 0 && l.watched()) (void)!::send(l.socket, news, sizeof news, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  ::shutdown(lines_[rank].socket, SHUT_RDWR);  // not close: end() may be using the socket
  pthread_mutex_lock(&mutex_);
  deaths_.push_back({rank, why, by, task});
  news_.store(true, std::memory_order_release);
  pthread_mutex_unlock(&mutex_);
  net_.wake();
  dead_.fetch_add(1, std::memory_order_release);
}

MANTA_DECL void lifeline::end_job(std::uint32_t rank, const std::string& why) {
  std::fprintf(stderr, "manta: rank %u has died: %s; no run is under way, so the job is ended\n", rank, why.c_str());
  for (const line& l : lines_) {
    if (l.socket >= 0) (void)!::send(l.socket, "k", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  std::fflush(nullptr);
  ::_exit(1);
}

// --- the thread of another rank

MANTA_DECL void lifeline::watch_zero() {
  const std::int64_t every = heartbeat_ns_ > 0 ? heartbeat_ns_ / 10 : 0;
  pollfd watched[] = {{wake_[0], POLLIN, 0}, {lines_[0].socket, POLLIN, 0}};
  while (!over_.load(std::memory_order_acquire)) {
    const int ready = ::poll(watched, 2, every > 0 ? static_cast<int>(every / 1'000'000) + 1 : -1);
    if (ready == 0) (void)!::send(lines_[0].socket, "h", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (ready <= 0 || watched[1].revents == 0) continue;
    char what = 0;
    const ssize_t bytes = ::recv(lines_[0].socket, &what, 1, 0);
    if (bytes == 1 && (what == 'a' || what == 'd'))
      return released_.store(what == 'a' ? 1 : 0, std::memory_order_release);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes == 1 && what == 'r') {
      std::uint32_t dead = 0;
      if (receive_all(lines_[0].socket, &dead, sizeof dead)) note_dead(dead);
      continue;
    }
    if (bytes <= 0) {
      const std::vector<std::uint32_t> dead = dead_ranks();
      const auto is_before = [&](std::uint32_t rank) { return static_cast<int>(rank) < rank_; };
      if (!job_is_ending() && std::ranges::count_if(dead, is_before) == rank_ - 1) {  // one of the living says so
        std::fprintf(stderr, "manta: rank %d: rank 0 has died, and with it the job\n", rank_);
      }
    } else {
      last_words(ended_by_zero, sizeof ended_by_zero, 0);  // 0: the task that runs here is not the reason
    }
    ::_exit(1);
  }
}

}  // namespace manta::net
