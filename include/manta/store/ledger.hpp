// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The large values of a rank: what they cost, and where their arrays lie. An
// array begins in plain memory. When another rank of the node wants it, its
// pages move to memory that both map; when the rank holds more than its share,
// those of the value used longest ago move to a disk. Both happen in place:
// who looks at the array does not notice, and pages on a disk come back as
// they are read.
#pragma once

#include <sys/resource.h>

#include <string>

#include "manta/base/error.hpp"
#include "manta/store/pages.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::store {

class ledger;

inline std::string describe_bytes(std::uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  const char* const unit = b < 1e6 ? " kB" : b < 1e9 ? " MB" : " GB";
  return std::to_string(static_cast<std::uint64_t>(b / (b < 1e6 ? 1e3 : b < 1e9 ? 1e6 : 1e9) + 0.5)) + unit;
}

/// Arrays of at least this size are entered, and may move to a disk;
inline constexpr std::size_t large_bytes = 64 * 1024;
/// those of at least this size are shared by the ranks of a node instead of sent from one to the other.
inline constexpr std::size_t shared_bytes = 256 * 1024;

/// One copy of a value's array on this rank, and where its pages are.
struct region {
  enum class place : std::uint8_t { none, memory, node, disk };
  std::byte* array = nullptr;
  std::uint64_t disk_at = 0;
  region::place place = place::none;
};

/// A large value.
struct large {
  ledger* book = nullptr;
  std::size_t bytes = 0;           ///< of its array
  region object;                   ///< the array inside the decoded value
  region view;                     ///< the array as another rank of the node has made it, until the value is decoded and after
  wire::buffer header;             ///< with a view: the value's encoding without the array
  file shared;                     ///< node memory that holds the array
  std::uint64_t shared_at = 0;     ///< where in it
  bool peers = false;              ///< another rank made that memory, and counts it
  bool offered = false;            ///< to be shared when there is time
  bool warm = true;                ///< on a disk: looked at since it was moved there
  std::uint32_t function = 0;      ///< what made it, for reports
  std::uint64_t charged = 0;
  large* older = nullptr;
  large* newer = nullptr;

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
  ~ledger() { unmap_views(); }

