// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definition of read_csv (readers.hpp): which columns of a table are what, gaps, classes, and normalisation.
#pragma once

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/csv_rows.hpp"
#include "manta/train/readers.ipp"

namespace manta::train {

namespace detail {

/// The whole text as a number, if it is one. What is too small for a double is 0.
inline std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (code == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);  // 0 or infinite
  if (code != std::errc()) return std::nullopt;
  return number;
}

/// Whether a field says that there is nothing.
inline bool is_gap(std::string_view text) {
  if (text.size() > 4) return false;
  std::string small;
  for (const char c : text) small += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return small.empty() || small == "?" || small == "na" || small == "n/a" || small == "nan" || small == "null" ||
         small == "none";
}

/// Which fields of a row are the inputs, and which one is the target.
struct csv_places {
  std::vector<std::size_t> inputs;
  std::vector<std::string> names;  ///< names of the inputs
  std::size_t target = 0, count = 0;
};

inline std::size_t place_of(const file& f, const std::vector<std::string>& first, const std::string& name) {
  const auto found = std::find(first.begin(), first.end(), name);
  if (found == first.end())
    refuse_file(f, "line 1", base::text("a column \"{}\"", name), "the columns " + joined(first));
  return static_cast<std::size_t>(found - first.begin());
}

/// `first`: the fields of the first row, which are names if the file has a header.
inline csv_places find_places(const file& f, const std::vector<std::string>& first, const csv_options& o) {
  if (!o.header && !(o.target.empty() && o.inputs.empty() && o.leave_out.empty()))
    throw error(
        "manta: train: .target, .inputs and .leave_out name columns, and .header = false says that they have no names");
  csv_places p;
  p.count = first.size();
  p.target = o.target.empty() ? first.size() - 1 : place_of(f, first, o.target);
  const std::vector<std::string>& wanted = o.inputs.empty() && o.header ? o.like.inputs : o.inputs;
  for (const std::string& name : wanted) p.inputs.push_back(place_of(f, first, name));
  std::vector<std::size_t> left_out;
  for (const std::string& name : o.leave_out) left_out.push_back(place_of(f, first, name));
  for (std::size_t i = 0; wanted.empty() && i < first.size(); ++i) {
    if (i != p.target) p.inputs.push_back(i);
  }
  std::erase_if(p.inputs, [&](std::size_t i) { return std::ranges::count(left_out, i) > 0; });
  if (std::ranges::count(p.inputs, p.target) > 0)
    refuse_file(f, "line 1", "inputs without the target", base::text("the target \"{}\" among them", first[p.target]));
  if (p.inputs.empty()) refuse_file(f, "line 1", "a target and at least one column of inputs", joined(first));
  for (const std::size_t i : p.inputs) p.names.push_back(o.header ? first[i] : "");
  if (!o.header) p.names.clear();
  return p;
}

/// A table's numbers, one sample after the other, and its targets as text.
struct csv_table {
  csv_places places;
  std::vector<float> inputs;
  std::vector<std::string> targets;
  std::vector<std::size_t> lines;
};

inline std::string at_field(std::size_t line, std::size_t field) {
  return base::text("line {}, column {}", line, field + 1);
}

/// Inputs are NaN where something is missing and .fill says what stands there.
inline float input_in(const file& f, const csv_row& row, std::size_t place, const csv_options& o) {
  const std::string& text = row.fields[place];
  if (is_gap(text)) {
    if (o.fill) return std::numeric_limits<float>::quiet_NaN();
    refuse_file(f, at_field(row.line, place), "a number, or .fill for what is missing", base::text("\"{}\"", text));
  }
  const std::optional<double> number = number_in(text);
  if (!number) refuse_file(f, at_field(row.line, place), "a number", base::text("\"{}\"", text));
  const auto input = static_cast<float>(*number);
  if (!base::is_finite(static_cast<double>(input)))
    refuse_file(f, at_field(row.line, place), "a number that a float can have", base::text("\"{}\"", text));
  return input;
}

inline csv_table read_table(const file& f, const csv_options& o) {
  csv_table t;
  csv_rows rows(f, o.separator);
  csv_row row;
  for (bool is_first = true; rows.next(row); is_first = false) {
    if (is_first) {
      t.places = find_places(f, row.fields, o);
      if (o.header) continue;
    }
    if (row.fields.size() != t.places.count)
      refuse_file(f, base::text("line {}", row.line), base::text("{} fields", t.places.count),
                  base::text("{}", row.fields.size()));
    for (const std::size_t i : t.places.inputs) t.inputs.push_back(input_in(f, row, i, o));
    const std::string& target = row.fields[t.places.target];
    if (is_gap(target))
      refuse_file(f, at_field(row.line, t.places.target), o.classes.are_classes() ? "a class" : "a number as target",
                  base::text("\"{}\"", target));
    t.targets.push_back(target);
    t.lines.push_back(row.line);
  }
  if (t.targets.empty()) refuse_file(f, at_byte(f.bytes.size()), "a line with numbers", "the end of the file");
  return t;
}

/// The words of the classes: those that the options name, or else those of the table. Empty: classes are whole numbers
/// from 0, in whatever form they are written.
inline std::vector<std::string> words_of(const file& f, const csv_table& t, const csv_options& o) {
  if (!o.classes.words().empty()) return o.classes.words();
  if (!o.like.empty()) return o.like.classes;
  std::map<double, std::string> by_value;
  std::map<std::string, int> by_alphabet;
  std::size_t broken = t.targets.size();
  bool are_numbers = true;
  for (std::size_t i = 0; i < t.targets.size(); ++i) {
    by_alphabet[t.targets[i]] = 0;
    const std::optional<double> number = number_in(t.targets[i]);
    are_numbers = are_numbers && number;
    if (!number) continue;
    by_value.try_emplace(*number, t.targets[i]);
    if (std::trunc(*number) != *number || std::abs(*number) > INT_MAX) broken = std::min(broken, i);
  }
  if (are_numbers && broken < t.targets.size())
    refuse_file(f, base::text("line {}", t.lines[broken]), "a class, or .classes = false for numbers as targets",
                base::text("\"{}\"", t.targets[broken]));
  std::vector<std::string> words;
  if (are_numbers && by_value.begin()->first >= 0) return words;
  if (are_numbers) {
    for (const auto& [value, text] : by_value) words.push_back(text);
  } else {
    for (const auto& [text, unused] : by_alphabet) words.push_back(text);
  }
  return words;
}

inline std::vector<int> classes_of(const file& f, const csv_table& t, const std::vector<std::string>& words) {
  std::map<std::string_view, int> numbers;
  std::map<double, int> by_value;  // of words that are numbers: "1.0" is "1"
  for (std::size_t i = 0; i < words.size(); ++i) {
    numbers.try_emplace(words[i], static_cast<int>(i));
    if (const auto value = number_in(words[i])) by_value.try_emplace(*value, static_cast<int>(i));
  }
  std::vector<int> classes;
  for (std::size_t i = 0; i < t.targets.size(); ++i) {
    const std::string& text = t.targets[i];
    const std::optional<double> value = number_in(text);
    if (const auto word = numbers.find(text); word != numbers.end()) {
      classes.push_back(word->second);
    } else if (const auto same = value ? by_value.find(*value) : by_value.end(); same != by_value.end()) {
      classes.push_back(same->second);
    } else if (words.empty() && value && *value >= 0 && *value <= INT_MAX && std::trunc(*value) == *value) {
      classes.push_back(static_cast<int>(*value));
    } else {
      refuse_file(f, base::text("line {}", t.lines[i]),
                  words.empty() ? "a class as a whole number from 0" : "one of the classes " + joined(words),
                  base::text("\"{}\"", text));
    }
  }
  return classes;
}

/// Mean and deviation of each input, over what is not missing; the deviation of a column of equal numbers is 1.
inline void measure(const Eigen::MatrixXf& x, columns& c) {
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    double sum = 0, squares = 0, count = 0;
    const auto each = [&](auto&& f) {
      for (Eigen::Index k = 0; k < x.cols(); ++k) {
        const double number = static_cast<double>(x(i, k));
        if (!base::is_nan(number)) f(number);
      }
    };
    each([&](double number) { sum += number, ++count; });
    const double mean = count > 0 ? sum / count : 0;
    each([&](double number) { squares += (number - mean) * (number - mean); });
    const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
    c.mean.push_back(static_cast<float>(mean));
    c.deviation.push_back(deviation > 0 ? static_cast<float>(deviation) : 1.F);
  }
}

