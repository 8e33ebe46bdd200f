// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of readers.hpp.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "manta/error.hpp"
#include "manta/train/readers.hpp"

namespace manta::train {

namespace detail {

[[noreturn]] inline void refuse_file(const file& f, const std::string& where, const std::string& expected,
                                     const std::string& found) {
  throw error("manta: train: the file " + f.name + ", " + where + ": expected " + expected + ", found " + found);
}
inline std::string at_byte(std::size_t offset) { return "byte " + std::to_string(offset); }
inline unsigned byte_at(const file& f, std::size_t i) { return static_cast<unsigned char>(f.bytes[i]); }

/// The extents of an IDX file of bytes; `data` is set to where its numbers begin.
inline std::vector<std::size_t> idx_extents(const file& f, std::size_t& data) {
  const auto need = [&](std::size_t size) {
    if (f.bytes.size() < size)
      refuse_file(f, at_byte(f.bytes.size()), "a header of " + std::to_string(size) + " bytes", "the end of the file");
  };
  need(4);
  if (byte_at(f, 0) == 0x1f && byte_at(f, 1) == 0x8b)
    refuse_file(f, at_byte(0), "an IDX file",
                "one compressed by gzip; give train::gunzip(path) of manta/train/gzip.hpp");
  if (byte_at(f, 0) != 0 || byte_at(f, 1) != 0)
    refuse_file(f, at_byte(0), "the bytes 0 and 0 of an IDX file",
                std::to_string(byte_at(f, 0)) + " and " + std::to_string(byte_at(f, 1)));
  if (byte_at(f, 2) != 8)
    refuse_file(f, at_byte(2), "the type 8, unsigned bytes", "the type " + std::to_string(byte_at(f, 2)));
  const std::size_t dimensions = byte_at(f, 3);
  if (dimensions == 0) refuse_file(f, at_byte(3), "one dimension or more", "0");
  data = 4 + 4 * dimensions;
  need(data);
  std::vector<std::size_t> extents;
  std::size_t numbers = 1;
  for (std::size_t at = 4; at < data; at += 4) {
    std::size_t extent = 0;
    for (std::size_t i = at; i < at + 4; ++i) extent = extent << 8U | byte_at(f, i);
    // What does not fit would overflow; a file has fewer bytes than this.
    if (extent != 0 && numbers > (std::size_t(1) << 48U) / extent)
      refuse_file(f, at_byte(at), "an extent that fits a file", std::to_string(extent));
    numbers *= extent;
    extents.push_back(extent);
  }
  if (f.bytes.size() - data != numbers)
    refuse_file(f, at_byte(std::min(f.bytes.size(), data + numbers)), std::to_string(data + numbers) + " bytes in all",
                std::to_string(f.bytes.size()));
  return extents;
}

/// A mean or deviation for each number of a channel.
inline float of_channel(const std::vector<float>& values, std::size_t channel, std::size_t channels, const char* what) {
  if (values.size() == 1) return values[0];
  if (values.size() == channels) return values[channel];
  throw error(std::string("manta: train: .") + what + " has " + std::to_string(values.size()) +
              " numbers; the pictures have " + std::to_string(channels) + " channels, so one or that many are needed");
}

/// Writes a picture's numbers to a column.
inline void scale_picture(const char* from, std::size_t channels, const picture_options& o,
                          Eigen::Ref<Eigen::VectorXf> to) {
  const std::size_t size = static_cast<std::size_t>(to.size()) / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const float mean = of_channel(o.mean, c, channels, "mean"),
                deviation = of_channel(o.deviation, c, channels, "deviation");
    for (std::size_t i = c * size; i < (c + 1) * size; ++i) {
      const auto byte = static_cast<float>(static_cast<unsigned char>(from[i]));
      to[static_cast<Eigen::Index>(i)] = (byte / 255.0F - mean) / deviation;
    }
  }
}

inline std::size_t at_most(std::size_t count, std::size_t most) { return most == 0 ? count : std::min(count, most); }

/// A line of a table in fields. Quotes are taken off; a doubled quote inside them is one.
inline std::vector<std::string> csv_fields(const file& f, std::string_view line, std::size_t number, char separator) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[i++];
      } else {
        is_quoted = !is_quoted;
      }
    } else if (c == separator && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (is_quoted) refuse_file(f, "line " + std::to_string(number), "a closing quote", "the end of the line");
  for (std::string& field : fields) {
    field.erase(0, field.find_first_not_of(" \t"));
    field.erase(field.find_last_not_of(" \t") + 1);
  }
  return fields;
}

