// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "source.hpp"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace farm {

namespace {

/// The lines of an open file.
class text_source : public source {
 public:
  text_source(int file, std::string name, const line_options& for_all)
      : file_(file), name_(std::move(name)), maker_(for_all) {}
  ~text_source() override {
    if (file_ > 0) ::close(file_);
  }

  supply next(line& into) override {
    while (true) {
      const std::size_t end = text_.find('\n', searched_);
      if (end == std::string::npos && !ended_) {
        searched_ = text_.size();
        if (!read_more()) return supply::nothing_yet;
        continue;
      }
      if (end == std::string::npos && begin_ == text_.size()) return supply::end;
      const std::size_t stop = std::min(end, text_.size());
      const std::string_view text = std::string_view(text_).substr(begin_, stop - begin_);
      begin_ = searched_ = std::min(stop + 1, text_.size());
      if (maker_.make(text, ++number_, into)) return supply::line;
    }
  }
  int descriptor() const override { return ended_ ? -1 : file_; }

 private:
  /// False if there is nothing at this moment.
  bool read_more() {
    pollfd look{file_, POLLIN, 0};
    if (::poll(&look, 1, 0) == 0) return false;
    text_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    char part[1 << 16];
    const ssize_t bytes = ::read(file_, part, sizeof part);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
    if (bytes < 0) throw mistake(name_ + " cannot be read: " + std::strerror(errno));
    ended_ = bytes == 0;
    text_.append(part, static_cast<std::size_t>(bytes));
    return true;
  }

  int file_;
  std::string name_;
  line_maker maker_;
  std::string text_;                      // what was read
  std::size_t begin_ = 0, searched_ = 0;  // the next line begins here; up to here there is no end of a line
  bool ended_ = false;
  int number_ = 0;
};

/// The product of lists; the last list changes first.
class product_source : public source {
 public:
  explicit product_source(const source_options& options) : pattern_(options.pattern), maker_(options.for_all) {
    for (const std::string& text : options.lists) lists_.push_back(list_of(text));
    for (const auto& list : lists_) {
      total_ *= list.size();
      if (total_ > 1'000'000'000) throw mistake("the lists of --each make more than a thousand million lines");
    }
  }
  supply next(line& into) override {
    while (done_ < total_) {
      std::vector<std::string_view> words(lists_.size());
      std::uint64_t rest = done_++;
      for (std::size_t i = lists_.size(); i-- > 0; rest /= lists_[i].size())
        words[i] = lists_[i][rest % lists_[i].size()];
      if (maker_.make(filled(pattern_, words, done_), static_cast<int>(done_), into)) return supply::line;
    }
    return supply::end;
  }

 private:
  std::string pattern_;
  std::vector<std::vector<std::string>> lists_;
  std::uint64_t total_ = 1, done_ = 0;
  line_maker maker_;
};

/// A word for a place `{}`, `{.}`, `{/}` or `{/.}`: whole, without the ending, the name of the file alone, both.
std::string_view part_of(std::string_view word, std::string_view wanted) {
  if (wanted.find('/') != std::string_view::npos) word.remove_prefix(word.rfind('/') + 1);
  if (wanted.find('.') == std::string_view::npos) return word;
  const std::size_t dot = word.rfind('.'), slash = word.rfind('/');
  const bool has_ending = dot != std::string_view::npos && (slash == std::string_view::npos || dot > slash);
  return has_ending ? word.substr(0, dot) : word;
}

bool read_range(const std::string& text, std::vector<std::string>& into) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos || text.find_first_not_of("0123456789.-") != std::string::npos) return false;
  const std::int64_t first = number_of(text.substr(0, dots), "first", INT32_MIN);
  const std::int64_t last = number_of(text.substr(dots + 2), "last", INT32_MIN);
  if (last < first) throw mistake("the list " + text + " is empty: its last number is below its first");
  if (last - first >= 100'000'000) throw mistake("the list " + text + " has more than 100 million numbers");
  const bool is_padded = text[0] == '0' && dots > 1;  // 001..100: all have the same number of digits
  for (std::int64_t number = first; number <= last; ++number) {
    std::string word = std::to_string(number);
    if (is_padded && word.size() < dots) word.insert(0, dots - word.size(), '0');
    into.push_back(std::move(word));
  }
  return true;
}

void read_files(const std::string& pattern, std::vector<std::string>& into) {
  glob_t found{};
  const int failed = ::glob(pattern.c_str(), GLOB_BRACE | GLOB_TILDE, nullptr, &found);
  for (std::size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) into.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (into.empty()) throw mistake("no file matches the list " + pattern);
}

}  // namespace

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> words;
  if (text.empty()) throw mistake("a list of --each is empty");
  if (read_range(text, words)) return words;
  if (text.find_first_of("*?[") != std::string::npos) {
    read_files(text, words);
    return words;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string filled(const std::string& pattern, const std::vector<std::string_view>& words, std::uint64_t number) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = pattern[at] == '{' ? pattern.find('}', at) : std::string::npos;
    const std::string_view inside =
        end == std::string::npos ? "?" : std::string_view(pattern).substr(at + 1, end - at - 1);
    const std::size_t digits = std::min(inside.find_first_not_of("0123456789"), inside.size());
    const std::string_view what = inside.substr(digits);
    if (inside == "#") {
      text += std::to_string(number);
    } else if (digits > 8 || (what != "" && what != "." && what != "/" && what != "/.")) {
      text += pattern[at++];  // a brace of the shell, or any other character
      continue;
    } else if (digits > 0) {
      const std::size_t which = static_cast<std::size_t>(number_of(inside.substr(0, digits), "{}", 0));
      if (which < 1 || which > words.size())
        throw mistake("{" + std::string(inside) + "} names a list, and there are " + std::to_string(words.size()));
      text += quoted(part_of(words[which - 1], what));
    } else {
      for (std::size_t i = 0; i < words.size(); ++i) text += (i > 0 ? " " : "") + quoted(part_of(words[i], what));
    }
    at = end + 1;
  }
  return text;
}

bool is_read_twice(const source_options& options) {
  struct stat about {};
  return options.file.empty() ||
         (options.file != "-" && ::stat(options.file.c_str(), &about) == 0 && S_ISREG(about.st_mode));
}

std::unique_ptr<source> open_source(const source_options& options) {
  if (options.file.empty()) return std::make_unique<product_source>(options);
  if (options.file == "-") return std::make_unique<text_source>(0, "the standard input", options.for_all);
  const int file = ::open(options.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw mistake("the file " + options.file + " cannot be read: " + std::strerror(errno));
  struct stat about {};
  if (::fstat(file, &about) == 0 && S_ISDIR(about.st_mode)) {
    ::close(file);
    throw mistake(options.file + " is a folder; a file with a command in each line is wanted");
  }
  return std::make_unique<text_source>(file, options.file, options.for_all);
}

}  // namespace farm
