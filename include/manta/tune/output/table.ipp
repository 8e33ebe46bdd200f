// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of table.hpp.
#pragma once

#include <sys/ioctl.h>

#include "manta/progress.hpp"
#include "manta/tune/output/table.hpp"

namespace manta::tune {

MANTA_DECL status_table::status_table(const study& s, std::FILE* out)
    : study_(s), out_(out), shown_(s.options().show), terminal_(::isatty(::fileno(out)) == 1) {
  // The launcher of several ranks has the terminal, and they have a pipe to it.
  terminal_ = terminal_ || (out == stderr && progress_style_here() == progress_style::bar);
}

MANTA_DECL std::string status_table::fitted(const std::string& text) const {
  ::winsize size = {};
  const bool is_known = ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t most = is_known ? size.ws_col - 1U : 79;
  std::string lines;
  std::size_t used = 0;
  for (const char c : text) {
    const bool is_inside = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;  // of a character of several bytes
    if (c == '\n') used = 0;
    else if (!is_inside) ++used;
    if (c == '\n' || used <= most) lines += c;
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

MANTA_DECL void status_table::finish() {
  if (!shown_) return;
  erase();
  if (terminal_) print(fitted(table(study_.summary().seconds)));
  print(one_line(study_.summary().seconds) + (study_.finished() ? "; " + study_.ended_because() : "") + "\n");
  drawn_ = 0;
}

MANTA_DECL std::string status_table::one_line(double now) const {
  std::string text = study_.options().name + ": " + seconds_text(now);
  if (!study_.trials().empty()) text += ", " + detail::states_text(study_.trials());
  if (const trial_record* b = study_.best()) {
    text += "; best " + study_.metric() + " " + detail::number_text(study_.metric_of(b->best_loss)) + " (trial " +
            std::to_string(b->id) + ", " + b->parameters.text() + ")";
  }
  return text;
}

MANTA_DECL std::string status_table::table(double now, std::size_t rows) const {
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
  std::string text = one_line(now).substr(0, 110) + "\n";
  char row[160];
  std::snprintf(row, sizeof row, "%7s %-9s %8s %12s %12s  %s\n", "trial", "state", "at", "last", "best",
                "configuration");
  text += row;
  for (const trial_record* t : shown) {
    const auto number = [&](double loss) {
      return is_finite(loss) ? detail::number_text(study_.metric_of(loss)) : std::string("-");
    };
    std::snprintf(row, sizeof row, "%7llu %-9s %8s %12s %12s  %.60s\n", static_cast<unsigned long long>(t->id),
                  name_of(t->state), detail::number_text(t->at).c_str(), number(t->loss).c_str(),
                  number(t->best_loss).c_str(), t->parameters.text().c_str());
    text += row;
  }
  return text;
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
  if (drawn_ > 0) print("\x1b[" + std::to_string(drawn_) + "A\x1b[J");
  drawn_ = 0;
}

MANTA_DECL void status_table::print(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace manta::tune
