// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// stream<T>: what async returns for a coroutine. The values arrive in order while the coroutine runs on some rank; a
// window limits how far the coroutine may be ahead of its consumer.
//
//   manta::stream<batch> s = manta::async<read_batches>(path);   // a coroutine that returns manta::generator<batch>
//   for (auto& f : s) train(f.get());                            // manta::future<batch>, one after the other
//
// A hidden actor owns the coroutine. Each value is the result of one call that resumes it, and the consumer keeps a
// window of such calls under way. So a value travels like any other result, and a large one stays on its rank until its
// future is read.
#pragma once

#include "manta/call/producer.hpp"

namespace manta {

/// How far a coroutine may be ahead of its consumer. The window counts the values that next() has not taken yet, and
/// their bytes, for which it takes the size of the largest recent value. It knows the sizes of vectors of numbers,
/// strings and dense matrices. One value may always be under way.
struct stream_window {
  std::size_t items = 16;                     ///< values, at least 1
  std::size_t bytes = std::size_t{64} << 20;  ///< bytes of these values, where sizes are known
};

namespace detail {

/// Makes the request of the actor behind a stream from the options `o`, which may be null.
MANTA_DECL graph::request_ptr make_stream_request(exec::engine& e, const task_options* o, const std::string& what);

/// How the value of a call was lost: not at all, with the rank where it lay, or because the coroutine ended its rank.
/// in_coroutine: the rank was killed while the coroutine ran, which may be the reason; by_coroutine: it is.
enum class loss { none, with_rank, in_coroutine, by_coroutine };
MANTA_DECL loss why_lost(exec::engine& e, const handle& call);
/// What has come of a call for a value: the value, the end of the coroutine, a value that could not be encoded, which
/// may be followed by more, or a failure that is the last.
enum class item { value, end, not_encoded, failure };
MANTA_DECL item item_of(const handle& call);
/// A call during which a second rank was killed: a call that says so in its place.
MANTA_DECL handle call_of_deadly(exec::engine& e, const handle& call);
/// The first call of a coroutine that never ran has failed: a call that says why in its place, which fails as the
/// coroutine's producer has.
MANTA_DECL handle call_of_failed(exec::engine& e, const handle& call, const handle& producer);
/// The size of a value where it is known, else `otherwise`.
MANTA_DECL std::uint64_t bytes_of(const handle& value, std::size_t otherwise);

}  // namespace detail

/// The consumer's end of a coroutine that runs on some rank. Move-only. A stream can be sent: std::move it into a call,
/// or return it, alone or inside another value. It continues there from its present position, and the object left
/// behind throws. Destroying a stream stops the coroutine at its co_yield and destroys its locals. Only the thread that
/// runs tasks may use it.
template <class T>
class stream {
 public:
  /// The type of the values.
  using value_type = T;

  /// An empty stream.
  stream() = default;
  /// Takes over the coroutine of the other stream, which is empty afterwards.
  stream(stream&& other) noexcept { swap(other); }
  /// Stops this stream's coroutine, then takes over the other's.
  stream& operator=(stream&& other) noexcept {
    stream(std::move(other)).swap(*this);
    return *this;
  }
  ~stream() { close(); }
  /// Exchanges two streams.
  void swap(stream& other) noexcept {
    std::swap(producer_, other.producer_);
    std::swap(calls_, other.calls_);
    std::swap(first_, other.first_);
    std::swap(inherited_, other.inherited_);
    std::swap(at_, other.at_);
    std::swap(sent_, other.sent_);
    std::swap(looped_, other.looped_);
    std::swap(current_, other.current_);
  }

  /// False for a stream that is empty, moved from or sent.
  bool valid() const { return at_.function != exec::no_index && !sent_; }

  /// Sets how far the coroutine may be ahead from now on; calls made before stay under way.
  void set_window(const stream_window& window) {
    require_valid("stream::set_window");
    if (window.items == 0) throw error("manta: stream::set_window: the window must hold at least 1 value");
    at_.window = window;
  }

  /// Waits until the next value exists, or has failed, and returns its future; returns nothing at the end. A large
  /// value stays where it is. If the coroutine has thrown an exception, the last future throws it.
  std::optional<future<T>> next() {
    exec::engine& e = exec::engine::here("stream::next");
    const exec::engine::guard g(e);
    require_valid("stream::next");
    if (!producer_.valid()) return std::nullopt;
    while (!has_next(e)) {
      for (std::size_t i = first_; i < calls_.size(); ++i)
        e.waits().wait_for_end(*calls_[i].get(), false);  // every call ends, since their rank has died
    }
    const detail::item what = detail::item_of(calls_[first_]);
    if (what == detail::item::end) {
      close();
      return std::nullopt;
    }
    if (what == detail::item::value) {
      note_size(calls_[first_]);
    } else if (is_deadly(e, first_)) {
      calls_[first_] = detail::call_of_deadly(e, calls_[first_]);
    } else if (producer_.get()->has_failed()) {
      calls_[first_] = detail::call_of_failed(e, calls_[first_], producer_);
    }
    future<T> taken = take_first();
    if (what == detail::item::failure) {
      close();
    } else {
      extend(e);
    }
    return taken;
  }

