// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One connection of a client: requests are read from it, one after the other, and answers written to it. Its socket is
// in the server's event_set once and for all (edge-triggered), so the connection itself remembers whether there is more
// to read. While a request is answered nothing is read, but the end of the client is noticed.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manta/serve/http_events.hpp"
#include "manta/serve/http_message.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

class http_connection;

/// What is to be sent on a connection: bytes, and behind them perhaps a file.
class outgoing {
 public:
  outgoing() = default;
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;
  ~outgoing() { forget_file(); }

  [[nodiscard]] bool empty() const { return sent_ == bytes_.size() && file_ < 0; }
  [[nodiscard]] std::string& bytes() { return bytes_; }
  /// Takes an open file, of which `size` bytes are sent.
  MANTA_DECL void add_file(int file, std::size_t size);
  /// The bytes to be sent next; fills them up from the file.
  MANTA_DECL std::string_view next();
  MANTA_DECL void have_left(std::size_t count);
  /// The file has ended before its size: the answer cannot be completed.
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  void forget_file();

  std::string bytes_;
  std::size_t sent_ = 0;
  int file_ = -1;
  std::size_t file_left_ = 0;
  bool is_broken_ = false;
};

/// The part of a server that answers requests.
class http_service {
 public:
  virtual ~http_service() = default;
  /// The head of a request has come, perhaps without its body. False if the request is refused: it is answered then.
  virtual bool admit(http_connection& c) = 0;
  /// The request has come in whole.
  virtual void answer_request(http_connection& c) = 0;
  /// The bytes are no request; the connection is closed after the answer.
  virtual void answer_refusal(http_connection& c, const message_refusal& why) = 0;
  /// All that was given to the connection has left, while parts of an answer are sent.
  virtual void part_left(http_connection& c) = 0;
  /// The client has gone, and its request is not answered yet.
  virtual void client_left(http_connection& c) = 0;
};

/// `fresh`: nothing has come yet. `idle`: waits for the first byte of a further request. `working`: a request is
/// answered. `closing`: the last answer is on its way. `lingering`: what still comes is thrown away, so that the client
/// finds the answer.
enum class connection_phase { fresh, idle, receiving, working, closing, lingering, closed };

using connection_list = std::list<std::unique_ptr<http_connection>>;

/// What all connections of a server share.
struct connection_room {
  const http_options& options;
  http_service& service;
  std::int64_t now = 0;                       ///< time of the present turn
  std::size_t body_bytes = 0;                 ///< bytes of the bodies that all connections have
  std::array<connection_list, 7> lists = {};  ///< connections by phase, each in the order in which they have entered it
  std::vector<http_connection*> ended = {};   ///< whose clients send nothing more, in the order of that news
  std::vector<http_connection*> again = {};   ///< whose share of this turn was too short for what there is to read
  std::unique_ptr<char[]> block = std::make_unique<char[]>(block_bytes);
  static constexpr std::size_t block_bytes = 64 * 1024;

  connection_list& of(connection_phase p) { return lists[static_cast<std::size_t>(p)]; }
  [[nodiscard]] const connection_list& of(connection_phase p) const { return lists[static_cast<std::size_t>(p)]; }
};

class http_connection final : public event_handler {
 public:
  using phase = connection_phase;

  http_connection(connection_room& room, int socket, std::string peer, std::unique_ptr<secure_stream> secure)
      : room_(room),
        socket_(socket),
        secure_(std::move(secure)),
        peer_(std::move(peer)),
        reader_(limits_of(room)),
        since_(room.now) {}
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;
  MANTA_DECL ~http_connection() override;

  MANTA_DECL void came(std::uint32_t events) override;
  /// Reads and writes what can be read and written, within the share of one turn.
  MANTA_DECL void proceed();

  // For the service, which answers each request once.

  [[nodiscard]] http_message& message() { return reader_.message(); }
  [[nodiscard]] const http_message& message() const { return reader_.message(); }
  [[nodiscard]] const std::string& peer() const { return peer_; }
  /// Bytes of the body that are to come, if the head says so.
  [[nodiscard]] std::size_t announced_body() const { return reader_.announced(); }
  /// Sends an answer. `last`: the connection is closed after it.
  MANTA_DECL void answer(reply given, bool last);
  /// Sends the head of an answer whose body comes in parts.
  MANTA_DECL void begin_parts(const reply& head, bool last);
  /// Sends a part. True if it has left; else part_left follows.
  MANTA_DECL bool send_part(std::string_view part);
  MANTA_DECL void end_parts();
  /// The request has been read, and its body is of no more use.
  MANTA_DECL void drop_body();
  /// Ends the connection. The client of a request that is under way counts as gone.
  MANTA_DECL void abort();
  /// Ends the connection, on which no request is under way.
  MANTA_DECL void close();

  /// Finds out whether a client that sends nothing more still waits for its answer.
  MANTA_DECL void probe();
  /// When the client was found to send nothing more.
  [[nodiscard]] std::int64_t ended_at() const { return ended_at_; }

  [[nodiscard]] phase where() const { return phase_; }
  [[nodiscard]] std::int64_t since() const { return since_; }  ///< when the phase began
  [[nodiscard]] bool has_unsent() const { return !output_.empty(); }
  /// When writing was last found to be blocked, and has not gone on since; 0: it is not.
  [[nodiscard]] std::int64_t blocked_since() const { return blocked_since_; }
  /// Closes the connection; a client that has sent a part of a request is told why.
  MANTA_DECL void end_of_patience();

  std::uint64_t exchange = 0;            ///< number of the exchange that answers the request; the service's
  connection_list::iterator place = {};  ///< place in the room's list of its phase

 private:
  static message_limits limits_of(const connection_room& room) {
    return {room.options.max_header, room.options.max_body};
  }
  void enter(phase next);
  bool read_some();
  std::size_t feed(std::string_view bytes);
  void look_at_head();
  void refuse();
  void account_body();
  bool flush();
  void write_head(const reply& given, std::size_t length);
  void request_answered();
  void end_answers();
  void note_end_of_client();
  stream_result read(char* to, std::size_t size);
  stream_result write(const char* from, std::size_t size);

  connection_room& room_;
  int socket_;
  std::unique_ptr<secure_stream> secure_;  ///< null: not encrypted
  std::string peer_;                       ///< address of the client
  message_reader reader_;
  std::size_t accounted_ = 0;  ///< bytes of the body that the room knows of
  std::string input_;          ///< read ahead: behind the present request
  outgoing output_;
  phase phase_ = phase::fresh;
  std::int64_t since_, blocked_since_ = 0, ended_at_ = 0;
  bool readable_ = true, client_ended_ = false, is_to_be_probed_ = false;
  bool admitted_ = false, proceeds_ = false, sends_part_ = false;
  bool last_ = false;  ///< no request is read after the present one
  enum class framing { none, chunks, until_close } parts_ = framing::none;  ///< framing of an answer in parts
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_connection.ipp"
#endif
