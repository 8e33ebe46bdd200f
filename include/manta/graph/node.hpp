// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One node of the task graph: a value that exists or will exist. A node is the future's state, the task that makes the
// value and the link in a queue at once, in one cache line, because memory traffic is the main cost of a task. Nodes
// live in pages and are named by index, here and on the wire.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/graph/ids.hpp"

namespace manta::graph {

struct task;
struct link;

enum class state : std::uint8_t { pending, ready, failed };

/// What the payload of a node is.
enum class form : std::uint8_t {
  none,     ///< nothing: the task was sent to another rank, or the value is void
  compact,  ///< a task of a few plain argument bytes: id, then the bytes
  record,   ///< a task in general form: task*
  plain,    ///< the value itself
  box,      ///< the value, decoded: owned pointer to an object of type `type`
  pages,    ///< the value, encoded: an array mapped from another rank of the node, or a whole value on a disk
  blob,     ///< the value, encoded: owned bytes
  remote,   ///< the value lies on another rank: place and size
  failure,  ///< the reason why there is no value
};

struct node {
  enum flag : std::uint8_t {
    queued = 1,       ///< the task is in a list of tasks that may start
    wanted = 2,       ///< this rank has asked the home to announce the value
    fetching = 4,     ///< the value is on its way
    primary = 8,      ///< holds the only copy, or a replica, of a value whose home is another rank
    actor = 16,       ///< an actor's handle: the value says where the actor lives
    observed = 32,    ///< the program has seen the failure, so it need not be reported
    references = 64,  ///< the blob holds references: decode it once
    timed = 128,      ///< pending: a timer runs for it at its home: its deadline, or the time of its next attempt
    leaving = timed,  ///< ready: the former holder of the value has not confirmed yet that it has dropped the value
  };

  std::atomic<std::uint32_t> refs{0};  ///< handles on this rank, and the engine's own
  graph::state state = graph::state::pending;
  graph::form form = graph::form::none;
  std::uint8_t flags = 0;
  /// A compact task has here the bytes of its arguments, a value the last redirect that this rank
  /// followed (see pull_message).
  std::uint8_t size = 0;
  /// A task has here the number of inputs that do not exist yet, and once it has ended, at its home, where it ran and
  /// why there (see where_it_ran). A stand-in has the number of inputs of tasks that were sent ahead of it.
  std::uint32_t missing = 0;
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
    std::uint64_t id;    ///< stands at the same place as in compact_task
    std::uint32_t at;    ///< the rank that knows more; no_index: a call whose actor's place is not known yet
    std::uint32_t slot;  ///< slot of the called actor
    union {
      task* call;                ///< the call, as long as `at` is no_index
      std::uint64_t near_bytes;  ///< bytes of the inputs there, if they are the reason for the rank; for explain()
      std::uint64_t kept;        ///< a compact task's `size` bytes of arguments, in case its rank dies
    };
  };
  struct boxed_value {  ///< forms box and pages
    void* object;       ///< the same as `box`
    void* large;        ///< the record of its memory (store::large), if the value is large
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
  bool is_pending() const { return state == graph::state::pending; }
  bool is_ready() const { return state == graph::state::ready; }
  bool has_failed() const { return state == graph::state::failed; }
  bool has(flag f) const { return (flags & f) != 0; }
  void set(flag f) { flags = static_cast<std::uint8_t>(flags | f); }
  void reset(flag f) { flags = static_cast<std::uint8_t>(flags & ~f); }
};
static_assert(sizeof(node) == 64);

/// Arguments of up to this many plain bytes need no task record.
inline constexpr std::size_t compact_bytes = sizeof(node::compact.arguments);

/// The purpose of a link at a node: what has to hear about the node, or what other ranks hold of it.
enum class link_kind : std::uint8_t {
  home,        ///< first link of a stand-in: the object's home (rank, index), and the number of references owed to it;
               ///< id: if the home has died, 1 + the rank that was asked for a copy
  exported,    ///< first link at the home: the number of references that other ranks owe to this rank
  input,       ///< tasks here have this node as an input: the one at `index`, and those in `pointer`, its `dependents`
  waiter,      ///< a stack here waits for the node
  subscriber,  ///< another rank (rank, index) waits for the announcement
  staged,      ///< a received task or call here needs the value
  call,        ///< a call that can be sent when the actor's place is known
  puller,      ///< another rank (rank, index, tag in count) wants the value, which is on its way here
  reader,      ///< a rank of another node has received the value, and passes it on to others
  replica,     ///< another rank keeps a copy as long as the value lives
  ahead,       ///< a task of this home (index, id) was sent ahead to the rank on which this input is made
  family,      ///< the result of a task that runs again: the handles of the family `index` wait for it
  heir,        ///< a handle found in a value that was made again: the lost handle `index` takes its value
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

/// Further tasks that have the same node as an input: a ring of records from the oldest to the newest. Each record
/// holds many tasks. A link for each task would be written in the order of submissions and read in the order in which
/// nodes end, with a cache miss each time.
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
    if (free_ != no_index) __builtin_prefetch(&at(free_), 1);  // the next node, which may have left the cache
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

  /// Forgets the pages without freeing them, for handles that outlive the table.
  void leak() { pages_.clear(); }

  /// Visits every node that is not free, for reports.
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
  /// The first node for which found(node&) is true; null if there is none.
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
