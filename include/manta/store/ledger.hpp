// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The large values of a rank: what they cost, and where they lie. An array
// begins in plain memory. When another rank of the node wants it, its pages
// move to memory that both map; when the rank holds more than its share, those
// of the value used longest ago move to a disk. Both happen in place: who looks
// at the array does not notice, and pages on a disk come back as they are read.
//
// Values of any other shape move to a disk as a whole: encoded, the object
// destroyed, and made again when somebody asks; so only while nobody looks at
// them. Then it is the way for arrays of moderate size too, for a process may
// have only some ten thousand mappings. Copies of what other ranks have as well
// go first, to nowhere.
#pragma once

#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <string>

#include "manta/base/error.hpp"
#include "manta/graph/node.hpp"
#include "manta/store/node_file.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::store {

class ledger;

inline std::string describe_bytes(std::uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  const char* const unit = b < 1e6 ? " kB" : b < 1e9 ? " MB" : " GB";
  return std::to_string(static_cast<std::uint64_t>(b / (b < 1e6 ? 1e3 : b < 1e9 ? 1e6 : 1e9) + 0.5)) + unit;
}

/// Values of at least this size are entered, and may move to a disk;
inline constexpr std::size_t large_bytes = 4 * 1024;
/// arrays of at least this size are shared by the ranks of a node instead of sent from one to the other;
inline constexpr std::size_t shared_bytes = 256 * 1024;
/// those of at least this size move to a disk in place, even if nobody looks at them.
inline constexpr std::size_t in_place_bytes = std::size_t{8} << 20;

/// One copy of a value's array on this rank, and where its pages are.
struct region {
  enum class place : std::uint8_t { none, memory, node, disk };
  std::byte* array = nullptr;
  std::uint64_t disk_at = 0;
  region::place place = place::none;
};

struct large;

/// Values in the order of their use.
struct chain {
  large* oldest = nullptr;
  large* newest = nullptr;
};

/// A large value.
struct large {
  ledger* book = nullptr;
  graph::node* node = nullptr;     ///< that has it
  std::size_t bytes = 0;           ///< of its array; of a value of another shape: of its memory, about
  bool shapeless = false;          ///< of another shape: `object` says only whether it is in memory
  bool copy = false;               ///< its home, another rank, has it too or knows who has
  bool stays = false;              ///< a copy that is needed here without being asked for again
  bool fixed = false;              ///< cannot be encoded for a disk
  bool used = false;               ///< looked at since it came
  bool given = false;              ///< the user has a reference, which is good as long as it lives
  std::uint32_t looks = 0;         ///< who looks at it now
  std::uint32_t shown = 0;         ///< to so many ranks that have not mapped it yet
  std::uint64_t encoding_at = 0;   ///< on the disk, and
  std::uint64_t encoding_bytes = 0;  ///< how long; 0: it is not there
  region object;                   ///< the array inside the decoded value
  region view;                     ///< the array as another rank of the node has made it, until the value is decoded and after
  wire::buffer header;             ///< with a view: the value's encoding without the array
  node_file* shared = nullptr;     ///< node memory that holds the array, as long as it is open; the view's mapping
  std::uint64_t shared_at = 0;     ///< where in it
  bool peers = false;              ///< another rank counts that memory
  bool offered = false;            ///< to be shared when there is time
  bool warm = true;                ///< on a disk: looked at since it was moved there
  std::uint32_t function = 0;      ///< what made it, for reports
  std::uint64_t charged = 0;
  chain* in = nullptr;
  large* older = nullptr;
  large* newer = nullptr;

  /// Neither object nor view: it lies on the disk as a whole.
  bool is_encoded() const { return object.place == region::place::none && view.place == region::place::none; }
  bool is_shared() const { return shared != nullptr && shared->is_open(); }
  bool on_disk() const { return object.place == region::place::disk || view.place == region::place::disk; }
  const std::byte* array() const { return object.place != region::place::none ? object.array : view.array; }
  /// Memory that it takes on this rank.
  std::uint64_t cost() const {
    const bool in_node_memory = object.place == region::place::node || view.place == region::place::node;
    return (object.place == region::place::memory ? bytes : 0) + (in_node_memory && !peers ? bytes : 0) +
           (on_disk() && warm ? bytes : 0);
  }
};

