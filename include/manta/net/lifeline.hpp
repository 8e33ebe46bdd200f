// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reports which ranks have died. Open MPI 4.1 does not, so each rank keeps a stream socket to rank 0. The system closes
// the socket when the rank's process ends in any way, and a process that is stopped or cut off misses its heartbeats. A
// thread watches the sockets, because the other threads may be busy or gone. When rank 0 dies, the other ranks end.
//
// A process often cannot report how it ends, and in which task (_exit, SIGKILL, MPI_Abort). manta-run, its parent, can,
// and tells rank 0. So a death is reported when manta-run's message has arrived, or ten seconds later.
#pragma once

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/vector.hpp"
#include "manta/net/end_by.hpp"
#include "network.hpp"

extern "C" {
[[gnu::weak]] extern int (*opal_show_help)(const char* file, const char* topic, int with_header, ...);
[[gnu::weak]] char* opal_show_help_vstring(const char* file, const char* topic, int with_header, std::va_list values);
}

namespace manta::net {

/// Prints a warning of MPI, except that a peer has died: lifelines report that better.
inline int print_mpi_warning(const char* file, const char* topic, int with_header, ...) {
  if (std::strcmp(topic, "peer hung up") == 0) return 0;
  std::va_list values;
  va_start(values, with_header);
  char* const text = opal_show_help_vstring(file, topic, with_header, values);
  va_end(values);
  if (text != nullptr) std::fputs(text, stderr);
  std::free(text);
  return 0;
}

/// Makes this rank print MPI's warnings itself. By default, mpirun of Open MPI 4.1 prints them, and it may crash when
/// several ranks see a peer die.
inline void print_mpi_warnings_here() {
  if (&opal_show_help != nullptr && &opal_show_help_vstring != nullptr)
    opal_show_help = &print_mpi_warning;  // other MPIs do not have these symbols
}

class lifeline {
 public:
  using end_by = net::end_by;
  struct death {
    std::uint32_t rank;
    std::string why;
    end_by by;
    std::uint64_t task;                                       ///< the id of the task that ran there; 0: not known
    bool is_by_zero() const { return why == ended_by_zero; }  ///< Rank 0 has said why, and has ended the rank.
  };

  static constexpr char ended_by_zero[] = "rank 0 has had it end";

  /// Collective. If the connections cannot be made, rank 0 prints why, and is_up() is false on all ranks.
  lifeline(network& net, std::int64_t heartbeat_ns);
  ~lifeline();
  lifeline(const lifeline&) = delete;
  lifeline& operator=(const lifeline&) = delete;

