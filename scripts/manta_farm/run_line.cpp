// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "run_line.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <manta/manta.hpp>
#include <manta/program.hpp>
#include <manta/watcher.hpp>
#include <utility>

#include "process.hpp"
#include "text.hpp"
#include "warden.hpp"

namespace farm {

namespace {

using clock = std::chrono::steady_clock;

constexpr double never = std::numeric_limits<double>::infinity();

/// A line that runs.
class running_line {
 public:
  explicit running_line(const line_request& request);
  running_line(const running_line&) = delete;
  running_line& operator=(const running_line&) = delete;

  /// Waits for the end of the line; the rank runs other lines meanwhile.
  line_result finish();

 private:
  double seconds() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }
  bool read_output();  ///< Reads what is there, a part at a time; false: nothing is there.
  void end_if_due();   ///< Sends SIGTERM when the time is over, and SIGKILL two seconds later.
  void end_because(outcome why);
  void judge(const ending& how);

  const clock::time_point begin_ = clock::now();
  const line_request& request_;
  line_output output_;
  line_result result_;
  process process_;
  double term_at_ = never, kill_at_ = never;  // in seconds()
  outcome forced_ = outcome::ok;              // why it was ended
  bool drains_ = false;
};

/// `mpirun` before the command of an MPI program; on this node, whose cores are told by the affinity of mpirun.
std::vector<std::string> command_of(const line_request& r) {
  std::vector<std::string> command = {"/bin/sh", "-c", r.command};
  if (r.ranks == 0) return command;
  const std::string number = std::to_string(r.ranks);
  const std::vector<std::string> launcher = {"mpirun",          "-n",        number, "--host", "localhost:" + number,
                                             "--oversubscribe", "--bind-to", "none"};
  command.insert(command.begin(), launcher.begin(), launcher.end());
  return command;
}

/// The devices of the running task, as its programs have to name them.
std::string devices() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<std::string> names;
  for (std::string_view rest = visible == nullptr ? "" : visible; !rest.empty();) {
    names.emplace_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), names.back().size() + 1));
  }
  std::string text;
  for (const int id : manta::this_task::gpu_ids()) {
    const auto at = static_cast<std::size_t>(id);
    text += (text.empty() ? "" : ",") + (at < names.size() ? names[at] : std::to_string(id));
  }
  return text;
}

std::vector<std::string> variables_of(const line_request& r) {
  std::vector<std::string> all = {"MANTA_FARM_LINE=" + std::to_string(r.number),
                                  "MANTA_FARM_ATTEMPT=" + std::to_string(r.attempt),
                                  "MANTA_FARM_CPUS=" + std::to_string(r.cpus),
                                  "MANTA_FARM_RANKS=" + std::to_string(r.ranks),
                                  "MANTA_FARM_RANK=" + std::to_string(manta::rank()),
                                  "MANTA_FARM_FOLDER=" + r.folder,
                                  warden::mark()};
  if (std::getenv("OMP_NUM_THREADS") == nullptr || r.cpus > 1)
    all.push_back("OMP_NUM_THREADS=" + std::to_string(r.cpus));
  if (const std::string ids = devices(); !ids.empty()) all.push_back("CUDA_VISIBLE_DEVICES=" + ids);
  return all;
}

line_output::options output_of(const line_request& r) {
  const std::string file =
      r.has_own_file ? "output." + std::to_string(r.number) + ".line" : "output." + std::to_string(manta::rank());
  return {r.folder, file, r.has_own_file, r.most_output, r.shows_output ? std::to_string(r.number) + ": " : ""};
}

running_line::running_line(const line_request& request)
    : request_(request),
      output_(output_of(request)),
      process_(command_of(request), variables_of(request), request.cores) {
  result_.rank = manta::rank();
  result_.begin = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (request.timeout > 0) term_at_ = request.timeout;
}

bool running_line::read_output() {
  static char part[1 << 16];
  constexpr int most_parts = 16;  // then other lines have their turn
  for (int turn = 0; turn < most_parts; ++turn) {
    const std::size_t bytes = process_.read(part, sizeof part);
    if (bytes == 0) return false;
    output_.add({part, bytes});
  }
  return true;
}

void running_line::end_because(outcome why) {
  constexpr double patience = 2;  // seconds between SIGTERM and SIGKILL
  if (forced_ == outcome::ok) forced_ = why;
  process_.signal(SIGTERM);
  term_at_ = never;
  kill_at_ = seconds() + patience;
}

void running_line::end_if_due() {
  const double now = seconds();
  if (!drains_ && manta::this_task::stop_requested()) {
    drains_ = true;
    if (request_.drain >= 0 && now + request_.drain < term_at_) {
      term_at_ = now + request_.drain;
      forced_ = outcome::interrupted;
    }
  }
  if (now >= kill_at_) {
    process_.signal(SIGKILL);
    kill_at_ = now + 1;  // a process that the system holds takes it later
  } else if (now >= term_at_) {
    end_because(outcome::timeout);
  }
}

line_result running_line::finish() {
  manta::watcher events;
  events.watch_descriptor(process_.descriptor());
  events.watch_stops();
  constexpr double between_looks = 0.05;  // seconds, before Linux 5.3
  ending how;
  while (true) {
    read_output();
    if (process_.has_ended(how)) break;
    end_if_due();
    double left = std::min(term_at_, kill_at_) - seconds();
    if (!process_.end_is_seen()) left = std::min(left, between_looks);
    if (left == never) {
      events.next();
    } else {
      events.next(std::chrono::duration<double>(std::clamp(left, 0.001, 1e6)));
    }
  }
  for (int turn = 0; turn < 64 && read_output(); ++turn) {
  }
  judge(how);
  return std::move(result_);
}

void running_line::judge(const ending& how) {
  result_.seconds = seconds();
  result_.status = how.status;
  result_.signal = how.signal;
  result_.cpu_seconds = how.cpu_seconds;
  result_.memory_bytes = how.memory_bytes;
  result_.output = output_.finish();
  result_.cut_bytes = output_.cut_bytes();
  result_.how = how.status == 0 ? outcome::ok : outcome::failed;
  const bool was_ended = kill_at_ != never;
  if (was_ended && forced_ == outcome::timeout) {
    result_.how = outcome::timeout;
    result_.why = "it was ended, since its time was over";
  } else if (was_ended && result_.how != outcome::ok) {
    result_.how = outcome::interrupted;
    result_.why = "it was ended, since the farm had to end";
  } else if (how.signal != 0) {
    result_.why = "it was killed by signal " + std::to_string(how.signal) + " (" + ::strsignal(how.signal) + ")";
  } else if (how.status == 127) {
    result_.why = "it ended with status 127: the shell has not found the program";
  } else if (how.status != 0) {
    result_.why = "it ended with status " + std::to_string(how.status);
  }
  if (output_.error().empty()) return;
  if (result_.how == outcome::ok) result_.how = outcome::failed;
  result_.why += (result_.why.empty() ? "" : "; ") + output_.error();
}

}  // namespace

const char* word_of(outcome o) {
  switch (o) {
    case outcome::ok: return "ok";
    case outcome::failed: return "failed";
    case outcome::timeout: return "timeout";
    case outcome::not_started: return "not_started";
    case outcome::skipped: return "skipped";
    case outcome::interrupted: return "interrupted";
  }
  return "failed";
}

line_result run_line(const line_request& request) {
  try {
    running_line line(request);
    return line.finish();
  } catch (const mistake& m) {
    line_result result;
    result.rank = manta::rank();
    result.begin = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    result.why = m.what();
    return result;
  }
}

std::vector<int> own_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace farm
