// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A client of HTTP/1.1 that loads a server over keep-alive connections: closed loop (each connection sends its next
// request when it has its answer), or open loop (requests come by a Poisson process, whatever the server does, and wait
// for a connection). Latencies of an open loop count from the time at which the request was due, so that a slow answer
// does not hide the requests behind it. One thread, epoll.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct load_options {
  int port = 0, connections = 1;
  double seconds = 1, rate = 0;  ///< rate: requests a second of an open loop; 0: closed
  std::string path = "/", body;
  std::string field = {};  ///< a further line of the header, with its end
};

struct load_result {
  double seconds = 0;
  std::uint64_t good = 0, refused = 0, other = 0, broken = 0;  ///< answers 200, 503, others; connections that failed
  std::vector<double> latencies, refusals;                     ///< us, of 200 and of 503
  std::uint64_t least = 0;                                     ///< answers of the connection that got fewest

  [[nodiscard]] static double quantile(std::vector<double> v, double q) {
    if (v.empty()) return 0;
    const auto at = v.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(v.size() - 1));
    std::nth_element(v.begin(), at, v.end());
    return *at;
  }
};

class load {
  using clock = std::chrono::steady_clock;
  struct connection {
    int socket = -1;
    bool is_busy = false;
    clock::time_point due = {};
    std::string input;
    std::uint64_t answers = 0;
  };

 public:
  explicit load(const load_options& o)
      : options_(o),
        request_("POST " + o.path + " HTTP/1.1\r\nHost: localhost\r\n" + o.field +
                 "Content-Type: application/json\r\nContent-Length: " + std::to_string(o.body.size()) + "\r\n\r\n" +
                 o.body),
        all_(static_cast<std::size_t>(o.connections)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < all_.size(); ++i) open(i);
  }
  load(const load&) = delete;
  load& operator=(const load&) = delete;
  ~load() {
    for (const connection& c : all_) {
      if (c.socket >= 0) ::close(c.socket);
    }
    ::close(epoll_);
  }

  load_result run() {
    const auto begin = clock::now(),
               end =
                   begin + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(options_.seconds));
    next_ = begin;
    for (std::size_t i = 0; options_.rate == 0 && i < all_.size(); ++i) send(i, begin);
    for (auto now = begin; now < end; now = clock::now()) {
      if (options_.rate > 0) send_what_is_due(now);
      receive(now);
    }
    result_.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    result_.least = all_.front().answers;
    for (const connection& c : all_) result_.least = std::min(result_.least, c.answers);
    return result_;
  }

 private:
  void open(std::size_t i) {
    connection& c = all_[i];
    c.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(c.socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (::connect(c.socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      std::perror("connect");
      std::exit(1);
    }
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = i;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, c.socket, &e);
    if (options_.rate > 0) idle_.push_back(i);
  }
  void send(std::size_t i, clock::time_point due) {
    connection& c = all_[i];
    c.is_busy = true;
    c.due = due;
    if (::send(c.socket, request_.data(), request_.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request_.size()))
      fail(i);
  }
  void fail(std::size_t i) {
    ++result_.broken;
    ::close(all_[i].socket);
    all_[i].is_busy = false;
    all_[i].input.clear();
    open(i);
  }
  void send_what_is_due(clock::time_point now) {
    for (; next_ <= now;
         next_ += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * pause_(chance_) / options_.rate)))
      due_.push_back(next_);
    while (!due_.empty() && !idle_.empty()) {
      const std::size_t i = idle_.front();
      idle_.pop_front();
      send(i, due_.front());
      due_.pop_front();
    }
  }
  void receive(clock::time_point now) {
    epoll_event events[64];
    const bool is_near = options_.rate > 0 && next_ - now < std::chrono::milliseconds(2);
    const int n = ::epoll_wait(epoll_, events, 64, is_near ? 0 : 1);
    for (int k = 0; k < n; ++k) read(events[k].data.u64);
  }
  void read(std::size_t i) {
    connection& c = all_[i];
    char block[1 << 14];
    const ssize_t n = ::recv(c.socket, block, sizeof block, 0);
    if (n <= 0) return fail(i);
    c.input.append(block, static_cast<std::size_t>(n));
    const std::size_t head = c.input.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const std::size_t length = c.input.find("Content-Length: ");
    const std::size_t size = length < head ? std::strtoul(c.input.c_str() + length + 16, nullptr, 10) : 0;
    if (c.input.size() < head + 4 + size) return;
    const auto now = clock::now();
    const double us = std::chrono::duration<double, std::micro>(now - c.due).count();
    const std::string_view status = std::string_view(c.input).substr(9, 3);
    if (status == "200") {
      ++result_.good;
      result_.latencies.push_back(us);
    } else if (status == "503") {
      ++result_.refused;
      result_.refusals.push_back(us);
    } else {
      ++result_.other;
    }
    ++c.answers;
    c.input.clear();
    c.is_busy = false;
    if (options_.rate == 0) {
      send(i, now);
    } else {
      idle_.push_back(i);
    }
  }

  load_options options_;
  std::string request_;
  std::vector<connection> all_;
  int epoll_;
  std::deque<std::size_t> idle_;
  std::deque<clock::time_point> due_;
  clock::time_point next_ = {};
  std::mt19937_64 chance_{1};
  std::exponential_distribution<double> pause_{1.0};
  load_result result_;
};

}  // namespace bench
