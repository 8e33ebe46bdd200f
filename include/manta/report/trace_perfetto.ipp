// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trace_perfetto.hpp. The messages and the numbers of their fields are those of Perfetto's
// protos/perfetto/trace/trace_packet.proto and protos/perfetto/trace/track_event/*.proto.
#pragma once

#include "manta/base/vector.hpp"
#include "manta/report/trace_perfetto.hpp"

#if __has_include(<protozero/pbf_builder.hpp>)

#include <protozero/pbf_builder.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace manta::report {

namespace detail {

namespace proto {
enum class trace : protozero::pbf_tag_type { packet = 1 };
enum class packet : protozero::pbf_tag_type {
  timestamp = 8,
  sequence = 10,
  event = 11,
  interned = 12,
  flags = 13,
  descriptor = 60
};
enum class event : protozero::pbf_tag_type {
  argument = 4,
  type = 9,
  name = 10,
  track = 11,
  counter_value = 44,
  flow = 47,
  last_flow = 48
};
enum class argument : protozero::pbf_tag_type { flag = 2, number = 3, real = 5, text = 6, pointer = 7, name = 10 };
enum class interned : protozero::pbf_tag_type { event_name = 2 };
enum class name : protozero::pbf_tag_type { number = 1, text = 2 };
enum class descriptor : protozero::pbf_tag_type { id = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8 };
enum class process : protozero::pbf_tag_type { number = 1, name = 6 };
enum class thread : protozero::pbf_tag_type { process = 1, number = 2, name = 5 };

enum flags : std::uint32_t { begins = 1, needs_names = 2 };
enum type : std::int32_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };
}  // namespace proto

/// Arrows have no events of their own there: slices name the arrows that leave and reach them. So a slice waits until
/// the arrows up to its end are known, and the slices of all rows are written in the order in which they end.
class trace_perfetto final : public trace_format {
 public:
  sizes most_bytes() const override {
    return {.slice = 80,
            .arrow = 30,
            .sample = 60,
            .phase = 300,
            .head = 400'000,
            .head_of_rank = 400,
            .arguments = 60,
            .times_of_name = 0,
            .times_of_task_name = 2};
  }
  void begin(std::string&) override {}
  void name_node(std::string& out, int node, const std::string& host) override;
  void name_row(std::string& out, trace_row row, const std::string& name) override;
  void put(std::string& out, const trace_event& event) override;
  void end(std::string& out, const std::string& facts) override;

 private:
  using builder = protozero::pbf_builder<proto::packet>;
  struct arrow {
    std::uint64_t number;
    bool leaves;
  };
  /// A slice of which the end has not come.
  struct open_slice {
    trace_event event;
    std::vector<std::string> texts = {};  ///< texts to which its arguments refer
    base::vector<arrow> arrows = {};
  };

  /// The number of a track: those of nodes are below the others.
  static std::uint64_t track_of(trace_row row) {
    return (static_cast<std::uint64_t>(row.node) + 1) << 24 | static_cast<std::uint64_t>(row.number);
  }
  std::uint64_t track_of_counter(std::string& out, const trace_event& event);
  std::uint64_t track_of_phase(std::string& out, const trace_event& event);
  /// Begins a packet about a moment. `fill` adds the event's fields.
  template <class Fill>
  void put_event(std::string& out, std::uint64_t at, std::uint64_t track, proto::type type, const std::string& name,
                 const Fill& fill);
  void put_slice(std::string& out, const open_slice& slice);
  /// Writes the slice of this row that is open, if it has ended by then.
  void close_row(std::string& out, trace_row row, std::uint64_t by);
  template <class Fill>
  static void add_track(std::string& out, std::uint64_t id, const std::string& name, std::uint64_t parent,
                        const Fill& fill);

  std::unordered_map<std::string, std::uint64_t> names_;
  std::map<std::pair<int, std::string>, std::uint64_t> counters_;
  std::map<trace_row, open_slice> open_;
  std::uint64_t tracks_ = 0;  ///< tracks of counters and phases so far
  bool has_begun_ = false;
};

