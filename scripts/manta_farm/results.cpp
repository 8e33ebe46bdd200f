// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <manta/output/json_builder.hpp>
#include <memory>
#include <system_error>

namespace farm {

namespace {

constexpr outcome outcomes[] = {outcome::ok,          outcome::failed,  outcome::timeout,
                                outcome::not_started, outcome::skipped, outcome::interrupted};
constexpr std::size_t most_command = 1000;  // bytes of a command in its record

template <class Number>
Number number_field(std::string_view text, std::string_view name) {
  const std::string_view value = field(text, name);
  Number number{};
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

/// Reads the record; false if it is none.
bool read_record(std::string_view text, record& into) {
  if (!text.starts_with("{\"key\":\"") || !text.ends_with('}')) return false;
  std::string_view key = field(text, "key"), how = field(text, "outcome");
  if (key.size() < 2 || how.size() < 2) return false;
  how = how.substr(1, how.size() - 2);
  const outcome* const found = std::ranges::find(outcomes, how, word_of);
  if (found == std::end(outcomes)) return false;
  into.key = line_key::of(key.substr(1, key.size() - 2));
  into.how = *found;
  into.runs_again = field(text, "again") == "true";
  into.line = number_field<int>(text, "line");
  into.attempt = number_field<int>(text, "attempt");
  return true;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

double to_microseconds(double seconds) { return std::round(seconds * 1e6) / 1e6; }

std::string record_text(const line& what, int attempt, bool runs_again, const line_result& r, const std::string& host) {
  manta::output::json_builder b;
  b.begin('{').member("key", what.key.text()).member("outcome", word_of(r.how)).member("again", runs_again);
  b.member("line", what.number).member("attempt", attempt).member("status", r.status).member("signal", r.signal);
  b.member("begin", to_microseconds(r.begin)).member("seconds", to_microseconds(r.seconds));
  b.member("cpu_seconds", to_microseconds(r.cpu_seconds));
  b.member("memory_bytes", r.memory_bytes).member("rank", r.rank).member("host", host).member("why", r.why);
  std::uint64_t bytes = 0;
  b.key("output").begin('[');
  for (const piece& each : r.output) {
    b.begin('[').value(each.file).value(each.begin).value(each.bytes).end(']');
    bytes += each.bytes;
  }
  b.end(']').member("output_bytes", bytes).member("cut_bytes", r.cut_bytes);
  const bool is_long = what.command.size() > most_command;
  b.member("command", is_long ? what.command.substr(0, most_command) + "..." : what.command).end('}');
  return std::move(b.text()) + "\n";
}

/// The end of the last whole record.
off_t end_of_records(int file) {
  off_t end = ::lseek(file, 0, SEEK_END);
  char part[4096];
  while (end > 0) {
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(sizeof part));
    const ssize_t bytes = ::pread(file, part, static_cast<std::size_t>(end - begin), begin);
    if (bytes <= 0) return end;
    for (ssize_t i = bytes; i > 0; --i) {
      if (part[i - 1] == '\n') return begin + i;
    }
    end = begin;
  }
  return 0;
}

}  // namespace

std::string_view field(std::string_view text, std::string_view name) {
  // Inside of strings a quote stands behind a backslash, so this is found at names alone.
  const std::string begin = "\"" + std::string(name) + "\":";
  std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  at += begin.size();
  int depth = 0;
  bool in_string = false;
  for (std::size_t end = at; end < text.size(); ++end) {
    const char c = text[end];
    if (in_string) {
      if (c == '\\') ++end;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (depth == 0 && (c == ',' || c == '}')) {
      return text.substr(at, end - at);
    } else {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    }
  }
  return {};
}

std::string string_field(std::string_view text, std::string_view name) {
  constexpr std::string_view from = "bfnrt", to = "\b\f\n\r\t";
  const std::string_view value = field(text, name);
  std::string out;
  for (std::size_t at = 1; at + 1 < value.size(); ++at) {
    if (value[at] != '\\') {
      out += value[at];
    } else if (value[++at] == 'u') {  // only controls are written so
      unsigned code = 0;
      std::from_chars(value.data() + at + 1, value.data() + at + 5, code, 16);
      out += static_cast<char>(code);
      at += 4;
    } else {
      const std::size_t which = from.find(value[at]);
      out += which == std::string_view::npos ? value[at] : to[which];
    }
  }
  return out;
}

std::vector<piece> pieces_of(std::string_view text) {
  std::vector<piece> pieces;
  std::string_view rest = field(text, "output");
  for (std::size_t at; (at = rest.find("[\"")) != std::string_view::npos;) {
    rest.remove_prefix(at + 2);
    piece& each = pieces.emplace_back();
    each.file = rest.substr(0, rest.find('"'));
    rest.remove_prefix(std::min(rest.size(), each.file.size() + 2));
    const char* const end = rest.data() + rest.size();
    const char* const comma = std::from_chars(rest.data(), end, each.begin).ptr;
    if (comma != end) std::from_chars(comma + 1, end, each.bytes);
  }
  return pieces;
}

void read_records(const std::string& journal, const std::function<void(const record&, std::string_view)>& use) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(journal.c_str(), "re"), std::fclose);
  if (file == nullptr) throw mistake(journal + " cannot be read: " + std::strerror(errno));
  char* text = nullptr;
  std::size_t room = 0;
  record each;
  for (ssize_t bytes; (bytes = ::getline(&text, &room, file.get())) > 0;) {
    if (text[bytes - 1] != '\n') break;
    const std::string_view line(text, static_cast<std::size_t>(bytes - 1));
    if (read_record(line, each)) use(each, line);
  }
  std::free(text);
}

std::unordered_map<line_key, outcome, key_hash> ended_lines(const std::string& journal) {
  std::unordered_map<line_key, outcome, key_hash> ended;
  read_records(journal, [&](const record& each, std::string_view) {
    ended[each.key] = each.runs_again ? outcome::interrupted : each.how;
  });
  return ended;
}

void print_csv(const std::string& journal, std::FILE* out) {
  constexpr const char* numbers[] = {"status",      "signal",       "attempt", "begin",       "seconds",
                                     "cpu_seconds", "memory_bytes", "rank",    "output_bytes"};
  constexpr const char* texts[] = {"host", "why", "command"};
  struct row {
    int line;
    std::string text;
  };
  std::unordered_map<line_key, row, key_hash> rows;
  read_records(journal, [&](const record& each, std::string_view text) {
    std::string all = std::to_string(each.line) + "," + word_of(each.how);
    for (const char* name : numbers) all.append(",").append(field(text, name));
    for (const char* name : texts) all += "," + csv_text(string_field(text, name));
    rows[each.key] = {each.line, std::move(all)};
  });
  std::vector<const row*> in_order;
  for (const auto& [key, each] : rows) in_order.push_back(&each);
  std::ranges::sort(in_order, {}, &row::line);
  std::fputs(
      "line,outcome,status,signal,attempt,begin,seconds,cpu_seconds,memory_bytes,rank,output_bytes,host,why,command\n",
      out);
  for (const row* each : in_order) std::fprintf(out, "%s\n", each->text.c_str());
}

results_folder::~results_folder() {
  if (file_ >= 0) ::close(file_);
}

bool results_folder::exists() const {
  struct stat about {};
  return ::stat(journal().c_str(), &about) == 0 && about.st_size > 0;
}

void results_folder::clear() const {
  glob_t found{};
  const std::string pattern = path_ + "/output.*";
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) ::unlink(found.gl_pathv[i]);
  }
  ::globfree(&found);
  ::unlink((path_ + "/results.csv").c_str());
  if (::ftruncate(file_, 0) != 0) throw mistake(journal() + " cannot be written: " + std::strerror(errno));
}