  bool is_up() const { return up_; }
  /// Rank 0, if the connections cannot be made: the reason, and what to do about it.
  const std::string& why_not() const { return why_not_; }
  const std::string& remedy() const { return remedy_; }
  /// Rank 0: whether ranks have died since the last take_deaths.
  bool news() const { return news_.load(std::memory_order_acquire); }
  base::vector<death> take_deaths() {
    pthread_mutex_lock(&mutex_);
    base::vector<death> taken;
    taken.swap(deaths_);
    news_.store(false, std::memory_order_relaxed);
    pthread_mutex_unlock(&mutex_);
    return taken;
  }
  /// The ranks that have died, in the order in which this rank heard of it. From any thread.
  std::vector<std::uint32_t> dead_ranks() {
    pthread_mutex_lock(&mutex_);
    std::vector<std::uint32_t> dead = dead_ranks_;
    pthread_mutex_unlock(&mutex_);
    return dead;
  }
  /// Rank 0: whether the program goes on when a rank dies now. If it does not, and there is no manta-run that ends the
  /// job, this rank ends it.
  void set_program_mourns(bool mourns) { mourns_.store(mourns, std::memory_order_relaxed); }
  /// Collective over the living ranks: returns when all have called it. False if a rank has died since the start. From
  /// now on deaths are not reported.
  bool barrier();
  /// Rank 0: makes another rank end. Its death is reported like any other.
  void end(std::uint32_t rank) { (void)!::send(lines_[rank].socket, "k", 1, MSG_NOSIGNAL | MSG_DONTWAIT); }
  /// Tells rank 0 why this rank is about to die, and in which task. May be called in a signal handler.
  static void last_words(const char* text, std::size_t bytes, std::uint64_t task) noexcept {
    constexpr std::size_t most = last_words_bytes - sizeof task - 1;  // the last byte is 0
    char message[1 + last_words_bytes] = {'w'};
    if (last_words_to_ < 0) return;
    std::memcpy(message + 1, &task, sizeof task);
    std::memcpy(message + 1 + sizeof task, text, bytes < most ? bytes : most);
    (void)!::send(last_words_to_, message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// Called in a child process, which must not report the death of its parent.
  static void is_child() noexcept { last_words_to_ = -1; }

 private:
  static constexpr std::size_t last_words_bytes = 256;
  static constexpr int connect_patience_ms = 20'000;
  static constexpr std::uint32_t own_news = ~std::uint32_t{0}, launcher_news = own_news - 1;  // else the rank
  static constexpr std::int64_t launcher_patience_ns =
      10'000'000'000;  // manta-run needs milliseconds, but may wait for a core
  struct hello {
    std::uint64_t token;
    std::uint32_t rank;
    std::int32_t process;
  };
  struct line {
    int socket = -1;
    std::int64_t heard = 0;  // time of the last sign of life
    std::int32_t process = 0;
    std::string words;              // its last words: the task's id and the text
    std::size_t words_missing = 0;  // bytes of the last words that have not arrived
    std::string presumed;           // why the rank is presumed dead
    std::int64_t gone = 0;          // when its connection ended; 0: it has not
    bool same_node = false;
    bool left = false;  // the rank has reached the barrier
    bool lost = false;  // the rank has died
    bool watched() const { return !lost && !left; }
  };

  static bool send_all(int socket, const void* data, std::size_t bytes) {
    return ::send(socket, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }
  static bool receive_all(int socket, void* data, std::size_t bytes) {
    timeval limit{connect_patience_ms / 1000, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return ::recv(socket, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }
  /// The addresses by which other nodes may reach this one.
  static std::string addresses();
  /// Rank 0: raises the limit of open files as far as one connection for each rank needs it. False if it may not.
  bool may_open_lines();
  int listen_here(std::uint16_t& port);
  bool accept_all(int listener, std::uint64_t token, const topology& nodes);
  static int connect_to(const std::string& all, std::uint16_t port, bool same_node);
  bool watch_lines();            ///< Rank 0: puts all connections into the set that its thread watches.
  void unwatch(int descriptor);  ///< Takes a connection out.
  void watch_all();
  void watch_zero();
  void look_at(std::uint32_t rank, std::int64_t now);
  void read(std::uint32_t rank);
  void has_gone(std::uint32_t rank);
  void read_launcher();
  void heard_of(std::uint32_t rank, int number, int status, bool for_memory, std::uint64_t task);
  void lost(std::uint32_t rank, const std::string& why, end_by by, std::uint64_t task);
  /// Begins to wait for signs of life anew if this process has not run for so long that it may have been stopped, with
  /// all others, at time `now`.
  void forgive_silence(std::int64_t now);
  void note_dead(std::uint32_t rank) {
    pthread_mutex_lock(&mutex_);
    dead_ranks_.push_back(rank);
    pthread_mutex_unlock(&mutex_);
  }
  [[noreturn]] void end_job(std::uint32_t rank, const std::string& why);

  network& net_;
  int rank_, size_;
  std::int64_t heartbeat_ns_;
  bool up_ = false;
  std::int64_t looked_ = 0;  // rank 0: when its thread last looked at all ranks
  base::array<line> lines_;  // rank 0: one line for each rank; other ranks: the first is the line to rank 0
  int watched_ = -1;         // rank 0: the set of connections that its thread watches
  int unexplained_ = 0;      // rank 0: number of ranks that have gone, of which manta-run has not said how
  std::string why_not_ = "not all ranks can reach rank 0 by TCP",
              remedy_ = "allow connections between the nodes of the job";
  int launcher_;               // rank 0: socket on which manta-run reports ends of ranks; -1: no manta-run
  std::string from_launcher_;  // the beginning of a line whose end has not arrived
  base::vector<death> deaths_;
  std::vector<std::uint32_t> dead_ranks_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> news_{false}, over_{false}, mourns_{true};
  std::atomic<int> here_{1}, dead_{0};  // rank 0: number of ranks at the barrier, number of dead ranks
  std::atomic<int> released_{-1};       // other ranks: -1 before the end of the barrier, then 1 if no rank has died
  int wake_[2] = {-1, -1};
  pthread_t thread_{};
  static inline int last_words_to_ = -1;
};

}  // namespace manta::net

#ifndef MANTA_COMPILED
#include "manta/net/lifeline.ipp"
#endif