/// The whole text as a number, if it is one.
template <class Number>
inline bool read_number(const std::string& text, Number& to) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, code] = std::from_chars(begin, text.data() + text.size(), to);
  return code == std::errc() && end == text.data() + text.size();
}

/// A table's fields as text, before the target is known to be numbers or words.
struct csv_rows {
  std::vector<std::vector<float>> inputs;
  std::vector<std::string> targets;
  std::vector<std::size_t> lines;
};

inline std::size_t target_column(const file& f, const std::vector<std::string>& first, const csv_options& o) {
  if (o.target.empty()) return first.size() - 1;
  if (!o.header)
    throw error("manta: train: .target names a column, and .header = false says that columns have no names");
  const auto found = std::find(first.begin(), first.end(), o.target);
  if (found != first.end()) return static_cast<std::size_t>(found - first.begin());
  std::string names;
  for (const std::string& name : first) names += (names.empty() ? "" : ", ") + name;
  refuse_file(f, "line 1", "a column \"" + o.target + '"', "the columns " + names);
}

inline csv_rows read_rows(const file& f, const csv_options& o) {
  csv_rows rows;
  std::size_t number = 0, columns = 0, target = 0;
  for (std::size_t at = 0; at < f.bytes.size();) {
    const std::size_t end = std::min(f.bytes.find('\n', at), f.bytes.size());
    std::string_view line(f.bytes.data() + at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::vector<std::string> fields = csv_fields(f, line, number, o.separator);
    const std::string where = "line " + std::to_string(number);
    if (columns == 0) {
      columns = fields.size();
      target = target_column(f, fields, o);
      if (columns < 2) refuse_file(f, where, "two columns or more", "one");
      if (o.header) continue;
    }
    if (fields.size() != columns)
      refuse_file(f, where, std::to_string(columns) + " fields", std::to_string(fields.size()));
    rows.lines.push_back(number);
    rows.targets.push_back(fields[target]);
    auto& input = rows.inputs.emplace_back();
    for (std::size_t i = 0; i < columns; ++i) {
      if (i == target) continue;
      input.emplace_back();
      if (!read_number(fields[i], input.back()))
        refuse_file(f, where + ", column " + std::to_string(i + 1), "a number", '"' + fields[i] + '"');
    }
  }
  if (rows.inputs.empty()) refuse_file(f, at_byte(f.bytes.size()), "a line with numbers", "the end of the file");
  return rows;
}

/// Throws where the targets are numbers as of a curve.
inline void check_classes(const file& f, const csv_rows& rows) {
  float number = 0;
  std::size_t broken = rows.targets.size();
  for (std::size_t i = rows.targets.size(); i-- > 0;) {
    if (!read_number(rows.targets[i], number)) return;
    if (std::trunc(number) != number) broken = i;
  }
  if (broken < rows.targets.size())
    refuse_file(f, "line " + std::to_string(rows.lines[broken]), "a class, or .classes = false for numbers as targets",
                '"' + rows.targets[broken] + '"');
}

/// Classes from numbers, or else from words.
inline std::vector<int> classes_of(const std::vector<std::string>& targets) {
  std::vector<int> classes(targets.size());
  bool are_numbers = true;
  for (std::size_t i = 0; i < targets.size(); ++i)
    are_numbers = are_numbers && read_number(targets[i], classes[i]) && classes[i] >= 0;
  if (are_numbers) return classes;
  std::map<std::string, int> numbers;
  for (const std::string& word : targets) numbers[word] = 0;
  int next = 0;
  for (auto& [word, number] : numbers) number = next++;
  for (std::size_t i = 0; i < targets.size(); ++i) classes[i] = numbers[targets[i]];
  return classes;
}

}  // namespace detail

