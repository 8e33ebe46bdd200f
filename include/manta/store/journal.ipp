// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reading what earlier starts have written, and writing behind the work.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "manta/base/clock.hpp"
#include "manta/base/error.hpp"
#include "manta/base/file.hpp"
#include "manta/base/text.hpp"
#include "manta/base/thread.hpp"
#include "manta/base/vector.hpp"
#include "manta/store/failure.hpp"
#include "manta/store/journal.hpp"

namespace manta::store {

MANTA_DECL std::uint64_t journal::digest_of_program() {
  std::FILE* const file = std::fopen("/proc/self/exe", "rb");
  std::uint64_t hash = 0;
  if (file == nullptr) return hash;
  std::vector<char> part(std::size_t{1} << 20);
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), file)) > 0;)
    hash = base::hash_bytes(part.data(), n, hash);
  std::fclose(file);
  return hash;
}

MANTA_DECL journal::journal(std::string folder, std::uint64_t program, int rank, bool speaks)
    : folder_(std::move(folder)), program_(program), rank_(rank), speaks_(speaks) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &monotonic);
  int not_made = 0;
  for (std::size_t i = 1; i <= folder_.size(); ++i) {  // as mkdir -p
    if (i != folder_.size() && folder_[i] != '/') continue;
    if (::mkdir(folder_.substr(0, i).c_str(), 0777) != 0) not_made = errno;
  }
  DIR* const entries = ::opendir(folder_.c_str());
  if (entries == nullptr || ::access(folder_.c_str(), W_OK | X_OK) != 0) {
    const int code = errno == ENOENT && not_made != 0 ? not_made : errno;
    if (entries != nullptr) ::closedir(entries);
    throw error("manta: the journal's folder " + folder_ + ": " + std::strerror(code) +
                "; name a folder that all ranks see and may write to");
  }
  folder_ = base::absolute_path(folder_);
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".journal")) read_segment(name);
    if (speaks_ && name.ends_with(".part")) remove_parts(name);
  }
  ::closedir(entries);
  const auto body = [](void* self) -> void* {
    static_cast<journal*>(self)->write_behind();
    return nullptr;
  };
  if (!base::start_thread(thread_, body, this)) {
    throw error("manta: no thread can be started to write the journal; allow one more thread");
  }
}

MANTA_DECL journal::~journal() {
  pthread_mutex_lock(&mutex_);
  over_ = true;
  pthread_cond_broadcast(&changed_);
  pthread_mutex_unlock(&mutex_);
  ::pthread_join(thread_, nullptr);
  for (const claim& c : claims_) {
    if (c.lock >= 0) ::close(c.lock);
  }
}

/// The name ends in .HOST.PROCESS.part.
MANTA_DECL void journal::remove_parts(const std::string& name) const {
  const std::string rest = name.substr(0, name.size() - std::strlen(".part"));
  const std::size_t dot = rest.rfind('.');
  const std::string host = "." + store::host_name();
  if (dot == std::string::npos || !rest.substr(0, dot).ends_with(host)) return;
  const int process = std::atoi(rest.c_str() + dot + 1);
  if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) ::unlink((folder_ + "/" + name).c_str());
}

/// Null unless it is a file: whoever opens a FIFO waits for its other end.
MANTA_DECL std::FILE* journal::open_to_read(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  return std::fopen(path.c_str(), "rb");
}

MANTA_DECL bool journal::header_is_ours(std::FILE* file, const std::string& name, bool speaks) {
  char start[header_bytes] = {};
  const bool whole = std::fread(start, 1, sizeof start, file) == sizeof start && std::memcmp(start, magic, 16) == 0;
  std::uint64_t program = 0;
  std::memcpy(&program, start + 16, sizeof program);
  if (whole && program == program_) return true;
  if (!speaks) return false;
  complain(name, whole ? "was written by another program, or by this one with another seed, and is ignored"
                       : "is no journal, or is damaged, and is ignored");
  return false;
}

/// From where the file stands.
MANTA_DECL bool journal::read_record(std::FILE* file, record& r, wire::buffer& payload) {
  const long at = std::ftell(file);
  if (std::fread(&r, sizeof r, 1, file) != 1 || std::fseek(file, 0, SEEK_END) != 0) return false;
  const auto left = static_cast<std::uint64_t>(std::ftell(file) - at) - sizeof r;
  if (r.bytes > left || std::fseek(file, at + static_cast<long>(sizeof r), SEEK_SET) != 0) return false;
  payload.clear();
  std::byte* const into = payload.extend(r.bytes);
  return std::fread(into, 1, r.bytes, file) == r.bytes && checksum_of(r, into) == r.checksum;
}

