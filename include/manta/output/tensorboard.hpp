// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Event files for TensorBoard: a scalar for each number of each row. Records are
// framed with two checksums (masked CRC-32C) around a protocol buffer of
// tensorflow.Event, of which four fields are needed.
//
//   output::tensorboard events("run");            // run/events.out.tfevents.0000000000.manta
//   events.write(step, {{"loss", 0.5}});          // tensorboard --logdir run
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/output/append_file.hpp"
#include "manta/output/row.hpp"

namespace manta::output {

namespace event_file {

MANTA_DECL void append_little(std::string& out, std::uint64_t x, int bytes);
MANTA_DECL void append_varint(std::string& out, std::uint64_t x);
/// A field of a protocol buffer that holds bytes. Tags: field number times 8 plus the wire type (0 varint, 1 eight
/// bytes, 2 text, 5 four bytes).
MANTA_DECL void append_text(std::string& out, char tag, std::string_view text);
MANTA_DECL std::uint32_t masked_crc(std::string_view bytes);
/// A payload with its frame.
MANTA_DECL void append_record(std::string& out, std::string_view payload);
MANTA_DECL void append_double(std::string& out, char tag, double x);
MANTA_DECL void append_wall_time(std::string& event, double wall_time);
/// The first record of a file.
MANTA_DECL std::string version_event(double wall_time);
/// The numbers of a row; texts are left out.
MANTA_DECL std::string scalars_event(double wall_time, std::uint64_t step, row values);
/// A record with one Summary.Value whose fields are given: for plug-ins.
MANTA_DECL std::string summary_event(double wall_time, std::uint64_t step, std::string_view summary_value);

}  // namespace event_file

class tensorboard {
 public:
  tensorboard() = default;
  /// An event file in this folder, which is made if need be. Its name is always the same, so that a run that is
  /// repeated or continued (mode::append) replaces or continues what it has written.
  MANTA_DECL explicit tensorboard(const std::string& folder, mode m = mode::fresh);

  /// `wall_time`: seconds since 1970; 0: now. Buffered: see flush().
  MANTA_DECL void write(std::int64_t step, row values, double wall_time = 0);
  /// Any event that event_file makes.
  MANTA_DECL void write_event(std::string_view event, double wall_time = 0);
  /// Writes what is buffered to the file; to be called every second or so, and at the end.
  void flush() { file_.flush(); }

  static constexpr const char* file_name = "events.out.tfevents.0000000000.manta";

 private:
  append_file file_;
  bool has_version_ = false;
};

/// Seconds since 1970.
MANTA_DECL double wall_time();

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/tensorboard.ipp"
#endif