MANTA_DECL file::file(const std::string& path) : name(path) {
  const auto fail = [&] {
    throw error("manta: train: cannot read the file " + name + ": " + std::string(std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!in) fail();
  char block[1U << 16U];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, in.get())) > 0;) bytes.append(block, got);
  if (std::ferror(in.get()) != 0) fail();
}

MANTA_DECL samples read_idx(const file& pictures, const file& labels, const picture_options& o) {
  std::size_t data = 0, label_data = 0;
  const std::vector<std::size_t> extents = detail::idx_extents(pictures, data),
                                 label_extents = detail::idx_extents(labels, label_data);
  if (label_extents.size() != 1)
    detail::refuse_file(labels, detail::at_byte(3), "1 dimension, as labels have",
                        std::to_string(label_extents.size()));
  if (label_extents[0] != extents[0])
    detail::refuse_file(labels, detail::at_byte(4),
                        std::to_string(extents[0]) + " labels, as many as the pictures of " + pictures.name,
                        std::to_string(label_extents[0]));
  std::size_t size = 1;
  for (std::size_t i = 1; i < extents.size(); ++i) size *= extents[i];
  const std::size_t count = detail::at_most(extents[0], o.most);
  Eigen::MatrixXf x(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(count));
  std::vector<int> classes(count);
  for (std::size_t i = 0; i < count; ++i) {
    detail::scale_picture(pictures.bytes.data() + data + i * size, 1, o, x.col(static_cast<Eigen::Index>(i)));
    classes[i] = static_cast<int>(detail::byte_at(labels, label_data + i));
  }
  return samples(std::move(x), std::move(classes));
}

MANTA_DECL samples read_cifar10(const std::vector<file>& parts, const picture_options& o) {
  constexpr std::size_t channels = 3, size = channels * 32 * 32, record = 1 + size;
  std::size_t all = 0;
  for (const file& f : parts) {
    if (f.bytes.empty() || f.bytes.size() % record != 0)
      detail::refuse_file(f, detail::at_byte(f.bytes.size() / record * record),
                          "records of " + std::to_string(record) + " bytes",
                          std::to_string(f.bytes.size() % record) + " bytes and the end of the file");
    all += f.bytes.size() / record;
  }
  const std::size_t count = detail::at_most(all, o.most);
  Eigen::MatrixXf x(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(count));
  std::vector<int> classes;
  for (const file& f : parts) {
    for (std::size_t at = 0; at < f.bytes.size() && classes.size() < count; at += record) {
      if (detail::byte_at(f, at) > 9)
        detail::refuse_file(f, detail::at_byte(at), "a class from 0 to 9", std::to_string(detail::byte_at(f, at)));
      detail::scale_picture(f.bytes.data() + at + 1, channels, o, x.col(static_cast<Eigen::Index>(classes.size())));
      classes.push_back(static_cast<int>(detail::byte_at(f, at)));
    }
  }
  return samples(std::move(x), std::move(classes));
}

MANTA_DECL samples read_csv(const file& table, const csv_options& o) {
  const detail::csv_rows rows = detail::read_rows(table, o);
  const auto count = static_cast<Eigen::Index>(rows.inputs.size());
  Eigen::MatrixXf x(static_cast<Eigen::Index>(rows.inputs[0].size()), count);
  for (Eigen::Index i = 0; i < count; ++i)
    x.col(i) = Eigen::Map<const Eigen::VectorXf>(rows.inputs[static_cast<std::size_t>(i)].data(), x.rows());
  if (o.classes) {
    detail::check_classes(table, rows);
    return samples(std::move(x), detail::classes_of(rows.targets));
  }
  Eigen::MatrixXf y(1, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!detail::read_number(rows.targets[row], y(0, i)))
      detail::refuse_file(table, "line " + std::to_string(rows.lines[row]), "a number as target",
                          '"' + rows.targets[row] + '"');
  }
  return samples(std::move(x), std::move(y));
}

}  // namespace manta::train
