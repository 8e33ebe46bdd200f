// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// libevent's server for beside.py: reads a number, and answers it.
//
//   g++ -O2 evhttp.cpp -o evhttp -levent && ./evhttp PORT
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <cstdlib>
#include <string>

namespace {
void answer(evhttp_request* request, void*) {
  evbuffer* const in = evhttp_request_get_input_buffer(request);
  std::string body(evbuffer_get_length(in), '\0');
  evbuffer_remove(in, body.data(), body.size());
  const int x = std::atoi(body.c_str());
  evbuffer* const out = evbuffer_new();
  evbuffer_add_printf(out, "%d", x);
  evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", "application/json");
  evhttp_send_reply(request, 200, "OK", out);
  evbuffer_free(out);
}
}  // namespace

int main(int argc, char** argv) {
  event_base* const base = event_base_new();
  evhttp* const server = evhttp_new(base);
  evhttp_set_gencb(server, &answer, nullptr);
  if (evhttp_bind_socket(server, "127.0.0.1", static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 8000)) != 0)
    return 1;
  return event_base_dispatch(base);
}
