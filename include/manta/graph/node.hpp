// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One node of the task graph: a value that is there or will be. A node is the
// future's state, the task that makes it and the link in a queue at once, in
// one cache line, because memory traffic on this line is what a task costs.
// Nodes live in pages and are named by index, here and on the wire.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"

namespace manta::graph {

struct task;
struct link;

inline constexpr std::uint32_t no_index = 0xffffffff;

enum class state : std::uint8_t { pending, ready, failed };

/// What a node's payload holds.
enum class form : std::uint8_t {
  none,     ///< nothing: the task has been sent away, or the value is nothing
  compact,  ///< a task of a few plain argument bytes: id, then the bytes
  record,   ///< a task in general form: task*
  plain,    ///< the value itself
  box,      ///< the value, decoded: owned pointer to an object of type `type`
  pages,    ///< the value, encoded: its array mapped from another rank of the node, or the whole on a disk
  blob,     ///< the value, encoded: owned bytes
  remote,   ///< the value lies on another rank: place and size
  failure,  ///< why there is no value
};

struct node {
  enum flag : std::uint8_t {
    queued = 1,      ///< in a list of tasks that may start
    wanted = 2,      ///< the home has been asked to tell when it is ready
    fetching = 4,    ///< the value is on its way
    primary = 8,     ///< holds the only copy, or a replica, of a value whose home is another rank
    actor = 16,      ///< an actor's handle: the value says where the actor lives
    observed = 32,   ///< somebody has seen the failure
    references = 64, ///< the blob holds references: decode it once
    timed = 128,     ///< pending: its home has a clock running for it: a deadline, or the time of its next attempt
    leaving = timed, ///< ready: the former place of the value has not said yet that it has let go
  };

  std::atomic<std::uint32_t> refs{0};  ///< handles on this rank, and the engine's own
  graph::state state = graph::state::pending;
  graph::form form = graph::form::none;
  std::uint8_t flags = 0;
  std::uint8_t size = 0;      ///< bytes of a compact task's arguments; of a value: where it was looked for (pull_message)
  std::uint32_t missing = 0;  ///< inputs that are not there yet; of a stand-in: inputs of tasks that were sent ahead of it; of a
                              ///< task that has ended, at its home: where it ran and why there (where_it_ran)
  std::uint32_t function = no_index;
  std::uint32_t type = no_index;
  std::uint32_t index = 0;
  std::uint32_t next = no_index;
  std::uint32_t prev = no_index;
  link* links = nullptr;
  struct compact_task {
    std::uint64_t id;
    std::byte arguments[16];
  };
  struct sent_task {     ///< form none and pending: the task is elsewhere, or runs here
    std::uint64_t id;    ///< where that of a compact task stands
    std::uint32_t at;    ///< the rank that knows more; no_index: a call whose actor's place is not known yet
    std::uint32_t slot;  ///< of the actor called
    union {
      task* call;                ///< that call, as long as `at` is no_index
      std::uint64_t near_bytes;  ///< of inputs that lie there, if they are the reason: for those who ask
      std::uint64_t kept;        ///< a compact task's `size` bytes of arguments, should its rank die
    };
  };
  struct boxed_value {  ///< forms box and pages
    void* object;       ///< is `box`
    void* large;        ///< what is known of its memory, if it is large
  };
  struct blob_value {
    std::byte* data;
    std::uint64_t bytes;
  };
  struct remote_value {
    std::uint64_t bytes;
    std::uint32_t place;
  };
  union {
    std::byte bytes[24];
    compact_task compact;
    sent_task sent;
    task* record;
    void* box;
    boxed_value boxed;
    blob_value blob;
    remote_value remote;
    void* failure;
  };

  node() : bytes{} {}
  bool has(flag f) const { return (flags & f) != 0; }
  void set(flag f) { flags = static_cast<std::uint8_t>(flags | f); }
  void reset(flag f) { flags = static_cast<std::uint8_t>(flags & ~f); }
};
static_assert(sizeof(node) == 64);

/// Arguments of up to this many plain bytes need no task record.
inline constexpr std::size_t compact_bytes = sizeof(node::compact.arguments);

/// Why a link hangs on a node: who is to be told about it, or what other ranks hold of it.
enum class link_kind : std::uint8_t {
  home,        ///< first link of a stand-in: the object's home (rank, index) and how many references we owe it;
               ///< id: 1 + the rank that was asked for a copy, for the home has died
  exported,    ///< first link at the home: how many references other ranks owe us
  input,       ///< a task here (index) has this node as an input, and so have those in `pointer`: the newest of its `dependents`
  waiter,      ///< a stack here waits
  subscriber,  ///< another rank (rank, index) is to be told
  staged,      ///< a received task or call here needs the value
  call,        ///< a call to be sent once the actor's place is known
  puller,      ///< another rank (rank, index, tag in count) wants the value, which is on its way here
  reader,      ///< a rank of another node has been given the value, and gives it to others
  replica,     ///< another rank keeps a copy as long as the value lives
  ahead,       ///< a task here (index, id) that has been sent to a rank on which this was to be made
  family,      ///< the second value of a task: handles in it (of the family `index`) wait for it,
  heir,        ///< as one (index) does for what one of those has that came with the second value
};

struct link {
  link* next = nullptr;
  union {
    void* pointer = nullptr;
    std::uint64_t id;
  };
  std::uint32_t rank = 0;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  link_kind kind = link_kind::input;
};

/// Further tasks that have the same node as an input, a ring of these records from the oldest to the newest. Many of them
/// stand together because tasks are submitted one after the other while nodes end one after the other: a link for each
/// would be written in one order and read in the other, a cache miss each time.
struct dependents {
  static constexpr std::uint32_t most = 13;
  dependents* next = nullptr;
  std::uint32_t count = 0;
  std::uint32_t index[most] = {};
};
static_assert(sizeof(dependents) == 64);

/// All nodes of a rank. Freed nodes are reused last freed first.
class node_table {
  static constexpr std::uint32_t page_bits = 12;
  static constexpr std::uint32_t page_nodes = 1u << page_bits;

