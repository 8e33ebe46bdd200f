// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// stream<T>: what async returns for a coroutine. The values come in order while
// the coroutine runs on some rank; how far it may be ahead is bounded.
//
//   manta::stream<batch> s = manta::async<read_batches>(path);   // a coroutine that returns manta::generator<batch>
//   for (auto& f : s) train(f.get());                            // manta::future<batch>, one after the other
//
// A hidden actor owns the coroutine. Each value is the result of one call that
// resumes it; the consumer keeps a window of such calls under way, so a value
// travels like any other result, and a large one stays on its rank until its
// future is read.
#pragma once

#include "manta/call/producer.hpp"

namespace manta {

/// How far a coroutine may be ahead of its consumer: values asked for and not yet taken by next(), and their bytes,
/// going by the largest of the latest values. Sizes are known of vectors of numbers, strings and dense matrices. One
/// value may always be under way.
struct stream_window {
  std::size_t items = 16;                     ///< values, at least 1
  std::size_t bytes = std::size_t{64} << 20;  ///< bytes of these values, where sizes are known
};

namespace detail {

/// What the actor behind a stream asks for. `o` may be null.
MANTA_DECL graph::request_ptr make_stream_request(exec::engine& e, const task_options* o, const std::string& what);

}  // namespace detail

/// The consumer's end of a coroutine that runs elsewhere. Move-only. A stream can be sent (std::move it into a call, or
/// return it, alone or inside another value) and goes on there where it stands; the one left behind throws. Destroying
/// it stops the coroutine at its co_yield and destroys its locals. Only the thread that runs tasks may use it.
template <class T>
class stream {
 public:
  /// The type of the values.
  using value_type = T;

  /// An empty one.
  stream() = default;
  /// Leaves an empty one behind.
  stream(stream&& other) noexcept { swap(other); }
  /// Stops the coroutine that this one had, and takes the other one's over.
  stream& operator=(stream&& other) noexcept {
    stream(std::move(other)).swap(*this);
    return *this;
  }
  ~stream() { close(); }
  /// Exchanges the two.
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

  /// False for an empty, moved-from or sent one.
  bool valid() const { return at_.function != graph::no_index && !sent_; }

  /// Sets how far the coroutine may be ahead from now on; what has been asked for before stays under way.
  void set_window(const stream_window& window) {
    require_valid("stream::set_window");
    if (window.items == 0) throw error("manta: stream::set_window: the window must hold at least 1 value");
    at_.window = window;
  }

  /// Waits until the next value, or its failure, exists, and gives its future; gives nothing at the end. A large value
  /// is not moved. Where the coroutine threw, the future throws, and it is the last one.
  std::optional<future<T>> next() {
    exec::engine& e = exec::engine::here("stream::next");
    const exec::engine::guard g(e);
    require_valid("stream::next");
    if (!producer_.valid()) return std::nullopt;
    while (!has_next(e)) {
      for (std::size_t i = first_; i < calls_.size(); ++i)
        e.wait_for_end(*calls_[i].get(), false);  // all end, for their rank has died
    }
    graph::node& n = *calls_[first_].get();
    if (n.state != graph::state::failed) {
      note_size(n);
      future<T> item = take_first();
      extend(e);
      return item;
    }
    const store::failure_ptr why = store::failure_of(n);
    if (why->exception_type == typeid(detail::stream_end).name()) {
      close();
      return std::nullopt;
    }
    future<T> item = take_first();
    if (producer_.get()->state == graph::state::failed) {  // it never ran: why, and not what became of the call
      n.set(graph::node::observed);
      producer_.get()->set(graph::node::observed);
      graph::node& cause = e.make_node(n.function, n.type);
      item = detail::access::make_future<T>(cause);
      e.fail(cause, store::failure_of(*producer_.get()));
    }
    // only what could not be encoded may be followed by more
    if (why->kind == store::failure::kind::serialization) {
      extend(e);
    } else {
      close();
    }
    return item;
  }

