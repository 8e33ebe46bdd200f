// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/ioctl.h>

#include "manta/base/text.hpp"
#include "manta/progress.hpp"
#include "manta/tune/output/table.hpp"

namespace manta::tune {

MANTA_DECL status_table::status_table(const study& s, std::FILE* out)
    : study_(s), out_(out), shown_(s.options().show), terminal_(::isatty(::fileno(out)) == 1) {
  // The launcher of several ranks has the terminal, and they have a pipe to it.
  terminal_ = terminal_ || (out == stderr && progress_style_here() == progress_style::bar);
}

namespace detail {
/// The number of characters that a text takes on a terminal.
inline std::size_t shown_length(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// The text, cut off after this number of characters.
inline std::string cut_to(std::string_view text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size(); ++end) {
    used += shown_length(text.substr(end, 1));
    if (used > most) break;
  }
  return std::string(text.substr(0, end));
}

inline std::string four_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

/// A text as a cell: short, and on one line.
inline std::string cell_of(std::string text) {
  constexpr std::size_t most = 16;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return cut_to(text, most);
}

inline std::string cell_of(const value* v) {
  if (v == nullptr) return "-";
  if (v->is_number()) return four_digits(v->as<double>());
  return cell_of(v->is_text() ? v->as<std::string>() : v->text());
}

/// The parameters in which these trials differ; of a single trial all.
inline std::vector<std::string> varying_parameters(const std::vector<const trial_record*>& trials) {
  std::vector<std::string> names;
  for (const trial_record* t : trials) {
    for (const auto& [name, v] : t->parameters) {
      const auto has_it = [&](const trial_record* other) {
        const value* same = other->parameters.find(name);
        return same != nullptr && *same == v;
      };
      const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
      if (is_new && (trials.size() == 1 || !std::all_of(trials.begin(), trials.end(), has_it))) names.push_back(name);
    }
  }
  return names;
}

/// Lines of cells under each other, at the right of columns that are as wide as they need to be.
inline std::string lines_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths = {7};
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shown_length(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - shown_length(row[i]), ' ');
      text += (i == 0 ? "" : i == 1 ? " " : "  ") + (i == 1 ? row[i] + gap : gap + row[i]);
    }
    text += '\n';
  }
  return text;
}
}  // namespace detail

MANTA_DECL std::string status_table::fitted(const std::string& text) const {
  ::winsize size = {};
  const bool is_known = ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t most = is_known ? size.ws_col - 1U : 79;
  std::string lines;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    lines += detail::cut_to(std::string_view(text).substr(at, end - at), most) + '\n';
  }
  return lines;
}

MANTA_DECL void status_table::update(double now) {
  if (!shown_ || now < next_) return;
  if (terminal_) {
    next_ = now + 0.5;
    redraw(now);
  } else {
    if (next_ > 0 && study_.summary().reports != reported_) print(one_line(now) + "\n");
    reported_ = study_.summary().reports;
    pause_ = std::min(pause_ * 1.5, 600.0);
    next_ = now + pause_;
  }
}

MANTA_DECL void status_table::line(const std::string& text, bool matters) {
  if (!shown_ && !matters) return;
  erase();
  print(study_.options().name + ": " + text + "\n");
  if (terminal_) next_ = 0;
}

MANTA_DECL void status_table::failed(trial_number t, const std::string& why) {
  constexpr std::size_t named = 3;
  const std::size_t n = ++failures_[why];
  if (n > named) return;
  line(base::text("trial {} failed: {}{}", t, why, n == named ? "; further ones are counted" : ""));
}

MANTA_DECL void status_table::finish() {
  if (!shown_) return;
  erase();
  if (terminal_) print(fitted(table(study_.summary().seconds)));
  for (const auto& [why, n] : failures_) {
    if (n > 3) line(base::text("{} trials failed: {}", n, why));
  }
  print(one_line(study_.summary().seconds) + (study_.finished() ? "; " + study_.ended_because() : "") + "\n");
  drawn_ = 0;
}

MANTA_DECL std::string status_table::one_line(double now) const {
  std::string text = study_.options().name + ": " + seconds_text(now);
  const std::size_t ended = study_.summary().ended, wanted = study_.trial_limit();
  const bool is_limited = wanted != ~std::size_t{0};
  if (is_limited) text += base::text(", {} of {}", ended, wanted);
  if (!study_.trials().empty()) text += ", " + detail::states_text(study_.trials());
  if (is_limited && ended > 0 && ended < wanted && !study_.finished() && study_.stopping().empty())
    text += ", " + seconds_text(now * static_cast<double>(wanted - ended) / static_cast<double>(ended)) + " left";
  if (const trial_record* b = study_.best()) {
    text += base::text("; best {} {} (trial {}, {})", study_.metric(),
                       detail::number_text(study_.metric_of(b->best_loss)), b->id, b->parameters.text());
  }
  return text;
}

MANTA_DECL std::vector<const trial_record*> status_table::chosen(std::size_t rows) const {
  std::vector<const trial_record*> shown;
  const auto& all = study_.trials();
  for (const trial_record& t : all) {
    if (is_finite(t.best_loss) && t.state != status::failed) shown.push_back(&t);
  }
  const std::size_t best = std::min(shown.size(), rows / 2);
  std::partial_sort(
      shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(best), shown.end(),
      [](const auto* a, const auto* b) { return std::pair(a->best_loss, a->id) < std::pair(b->best_loss, b->id); });
  shown.resize(best);
  for (const trial_record& t : all) {
    if (shown.size() >= rows) break;
    if (t.state == status::running && std::find(shown.begin(), shown.end(), &t) == shown.end()) shown.push_back(&t);
  }
  return shown;
}

MANTA_DECL std::string status_table::table(double now, std::size_t rows) const {
  const std::vector<const trial_record*> shown = chosen(rows);
  const std::vector<std::string> parameters = detail::varying_parameters(shown);
  const auto number = [&](double loss) {
    return is_finite(loss) ? detail::four_digits(study_.metric_of(loss)) : std::string("-");
  };
  std::vector<std::vector<std::string>> lines = {{"trial", "state", "at", "last", "best"}};
  for (const std::string& name : parameters) lines[0].push_back(detail::cell_of(name));
  for (const trial_record* t : shown) {
    auto& line = lines.emplace_back(std::vector<std::string>{
        std::to_string(t->id), name_of(t->state), detail::four_digits(t->at), number(t->loss), number(t->best_loss)});
    for (const std::string& name : parameters) line.push_back(detail::cell_of(t->parameters.find(name)));
  }
  return one_line(now) + "\n" + detail::lines_of(lines);
}

MANTA_DECL std::string status_table::seconds_text(double s) {
  char text[40];
  if (s < 100) {
    std::snprintf(text, sizeof text, "%.1f s", s);
  } else {
    const auto whole = static_cast<long>(s);
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return text;
}

MANTA_DECL void status_table::redraw(double now) {
  const std::string text = fitted(table(now));
  erase();
  print(text);
  drawn_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

MANTA_DECL void status_table::erase() {
  if (drawn_ > 0) print(base::text("\x1b[{}A\x1b[J", drawn_));
  drawn_ = 0;
}

MANTA_DECL void status_table::print(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace manta::tune
