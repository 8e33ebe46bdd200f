// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What stands in a trace, apart from the format of its file: the writer of the trace (trace_file.hpp) hands events in
// order of time to a format, which appends their bytes to a text. Formats are trace_json.hpp and trace_perfetto.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"

namespace manta::report {

/// A row of the picture: a node is a process there, and its rows are threads of it.
struct trace_row {
  int node = 0, number = 0;
  friend auto operator<=>(const trace_row&, const trace_row&) = default;
};

struct trace_argument {
  struct nanoseconds {
    std::uint64_t count;
  };
  const char* name;
  std::variant<std::uint64_t, bool, std::string_view, nanoseconds> value;
};

struct trace_event {
  enum class kind : std::uint8_t {
    slice,        ///< a stretch of time in its row
    mark,         ///< a moment in its row
    arrow_begin,  ///< at this moment in its row
    arrow_end,
    phase_begin,
    phase_end,
    counter  ///< the value of a quantity of a node from now on
  };
  kind what = kind::slice;
  trace_row row = {};
  std::uint64_t at = 0;                         ///< nanoseconds since the begin of the run
  std::uint64_t extent = 0;                     ///< nanoseconds of a slice
  std::string name = {};                        ///< name of a slice, a mark, a phase or a quantity
  std::uint64_t task = 0;                       ///< id of the task of a slice; 0: of none, or of several
  std::uint64_t number = 0;                     ///< number of an arrow or a phase
  double value = 0;                             ///< value of a counter
  base::vector<trace_argument> arguments = {};  ///< arguments of a slice
};

/// A format of the file.
class trace_format {
 public:
  /// The most bytes of an event of each kind, and of what stands around the events.
  struct sizes {
    std::uint64_t slice, arrow, sample, phase, head, head_of_rank;
    std::uint64_t arguments;  ///< bytes of the arguments of a slice that has more of them than an id
    std::uint64_t times_of_name, times_of_task_name;  ///< how often the name of a slice counts, and that of its task
  };

  virtual ~trace_format() = default;
  virtual sizes most_bytes() const = 0;
  virtual void begin(std::string& out) = 0;
  virtual void name_node(std::string& out, int node, const std::string& host) = 0;
  virtual void name_row(std::string& out, trace_row row, const std::string& name) = 0;
  /// Events come after all names, in order of time.
  virtual void put(std::string& out, const trace_event& event) = 0;
  /// The end; `facts` is a JSON object about the run.
  virtual void end(std::string& out, const std::string& facts) = 0;
};

}  // namespace manta::report