 public:
  node_table() = default;
  node_table(const node_table&) = delete;
  node_table& operator=(const node_table&) = delete;
  ~node_table() {
    for (node* page : pages_) delete[] page;
  }

  node& at(std::uint32_t index) { return pages_[index >> page_bits][index & (page_nodes - 1)]; }

  bool owns(const node& n) const {
    return (n.index >> page_bits) < pages_.size() && &pages_[n.index >> page_bits][n.index & (page_nodes - 1)] == &n;
  }

  node& make() {
    if (free_ == no_index) add_page();
    node& n = at(free_);
    free_ = n.next;
    if (free_ != no_index) __builtin_prefetch(&at(free_), 1);  // the next one, which may have left the cache
    n.next = no_index;
    ++live_;
    return n;
  }
  void free(node& n) {
    n.state = state::pending;
    n.form = form::none;
    n.flags = 0;
    n.size = 0;
    n.missing = 0;
    n.next = free_;
    free_ = n.index;
    --live_;
  }
  std::size_t live() const { return live_; }
  std::size_t bytes() const { return pages_.size() * page_nodes * sizeof(node); }

  /// Gives the pages up without freeing them, for handles that outlive the table.
  void leak() { pages_.clear(); }

  /// Every node that is not free, for reports.
  template <class Visit>
  void for_each(Visit&& visit) {
    base::list<bool> is_free;
    is_free.resize(pages_.size() * page_nodes, false);
    for (std::uint32_t i = free_; i != no_index; i = at(i).next) is_free[i] = true;
    for (std::uint32_t i = 0; i < is_free.size(); ++i) {
      if (!is_free[i]) visit(at(i));
    }
  }

 private:
  void add_page() {
    const auto first = static_cast<std::uint32_t>(pages_.size()) * page_nodes;
    pages_.push_back(new node[page_nodes]);
    for (std::uint32_t i = page_nodes; i-- > 0;) {
      node& n = pages_.back()[i];
      n.index = first + i;
      n.next = free_;
      free_ = n.index;
    }
  }

  base::list<node*> pages_;
  std::uint32_t free_ = no_index;
  std::size_t live_ = 0;
};

/// A queue of nodes through their own next and prev: push at either end, remove anywhere, all in O(1).
class node_list {
 public:
  explicit node_list(node_table& nodes) : nodes_(nodes) {}
  bool empty() const { return first_ == no_index; }
  std::size_t size() const { return size_; }
  node& front() { return nodes_.at(first_); }
  node& back() { return nodes_.at(last_); }

  void push_back(node& n) {
    n.next = no_index;
    n.prev = last_;
    (last_ == no_index ? first_ : nodes_.at(last_).next) = n.index;
    last_ = n.index;
    ++size_;
  }
  void push_front(node& n) {
    n.prev = no_index;
    n.next = first_;
    (first_ == no_index ? last_ : nodes_.at(first_).prev) = n.index;
    first_ = n.index;
    ++size_;
  }
  void remove(node& n) {
    (n.prev == no_index ? first_ : nodes_.at(n.prev).next) = n.next;
    (n.next == no_index ? last_ : nodes_.at(n.next).prev) = n.prev;
    n.next = n.prev = no_index;
    --size_;
  }
  node& pop_front() {
    node& n = front();
    remove(n);
    return n;
  }
  node& pop_back() {
    node& n = back();
    remove(n);
    return n;
  }
  /// From the first to the last, until found(node&) is true; null if it never is.
  template <class Found>
  node* find(Found&& found) {
    for (std::uint32_t i = first_; i != no_index; i = nodes_.at(i).next) {
      if (found(nodes_.at(i))) return &nodes_.at(i);
    }
    return nullptr;
  }

 private:
  node_table& nodes_;
  std::uint32_t first_ = no_index;
  std::uint32_t last_ = no_index;
  std::size_t size_ = 0;
};

}  // namespace manta::graph