template <class Fill>
void trace_perfetto::add_track(std::string& out, std::uint64_t id, const std::string& name, std::uint64_t parent,
                               const Fill& fill) {
  protozero::pbf_builder<proto::trace> trace(out);
  builder packet(trace, proto::trace::packet);
  protozero::pbf_builder<proto::descriptor> track(packet, proto::packet::descriptor);
  track.add_uint64(proto::descriptor::id, id);
  if (!name.empty()) track.add_string(proto::descriptor::name, name);
  if (parent != 0) track.add_uint64(proto::descriptor::parent, parent);
  fill(track);
}

inline void trace_perfetto::name_node(std::string& out, int node, const std::string& host) {
  add_track(out, track_of({node, 0}), "", 0, [&](auto& track) {
    protozero::pbf_builder<proto::process> process(track, proto::descriptor::process);
    process.add_int32(proto::process::number, node + 1);
    process.add_string(proto::process::name, host);
  });
}

inline void trace_perfetto::name_row(std::string& out, trace_row row, const std::string& name) {
  add_track(out, track_of(row), "", 0, [&](auto& track) {
    protozero::pbf_builder<proto::thread> thread(track, proto::descriptor::thread);
    thread.add_int32(proto::thread::process, row.node + 1);
    thread.add_int32(proto::thread::number, row.number);
    thread.add_string(proto::thread::name, name);
  });
}

inline std::uint64_t trace_perfetto::track_of_counter(std::string& out, const trace_event& event) {
  const auto [known, is_new] = counters_.try_emplace({event.row.node, event.name}, 0);
  if (!is_new) return known->second;
  known->second = ++tracks_;
  add_track(out, known->second, event.name, track_of({event.row.node, 0}),
            [](auto& track) { track.add_message(proto::descriptor::counter, std::string()); });
  return known->second;
}

/// Phases may overlap, so each has a track.
inline std::uint64_t trace_perfetto::track_of_phase(std::string& out, const trace_event& event) {
  const auto [known, is_new] = counters_.try_emplace({-1, std::to_string(event.number)}, 0);
  if (!is_new) return known->second;
  known->second = ++tracks_;
  add_track(out, known->second, event.name, track_of({event.row.node, 0}), [](auto&) {});
  return known->second;
}

template <class Fill>
void trace_perfetto::put_event(std::string& out, std::uint64_t at, std::uint64_t track, proto::type type,
                               const std::string& name, const Fill& fill) {
  protozero::pbf_builder<proto::trace> trace(out);
  builder packet(trace, proto::trace::packet);
  packet.add_uint64(proto::packet::timestamp, at);
  packet.add_uint32(proto::packet::sequence, 1);
  packet.add_uint32(proto::packet::flags, proto::needs_names | (has_begun_ ? 0U : proto::begins));
  has_begun_ = true;
  std::uint64_t number = 0;
  if (!name.empty()) {
    const auto [known, is_new] = names_.try_emplace(name, names_.size() + 1);
    number = known->second;
    if (is_new) {
      protozero::pbf_builder<proto::interned> interned(packet, proto::packet::interned);
      protozero::pbf_builder<proto::name> its(interned, proto::interned::event_name);
      its.add_uint64(proto::name::number, number);
      its.add_string(proto::name::text, name);
    }
  }
  protozero::pbf_builder<proto::event> event(packet, proto::packet::event);
  event.add_enum(proto::event::type, type);
  event.add_uint64(proto::event::track, track);
  if (number != 0) event.add_uint64(proto::event::name, number);
  fill(event);
}

