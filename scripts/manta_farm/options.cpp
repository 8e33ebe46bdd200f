// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace farm {

namespace {

constexpr const char* help = R"(usage: manta-farm [OPTIONS] FILE                     a line of the file is a command
       manta-farm [OPTIONS] -                        commands from the standard input, as they come
       manta-farm [OPTIONS] --each TEMPLATE LIST...  the template with each word of the lists
       manta-farm output [--results FOLDER] N...     what line N has printed
       manta-farm results [--json] [FOLDER]          how each line has ended, as CSV or JSON lines

Runs command lines on all cores of this machine or, as `manta-run -- manta-farm FILE`, of a job. Results and
outputs are in FILE.farm. Ends with 0 if all lines have ended well, 1 if some have not, 2 for a mistake in the command
line or in the lines, and 85 if it had to end before all lines were done: --resume goes on.

  -j, --jobs N        cores of each node that lines may use at the same time (default: all)
  --results FOLDER    folder of the results (default: FILE.farm, or lines.farm)
  --resume            lines that have a result there do not run again
  --resume-failed     as --resume, but lines that have failed run again
  --fresh             removes earlier results in the folder
  --dry-run           shows what would run
  --tag               shows what lines print at once, each line with its number before it
  --apart             keeps the output of each line in a file of its own
  --most-output SIZE  bytes of the output of a line that are kept (default: 1G)
  --drain TIME        when the farm has to end, lines that run may go on that long (default: to their end; in a job of
                      Slurm 30 s)

for all lines, or for one line behind it as a comment `#manta cpus=4 timeout=10m`; a comment `#manta ...` in a line
of its own holds for all lines below:
  --cpus N            cores, to which the line is bound if it has more than one
  --ranks N           the command is an MPI program: mpirun starts it on N ranks
  --gpus N            devices, as CUDA_VISIBLE_DEVICES says
  --memory SIZE       bytes of the node's memory that are counted as taken
  --retries N         runs it again after a failure, N times at most
  --timeout TIME      ends it after that time: 90, 10m, 1h30m
  --after N,N-N       (in the file alone) starts it when these earlier lines have ended well

In TEMPLATE, {} stands for the words of all lists, {2} for that of the second, {#} for the number of the line; {.} is the
word without its ending, {/} without its folder, {/.} without both. A LIST is 1..1000, or a,b,c, or 'inputs/*.dat'.
A line sees MANTA_FARM_LINE, _ATTEMPT, _CPUS, _RANKS, _RANK and _FOLDER in its environment.
)";

/// Takes words from the command line.
class words {
 public:
  words(int argc, char** argv) : all_(argv + 1, argv + argc) {}
  bool any() const { return at_ < all_.size(); }
  const std::string& peek() const { return all_[at_]; }
  std::string take() { return all_[at_++]; }
  std::string value_of(const std::string& option) {
    if (!any()) throw mistake(option + " needs a value behind it; manta-farm --help has all options");
    return take();
  }