MANTA_DECL void journal::read_segment(const std::string& name) {
  std::FILE* const file = open_to_read(name);
  if (file == nullptr) {
    if (speaks_) complain(name, "is no file, or cannot be read, and is ignored");
    return;
  }
  if (!header_is_ours(file, name, speaks_)) {
    std::fclose(file);
    return;
  }
  std::fseek(file, 0, SEEK_END);
  const auto end = static_cast<std::uint64_t>(std::ftell(file));
  const auto number = static_cast<std::uint32_t>(files_.size());
  files_.push_back(name);
  for (std::uint64_t at = header_bytes; at < end;) {
    record r{};
    std::fseek(file, static_cast<long>(at), SEEK_SET);
    if (std::fread(&r, sizeof r, 1, file) != 1 || r.bytes > end - at - sizeof r) {
      if (speaks_) complain(name, "ends within a result, which is ignored");
      break;
    }
    const std::uint64_t* const before = known_.find(key(r.task, r.digest));
    const std::uint32_t other = before == nullptr ? none : static_cast<std::uint32_t>(*before);
    known_.insert(key(r.task, r.digest)) = places_.size();
    places_.push_back({number, other, at});
    at += sizeof r + r.bytes;
  }
  std::fclose(file);
}

MANTA_DECL bool journal::find(std::uint64_t task, std::uint64_t digest, std::uint64_t& form, wire::buffer& payload) {
  const std::uint64_t* const first = known_.find(key(task, digest));
  for (std::uint32_t at = first == nullptr ? none : static_cast<std::uint32_t>(*first); at != none;
       at = places_[at].other) {
    if (!read(places_[at], task, digest, form, payload)) continue;
    ++taken_;
    return true;
  }
  return false;
}

MANTA_DECL bool journal::read(const place& p, std::uint64_t task, std::uint64_t digest, std::uint64_t& form,
                              wire::buffer& payload) {
  std::FILE* const file = open_to_read(files_[p.file]);
  record r{};
  const bool good = file != nullptr && std::fseek(file, static_cast<long>(p.at), SEEK_SET) == 0 &&
                    read_record(file, r, payload) && r.task == task && r.digest == digest;
  if (file != nullptr) std::fclose(file);
  if (!good) complain(files_[p.file], "has a damaged result, which is ignored");
  form = r.form;
  return good;
}

MANTA_DECL std::string journal::file_of_state(const actor_key& k) {
  char text[32];
  std::snprintf(text, sizeof text, "%016llx.state", static_cast<unsigned long long>(hash_of(k)));
  return text;
}