inline Eigen::MatrixXf inputs_of(const csv_table& t, const csv_options& o, columns& c) {
  const auto rows = static_cast<Eigen::Index>(t.places.inputs.size());
  Eigen::MatrixXf x =
      Eigen::Map<const Eigen::MatrixXf>(t.inputs.data(), rows, static_cast<Eigen::Index>(t.targets.size()));
  if (!o.like.mean.empty()) {
    c.mean = o.like.mean, c.deviation = o.like.deviation;
  } else if (o.normalise) {
    measure(x, c);
  }
  for (Eigen::Index i = 0; o.fill && i < x.size(); ++i) {
    if (base::is_nan(static_cast<double>(x.data()[i]))) x.data()[i] = *o.fill;
  }
  for (Eigen::Index k = 0; k < x.cols(); ++k) c.normalise(std::span(x.col(k).data(), static_cast<std::size_t>(rows)));
  return x;
}

}  // namespace detail

MANTA_DECL samples read_csv(const file& table, const csv_options& o) {
  const detail::csv_table t = detail::read_table(table, o);
  columns c;
  c.inputs = t.places.names;
  Eigen::MatrixXf x = detail::inputs_of(t, o, c);
  if (o.classes.are_classes()) {
    c.classes = detail::words_of(table, t, o);
    return samples(std::move(x), detail::classes_of(table, t, c.classes)).with(c);
  }
  Eigen::MatrixXf y(1, x.cols());
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::optional<double> number = detail::number_in(t.targets[row]);
    if (!number || !base::is_finite(static_cast<double>(y(0, i) = static_cast<float>(*number))))
      detail::refuse_file(table, base::text("line {}", t.lines[row]), "a number as target",
                          base::text("\"{}\"", t.targets[row]));
  }
  return samples(std::move(x), std::move(y)).with(c);
}

}  // namespace manta::train