  /// A future for a watcher, which has ended when next() need not wait, be it for a value, an error or the end. Names
  /// nothing after the end of the stream.
  any_future upcoming() {
    exec::engine& e = exec::engine::here("stream::upcoming");
    const exec::engine::guard g(e);
    require_valid("stream::upcoming");
    if (!producer_.valid()) return {};
    extend(e);
    calls_[first_].mark_observed();  // next() looks at it
    return any_future(detail::access::make_future<T>(detail::handle(calls_[first_])));
  }

  struct end_marker {};
  class iterator {
   public:
    explicit iterator(stream& source) : source_(&source) { ++*this; }
    future<T>& operator*() const { return *source_->current_; }
    iterator& operator++() {
      source_->current_ = source_->next();
      return *this;
    }
    bool operator==(end_marker) const { return !source_->current_; }

   private:
    stream* source_;
  };
  /// Begins a loop over the futures in order, failed ones too. Throws when it is called a second time. A program may
  /// leave the loop early; next() continues from there.
  iterator begin() {
    require_valid("a loop over a stream");
    if (std::exchange(looped_, true)) {
      throw error(
          "manta: a stream can be looped over once, for its values are not kept; store the futures, or take the "
          "rest with next()");
    }
    return iterator(*this);
  }
  /// Reached when the coroutine has ended.
  end_marker end() const { return {}; }

  /// Lets the stream travel to another rank, and leaves this one sent; called by manta alone.
  template <class Archive>
  void save(Archive& out) const {
    static_assert(std::is_same_v<Archive, wire::writer>,
                  "manta: a stream can be sent between ranks but not written to other archives: write its values");
    producer_.save(out);  // this comes first: it may throw, and then the stream stays here
    sent_ = producer_.valid();
    const std::uint64_t calls = calls_.size() - first_;
    out.write(&at_, sizeof at_);
    out.write(&calls, sizeof calls);
    for (std::size_t i = first_; i < calls_.size(); ++i) calls_[i].save(out);
  }
  /// Reads what save() has written; called by manta alone.
  template <class Archive>
  void load(Archive& in) {
    static_assert(std::is_same_v<Archive, wire::reader>, "manta: a stream can only be received from a rank");
    producer_.load_actor(in, wire::type_index<std::uint64_t>::value);
    std::uint64_t calls = 0;
    in.read(&at_, sizeof at_);
    in.read(&calls, sizeof calls);
    calls_.resize(calls);
    for (detail::handle& call : calls_) {
      call.load(in, wire::type_index<T>::value);
      exec::engine::current()->fetching().need(*call.get());  // the home sends the value or its failure
    }
    inherited_ = calls;
  }

 private:
  friend struct detail::access;

  /// The part of a stream that travels with it.
  struct progress {
    std::uint64_t next = 0;                    ///< number of the next call
    std::uint64_t deadly = ~std::uint64_t{0};  ///< number of the value during which a rank was killed last
    std::uint64_t largest = 0;                 ///< bytes of the largest recent value; 0: no size is known
    std::uint32_t function = exec::no_index;   ///< function of the calls for the next value
    std::uint32_t again = exec::no_index;      ///< function of a task that makes one lost value again
    stream_window window;
  };

  /// Takes over the producer's handle and calls for the first value, whose size then decides how many fit the window.
  stream(exec::engine& e, detail::handle producer, std::uint32_t function, std::uint32_t again)
      : producer_(std::move(producer)) {
    at_.function = function;
    at_.again = again;
    extend(e);
  }

  void require_valid(const char* call) const {
    if (valid()) return;
    throw error(std::string("manta: ") + call +
                (sent_ ? ": this stream was sent to another task and goes on there; use it in one place"
                       : " on an empty stream; assign it from async of a coroutine first"));
  }

  std::size_t under_way() const { return calls_.size() - first_; }

  /// Makes as many further calls for values as the window allows.
  void extend(exec::engine& e) {
    // Calls from different ranks have no order, so the calls of a former consumer must end first.
    if (inherited_ > 0 && calls_[first_ + inherited_ - 1].get()->is_pending()) return;
    if (e.has_seen_deaths()) forget_lost(e);
    while (under_way() == 0 || (at_.largest != 0 && under_way() < at_.window.items &&
                                (under_way() + 1) * at_.largest <= at_.window.bytes)) {
      const std::uint64_t number = at_.next++;
      std::byte bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      calls_.emplace_back(
          e.calls().call(*producer_.get(), at_.function, wire::type_index<T>::value, {bytes, sizeof bytes}));
    }
  }

