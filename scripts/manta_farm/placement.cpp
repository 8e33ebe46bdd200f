// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "placement.hpp"

#include <algorithm>
#include <set>

namespace farm {

placement::placement(const std::vector<rank_place>& ranks, int jobs) {
  for (const rank_place& each : ranks) {
    if (ranks_.size() <= static_cast<std::size_t>(each.rank)) ranks_.resize(static_cast<std::size_t>(each.rank) + 1);
    ranks_[static_cast<std::size_t>(each.rank)] = {each, each.gpus};
    auto node = std::ranges::find(nodes_, each.node, &one_node::number);
    if (node == nodes_.end()) {
      node = nodes_.insert(nodes_.end(), one_node());
      node->number = each.node;
    }
    node->ranks.push_back(each.rank);
    node->free_memory = node->memory += each.memory;
  }
  for (one_node& node : nodes_) add_cores(node, jobs);
}

void placement::add_cores(one_node& node, int jobs) {
  std::set<int> cores;
  int shares = 0;
  for (const int rank : node.ranks) {
    cores.insert(rank_of(rank).about.cores.begin(), rank_of(rank).about.cores.end());
    shares += rank_of(rank).about.cpus;
  }
  for (const int rank : node.ranks) node.binds_ranks |= rank_of(rank).about.cores.size() < cores.size();
  node.cores = jobs > 0 ? jobs : std::max(1, std::min(shares, static_cast<int>(cores.size())));
  node.free.assign(cores.rbegin(), cores.rend());  // the first core is taken first, from the end
  const auto number = static_cast<std::size_t>(node.cores);
  if (node.free.size() > number) node.free.erase(node.free.begin(), node.free.end() - node.cores);
  if (node.free.size() < number) node.free.insert(node.free.begin(), number - node.free.size(), -1);
  free_cores_ += node.cores;
  all_cores_ += node.cores;
}

std::string placement::why_never(const line_options& wanted) const {
  int cores = 0;
  double memory = 0, gpus = 0;
  for (const one_node& node : nodes_) {
    cores = std::max(cores, node.cores);
    memory = std::max(memory, node.memory);
  }
  for (const one_rank& rank : ranks_) gpus = std::max(gpus, rank.about.gpus);
  const auto text = [](const std::string& what, double has) {
    std::string number = std::to_string(has);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return "it asks for " + what + ", and the largest node has " + number;
  };
  if (wanted.ranks > 0 && wanted.cores() > cores)
    return text(std::to_string(wanted.ranks) + " ranks of " + std::to_string(wanted.cpus) + " cores", cores) +
           " cores: the ranks of a line run on one node";
  if (wanted.cores() > cores) return text(std::to_string(wanted.cpus) + " cores", cores);
  if (static_cast<double>(wanted.memory) > memory)
    return text(std::to_string(wanted.memory) + " bytes of memory", memory);
  if (wanted.gpus > gpus) return "it asks for more devices than any rank has (" + std::to_string(gpus) + ")";
  return {};
}

placement::one_rank* placement::best_rank(const one_node& node, double gpus) {
  one_rank* best = nullptr;
  for (const int number : node.ranks) {
    one_rank& each = ranks_[static_cast<std::size_t>(number)];
    if (each.is_lost || each.free_gpus < gpus) continue;
    if (best == nullptr || each.lines < best->lines) best = &each;
  }
  return best;
}

std::optional<place> placement::take(const line_options& wanted) {
  const auto number = static_cast<std::size_t>(wanted.cores());
  one_node* most = nullptr;  // the node with most free cores, so that lines spread over nodes
  one_rank* rank = nullptr;
  for (one_node& node : nodes_) {
    if (node.free.size() < number || node.free_memory < static_cast<double>(wanted.memory)) continue;
    if (most != nullptr && node.free.size() <= most->free.size()) continue;
    if (one_rank* const found = best_rank(node, wanted.gpus)) {
      most = &node;
      rank = found;
    }
  }
  if (most == nullptr) return std::nullopt;
  place there{rank->about.rank, {}, most->binds_ranks || number > 1};
  for (std::size_t i = 0; i < number; ++i) {
    there.cores.push_back(most->free.back());
    there.is_pinned = there.is_pinned && there.cores.back() >= 0;
    most->free.pop_back();
  }
  most->free_memory -= static_cast<double>(wanted.memory);
  rank->free_gpus -= wanted.gpus;
  ++rank->lines;
  free_cores_ -= wanted.cores();
  return there;
}

void placement::give_back(const place& from, const line_options& wanted) {
  one_rank& rank = ranks_[static_cast<std::size_t>(from.rank)];
  const auto node = std::ranges::find(nodes_, rank.about.node, &one_node::number);
  node->free.insert(node->free.end(), from.cores.rbegin(), from.cores.rend());
  node->free_memory += static_cast<double>(wanted.memory);
  rank.free_gpus += wanted.gpus;
  --rank.lines;
  free_cores_ += wanted.cores();
}

void placement::lose(int rank) { ranks_[static_cast<std::size_t>(rank)].is_lost = true; }

}  // namespace farm
