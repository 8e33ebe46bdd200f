// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "manta/base/demangle.hpp"
#include "manta/base/text.hpp"
#include "manta/serve/http_error.hpp"
#include "manta/serve/http_failures.hpp"
#include "manta/serve/json.hpp"
#include "manta/serve/overloaded.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve::detail {

// --- texts for clients

inline bool can_be_in_path(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || c == '_' || c == '-' || c == '.' || c == '+' || c == '~' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// "/home/user/model.py" becomes "model.py". What has one slash alone, such as a route, stays.
inline std::string without_paths(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins =
        text[i] == '/' && (i == 0 || (!can_be_in_path(text[i - 1]) && text[i - 1] != '/' && text[i - 1] != ':'));
    if (!begins) {
      out += text[i++];
      continue;
    }
    std::size_t end = i, last = i, slashes = 0;
    for (; end < text.size() && (text[end] == '/' || can_be_in_path(text[end])); ++end) {
      if (text[end] != '/') continue;
      last = end;
      ++slashes;
    }
    out += slashes > 1 ? text.substr(last + 1, end - last - 1) : text.substr(i, end - i);
    i = end;
  }
  return out;
}

/// Python indents the frames of a traceback; what was thrown stands behind them.
inline std::string without_traceback(const std::string& text) {
  constexpr std::string_view begin = "Traceback (most recent call last):";
  std::string out;
  bool in_traceback = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    const std::size_t found = line.find(begin);
    if (found != std::string::npos) {
      out += line.substr(0, found);
      in_traceback = true;
    } else if (!in_traceback || (!line.starts_with(' ') && line != "\n")) {
      in_traceback = false;
      out += line;
    }
  }
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

/// " on rank 3 (node17)" is left out.
inline std::string without_ranks(std::string text) {
  constexpr std::string_view words = " on rank ";
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at)) {
    std::size_t end = text.find_first_not_of("0123456789", at + words.size());
    if (end == at + words.size()) {  // no number follows
      at = end;
      continue;
    }
    end = std::min(end, text.size());
    if (text.compare(end, 2, " (") == 0) end = std::min(text.find(')', end), text.size() - 1) + 1;
    text.erase(at, end - at);
  }
  return text;
}

MANTA_DECL std::string without_places(const std::string& text) {
  return without_ranks(without_paths(without_traceback(text)));
}

// --- answers

MANTA_DECL void http_failures::add(const std::string& type, int status) {
  if (status < 400 || status > 599)
    throw error(base::text("manta: http.answer: {} is no status of an error; those are 400 to 599", status));
  statuses_[base::demangle(type.c_str())] = status;
}

inline int http_failures::status_of(const std::string& type, int otherwise) const {
  const auto found = statuses_.find(type);
  return found == statuses_.end() ? otherwise : found->second;
}

inline reply http_failures::answer_for(int status, const std::string& why) const {
  reply answer = failure(status, all_ ? why : without_places(why));
  if (status == 503) answer.header.emplace_back("Retry-After", "1");
  return answer;
}

MANTA_DECL reply http_failures::answer() const {
  try {
    throw;
  } catch (const http_error& e) {
    reply answer = failure(e.status(), e.what());
    answer.header = e.header();
    return answer;
  } catch (const request_failed& e) {
    return answer_for(status_of(e.type(), 500), all_ || e.why().empty() ? e.what() : e.why());
  } catch (const task_failed& e) {
    const std::string& type = e.details().type;
    const int otherwise = is_overload(e) ? 503 : type == "manta::serve::timed_out" ? 504 : 500;
    return answer_for(status_of(type, otherwise), all_ ? e.what() : e.details().what);
  } catch (const replica_died& e) {
    const std::string what = e.what();
    constexpr std::string_view words = "died with a request";  // how it died is for the log
    return answer_for(500, all_ ? what : what.substr(0, what.find(words)) + std::string(words));
  } catch (const timed_out& e) {
    return answer_for(504, e.what());
  } catch (const std::exception& e) {
    return answer_for(status_of(base::demangle(typeid(e).name()), is_overload(e) ? 503 : 500), base::text_of(e));
  } catch (...) {
    return answer_for(500, "the function threw something that is no std::exception");
  }
}

MANTA_DECL std::string http_failures::whole_text() {
  try {
    throw;
  } catch (const std::exception& e) {
    return base::text_of(e);
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace manta::serve::detail