class ledger {
 public:
  ledger() = default;
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;
  ~ledger() {
    while (!kept_.empty()) stop_keeping(0);
    unmap_unwanted();
  }

  /// `folder` "none": nothing is moved to a disk.
  void set_limits(std::uint64_t budget, const std::string& folder) {
    budget_ = limit_ = budget;
    if (folder != "none") folder_ = base::absolute_path(folder);
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) max_files_ = static_cast<std::size_t>(files.rlim_cur / 2);
  }
  /// This rank says there what it holds, and may hold half of what others of its node leave of their shares.
  void lend(std::atomic<std::uint64_t>& held_here) { held_here_ = &held_here; }
  void borrow_from(std::uint32_t rank, const std::atomic<std::uint64_t>& held, std::uint64_t share) {
    lenders_.push_back({&held, share, rank});
  }
  /// Its share.
  std::uint64_t budget() const { return budget_; }
  /// With what it might borrow when room was made last.
  std::uint64_t limit() const { return limit_; }
  /// Others of its node have used their shares since: what was borrowed goes back.
  void pay_back() {
    if (!lenders_.empty() && wanted() > budget_) make_room();
  }
  std::uint64_t charged() const { return charged_; }
  std::uint64_t on_disk() const { return on_disk_; }
  std::uint64_t dropped() const { return dropped_; }
  std::size_t size() const { return size_; }

  /// Should what can wait not begin, so that what is there may go first?
  bool is_short() const {
    const std::uint64_t most = limit();
    return charged_ > most - most / 4;
  }
  /// So much is on its way here, or no longer so: room is made before it comes.
  void expect(std::uint64_t bytes) {
    expected_ += bytes;
    make_room();
  }
  void expect_no_more(std::uint64_t bytes) { expected_ -= bytes; }
  bool expects_much() const { return expected_ > budget_ / 4; }

  /// A value whose object has come to this rank, or was made here. Makes room for it; look at excess() afterwards.
  large& enter(std::byte* array, std::size_t bytes, std::uint32_t function) {
    large& e = add(bytes, function);
    e.object = {array, 0, region::place::memory};
    recount(e);
    make_room();
    return e;
  }
  /// The same for a node's decoded value. `shapeless`: it is not one array. `copy`: another rank has it too.
  large& enter(graph::node& n, const wire::segment& array, bool shapeless, bool fixed, bool copy, std::uint32_t function) {
    large& e = add(array.bytes, function);
    e.node = &n;
    e.shapeless = shapeless;
    e.fixed = fixed;
    e.copy = copy;
    e.object = {static_cast<std::byte*>(array.data), 0, region::place::memory};
    n.boxed.large = &e;
    recount(e);
    make_room();
    return e;
  }
  /// A value that is looked at in node memory; its encoding without the array is to become its header. `peers`: another
  /// rank counts that memory. Null if there is none, or it cannot be mapped.
  large* enter(node_file* memory, std::uint64_t at, std::size_t bytes, bool peers, std::uint32_t function) {
    if (memory == nullptr) return nullptr;
    std::byte* const window = memory->window();
    if (window == nullptr) {
      delete memory;
      return nullptr;
    }
    large& e = add(bytes, function);
    e.view = {window + at, 0, region::place::node};
    e.peers = peers;
    own(e, memory, at);
    make_room();
    return &e;
  }
  /// A copy of an array that stays with its owner, in node memory.
  large* enter_copy(const std::byte* array, std::size_t bytes, std::uint32_t function) {
    return enter(copy(array, bytes), page_offset(array), bytes, false, function);
  }
  /// Node memory that was mapped here before, to be looked at again; null if it is not kept.
  node_file* take_mapped(std::uint64_t identity) {
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i]->identity() != identity) continue;
      node_file* const f = take_kept(i);
      if (!f->made_here()) f->look();
      return f;
    }
    return nullptr;
  }
  /// What it has made is not used again, nor what it may have looked at when it died.
  void rank_died(std::uint32_t rank) {
    for (std::size_t i = lenders_.size(); i-- > 0;) {
      if (lenders_[i].rank == rank) lenders_.remove_unordered(i);
    }
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (!kept_[i]->made_here() || kept_[i]->is_looked_at()) stop_keeping(i);
    }
    for_each([&](large& e) {
      if (e.shared != nullptr && e.shared->maker() == rank) e.shared->orphan();
    });
  }
  /// The value of a view has been decoded into an object whose array is to be filled.
  void fill(large& e, std::byte* array) {
    const bool mapped = e.view.place == region::place::node && take_place_of(array, e.bytes, e.shared->memory(), e.shared_at);
    e.object = {array, 0, mapped ? region::place::node : region::place::memory};
    if (mapped) {
      copy_ends(array, e.view.array, e.bytes);
    } else {
      std::memcpy(array, e.view.array, e.bytes);
    }
    use(e);
  }
  /// The value is destroyed, or moved out of its node.
  void remove(large& e) {
    if (e.on_disk()) give_up_shared(e);  // a view's pages are the disk's now
    for (region* r : {&e.object, &e.view}) {
      if (r->place == region::place::disk) release_disk(e, *r);
    }
    if (e.object.place == region::place::node || e.object.place == region::place::disk) let_go_of_file(e.object.array, e.bytes);
    release_encoding(e);
    if (e.shared != nullptr) leave(std::exchange(e.shared, nullptr));
    withdraw_offer(e);
    charge(0, e.charged);
    unlink(e);
    --size_;
    delete &e;
  }

  /// Mappings that nobody needs any more go after what the task made has been sent: it takes longer than to make them.
  std::size_t unwanted() const { return unwanted_.size(); }
  void unmap_unwanted() {
    for (node_file* f : unwanted_) delete f;
    unwanted_.clear();
  }
  /// Node memory of this rank that holds no value, and is kept for the next ones.
  std::uint64_t kept_bytes() const { return kept_bytes_; }

  /// It is looked at here.
  void use(large& e) {
    e.used = true;
    touch(e);
  }
  /// It is wanted, here or elsewhere.
  void touch(large& e) {
    unlink(e);
    link(e, *e.in);
    if (e.on_disk()) e.warm = true;
    ++e.looks;  // room is not made by what is asked for
    recount(e);
    make_room();
    --e.looks;
    recount(e);
  }
  /// From now on until look_away() its object, or what it is looked at instead, stays where it is.
  void look(large& e) {
    ++e.looks;
    recount(e);
  }
  void look_away(large& e) {
    --e.looks;
    recount(e);
    make_room();
  }
  /// The same for its file, which another rank has been told of and has not mapped yet.
  void show(large& e) {
    ++e.shown;
    look(e);
  }
  void shown_no_more(large& e) {
    --e.shown;
    if (e.shown == 0 && !e.peers && e.on_disk()) give_up_shared(e);
    look_away(e);
  }
  /// It stays where it is as long as it lives.
  void give(large& e) {
    e.given = true;
    recount(e);
  }
  /// Another rank has it now.
  void is_copy(large& e) {
    e.copy = true;
    recount(e);
  }
  /// It is not dropped, as a copy would be.
  void keep(large& e) {
    e.stays = true;
    recount(e);
  }

  /// Makes the object of a value that lies on the disk as a whole. Throws what its type's load() throws.
  void bring_back(large& e) {
    const encoding bytes(*this, e);
    wire::source in(bytes.data, e.encoding_bytes);
    const wire::type_entry& type = wire::type_at(e.node->type);
    e.node->boxed.object = type.read(in);
    e.node->form = graph::form::box;
    e.object.place = region::place::memory;
    if (!e.shapeless) e.object.array = static_cast<std::byte*>(type.array(e.node->boxed.object).data);
  }
  /// The encoding of such a value, as it lies there.
  void read_encoding(const large& e, wire::buffer& out) const {
    if (!disk_.read(out.extend(e.encoding_bytes), e.encoding_bytes, e.encoding_at)) {
      throw error("manta: a value that was moved to a disk cannot be read: " + folder_ + ": " + std::strerror(errno));
    }
  }

  /// Moves the array to node memory. False if it stays where it is.
  bool share(large& e) {
    if (e.is_shared()) return true;
    if (e.bytes < shared_bytes || e.shapeless || e.is_encoded() || e.on_disk()) return false;
    node_file* const memory = copy(e.object.array, e.bytes);
    if (memory == nullptr) return false;
    const std::uint64_t at = page_offset(e.object.array);
    if (take_place_of(e.object.array, e.bytes, memory->memory(), at)) e.object.place = region::place::node;
    own(e, memory, at);
    return true;
  }
  /// Others of the node may want it: it is shared when this rank has nothing else to do.
  void offer(large& e) {
    if (e.bytes < shared_bytes || e.shapeless || e.is_shared() || e.offered) return;
    e.offered = true;
    offered_.push_back(&e);
  }
  std::size_t offers() const { return offered_.size(); }
  void share_offered() {
    if (offered_.empty()) return;
    large& next = *offered_.back();
    withdraw_offer(next);
    share(next);
  }
  /// This rank has taken a value over whose memory another rank of the node made.
  void take_over(large& e) {
    e.peers = false;
    recount(e);
    make_room();
  }

  /// Why what is held is more than the share, and could not be moved to a disk; empty if it is not.
  std::string excess() const {
    if (charged_ <= limit()) return {};
    if (folder_.empty()) return "it may not be moved to a disk (MANTA_SPILL_FOLDER=none)";
    return in_memory_.oldest != nullptr ? why_not_ : "they are looked at, or have futures inside";
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const chain* c : {&copies_, &in_memory_, &others_}) {
      for (large* e = c->newest; e != nullptr; e = e->older) visit(*e);
    }
  }
  /// The `count` largest, the largest first: visit(const large&).
  template <class Visit>
  void largest(std::size_t count, Visit&& visit) const {
    base::list<const large*> all;
    for_each([&](const large& e) {
      std::size_t i = all.size();
      if (i < count) {
        all.push_back(&e);
      } else if (all[i - 1]->bytes >= e.bytes) {
        return;
      } else {
        --i;
      }
      for (; i > 0 && all[i - 1]->bytes < e.bytes; --i) all[i] = all[i - 1];
      all[i] = &e;
    });
    for (const large* e : all) visit(*e);
  }

 private:
  large& add(std::size_t bytes, std::uint32_t function) {
    auto* const e = new large;
    e->book = this;
    e->bytes = bytes;
    e->function = function;
    ++size_;
    link(*e, others_);
    return *e;
  }
  static void link(large& e, chain& c) {
    e.in = &c;
    e.newer = nullptr;
    e.older = c.newest;
    (c.newest == nullptr ? c.oldest : c.newest->newer) = &e;
    c.newest = &e;
  }
  static void unlink(large& e) {
    (e.older == nullptr ? e.in->oldest : e.older->newer) = e.newer;
    (e.newer == nullptr ? e.in->newest : e.newer->older) = e.older;
  }
  chain& place_of(const large& e) {
    const bool seen = e.looks != 0 || e.given;
    if (e.charged == 0 || (e.shapeless && (seen || e.fixed))) return others_;
    const bool may_go = e.copy && e.used && e.encoding_bytes == 0 && !seen && !e.stays && !e.fixed;
    return may_go ? copies_ : in_memory_;
  }
  node_file* copy(const std::byte* array, std::size_t bytes) {
    for (std::size_t i = kept_.size(); i-- > 0;) {  // that used last is the likeliest to be in the cache
      if (!kept_[i]->made_here() || !kept_[i]->fits(bytes) || kept_[i]->is_looked_at()) continue;
      node_file* const again = take_kept(i);
      again->write(array, bytes);
      return again;
    }
    if (files_ + kept_.size() >= max_files_ && !kept_.empty()) stop_keeping(0);
    return files_ < max_files_ ? node_file::with_copy(array, bytes) : nullptr;
  }
  void own(large& e, node_file* memory, std::uint64_t at) {
    e.shared = memory;
    e.shared_at = at;
    ++files_;
    recount(e);
  }
  /// Nothing is there of a value that lay in this file.
  void leave(node_file* f) {
    if (!f->is_open()) return unwanted_.push_back(f);
    --files_;
    if (!f->made_here() && !f->look_away()) return unwanted_.push_back(f);
    kept_.push_back(f);
    if (f->made_here()) kept_bytes_ += f->room();
    while (kept_bytes_ > most_kept_bytes()) stop_keeping_own();
    if (kept_.size() > most_kept) stop_keeping(0);
  }
  /// What is lent to others as well, for it may come back.
  std::uint64_t most_kept_bytes() const { return budget_ / 8 < (std::uint64_t{4} << 30) ? budget_ / 8 : std::uint64_t{4} << 30; }
  node_file* take_kept(std::size_t i) {
    node_file* const f = kept_[i];
    kept_.remove(f);
    if (f->made_here()) kept_bytes_ -= f->room();
    return f;
  }
  void stop_keeping(std::size_t i) {
    node_file* const f = take_kept(i);
    if (f->made_here()) f->close();
    unwanted_.push_back(f);
  }
  /// There is one. What others look at still takes its memory afterwards.
  void stop_keeping_own() {
    std::size_t chosen = kept_.size();
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i]->made_here() && (chosen == kept_.size() || !kept_[i]->is_looked_at())) chosen = i;
    }
    stop_keeping(chosen);
  }
  void withdraw_offer(large& e) {
    if (!e.offered) return;
    e.offered = false;
    offered_.remove(&e);
  }
  void charge(std::uint64_t now, std::uint64_t before) {
    if (now == before) return;
    charged_ += now - before;
    if (held_here_ != nullptr) held_here_->store(charged_, std::memory_order_relaxed);
  }
  void recount(large& e) {
    const std::uint64_t cost = e.cost();
    charge(cost, e.charged);
    e.charged = cost;
    chain& c = place_of(e);
    if (&c == e.in) return;
    unlink(e);
    link(e, c);
  }

  static void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
    const inner_pages inner(to, bytes);
    const auto before = inner.bytes == 0 ? bytes : static_cast<std::size_t>(inner.begin - to);
    std::memcpy(to, from, before);
    const std::size_t after = before + inner.bytes;
    std::memcpy(to + after, from + after, bytes - after);
  }

  std::uint64_t wanted() const { return charged_ + expected_ + kept_bytes_; }
  /// Near its share a rank looks up what others of its node leave of theirs and may hold half of it beside its own: were
  /// all to borrow at once, they would share out what is left and stay within the node's budget.
  bool exceeds_limit() {
    if (lenders_.empty() || wanted() <= budget_ - budget_ / 4) {
      limit_ = budget_;
    } else if (wanted() > limit_ || --limit_holds_ == 0) {
      std::uint64_t shares = 0, held = 0;
      for (const lender& l : lenders_) {
        shares += l.share;
        held += l.held->load(std::memory_order_relaxed);
      }
      limit_ = budget_ + (held < shares ? (shares - held) / 2 : 0);
      limit_holds_ = 16;
    }
    return wanted() > limit_;
  }
  /// First what is only kept goes, then copies, which can be had again, then others to a disk. What went is in the chain of others.
  void make_room() {
    while (exceeds_limit()) {
      if (kept_bytes_ != 0) {
        stop_keeping_own();
        continue;
      }
      if (copies_.oldest != nullptr) {
        drop(*copies_.oldest);
        continue;
      }
      large* e = in_memory_.oldest;
      if (e != nullptr && move_to_disk(*e)) continue;
      if (on_disk_ == 0) return;
      while (e != nullptr && e->encoding_bytes == 0) e = e->newer;  // the disk is full, but some lie there already
      if (e == nullptr || !move_to_disk(*e)) return;
    }
  }
  void drop(large& e) {
    graph::node& n = *e.node;
    const graph::link* const home = n.links;  // which we must owe a reference, or it may have forgotten the value
    const bool still = home != nullptr && home->kind == graph::link_kind::home && home->count != 0 && !n.has(graph::node::primary);
    if (!still) return keep(e);
    void* const object = n.form == graph::form::box ? n.boxed.object : nullptr;
    const std::uint64_t bytes = e.bytes;
    remove(e);
    if (object != nullptr) wire::type_at(n.type).destroy(object);
    n.form = graph::form::remote;
    n.remote.bytes = bytes;
    n.remote.place = n.links->rank;
    n.size = 0;
    ++dropped_;
    freed(bytes);
  }
  /// Small pieces that are free again go back to the system now and then.
  void freed(std::uint64_t bytes) {
    freed_ += bytes;
    if (freed_ <= budget_ / 8) return;
    freed_ = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }

  /// False if the disk takes no more.
  bool move_to_disk(large& e) {
    const bool plain = e.object.place == region::place::memory && e.view.place == region::place::none && !e.is_shared();
    const bool seen = e.looks != 0 || e.given;
    if (e.shapeless || (plain && !seen && !e.fixed && e.bytes < in_place_bytes && e.node != nullptr)) return move_whole(e);
    bool moved = true;
    for (region* r : {&e.object, &e.view}) {
      if (r->place == region::place::disk) {
        forget_pages(r->array, e.bytes);
      } else if (r->place == region::place::memory || (r->place == region::place::node && !e.peers)) {
        moved = moved && write_to_disk(e, *r);
      }
    }
    if (moved) {
      if (!e.peers && e.shown == 0) give_up_shared(e);  // others keep what they have mapped
      e.warm = false;
    }
    recount(e);
    return moved;
  }
  bool move_whole(large& e) {
    if (e.encoding_bytes == 0 && !write_whole(e)) return e.fixed;
    graph::node& n = *e.node;
    wire::type_at(n.type).destroy(std::exchange(n.boxed.object, nullptr));
    n.form = graph::form::pages;
    e.object = region{};
    recount(e);
    freed(e.bytes);
    return true;
  }
  /// Of a value that lies on the disk as a whole: read if it is small, else mapped, for it would need as much memory again.
  struct encoding {
    const std::byte* data = nullptr;

    encoding(const ledger& book, const large& e) {
      if (e.encoding_bytes < shared_bytes) {
        book.read_encoding(e, copy_);
        data = copy_.data();
        return;
      }
      const std::uint64_t before = e.encoding_at & (page_bytes() - 1);
      mapped_bytes_ = before + e.encoding_bytes;
      mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, book.disk_.get(), static_cast<off_t>(e.encoding_at - before));
      if (mapped_ == MAP_FAILED) throw std::bad_alloc();
      data = static_cast<const std::byte*>(mapped_) + before;
    }
    encoding(const encoding&) = delete;
    encoding& operator=(const encoding&) = delete;
    ~encoding() {
      if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
    }

   private:
    wire::buffer copy_;
    void* mapped_ = nullptr;
    std::uint64_t mapped_bytes_ = 0;
  };
  /// Of a value that is written to the disk as it is encoded.
  struct disk_writer : wire::outlet {
    const file& disk;
    std::uint64_t at;
    wire::buffer part = {};

    disk_writer(const file& to, std::uint64_t begin) : wire::outlet{&put}, disk(to), at(begin) {}
    static void put(wire::outlet& self, const void* data, std::size_t bytes) {
      constexpr std::size_t most = 256 * 1024;
      auto& w = static_cast<disk_writer&>(self);
      if (w.part.size() + bytes > most) w.flush();
      if (bytes < most) return w.part.append(data, bytes);
      w.write(static_cast<const std::byte*>(data), bytes);
    }
    void flush() {
      write(part.data(), part.size());
      part.clear();
    }
    void write(const std::byte* data, std::size_t bytes) {
      if (!disk.write(data, bytes, at)) throw disk_error{errno};
      at += bytes;
    }
  };
  struct disk_error {
    int number;
  };
  bool write_whole(large& e) {
    if (!open_disk()) return false;
    const std::uint64_t begin = whole_pages(disk_end_);
    disk_writer writer(disk_, begin);
    bool written = false;
    try {
      wire::sink out(writer);
      wire::type_at(e.node->type).write(e.node->boxed.object, out);
      writer.flush();
      written = writer.at != begin;
      e.fixed = !written;
    } catch (const disk_error& error) {
      errno = error.number;
      note_why_not();
    } catch (...) {  // its save() throws, which will be told when it is sent
      e.fixed = true;
    }
    if (!written) {
      recount(e);
      punch(begin, writer.at);
      return false;
    }
    e.encoding_at = begin;
    e.encoding_bytes = writer.at - begin;
    disk_end_ = writer.at;
    on_disk_ += e.encoding_bytes;
    return true;
  }
  void release_encoding(large& e) {
    if (e.encoding_bytes == 0) return;
    punch(e.encoding_at, e.encoding_at + e.encoding_bytes);
    given_back(e.encoding_bytes);
  }
  bool open_disk() {
    if (folder_.empty()) return false;
    if (!disk_.is_open()) disk_ = file::of_folder(folder_);
    if (!disk_.is_open()) note_why_not();
    return disk_.is_open();
  }
  void note_why_not() { why_not_ = folder_ + ": " + std::string(std::strerror(errno)); }
  bool write_to_disk(large& e, region& r) {
    if (!open_disk()) return false;
    // around a view's array its pages hold nothing, and go as well; else the file under them would be held by the ends
    const bool whole = &r == &e.view;
    const std::size_t before = whole ? page_offset(r.array) : 0;
    const std::size_t length = whole ? whole_pages(before + e.bytes) : e.bytes;
    std::byte* const begin = r.array - before;
    const std::uint64_t at = whole_pages(disk_end_) + page_offset(begin);
    if (!disk_.write(begin, length, at) || !take_place_of(begin, length, disk_, at)) {
      note_why_not();
      return false;
    }
    disk_end_ = at + length;
    on_disk_ += e.bytes;
    r.place = region::place::disk;
    r.disk_at = at + before;
    return true;
  }
  void release_disk(large& e, region& r) {
    punch(r.disk_at, r.disk_at + e.bytes);
    given_back(e.bytes);
  }
  /// The pages that hold these bytes, which hold no others.
  void punch(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t begin = from & ~(page_bytes() - 1);
    fallocate(disk_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
              static_cast<off_t>(whole_pages(to) - begin));
  }
  void given_back(std::uint64_t bytes) {
    on_disk_ -= bytes;
    if (on_disk_ == 0) disk_end_ = 0;
  }
  /// The array is elsewhere now.
  void give_up_shared(large& e) {
    if (!e.is_shared()) return;
    e.shared->made_here() ? e.shared->close() : e.shared->look_away_for_good();
    --files_;
  }

  std::uint64_t budget_ = ~std::uint64_t{0};
  std::uint64_t charged_ = 0, expected_ = 0;
  struct lender {
    const std::atomic<std::uint64_t>* held;
    std::uint64_t share;
    std::uint32_t rank;
  };
  base::list<lender> lenders_;
  std::atomic<std::uint64_t>* held_here_ = nullptr;
  std::uint64_t limit_ = ~std::uint64_t{0};  // as it was when they were looked at last
  unsigned limit_holds_ = 1;                 // for so many more times
  std::uint64_t on_disk_ = 0, dropped_ = 0, freed_ = 0;
  std::size_t size_ = 0;
  base::list<large*> offered_;
  chain copies_, in_memory_;  // what can go: dropped, moved to a disk;
  chain others_;              // has gone, or cannot
  static constexpr std::size_t most_kept = 32;
  base::list<node_file*> kept_;       // that hold no value: made here for the next arrays, or mapped; the one used last is the last
  std::uint64_t kept_bytes_ = 0;      // of those made here
  base::list<node_file*> unwanted_;
  std::size_t files_ = 0, max_files_ = 0;  // that hold values
  std::string folder_, why_not_;
  file disk_;
  std::uint64_t disk_end_ = 0;
};

}  // namespace manta::store
