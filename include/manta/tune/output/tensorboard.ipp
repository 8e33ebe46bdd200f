// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of tensorboard.hpp.
#pragma once

#include <bit>
#include <chrono>

#include "manta/output/crc32c.hpp"
#include "manta/tune/output/tensorboard.hpp"

namespace manta::tune {

namespace event_file {

MANTA_DECL void append_little(std::string& out, std::uint64_t x, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(x >> (8 * i) & 255U);
}

MANTA_DECL void append_varint(std::string& out, std::uint64_t x) {
  for (; x >= 128; x >>= 7U) out += static_cast<char>((x & 127U) | 128U);
  out += static_cast<char>(x);
}

MANTA_DECL void append_text(std::string& out, char tag, std::string_view text) {
  out += tag;
  append_varint(out, text.size());
  out += text;
}

MANTA_DECL std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t c = manta::output::crc32c(bytes);
  return (c >> 15U | c << 17U) + 0xa282ead8U;
}

MANTA_DECL void append_record(std::string& out, std::string_view payload) {
  const std::size_t begin = out.size();
  append_little(out, payload.size(), 8);
  append_little(out, masked_crc(std::string_view(out).substr(begin, 8)), 4);
  out += payload;
  append_little(out, masked_crc(payload), 4);
}

MANTA_DECL void append_wall_time(std::string& event, double wall_time) {
  event += '\x09';  // Event.wall_time = 1
  append_little(event, std::bit_cast<std::uint64_t>(wall_time), 8);
}

MANTA_DECL std::string version_event(double wall_time) {
  std::string event;
  append_wall_time(event, wall_time);
  append_text(event, '\x1a', "brain.Event:2");  // Event.file_version = 3
  return event;
}

MANTA_DECL std::string scalars_event(double wall_time, std::uint64_t step, const metrics& m) {
  std::string event, summary, one;
  append_wall_time(event, wall_time);
  event += '\x10';  // Event.step = 2
  append_varint(event, step);
  for (const auto& [name, x] : m) {
    one.clear();
    append_text(one, '\x0a', name);  // Summary.Value.tag = 1
    one += '\x15';                   // Summary.Value.simple_value = 2
    append_little(one, std::bit_cast<std::uint32_t>(static_cast<float>(x)), 4);
    append_text(summary, '\x0a', one);  // Summary.value = 1
  }
  append_text(event, '\x2a', summary);  // Event.summary = 5
  return event;
}

}  // namespace event_file

MANTA_DECL void tensorboard::report(const trial_record& t, const metrics& m, double) {
  const auto [sheet, is_new] = files_.of(t.id);
  std::string& out = sheet->file.buffer();
  const double time = now();
  if (is_new) event_file::append_record(out, event_file::version_event(time));
  event_file::append_record(out, event_file::scalars_event(time, t.iteration, m));
  sheet->file.written();
}

MANTA_DECL double tensorboard::now() const {
  if (fixed_time_ > 0) return fixed_time_;
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace manta::tune