  /// Waits for the next value or its failure. False if the value was lost, and needs another call.
  bool has_next(exec::engine& e) {
    extend(e);
    e.waits().wait_for_end(*calls_[first_].get(), false);
    return !is_lost(e, first_) && is_safe(e);
  }

  std::uint64_t number_of(std::size_t call) const { return at_.next - (calls_.size() - call); }
  /// Whether the rank was killed during this call, and another one when this value was asked for before.
  bool is_deadly(exec::engine& e, std::size_t call) const {
    return number_of(call) == at_.deadly && detail::why_lost(e, calls_[call]) == detail::loss::in_coroutine;
  }
  /// Whether this value was lost with a rank, and the coroutine runs again, which it does not if it caused the death:
  /// it has ended its process, or it is killed for the second time at the same value.
  bool is_lost(exec::engine& e, std::size_t call) const {
    if (detail::why_lost(e, calls_[call]) == detail::loss::none || producer_.get()->has_failed()) return false;
    for (std::size_t i = first_; i < calls_.size(); ++i) {
      if (detail::why_lost(e, calls_[i]) == detail::loss::by_coroutine || is_deadly(e, i)) return false;
    }
    return true;
  }
  /// In a job that survives deaths, makes sure that the death of the value's rank cannot lose it: either a task can
  /// make the value again, or this rank fetches it. False if the value was lost meanwhile.
  bool is_safe(exec::engine& e) const {
    auto& n = *calls_[first_].get();
    if (e.recovering().keep_item(n, *producer_.get(), at_.again, at_.next - under_way())) return true;
    try {
      e.waits().value(n, false);
    } catch (const error&) {  // the value's future will throw it
    }
    return !is_lost(e, first_);
  }
  /// Forgets all calls from the first lost one on, so that they are made again in order: the coroutine cannot go back.
  void forget_lost(exec::engine& e) {
    std::size_t lost = first_;
    while (lost < calls_.size() && !is_lost(e, lost)) ++lost;
    for (std::size_t i = lost; i < calls_.size(); ++i) {
      if (detail::why_lost(e, calls_[i]) == detail::loss::in_coroutine) at_.deadly = number_of(i);
      calls_[i].mark_observed();
    }
    at_.next -= calls_.size() - lost;
    calls_.resize(lost);
    inherited_ = std::min(inherited_, under_way());
  }

  future<T> take_first() {
    detail::handle first = std::move(calls_[first_++]);
    if (inherited_ > 0) --inherited_;
    if (2 * first_ >= calls_.size()) {
      calls_.erase(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return detail::access::make_future<T>(std::move(first));
  }

  /// Updates the size of the largest recent value, in which an outlier counts less with each value after it.
  void note_size(const detail::handle& value) {
    const std::uint64_t bytes = detail::bytes_of(value, sizeof(T));
    const std::uint64_t before = at_.largest - at_.largest / 8;
    at_.largest = bytes > before ? bytes : before > 0 ? before : 1;
  }

  /// Ends the coroutine unless the stream goes on elsewhere. The calls under way fail, which is not reported.
  void close() {
    if (producer_.valid() && !sent_ && exec::engine::inside()) {
      exec::engine& e = *exec::engine::current();
      const exec::engine::guard g(e);
      for (std::size_t i = first_; i < calls_.size(); ++i) calls_[i].mark_observed();
      if (producer_.get()->is_ready()) {
        e.calls().kill(*producer_.get(), "the stream of '" + std::string(wire::function_at(at_.function).name()) +
                                             "' was ended by its consumer");
      }
    }
    calls_.clear();
    first_ = inherited_ = 0;
    producer_ = detail::handle();
  }

  detail::handle producer_;            // empty once the stream has ended
  std::vector<detail::handle> calls_;  // from first_ on: calls whose values next() has not taken, in order
  std::size_t first_ = 0;
  std::size_t inherited_ = 0;  // number of these calls that a former consumer made, on another rank
  progress at_;
  mutable bool sent_ = false;
  bool looped_ = false;
  std::optional<future<T>> current_;  // the future that the loop looks at
};

namespace detail {

template <class T>
inline constexpr bool is_handle<stream<T>> = true;

template <class Task, class Parameters, class... Args>
auto start_stream(const task_options* options, Args&&... args) {
  using T = typename Task::result::value_type;
  (void)registered_exception<typename wire::only_with<stream_end, T>::type>::index;
  exec::engine& e = exec::engine::here("async");
  const exec::engine::guard g(e);
  auto request = make_stream_request(e, options, "coroutine '" + std::string(Task::name()) + "'");
  argument_writer out(e);
  write_arguments(out, Parameters{}, std::forward<Args>(args)...);
  auto& n = e.home().submit(function_index<start_task<Task>>::value, wire::type_index<std::uint64_t>::value,
                            out.written(), std::move(request));
  out.handed_over();
  return access::make<stream<T>>(e, handle(n), function_index<next_task<Task>>::value,
                                 function_index<nth_task<Task>>::value);
}

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/stream.ipp"
#endif
