// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0 asks all other ranks the same question. The questions leave at once, the
// answers come when the ranks look around, also by their helpers. A rank that does
// not answer in time is left out.
#pragma once

#include <cstdint>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/graph/node.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::exec {

struct rank_parts;

class survey {
 public:
  static constexpr std::int64_t patience_ns = 2'000'000'000;

  explicit survey(rank_parts& all) : all_(all) {}
  survey(const survey&) = delete;
  survey& operator=(const survey&) = delete;

  /// Asks; `how` is a part of the question. The survey must not be under way.
  MANTA_DECL void begin(enum ask_message::kind what, std::uint32_t how, std::int64_t within_ns = patience_ns);
  bool is_under_way() const { return is_under_way_; }
  /// Does somebody wait for the answers, who will collect them?
  bool is_waited_for() const { return is_waited_for_; }
  /// Have all ranks answered, or is the time over?
  MANTA_DECL bool is_complete(std::int64_t now_ns) const;
  /// Waits for the answers, and runs other tasks meanwhile.
  MANTA_DECL void wait();
  /// Ends the survey: calls use(rank, answer) for each answer that has come.
  template <class Use>
  void collect(Use&& use) {
    for (std::uint32_t r = 0; r < tickets_.size(); ++r) {
      if (tickets_[r] == nullptr) continue;
      if (const wire::buffer bytes = take(r); !bytes.empty()) {
        wire::source in(bytes.data(), bytes.size());
        use(rank_id(r), in);
      }
    }
    tickets_.clear();
    is_under_way_ = is_waited_for_ = false;
  }

 private:
  /// The answer of a rank, or nothing. Gives the ticket up.
  MANTA_DECL wire::buffer take(rank_id rank);

  rank_parts& all_;
  bool is_under_way_ = false, is_waited_for_ = false;
  std::int64_t due_ns_ = 0;
  std::vector<graph::node*> tickets_;  // by rank; null: this rank, or a dead one
};

}  // namespace manta::exec
