// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Results that outlive the program: a folder of segments. A background thread writes each segment as a whole (write,
// fsync, rename), so that a kill loses at most the last second. A later start of the same program, with any number of
// ranks, finds the results of all ranks of all earlier starts, and reads a result only when a task needs it.
//
// The state of a named actor is a file of its own, which the next state replaces. It is found by the actor's name and a
// digest of the arguments that its constructor had, so that the elements of a job array may share a folder. While the
// actor lives, a lock on the file beside it keeps other runs away from its state.
//
//   segment, and state with one record, its task the digest of the name:
//   "manta journal 1\n", the program's digest (u64), then records:
//   { u64 checksum of the rest, u64 task, u64 digest of its arguments, u64 bytes, u64 form } payload
#pragma once

#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/hash.hpp"
#include "manta/base/vector.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::store {

class journal {
 public:
  struct record {
    std::uint64_t checksum;
    std::uint64_t task;
    std::uint64_t digest;
    std::uint64_t bytes;
    std::uint64_t form;
  };

  /// Opens the folder, or makes it, and reads the index of the results. Throws if the folder cannot be used. `speaks`:
  /// prints which files it ignores.
  journal(std::string folder, std::uint64_t program, int rank, bool speaks);
  ~journal();
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  std::size_t size() const { return known_.size(); }
  std::uint64_t taken() const { return taken_; }
  /// Finds the result of this task with these arguments, and puts it into `payload`; false if there is none.
  bool find(std::uint64_t task, std::uint64_t digest, std::uint64_t& form, wire::buffer& payload);
  /// Adds a result, which the background thread writes.
  void add(std::uint64_t task, std::uint64_t digest, std::uint64_t form, const std::byte* payload, std::size_t bytes);
  /// What the state of an actor is found by.
  struct actor_key {
    std::string name;
    std::uint64_t made_with;  ///< digest of its constructor's arguments
    std::uint64_t type;       ///< digest of its class
  };
  /// Finds the last state of this actor that this start or an earlier one has kept. False if there is none, or if
  /// another run has the actor too at this moment: its state is neither found nor kept here, which is printed.
  bool find_state(const actor_key& of, wire::buffer& payload);
  /// Keeps a state, which the background thread writes over the former one.
  void keep_state(const actor_key& of, const wire::buffer& payload);
  void forget_state(const actor_key& of);
  /// Returns when everything has been written.
  void flush();

  /// The digest of the program's file.
  static std::uint64_t digest_of_program();

 private:
  static constexpr char magic[17] = "manta journal 1\n";
  static constexpr std::size_t header_bytes = 16 + 8;
  static constexpr std::size_t most_pending = std::size_t{64} << 20;  // above it, add() waits for the disk
  struct place {
    std::uint32_t file;
    std::uint32_t other;  // another place of the same result, in case this one is damaged; or none
    std::uint64_t at;
  };
  static constexpr std::uint32_t none = 0xffffffff;
  struct kept_state {
    std::string file;
    wire::buffer content;
  };
  struct claim {
    std::string file;
    int lock;  // below 0: another run has it
  };

  static std::uint64_t key(std::uint64_t task, std::uint64_t digest) {
    const std::uint64_t k = base::mix(task, digest);
    return k == base::index_table::no_key ? 0 : k;
  }
  static std::uint64_t checksum_of(const record& r, const std::byte* payload) {
    return base::hash_bytes(payload, r.bytes, base::hash_bytes(&r.task, sizeof r - sizeof r.checksum));
  }
  void read_segment(const std::string& name);
  bool read(const place& p, std::uint64_t task, std::uint64_t digest, std::uint64_t& form, wire::buffer& payload);
  void complain(const std::string& name, const char* what) const {
    std::fprintf(stderr, "manta: journal: %s/%s %s\n", folder_.c_str(), name.c_str(), what);
  }
  static std::uint64_t hash_of(const actor_key& k) { return base::mix(base::hash_text(k.name), k.made_with); }
  static std::string file_of_state(const actor_key& k);
  /// Locks the state of this actor for this process, unless it is locked. False if another run has locked it.
  bool claim_state(const actor_key& k);
  /// Waits a moment for a lock on this file. Below 0: another run has it. Where the file system knows no locks,
  /// nobody has it.
  int lock_file(const std::string& path) const;
  void remove_parts(
      const std::string& name) const;  ///< Removes a file that a process of this machine has left half written.
  std::FILE* open_to_read(const std::string& name) const;
  bool header_is_ours(std::FILE* file, const std::string& name, bool speaks);
  static bool read_record(std::FILE* file, record& r, wire::buffer& payload);
  void drop_state(const std::string& file);
  void write_behind();
  void write_segment(const wire::buffer& content);
  void write_file(const std::string& name, const wire::buffer& content);
  void keep_names() const;

  std::string folder_;
  std::uint64_t program_;
  int rank_;
  bool speaks_;
  std::vector<std::string> files_;
  base::index_table known_;  // key -> place in places_
  base::vector<place> places_;
  std::uint64_t taken_ = 0;
  std::uint64_t segments_ = 0;
  base::vector<claim> claims_;

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;  // waits by the monotonic clock
  wire::buffer pending_;
  base::vector<kept_state> states_;  // states to write
  bool over_ = false, hurry_ = false, writing_ = false, failed_ = false;
  pthread_t thread_{};
};

}  // namespace manta::store

#ifndef MANTA_COMPILED
#include "manta/store/journal.ipp"
#endif
