// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Event files for TensorBoard: trials/00012/events.out.tfevents.0000000000.manta,
// one scalar for each metric of each report. Records are framed with two
// checksums (masked CRC-32C) around a protocol buffer of tensorflow.Event, of which
// four fields are needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/tune/output/trial_files.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

namespace event_file {

MANTA_DECL void append_little(std::string& out, std::uint64_t x, int bytes);
MANTA_DECL void append_varint(std::string& out, std::uint64_t x);
MANTA_DECL void append_text(std::string& out, char tag, std::string_view text);
MANTA_DECL std::uint32_t masked_crc(std::string_view bytes);
/// A payload with its frame.
MANTA_DECL void append_record(std::string& out, std::string_view payload);

// Tags of protocol buffers: field number times 8 plus the wire type (0 varint, 1 eight bytes, 2 text, 5 four bytes).

MANTA_DECL void append_wall_time(std::string& event, double wall_time);
/// The first record of a file.
MANTA_DECL std::string version_event(double wall_time);
MANTA_DECL std::string scalars_event(double wall_time, std::uint64_t step, const metrics& m);

}  // namespace event_file

class tensorboard {
 public:
  /// Of the wall clock; a test sets it.
  explicit tensorboard(double fixed_time = 0) : fixed_time_(fixed_time) {}

  void begin(const output_context& c) { files_.begin(c); }
  MANTA_DECL void report(const trial_record& t, const metrics& m, double);
  void end(const trial_record& t) { files_.end(t); }
  void flush() { files_.flush(); }

 private:
  double now() const;
  double fixed_time_;
  /// One name for each trial, so that a continued experiment replaces what it writes anew.
  detail::trial_files files_{"events.out.tfevents.0000000000.manta"};
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/tensorboard.ipp"
#endif
