// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What writes down the course of an experiment. Any class with some of these
// functions is one; when an experiment is continued, they are called for what
// has happened before as well, so files are made anew:
//
//   struct my_output {
//     void begin(const tune::output_context&);
//     void opened(int rank, double now);                                   // trials may run on this rank; of gangs, on
//     it and others void closed(int rank, double now);                                   // no longer void add(const
//     tune::trial_record&);                                 // a trial void report(const tune::trial_record&, const
//     tune::metrics&, double seconds); void decision(const tune::trial_record&, std::string_view what, std::string_view
//     why); void end(const tune::trial_record&);                                 // of a trial void flush(); // now and
//     then void refresh(const std::vector<tune::trial_record>&);                // likewise, with all trials void
//     finish(const std::vector<tune::trial_record>&, const std::string& why);  // of the experiment, or of this run of
//     it; why may be left out
//   };
#pragma once

#include <memory>
#include <typeinfo>

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune {

struct output_context {
  std::string folder;
  std::string name;
  std::string metric;
  bool maximised = false;
  space where = {};
  double started = 0;  ///< this run of the experiment, in seconds since 1970
  std::string clock = {};
  std::string searcher = {}, scheduler = {};  ///< names of their classes
  std::uint64_t seed = 0;
  int ranks = 1;  ///< ranks of each trial
  bool best_may_fail = false;
  std::size_t trials = 0;  ///< wanted; 0: until something stops the experiment
};

namespace detail {
/// The name of a class without its namespace: tpe and not manta::tune::tpe.
MANTA_DECL std::string class_name(const std::type_info& type);
/// The name of a tuned function or class as the program has it, from the name of its body: train and
/// not manta::tune::detail::function_body<&(train(manta::tune::config const&))>.
MANTA_DECL std::string readable_name(std::string body);
}  // namespace detail

/// trials/00012 in the folder of the experiment.
MANTA_DECL std::string trial_folder(const std::string& folder, trial_number trial);
inline std::string trial_folder(const output_context& context, trial_number trial) {
  return trial_folder(context.folder, trial);
}

/// Holds an output of any class. Copies refer to the same one.
class any_output {
 public:
  template <class O>
    requires(!std::same_as<O, any_output>)
  any_output(O o) : held_(static_cast<base*>(new holder<O>(std::move(o)))) {}

  MANTA_DECL any_output clone() const;
  auto operator->() const { return held_.get(); }

 private:
  struct base {
    virtual ~base() = default;
    virtual base* clone() const = 0;
    virtual void begin(const output_context&) = 0;
    virtual void opened(int, double) = 0;
    virtual void closed(int, double) = 0;
    virtual void add(const trial_record&) = 0;
    virtual void report(const trial_record&, const metrics&, double) = 0;
    virtual void decision(const trial_record&, std::string_view, std::string_view) = 0;
    virtual void end(const trial_record&) = 0;
    virtual void flush() = 0;
    virtual void refresh(const std::vector<trial_record>&) = 0;
    virtual void finish(const std::vector<trial_record>&, const std::string&) = 0;
  };
  template <class O>
  struct holder final : base {
    explicit holder(O o) : output_(std::move(o)) {}
    base* clone() const override { return new holder(output_); }
    void begin([[maybe_unused]] const output_context& c) override {
      if constexpr (requires { output_.begin(c); }) output_.begin(c);
    }
    void opened([[maybe_unused]] int rank, [[maybe_unused]] double now) override {
      if constexpr (requires { output_.opened(rank, now); }) output_.opened(rank, now);
    }
    void closed([[maybe_unused]] int rank, [[maybe_unused]] double now) override {
      if constexpr (requires { output_.closed(rank, now); }) output_.closed(rank, now);
    }
    void add([[maybe_unused]] const trial_record& t) override {
      if constexpr (requires { output_.add(t); }) output_.add(t);
    }
    void report([[maybe_unused]] const trial_record& t, [[maybe_unused]] const metrics& m,
                [[maybe_unused]] double seconds) override {
      if constexpr (requires { output_.report(t, m, seconds); }) output_.report(t, m, seconds);
    }
    void decision([[maybe_unused]] const trial_record& t, [[maybe_unused]] std::string_view what,
                  [[maybe_unused]] std::string_view why) override {
      if constexpr (requires { output_.decision(t, what, why); }) output_.decision(t, what, why);
    }
    void end([[maybe_unused]] const trial_record& t) override {
      if constexpr (requires { output_.end(t); }) output_.end(t);
    }
    void flush() override {
      if constexpr (requires { output_.flush(); }) output_.flush();
    }
    void refresh([[maybe_unused]] const std::vector<trial_record>& all) override {
      if constexpr (requires { output_.refresh(all); }) output_.refresh(all);
    }
    void finish([[maybe_unused]] const std::vector<trial_record>& all,
                [[maybe_unused]] const std::string& why) override {
      if constexpr (requires { output_.finish(all, why); }) output_.finish(all, why);
      else if constexpr (requires { output_.finish(all); }) output_.finish(all);
    }
    O output_;
  };

  std::shared_ptr<base> held_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/output.ipp"
#endif
