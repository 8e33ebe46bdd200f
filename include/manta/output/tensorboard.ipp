// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <chrono>

#include "manta/output/crc32c.hpp"
#include "manta/output/tensorboard.hpp"

namespace manta::output {

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
  const std::uint32_t c = crc32c(bytes);
  return (c >> 15U | c << 17U) + 0xa282ead8U;
}

MANTA_DECL void append_record(std::string& out, std::string_view payload) {
  const std::size_t begin = out.size();
  append_little(out, payload.size(), 8);
  append_little(out, masked_crc(std::string_view(out).substr(begin, 8)), 4);
  out += payload;
  append_little(out, masked_crc(payload), 4);
}

MANTA_DECL void append_double(std::string& out, char tag, double x) {
  out += tag;
  append_little(out, std::bit_cast<std::uint64_t>(x), 8);
}
MANTA_DECL void append_wall_time(std::string& event, double wall_time) {
  append_double(event, '\x09', wall_time);  // Event.wall_time = 1
}

MANTA_DECL std::string version_event(double wall_time) {
  std::string event;
  append_wall_time(event, wall_time);
  append_text(event, '\x1a', "brain.Event:2");  // Event.file_version = 3
  return event;
}

MANTA_DECL std::string scalars_event(double wall_time, std::uint64_t step, row values) {
  std::string event, summary, one;
  append_wall_time(event, wall_time);
  event += '\x10';  // Event.step = 2
  append_varint(event, step);
  for (const field& f : values) {
    if (f.value.is_text()) continue;
    one.clear();
    append_text(one, '\x0a', f.name);  // Summary.Value.tag = 1
    one += '\x15';                     // Summary.Value.simple_value = 2
    append_little(one, std::bit_cast<std::uint32_t>(static_cast<float>(f.value.number())), 4);
    append_text(summary, '\x0a', one);  // Summary.value = 1
  }
  append_text(event, '\x2a', summary);  // Event.summary = 5
  return event;
}

MANTA_DECL std::string summary_event(double wall_time, std::uint64_t step, std::string_view summary_value) {
  std::string event, summary;
  append_wall_time(event, wall_time);
  event += '\x10';  // Event.step = 2
  append_varint(event, step);
  append_text(summary, '\x0a', summary_value);  // Summary.value = 1
  append_text(event, '\x2a', summary);          // Event.summary = 5
  return event;
}

}  // namespace event_file

MANTA_DECL tensorboard::tensorboard(const std::string& folder, mode m) : file_(folder + "/" + file_name, m) {
  make_folders(folder);
  has_version_ = m == mode::append && !read_file(file_.path()).empty();
}

MANTA_DECL void tensorboard::write(std::int64_t step, row values, double time) {
  if (time == 0) time = wall_time();
  write_event(event_file::scalars_event(time, static_cast<std::uint64_t>(step), values), time);
}

MANTA_DECL void tensorboard::write_event(std::string_view event, double time) {
  std::string& out = file_.buffer();
  if (!has_version_) event_file::append_record(out, event_file::version_event(time == 0 ? wall_time() : time));
  has_version_ = true;
  event_file::append_record(out, event);
  file_.written();
}

MANTA_DECL double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace manta::output
