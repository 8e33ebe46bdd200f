// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "manta/base/address.hpp"
#include "manta/base/demangle.hpp"
#include "manta/base/symbols.hpp"
#include "manta/base/vector.hpp"

namespace manta::base {

namespace detail {

/// The table of symbols in the file of the program that runs.
class program_symbols {
 public:
  program_symbols() {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    read(file);
    ::close(file);
  }
  /// Do addresses of the file count from where it is loaded?
  bool is_relocated() const { return is_relocated_; }
  /// The compiler's name of the function at this address of the file; null: none is known.
  const char* find(std::uintptr_t address) const {
    for (const ElfW(Sym) & each : symbols_) {
      if ((each.st_info & 0xfU) != STT_FUNC || address < each.st_value) continue;
      if (address - each.st_value < each.st_size && each.st_name < names_.size()) return names_.data() + each.st_name;
    }
    return nullptr;
  }

 private:
  template <class T>
  static bool fill(int file, vector<T>& into, std::uint64_t bytes, std::uint64_t at) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30U;
    if (bytes > most) return false;
    into.resize(bytes / sizeof(T));
    return ::pread(file, into.data(), into.size() * sizeof(T), static_cast<off_t>(at)) ==
           static_cast<ssize_t>(into.size() * sizeof(T));
  }
  void read(int file) {
    vector<ElfW(Ehdr)> head;
    vector<ElfW(Shdr)> sections;
    if (!fill(file, head, sizeof(ElfW(Ehdr)), 0) || head[0].e_shentsize != sizeof(ElfW(Shdr))) return;
    is_relocated_ = head[0].e_type == ET_DYN;
    if (!fill(file, sections, std::uint64_t{head[0].e_shnum} * sizeof(ElfW(Shdr)), head[0].e_shoff)) return;
    for (const unsigned kind :
         {unsigned{SHT_SYMTAB}, unsigned{SHT_DYNSYM}}) {  // a stripped program has the second one alone
      for (const ElfW(Shdr) & each : sections) {
        if (each.sh_type != kind || each.sh_link >= sections.size()) continue;
        const ElfW(Shdr)& names = sections[each.sh_link];
        if (fill(file, symbols_, each.sh_size, each.sh_offset) && fill(file, names_, names.sh_size, names.sh_offset) &&
            !names_.empty() && names_.back() == '\0')
          return;
        symbols_.clear();
      }
    }
  }

  bool is_relocated_ = false;
  vector<ElfW(Sym)> symbols_;
  vector<char> names_;
};

/// Where the program is loaded.
inline void* program_base() {
  Dl_info program{};
  return ::dladdr(place_at(::getauxval(AT_PHDR)), &program) != 0 ? program.dli_fbase : nullptr;
}

inline std::string file_name_of(const char* path) {
  const std::string_view all = path == nullptr ? "" : path;
  return std::string(all.substr(all.rfind('/') + 1));
}

}  // namespace detail

MANTA_DECL std::string without_return_type(std::string name) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(unnamed, at)) != std::string::npos;) name.erase(at, unnamed.size());
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::string_view(name).substr(i).starts_with("operator")) break;  // what follows has any characters
    const char c = name[i];
    if (c == '(' && depth == 0) break;
    depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return name.substr(begin);
}

MANTA_DECL vector<code_place> code_places(std::span<void* const> addresses) {
  const detail::program_symbols symbols;
  void* const program = detail::program_base();
  vector<code_place> all;
  for (void* const address : addresses) {
    code_place& place = all.emplace_back();
    Dl_info known{};
    if (::dladdr(address, &known) == 0) continue;
    place.file = detail::file_name_of(known.dli_fname);
    place.is_program = known.dli_fbase == program;
    const std::uintptr_t offset = address_of(address) - address_of(known.dli_fbase);
    const char* name = known.dli_sname;
    if (place.is_program) name = symbols.find(symbols.is_relocated() ? offset : address_of(address));
    if (name != nullptr) {
      place.function = without_return_type(demangle(name));
    } else {
      char text[32];
      std::snprintf(text, sizeof text, "+0x%zx", static_cast<std::size_t>(offset));
      place.function = place.file + text;
    }
  }
  return all;
}

}  // namespace manta::base