void results_folder::open() {
  if (::mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST)
    throw mistake("the folder " + path_ + " cannot be made: " + std::strerror(errno) + "; name another by --results");
  file_ = ::open(journal().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw mistake(journal() + " cannot be written: " + std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw mistake("another manta-farm writes to " + path_ + "; wait for its end, or name another folder by --results");
  if (::ftruncate(file_, end_of_records(file_)) != 0)
    throw mistake(journal() + " cannot be written: " + std::strerror(errno));
}

void results_folder::append(const line& what, int attempt, bool runs_again, const line_result& result,
                            const std::string& host) {
  if (write_all(file_, record_text(what, attempt, runs_again, result, host))) return;
  throw std::system_error(errno, std::generic_category(), journal());
}

void results_folder::write_csv() const {
  const std::string path = path_ + "/results.csv", next = path + ".next";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(next.c_str(), "we"), std::fclose);
  if (file == nullptr) throw std::system_error(errno, std::generic_category(), next);
  print_csv(journal(), file.get());
  const bool is_written = std::fflush(file.get()) == 0 && std::ferror(file.get()) == 0;
  if (is_written && std::rename(next.c_str(), path.c_str()) == 0) return;
  const int failed = errno;
  ::unlink(next.c_str());
  throw std::system_error(failed, std::generic_category(), path);
}

}  // namespace farm