  /// Has ended when next() need not wait, for a value, a failure or the end; names nothing after the end. For a
  /// watcher.
  any_future upcoming() {
    exec::engine& e = exec::engine::here("stream::upcoming");
    const exec::engine::guard g(e);
    require_valid("stream::upcoming");
    if (!producer_.valid()) return {};
    extend(e);
    calls_[first_].get()->set(graph::node::observed);  // next() looks at it
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
  /// Begins a loop over the futures in order, failed ones too. Throws when it is called again. The loop may be left
  /// early; next() goes on from there.
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
    producer_.save(out);  // first: may refuse to be written, and then the stream stays here
    sent_ = producer_.valid();
    const std::uint64_t calls = calls_.size() - first_;
    out.write(&at_, sizeof at_);
    out.write(&calls, sizeof calls);
    for (std::size_t i = first_; i < calls_.size(); ++i) calls_[i].save(out);
  }
  /// The other end of save().
  template <class Archive>
  void load(Archive& in) {
    static_assert(std::is_same_v<Archive, wire::reader>, "manta: a stream can only be received from a rank");
    producer_.load(in, wire::type_index<std::uint64_t>::value);
    if (producer_.valid()) producer_.get()->set(graph::node::actor);
    std::uint64_t calls = 0;
    in.read(&at_, sizeof at_);
    in.read(&calls, sizeof calls);
    calls_.resize(calls);
    for (detail::handle& call : calls_) {
      call.load(in, wire::type_index<T>::value);
      exec::engine::current()->need(*call.get());  // its home hands the failure over, should it be one
    }
    inherited_ = calls;
  }

 private:
  template <class Task, class Parameters, class... Args>
  friend auto detail::start_stream(const task_options* options, Args&&... args);

  /// What travels with a stream.
  struct progress {
    std::uint64_t next = 0;                    ///< number of the next call
    std::uint64_t largest = 0;                 ///< bytes of the largest of the latest values; 0: none is known
    std::uint32_t function = graph::no_index;  ///< of the calls,
    std::uint32_t again = graph::no_index;     ///< and of tasks that make one value without the coroutine that runs
    stream_window window;
  };

