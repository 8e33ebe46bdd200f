// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trace as JSON in the format of Chrome's traces, which ui.perfetto.dev and speedscope.app read.
#pragma once

#include "manta/report/trace_format.hpp"

namespace manta::report {

class trace_json final : public trace_format {
 public:
  MANTA_DECL sizes most_bytes() const override;
  MANTA_DECL void begin(std::string& out) override;
  MANTA_DECL void name_node(std::string& out, int node, const std::string& host) override;
  MANTA_DECL void name_row(std::string& out, trace_row row, const std::string& name) override;
  MANTA_DECL void put(std::string& out, const trace_event& event) override;
  MANTA_DECL void end(std::string& out, const std::string& facts) override;

 private:
  void separate(std::string& out);

  bool has_events_ = false;
};

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/trace_json.ipp"
#endif