MANTA_DECL int journal::lock_file(const std::string& path) const {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // keep_state says what is wrong with the folder
  for (int tries = 0; ::flock(file, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK && errno != EINTR) return file;
    if (tries == 50) {  // a second: the actor of a name that is used again may just be ending on another rank
      ::close(file);
      return -1;
    }
    ::usleep(20'000);
  }
  return file;
}

MANTA_DECL bool journal::claim_state(const actor_key& k) {
  const std::string file = file_of_state(k);
  for (const claim& c : claims_) {
    if (c.file == file) return c.lock >= 0;
  }
  claims_.push_back({file, lock_file(folder_ + "/" + file + ".lock")});
  if (claims_.back().lock >= 0) return true;
  std::fprintf(stderr,
               "manta: journal: another run in the folder %s has the actor '%s', made with the same arguments, at this "
               "moment; this run neither takes nor keeps its state. Give each run a folder or the actor an argument of "
               "its own\n",
               folder_.c_str(), k.name.c_str());
  return false;
}

MANTA_DECL bool journal::find_state(const actor_key& of, wire::buffer& payload) {
  if (!claim_state(of)) return false;
  const std::string own = file_of_state(of);
  flush();
  std::FILE* const file = open_to_read(own);
  if (file == nullptr) return false;
  record r{};
  bool good = header_is_ours(file, own, true);
  if (good) {
    good = read_record(file, r, payload) && r.task == hash_of(of);
    if (!good) {
      complain(own, "is damaged, and is ignored");
    } else if (r.digest != of.type) {
      complain(own, "is of an actor of another class, and is ignored");
      good = false;
    }
  }
  std::fclose(file);
  return good;
}

MANTA_DECL void journal::keep_state(const actor_key& of, const wire::buffer& payload) {
  if (!claim_state(of)) return;
  const std::string file = file_of_state(of);
  record r{0, hash_of(of), of.type, payload.size(), 0};
  r.checksum = checksum_of(r, payload.data());
  wire::buffer content;
  content.append(&r, sizeof r);
  content.append(payload.data(), payload.size());
  pthread_mutex_lock(&mutex_);
  if (!failed_) {
    drop_state(file);
    states_.push_back({file, std::move(content)});
  }
  pthread_mutex_unlock(&mutex_);
}

/// One that is not written yet; under the mutex.
MANTA_DECL void journal::drop_state(const std::string& file) {
  for (std::size_t i = states_.size(); i-- > 0;) {
    if (states_[i].file == file) states_.erase(states_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

MANTA_DECL void journal::forget_state(const actor_key& of) {
  if (!claim_state(of)) return;
  const std::string file = file_of_state(of);
  pthread_mutex_lock(&mutex_);
  drop_state(file);
  while (writing_) pthread_cond_wait(&changed_, &mutex_);
  pthread_mutex_unlock(&mutex_);
  ::unlink((folder_ + "/" + file).c_str());
  for (std::size_t i = claims_.size(); i-- > 0;) {
    if (claims_[i].file != file) continue;
    ::unlink((folder_ + "/" + file + ".lock").c_str());
    ::close(claims_[i].lock);
    claims_.erase(claims_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

MANTA_DECL void journal::add(std::uint64_t task, std::uint64_t digest, std::uint64_t form, const std::byte* payload,
                             std::size_t bytes) {
  record r{0, task, digest, bytes, form};
  r.checksum = checksum_of(r, payload);
  pthread_mutex_lock(&mutex_);
  while (pending_.size() > most_pending && !failed_) pthread_cond_wait(&changed_, &mutex_);
  if (!failed_) {
    pending_.append(&r, sizeof r);
    pending_.append(payload, bytes);
  }
  pthread_mutex_unlock(&mutex_);
}

MANTA_DECL void journal::flush() {
  pthread_mutex_lock(&mutex_);
  hurry_ = true;
  pthread_cond_broadcast(&changed_);
  while ((!pending_.empty() || !states_.empty() || writing_) && !failed_) pthread_cond_wait(&changed_, &mutex_);
  hurry_ = false;
  pthread_mutex_unlock(&mutex_);
}

MANTA_DECL void journal::write_behind() {
  pthread_mutex_lock(&mutex_);
  while (!over_ || !pending_.empty() || !states_.empty()) {
    if (!over_ && !hurry_ && pending_.size() < most_pending / 2) {
      timespec until{};
      clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_sec += 1;
      pthread_cond_timedwait(&changed_, &mutex_, &until);
    }
    if (pending_.empty() && states_.empty()) {
      if (hurry_) {
        pthread_cond_broadcast(&changed_);
        if (!over_) pthread_cond_wait(&changed_, &mutex_);
      }
      continue;
    }
    wire::buffer content = std::move(pending_);
    pending_ = wire::buffer();
    const base::vector<kept_state> states = std::exchange(states_, {});
    writing_ = true;
    pthread_mutex_unlock(&mutex_);
    if (!content.empty()) write_segment(content);
    for (const kept_state& s : states) write_file(s.file, s.content);
    pthread_mutex_lock(&mutex_);
    writing_ = false;
    pthread_cond_broadcast(&changed_);
    if (failed_) break;
  }
  pthread_mutex_unlock(&mutex_);
}

MANTA_DECL void journal::write_segment(const wire::buffer& content) {
  char name[96];
  std::snprintf(name, sizeof name, "%016llx-%d-%d-%llu",
                static_cast<unsigned long long>(base::mix(static_cast<std::uint64_t>(base::now_ns()), program_)), rank_,
                static_cast<int>(::getpid()), static_cast<unsigned long long>(segments_++));
  write_file(std::string(name) + ".journal", content);
}

/// A rename is on the disk once its folder is; where folders cannot be synchronised the file system sees to it.
MANTA_DECL void journal::keep_names() const {
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

MANTA_DECL void journal::write_file(const std::string& name, const wire::buffer& content) {
  const std::string path = folder_ + "/" + name;
  const std::string temporary = base::text("{}.{}.{}.part", path, store::host_name(), ::getpid());
  ::unlink(temporary.c_str());  // of a start that was killed and had this process id
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  char start[header_bytes];
  std::memcpy(start, magic, 16);
  std::memcpy(start + 16, &program_, sizeof program_);
  const auto write_all = [&](const void* data, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t n = ::write(file, static_cast<const char*>(data) + done, bytes - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return true;
  };
  bool good =
      file >= 0 && write_all(start, sizeof start) && write_all(content.data(), content.size()) && ::fsync(file) == 0;
  int code = errno;
  if (file >= 0) good = ::close(file) == 0 && good;
  if (good && std::rename(temporary.c_str(), path.c_str()) == 0) return keep_names();
  if (good) code = errno;
  std::fprintf(stderr, "manta: journal: %s cannot be written (%s); nothing more is kept on rank %d\n",
               temporary.c_str(), std::strerror(code), rank_);
  ::unlink(temporary.c_str());
  pthread_mutex_lock(&mutex_);
  failed_ = true;
  pthread_mutex_unlock(&mutex_);
}

}  // namespace manta::store
