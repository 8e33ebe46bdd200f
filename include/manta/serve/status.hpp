// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a deployment does, and what it throws.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/serve/source.hpp"

namespace manta::wire {
class writer;
class reader;
}  // namespace manta::wire

namespace manta::serve {

/// The queue of a deployment is full. HTTP answers 503.
class overloaded : public error {
 public:
  using error::error;
};
/// The deployment drains or has ended, or none of its replicas can be made. HTTP answers 503.
class unavailable : public error {
 public:
  using error::error;
};

/// A request waited longer in the queue than its deadline allows. HTTP answers 503.
class expired : public timeout {
 public:
  using timeout::timeout;
};
/// The deployment's own code threw: the text says in which deployment, and what. HTTP answers 500, unless the server
/// knows a status for the type (http::answer).
class request_failed : public error {
 public:
  using error::error;
  request_failed() : error("") {}
  /// `type`: of what was thrown, as people write it; `why`: its text.
  request_failed(const std::string& deployment, std::string type, std::string why)
      : error(""),
        text_("manta: serve: the deployment '" + deployment + "' failed: " + why),
        type_(std::move(type)),
        why_(std::move(why)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.empty() ? error::what() : text_.c_str(); }
  [[nodiscard]] const std::string& type() const { return type_; }
  [[nodiscard]] const std::string& why() const { return why_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(text_, type_, why_);
  }

 private:
  std::string text_, type_, why_;
};
/// A call ran longer than options::timeout. HTTP answers 504.
class timed_out : public timeout {
 public:
  using timeout::timeout;
};
/// The replica that had a request died, and the deployment is not idempotent, or those that got the request
/// again died too.
class replica_died : public actor_died {
 public:
  using actor_died::actor_died;
};

/// One of the versions that serve at the same time.
struct version_status {
  int version = 1;
  double weight = 1;              ///< its part of the requests
  int replicas = 0;               ///< that are ready
  std::uint64_t served = 0;       ///< answers since it began
  std::uint64_t failed = 0;       ///< since it began
  double p50_ms = 0, p99_ms = 0;  ///< as in status

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(version), CEREAL_NVP(weight), CEREAL_NVP(replicas), CEREAL_NVP(served), CEREAL_NVP(failed),
            CEREAL_NVP(p50_ms), CEREAL_NVP(p99_ms));
  }
};

/// One replica.
struct replica_status {
  int rank = -1;           ///< -1: it is not known yet
  int version = 1;         ///< that it has
  std::string state = {};  ///< "ready", "busy", "starting", or "ending", where another version takes its place
  int calls = 0;           ///< that it has at present

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(version), CEREAL_NVP(state), CEREAL_NVP(calls));
  }
};

/// The counts are those of all versions together.
struct status {
  std::string name;
  int version = 1;                            ///< counts updates
  bool ready = true;                          ///< a request would be answered now
  std::string problem = {};                   ///< why not, or why replicas are missing; empty: all is well
  std::string change = {};                    ///< the update that is under way, in words; empty: none is
  int wanted = 0;                             ///< replicas that there should be
  int replicas = 0;                           ///< that are ready
  int starting = 0;                           ///< that are being made
  std::uint64_t queued = 0;                   ///< requests that wait
  std::uint64_t running = 0;                  ///< requests that replicas have
  std::uint64_t served = 0;                   ///< answers
  std::uint64_t failed = 0;                   ///< exceptions of the deployment's own code, and replicas that died
  std::uint64_t retried = 0;                  ///< requests that ran again, after a death or because their batch failed
  std::uint64_t refused = 0;                  ///< because the queue was full
  std::uint64_t expired = 0;                  ///< because of their deadlines
  std::uint64_t cancelled = 0;                ///< whose answers nobody wanted any more
  std::uint64_t overdue = 0;                  ///< because a call ran longer than options::timeout
  std::uint64_t batches = 0;                  ///< calls of replicas
  double p50_ms = 0, p99_ms = 0;              ///< time from a request's arrival to its answer, of the last 1024
  std::vector<version_status> versions = {};  ///< the present one, and one that is to replace it or its canary
  std::vector<replica_status> each = {};      ///< all replicas

  /// Adds what a canary says of itself.
  void add_canary(const status& s, double weight) {
    version_status its = s.versions.front();
    its.version = version + 1;
    its.weight = weight;
    versions.front().weight = 1 - weight;
    versions.push_back(its);
    replicas += s.replicas;
    starting += s.starting;
    queued += s.queued;
    running += s.running;
    served += s.served;
    failed += s.failed;
    retried += s.retried;
    refused += s.refused;
    expired += s.expired;
    cancelled += s.cancelled;
    overdue += s.overdue;
    batches += s.batches;
    wanted += s.wanted;
    for (replica_status r : s.each) {
      r.version = its.version;
      each.push_back(std::move(r));
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(version), CEREAL_NVP(ready), CEREAL_NVP(problem), CEREAL_NVP(change),
            CEREAL_NVP(wanted), CEREAL_NVP(replicas), CEREAL_NVP(starting), CEREAL_NVP(queued), CEREAL_NVP(running),
            CEREAL_NVP(served), CEREAL_NVP(failed), CEREAL_NVP(retried), CEREAL_NVP(refused), CEREAL_NVP(expired),
            CEREAL_NVP(cancelled), CEREAL_NVP(overdue), CEREAL_NVP(batches), CEREAL_NVP(p50_ms), CEREAL_NVP(p99_ms),
            CEREAL_NVP(versions), CEREAL_NVP(each));
  }
  // Between ranks it travels by these, which are compiled once.
  MANTA_DECL void serialize(wire::writer& archive);
  MANTA_DECL void serialize(wire::reader& archive);
};

namespace detail {
/// Throws that a handle is empty; `which` begins the sentence: "manta: serve: the handle of a deployment".
[[noreturn]] MANTA_DECL void refuse_empty_handle(const std::string& which);
}  // namespace detail

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/options.ipp"
#endif
