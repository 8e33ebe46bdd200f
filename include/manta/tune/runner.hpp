// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actor that runs trials on its rank, one after the other. One of its calls,
// work, never ends until it is told to: on its stack the user's functions run. The
// driver talks to it by calls of exchange, each of which hands over an order and
// returns with the next notice, so that a report costs one round trip.
#pragma once

#include "manta/tune/trainable.hpp"

namespace manta::tune::detail {

template <class Body>
class runner_core {
 public:
  /// The rank on which it is: an answer says that it has been placed.
  int hello() const { return rank(); }

  void work_as(const team* members) {
    order o = talk_.wait_for_order();
    while (o.what != order::kind::quit) {
      bool again = false;
      notice last = run(members, o, again);
      if (again) continue;  // o is what it begins again as; nobody needs to be told
      const bool broken = last.what == notice::kind::fatal;
      talk_.tell(std::move(last));
      if (broken || this_task::stop_requested()) return;
      o = talk_.wait_for_order();
    }
    talk_.tell({});
  }
  notice pass_on(order o) {
    notice n = talk_.answer_to(std::move(o));
    if (n.what == notice::kind::fatal) throw fatal(n.text);
    return n;
  }

 private:
  /// One trial, from its begin to its last notice.
  notice run(const team* members, order& o, bool& again) {
    notice n;
    std::vector<reported> unsent;
    try {
      trial t(talk_, o, members == nullptr ? 0 : members->rank());
      const config parameters = t.parameters();
      std::string text;
      bool failed = false, broken = false;
      try {
        body_.run(members, parameters, t);
      } catch (const trial_is_over&) {
      } catch (const fatal& e) {
        broken = true;
        text = e.what();
      } catch (const std::exception& e) {
        failed = true;
        text = e.what();
      } catch (...) {
        failed = true;
        text = "threw something that is not a std::exception";
      }
      if (broken || (failed && !runner_access::is_over(t))) {
        body_ = Body();  // whatever state it is in
        n.reports = runner_access::pending(t);
        n.what = broken ? notice::kind::fatal : notice::kind::failed;
        n.text = text;
        return n;
      }
      if (auto next = runner_access::next(t)) {
        o = std::move(*next);
        again = true;
        return n;
      }
      return runner_access::farewell(t);
    } catch (const std::exception& e) {  // reading or writing a checkpoint
      n.what = notice::kind::failed;
      n.text = e.what();
      return n;
    }
  }

  exchange talk_;
  Body body_;
};

template <class Body>
class runner : public runner_core<Body> {
 public:
  using answers = notice;
  int greet() { return this->hello(); }
  void work() { this->work_as(nullptr); }
  notice tell(order o) { return this->pass_on(std::move(o)); }
};

/// On each rank of a gang. The notices of all members come back, for each has its part of a checkpoint.
template <class Body>
class gang_runner : public runner_core<Body> {
 public:
  using answers = per_rank<notice>;
  explicit gang_runner(team members) : members_(members) {}
  int greet() { return this->hello(); }
  void work() { this->work_as(&members_); }
  per_rank<notice> tell(order o) { return this->pass_on(std::move(o)); }

 private:
  team members_;
};

}  // namespace manta::tune::detail