inline void add_argument(protozero::pbf_builder<proto::event>& event, const trace_argument& a) {
  protozero::pbf_builder<proto::argument> its(event, proto::event::argument);
  its.add_string(proto::argument::name, a.name);
  if (const auto* number = std::get_if<std::uint64_t>(&a.value)) its.add_uint64(proto::argument::number, *number);
  else if (const auto* flag = std::get_if<bool>(&a.value)) its.add_bool(proto::argument::flag, *flag);
  else if (const auto* text = std::get_if<std::string_view>(&a.value))
    its.add_string(proto::argument::text, text->data(), text->size());
  else
    its.add_double(proto::argument::real,
                   1e-3 * static_cast<double>(std::get<trace_argument::nanoseconds>(a.value).count));
}

inline void trace_perfetto::put_slice(std::string& out, const open_slice& slice) {
  const trace_event& e = slice.event;
  put_event(out, e.at, track_of(e.row), proto::slice_begin, e.name, [&](auto& event) {
    if (e.task != 0) {
      protozero::pbf_builder<proto::argument> id(event, proto::event::argument);
      id.add_string(proto::argument::name, "id");
      id.add_uint64(proto::argument::pointer, e.task);
    }
    for (const trace_argument& each : e.arguments) add_argument(event, each);
    for (const arrow& each : slice.arrows)
      event.add_fixed64(each.leaves ? proto::event::flow : proto::event::last_flow, each.number);
  });
  put_event(out, e.at + e.extent, track_of(e.row), proto::slice_end, "", [](auto&) {});
}

inline void trace_perfetto::close_row(std::string& out, trace_row row, std::uint64_t by) {
  const auto at = open_.find(row);
  if (at == open_.end() || at->second.event.at + at->second.event.extent > by) return;
  put_slice(out, at->second);
  open_.erase(at);
}

inline void trace_perfetto::put(std::string& out, const trace_event& event) {
  const auto nothing = [](auto&) {};
  switch (event.what) {
    case trace_event::kind::slice: {
      close_row(out, event.row, event.at);
      open_slice& its = open_[event.row] = {event};
      // The texts belong to the writer of the trace, and its next event may change them.
      for (trace_argument& each : its.event.arguments) {
        if (const auto* text = std::get_if<std::string_view>(&each.value)) its.texts.emplace_back(*text);
      }
      auto text = its.texts.begin();
      for (trace_argument& each : its.event.arguments) {
        if (std::holds_alternative<std::string_view>(each.value)) each.value = std::string_view(*text++);
      }
      break;
    }
    case trace_event::kind::arrow_begin:
    case trace_event::kind::arrow_end:
      if (const auto at = open_.find(event.row); at != open_.end())
        at->second.arrows.push_back({event.number, event.what == trace_event::kind::arrow_begin});
      break;
    case trace_event::kind::mark:
      put_event(out, event.at, track_of(event.row), proto::instant, event.name, nothing);
      break;
    case trace_event::kind::phase_begin:
      put_event(out, event.at, track_of_phase(out, event), proto::slice_begin, event.name, nothing);
      break;
    case trace_event::kind::phase_end:
      put_event(out, event.at, track_of_phase(out, event), proto::slice_end, "", nothing);
      break;
    case trace_event::kind::counter:
      put_event(out, event.at, track_of_counter(out, event), proto::counter, "",
                [&](auto& its) { its.add_double(proto::event::counter_value, event.value); });
      break;
  }
}

inline void trace_perfetto::end(std::string& out, const std::string& facts) {
  for (const auto& [row, slice] : open_) put_slice(out, slice);
  open_.clear();
  const std::uint64_t track = ++tracks_;
  add_track(out, track, "about this trace", 0, [](auto&) {});
  put_event(out, 0, track, proto::instant, "about this trace", [&](auto& event) {
    add_argument(event, {"facts", std::string_view(facts)});
  });
}

}  // namespace detail

MANTA_DECL std::unique_ptr<trace_format> perfetto_format() { return std::make_unique<detail::trace_perfetto>(); }

}  // namespace manta::report

#else

namespace manta::report {
MANTA_DECL std::unique_ptr<trace_format> perfetto_format() { return nullptr; }
}  // namespace manta::report

#endif