  /// `folder` "none": nothing is moved to a disk.
  void set_limits(std::uint64_t budget, const std::string& folder) {
    budget_ = budget;
    if (folder != "none") folder_ = folder;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) max_shared_ = static_cast<std::size_t>(files.rlim_cur / 2);
  }
  std::uint64_t budget() const { return budget_; }
  std::uint64_t charged() const { return charged_; }
  std::uint64_t on_disk() const { return on_disk_; }
  std::size_t size() const { return size_; }

  /// A value whose object has come to this rank, or was made here. Makes room for it; look at excess() afterwards.
  large& enter(std::byte* array, std::size_t bytes, std::uint32_t function) {
    large& e = add(bytes, function);
    e.object = {array, 0, region::place::memory};
    recount(e);
    make_room();
    return e;
  }
  /// A value that is looked at in node memory; its encoding without the array is to become its header. `peers`: another
  /// rank has made that memory. Null if it cannot be mapped.
  large* enter(file&& memory, std::uint64_t at, std::size_t bytes, bool peers, std::uint32_t function) {
    const std::size_t before = at & (page_bytes() - 1);
    void* const mapped = mmap(nullptr, before + bytes, PROT_READ, MAP_PRIVATE, memory.get(), static_cast<off_t>(at - before));
    if (mapped == MAP_FAILED) return nullptr;
    large& e = add(bytes, function);
    e.view = {static_cast<std::byte*>(mapped) + before, 0, region::place::node};
    e.peers = peers;
    own(e, std::move(memory), at);
    make_room();
    return &e;
  }
  /// A copy of an array that stays with its owner, in node memory. Null if there is none to be had.
  large* enter_copy(const std::byte* array, std::size_t bytes, std::uint32_t function) {
    const std::uint64_t at = page_offset(array);
    file memory = copy(array, bytes);
    return memory.is_open() ? enter(std::move(memory), at, bytes, false, function) : nullptr;
  }
  /// The value of a view has been decoded into an object whose array is to be filled.
  void fill(large& e, std::byte* array) {
    const bool mapped = e.view.place == region::place::node && e.shared.take_place_of(array, e.bytes, e.shared_at);
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
    for (region* r : {&e.object, &e.view}) {
      if (r->place == region::place::disk) release_disk(e, *r);
    }
    if (e.object.place == region::place::node || e.object.place == region::place::disk) let_go_of_file(e.object.array, e.bytes);
    if (e.view.place != region::place::none) {
      std::byte* const begin = e.view.array - page_offset(e.view.array);
      views_.push_back({begin, static_cast<std::size_t>(e.view.array - begin) + e.bytes});
      if (views_.size() >= most_views) unmap_views();
    }
    close_shared(e);
    withdraw_offer(e);
    e.object = e.view = region{};
    recount(e);
    unlink(e);
    --size_;
    delete &e;
  }

  /// Views that nobody needs any more are unmapped after what the task made has been sent: it takes longer than to map them.
  std::size_t old_views() const { return views_.size(); }
  void unmap_views() {
    for (const wire::segment& v : views_) munmap(v.data, v.bytes);
    views_.clear();
  }

  /// It is looked at.
  void use(large& e) {
    if (newest_ != &e) {
      unlink(e);
      link(e);
    }
    if (e.on_disk()) e.warm = true;
    recount(e);
    if (charged_ > budget_) make_room();
  }

  /// Moves the array to node memory. False if it stays where it is.
  bool share(large& e) {
    if (e.shared.is_open()) return true;
    if (e.bytes < shared_bytes || e.on_disk()) return false;
    const std::uint64_t at = page_offset(e.object.array);
    file memory = copy(e.object.array, e.bytes);
    if (!memory.is_open()) return false;
    if (memory.take_place_of(e.object.array, e.bytes, at)) e.object.place = region::place::node;
    own(e, std::move(memory), at);
    return true;
  }
  /// Others of the node may want it: it is shared when this rank has nothing else to do.
  void offer(large& e) {
    if (e.bytes < shared_bytes || e.shared.is_open() || e.offered) return;
    e.offered = true;
    ++offers_;
  }
  std::size_t offers() const { return offers_; }
  void share_offered() {
    for (large* e = newest_; e != nullptr; e = e->older) {
      if (!e->offered) continue;
      withdraw_offer(*e);
      share(*e);
      return;
    }
  }
  /// This rank has taken a value over whose memory another rank of the node made.
  void take_over(large& e) {
    e.peers = false;
    recount(e);
    make_room();
  }

  /// Why what is held is more than the share, and could not be moved to a disk; empty if it is not.
  std::string excess() const {
    if (charged_ <= budget_) return {};
    return folder_.empty() ? "it may not be moved to a disk (MANTA_SPILL_FOLDER=none)" : why_not_;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const large* e = newest_; e != nullptr; e = e->older) visit(*e);
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
    link(*e);
    return *e;
  }
  void link(large& e) {
    e.newer = nullptr;
    e.older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->newer) = &e;
    newest_ = &e;
  }
  void unlink(large& e) {
    (e.older == nullptr ? oldest_ : e.older->newer) = e.newer;
    (e.newer == nullptr ? newest_ : e.newer->older) = e.older;
  }
  file copy(const std::byte* array, std::size_t bytes) const {
    if (shared_files_ >= max_shared_) return file();
    const std::uint64_t at = page_offset(array);
    file memory = file::of_memory(whole_pages(at + bytes));
    if (memory.is_open() && !memory.write(array, bytes, at)) memory.reset();
    return memory;
  }
  void own(large& e, file&& memory, std::uint64_t at) {
    e.shared = std::move(memory);
    e.shared_at = at;
    ++shared_files_;
    recount(e);
  }
  void withdraw_offer(large& e) {
    if (!e.offered) return;
    e.offered = false;
    --offers_;
  }
  void recount(large& e) {
    const std::uint64_t cost = e.cost();
    charged_ += cost - e.charged;
    e.charged = cost;
  }

  static void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
    const inner_pages inner(to, bytes);
    const auto before = inner.bytes == 0 ? bytes : static_cast<std::size_t>(inner.begin - to);
    std::memcpy(to, from, before);
    const std::size_t after = before + inner.bytes;
    std::memcpy(to + after, from + after, bytes - after);
  }

  void make_room() {
    large* next = nullptr;
    for (large* e = oldest_; e != nullptr && charged_ > budget_; e = next) {
      next = e->newer;
      if (e->charged != 0 && !move_to_disk(*e)) return;
    }
  }
  /// False if the disk takes no more.
  bool move_to_disk(large& e) {
    bool moved = true;
    for (region* r : {&e.object, &e.view}) {
      if (r->place == region::place::disk) {
        forget_pages(r->array, e.bytes);
      } else if (r->place == region::place::memory || (r->place == region::place::node && !e.peers)) {
        moved = moved && write_to_disk(e, *r);
      }
    }
    if (moved) {
      if (!e.peers) close_shared(e);  // others keep what they have mapped
      e.warm = false;
    }
    recount(e);
    return moved;
  }
  bool write_to_disk(large& e, region& r) {
    if (folder_.empty()) return false;
    if (!disk_.is_open()) disk_ = file::of_folder(folder_);
    const std::uint64_t at = whole_pages(disk_end_) + page_offset(r.array);
    if (!disk_.is_open() || !disk_.write(r.array, e.bytes, at) || !disk_.take_place_of(r.array, e.bytes, at)) {
      why_not_ = folder_ + ": " + std::string(std::strerror(errno));
      return false;
    }
    disk_end_ = at + e.bytes;
    on_disk_ += e.bytes;
    r.place = region::place::disk;
    r.disk_at = at;
    return true;
  }
  void release_disk(large& e, region& r) {
    on_disk_ -= e.bytes;
    const std::uint64_t begin = r.disk_at & ~(page_bytes() - 1);
    fallocate(disk_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
              static_cast<off_t>(whole_pages(r.disk_at + e.bytes) - begin));
    if (on_disk_ == 0) disk_end_ = 0;
  }
  void close_shared(large& e) {
    if (!e.shared.is_open()) return;
    e.shared.reset();
    --shared_files_;
  }

  std::uint64_t budget_ = ~std::uint64_t{0};
  std::uint64_t charged_ = 0;
  std::uint64_t on_disk_ = 0;
  std::size_t size_ = 0, offers_ = 0;
  large* oldest_ = nullptr;
  large* newest_ = nullptr;
  static constexpr std::size_t most_views = 8;
  base::list<wire::segment> views_;
  std::size_t shared_files_ = 0, max_shared_ = 0;
  std::string folder_, why_not_;
  file disk_;
  std::uint64_t disk_end_ = 0;
};

}  // namespace manta::store