  /// Takes the handle over and asks for the first value; how many fit the window is known when it is there.
  stream(exec::engine& e, graph::node& producer, std::uint32_t function, std::uint32_t again) : producer_(producer) {
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

  /// Asks for as many more values as the window allows.
  void extend(exec::engine& e) {
    // calls of different ranks are not ordered: those of the former consumer have to end first
    if (inherited_ > 0 && calls_[first_ + inherited_ - 1].get()->state == graph::state::pending) return;
    if (e.has_seen_deaths()) forget_lost(e);
    while (under_way() == 0 || (at_.largest != 0 && under_way() < at_.window.items &&
                                (under_way() + 1) * at_.largest <= at_.window.bytes)) {
      const std::uint64_t number = at_.next++;
      std::byte bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      calls_.emplace_back(
          e.call_actor(*producer_.get(), at_.function, wire::type_index<T>::value, bytes, sizeof bytes, nullptr, 0));
    }
  }

  /// Asks and waits for it, or for its failure. False if it was lost, and has to be asked for again.
  bool has_next(exec::engine& e) {
    extend(e);
    e.wait_for_end(*calls_[first_].get(), false);
    return !is_lost(e, first_) && is_safe(e);
  }

  using failure_kind = enum store::failure::kind;
  /// Why it has failed, if that is the death of a rank.
  static const store::failure* death_of(exec::engine& e, const graph::node& n) {
    if (n.state != graph::state::failed) return nullptr;
    const store::failure& why = *store::failure_of(n);
    const bool by_death =
        why.kind == failure_kind::actor || why.kind == failure_kind::object || why.kind == failure_kind::rank;
    return by_death && why.details.rank >= 0 && e.is_dead(static_cast<std::uint32_t>(why.details.rank)) ? &why
                                                                                                        : nullptr;
  }
  /// Has this value, or the coroutine before it, died with its rank, and the coroutine runs again? Not if it was the
  /// reason.
  bool is_lost(exec::engine& e, std::size_t call) const {
    if (death_of(e, *calls_[call].get()) == nullptr || producer_.get()->state == graph::state::failed) return false;
    for (std::size_t i = first_; i < calls_.size(); ++i) {
      const store::failure* const why = death_of(e, *calls_[i].get());
      if (why != nullptr && why->kind == failure_kind::rank) return false;
    }
    return true;
  }
  /// Where ranks may die, one that lies elsewhere can be made again, or is brought here. False if it was lost
  /// meanwhile.
  bool is_safe(exec::engine& e) const {
    graph::node& n = *calls_[first_].get();
    if (!e.recovers() || n.form != graph::form::remote) return true;
    if (e.keep_item(n, *producer_.get(), at_.again, at_.next - under_way())) return true;
    try {
      e.value(n, false);
    } catch (const error&) {  // as its future will throw
    }
    return !is_lost(e, first_);
  }
  /// All from the first that was lost on is to be asked for again, before anything else: the coroutine does not go
  /// back.
  void forget_lost(exec::engine& e) {
    std::size_t lost = first_;
    while (lost < calls_.size() && !is_lost(e, lost)) ++lost;
    at_.next -= calls_.size() - lost;
    for (std::size_t i = lost; i < calls_.size(); ++i) calls_[i].get()->set(graph::node::observed);
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

  /// An outlier counts less with each value after it.
  void note_size(const graph::node& n) {
    std::size_t bytes = sizeof(T);
    if (n.form == graph::form::remote) {
      bytes = n.remote.bytes;
    } else if (n.form == graph::form::blob) {
      bytes = n.blob.bytes;
    } else if (const std::uint64_t array = store::known_bytes(n)) {
      bytes = array;
    }
    const std::uint64_t before = at_.largest - at_.largest / 8;
    at_.largest = bytes > before ? bytes : before > 0 ? before : 1;
  }

  /// Ends the coroutine unless the stream goes on elsewhere. What it is still asked for fails, and nobody minds.
  void close() {
    if (producer_.valid() && !sent_ && exec::engine::inside()) {
      exec::engine& e = *exec::engine::current();
      const exec::engine::guard g(e);
      for (std::size_t i = first_; i < calls_.size(); ++i) calls_[i].get()->set(graph::node::observed);
      if (producer_.get()->state == graph::state::ready) {
        e.kill_actor(*producer_.get(), "the stream of '" + std::string(wire::function_at(at_.function).name()) +
                                           "' was ended by its consumer");
      }
    }
    calls_.clear();
    first_ = inherited_ = 0;
    producer_ = detail::handle();
  }

  detail::handle producer_;            // empty once the stream has ended
  std::vector<detail::handle> calls_;  // from first_ on: asked for and not yet taken, in order
  std::size_t first_ = 0;
  std::size_t inherited_ = 0;  // the first of these were made where the stream came from
  progress at_;
  mutable bool sent_ = false;
  bool looped_ = false;
  std::optional<future<T>> current_;  // of the loop
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
  graph::request_ptr request = make_stream_request(e, options, "coroutine '" + std::string(Task::name()) + "'");
  argument_writer out(e);
  write_arguments(out, Parameters{}, std::forward<Args>(args)...);
  graph::node& n = e.submit(function_index<start_task<Task>>::value, wire::type_index<std::uint64_t>::value,
                            out.bytes(), out.byte_count(), out.inputs(), out.input_count(), std::move(request));
  out.handed_over();
  return stream<T>(e, n, function_index<next_task<Task>>::value, function_index<nth_task<Task>>::value);
}

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/stream.ipp"
#endif
