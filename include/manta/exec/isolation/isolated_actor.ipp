// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <utility>

#include "manta/base/zygote.hpp"
#include "manta/exec/isolation/child_messages.hpp"
#include "manta/exec/isolation/crash_words.hpp"
#include "manta/exec/isolation/isolated_actor.hpp"

namespace manta::exec {

/// Asks a question that is no task, and waits as long as it takes. False if the child has ended.
MANTA_DECL bool ask_child(base::child& c, child_letter& question, child_message& answer, wire::buffer& body) {
  return question.send([&c](const void* data, std::size_t bytes) { return c.send(data, bytes); }) &&
         receive_message(c, answer, body);
}

MANTA_DECL void destroy_isolated(void* object) {
  auto* const actor = static_cast<isolated_actor*>(object);
  base::child* const c = actor->process;
  delete actor;
  if (c == nullptr) return;
  child_letter question(child_message::destroy);
  child_message answer;
  wire::buffer body;
  if (ask_child(*c, question, answer, body)) {
    base::zygote::of_process().put_back(c);
  } else {
    std::fprintf(stderr, "manta: the destructor of an isolated actor: %s\n", end_of_child(c).c_str());
  }
}

MANTA_DECL void save_isolated(const void* object, wire::sink& out) {
  base::child* const c = static_cast<const isolated_actor*>(object)->process;
  child_letter question(child_message::save);
  child_message answer;
  wire::buffer body;
  if (c == nullptr || !ask_child(*c, question, answer, body)) {
    throw error("manta: the process of an isolated actor ended when the actor was saved");
  }
  if (answer.what == child_message::done) return out.write(body.data(), body.size());
  throw isolated_failure(store::decode_failure(body.data(), body.size()));
}

MANTA_DECL void* load_isolated(const actor_class* type, wire::source& bytes) {
  base::child* const c = base::zygote::of_process().take();
  child_letter question(child_message::load);
  child_message answer;
  wire::buffer body;
  wire::put(question.body(), type);
  question.body().append(bytes.position(), bytes.left());
  if (!ask_child(*c, question, answer, body)) {
    throw error("manta: an isolated actor could not be made from its checkpoint: " + end_of_child(c));
  }
  if (answer.what == child_message::done) return new isolated_actor{c, type};
  base::zygote::of_process().put_back(c);
  throw isolated_failure(store::decode_failure(body.data(), body.size()));
}

}  // namespace manta::exec