 private:
  std::vector<std::string> all_;
  std::size_t at_ = 0;
};

/// The folder of results in this folder that was written last.
std::string last_folder() {
  glob_t found{};
  std::string best;
  timespec last{};
  if (::glob("*.farm/results.jsonl", 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      struct stat about {};
      if (::stat(found.gl_pathv[i], &about) != 0) continue;
      const timespec t = about.st_mtim;
      if (!best.empty() && (t.tv_sec < last.tv_sec || (t.tv_sec == last.tv_sec && t.tv_nsec < last.tv_nsec))) continue;
      last = t;
      best = found.gl_pathv[i];
    }
  }
  ::globfree(&found);
  if (best.empty()) throw mistake("there are no results (*.farm) in this folder; name their folder by --results");
  return best.substr(0, best.rfind('/'));
}

bool set_flag(options& o, const std::string& name) {
  if (name == "--resume") {
    o.resumes = true;
  } else if (name == "--resume-failed") {
    o.resumes = o.resumes_failed = true;
  } else if (name == "--fresh") {
    o.is_fresh = true;
  } else if (name == "--dry-run") {
    o.is_dry = true;
  } else if (name == "--tag") {
    o.shows_output = true;
  } else if (name == "--apart") {
    o.has_own_files = true;
  } else if (name == "--json") {
    o.prints_json = true;
  } else if (name == "-h" || name == "--help") {
    o.what = verb::help;
  } else if (name == "--version") {
    o.what = verb::version;
  } else {
    return false;
  }
  return true;
}

/// Whether a word behind a template is a list, such as -5..5, and no option.
bool is_list(const std::string& word) {
  return word.empty() || word[0] != '-' || (word.size() > 1 && word[1] >= '0' && word[1] <= '9');
}

bool set_value(options& o, const std::string& name, words& rest) {
  const auto value = [&] { return rest.value_of(name); };
  const bool is_for_lines = name.starts_with("--") && name != "--after" &&
                            std::ranges::find(option_names(), std::string_view(name).substr(2)) != option_names().end();
  if (is_for_lines) {
    set_option(o.lines.for_all, name.substr(2), value());
  } else if (name == "-j" || name == "--jobs") {
    o.jobs = static_cast<int>(std::min<std::int64_t>(number_of(value(), "jobs", 1), 4096));
  } else if (name == "--results") {
    o.folder = value();
  } else if (name == "--most-output") {
    o.most_output = bytes_of(value(), "most-output");
  } else if (name == "--drain") {
    o.drain = seconds_of(value(), "drain");
  } else if (name == "--each") {
    o.lines.pattern = value();
    while (rest.any() && is_list(rest.peek())) o.lines.lists.push_back(rest.take());
    if (o.lines.lists.empty()) throw mistake("--each needs lists behind the template, such as 1..10 or a,b,c");
    if (o.lines.lists.size() > 9)
      throw mistake("--each has " + std::to_string(o.lines.lists.size()) +
                    " lists; if these are files, quote their pattern, so that it is one list: 'inputs/*.dat'");
  } else {
    return false;
  }
  return true;
}

void read_words(options& o, words& rest, std::vector<std::string>& others) {
  while (rest.any()) {
    std::string word = rest.take();
    if (word.starts_with("--manta-")) continue;  // a setting of the run
    const std::size_t equal = word.starts_with("--") ? word.find('=') : std::string::npos;
    if (equal != std::string::npos) {
      std::string value = word.substr(equal + 1);
      char* const one[] = {nullptr, value.data()};
      words only(2, const_cast<char**>(one));
      if (set_value(o, word.substr(0, equal), only)) continue;
    }
    if (set_flag(o, word) || set_value(o, word, rest)) continue;
    if (word.size() > 1 && word[0] == '-')
      throw mistake("there is no option " + word + "; manta-farm --help has all options");
    others.push_back(std::move(word));
  }
}

void finish_run(options& o, const std::vector<std::string>& others) {
  const bool has_template = !o.lines.lists.empty();
  if (others.size() + (has_template ? 1 : 0) != 1)
    throw mistake(others.empty() ? "a file with commands is wanted, or -, or --each; manta-farm --help explains them"
                                 : "one file with commands is wanted, and '" + others.back() + "' is another one");
  if (!has_template) o.lines.file = others[0];
  if (o.folder.empty()) o.folder = has_template || o.lines.file == "-" ? "lines.farm" : o.lines.file + ".farm";
  if (o.is_fresh && o.resumes) throw mistake("--fresh and --resume exclude each other");
  constexpr double drain_in_slurm = 30;  // seconds; manta leaves a minute before the end of the allocation
  if (o.drain < 0 && std::getenv("SLURM_JOB_ID") != nullptr) o.drain = drain_in_slurm;
}

}  // namespace

const char* help_text() { return help; }

options read_command_line(int argc, char** argv) {
  options o;
  words rest(argc, argv);
  if (rest.any() && (rest.peek() == "output" || rest.peek() == "results"))
    o.what = rest.take() == "output" ? verb::output : verb::results;
  std::vector<std::string> others;
  read_words(o, rest, others);
  if (o.what == verb::run) {
    finish_run(o, others);
  } else if (o.what == verb::output) {
    if (others.empty()) throw mistake("the number of a line is wanted: manta-farm output 17");
    for (const std::string& each : others) o.numbers.push_back(static_cast<int>(number_of(each, "line", 1)));
  } else if (o.what == verb::results && !others.empty()) {
    o.folder = others[0];
  }
  if (o.folder.empty() && (o.what == verb::output || o.what == verb::results)) o.folder = last_folder();
  return o;
}

}  // namespace farm
