// SPDX-License-Identifier: MIT
//
// A protocol as a shared library, for `joust serve -p ./mine.so`, `joust load -p ./mine.so` and `joust race`.
// Plain C99, and all that a plug-in needs: it links nothing of joust. docs/howto/write-a-plug-in.md has the
// build lines, examples/plugin/ a plug-in in C and one in Rust.
//
// A plug-in exports one symbol, the table `joust_protocol`. It is data and no function, so that nothing of a
// plug-in is called before joust has checked the version of the table.
//
// Threads: every function may be called from any thread, several at once with different states. The calls
// with one state never overlap, but may come from different threads.
//
// Errors: no function may throw an exception, call longjmp() or end the process. A function may block only
// for the time that its work takes, because an event loop waits for it.
//
// Ownership: the table and its texts belong to the plug-in and never change. A plug-in is never unloaded.
// Bytes given to a function are valid during the call. A text that a function returns must stay valid until
// the next call with the same state. Texts are UTF-8.
#ifndef JOUST_PLUGIN_H
#define JOUST_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of the table below. It changes whenever the table does.
#define JOUST_PROTOCOL_VERSION 1u

// How messages are separated on a stream. joust adds the boundaries to the messages that a plug-in writes,
// and removes them from those that it gets, except with JOUST_CUT.
enum {
  JOUST_RAW = 0,      // no boundaries: a server gets bytes as they arrive, a client as many as reply_size()
  JOUST_LENGTH4 = 1,  // a size of 4 bytes, big endian, before each message
  JOUST_LINE = 2,     // a message ends with '\n', and has none in it; a '\r' before it is removed too
  JOUST_CUT = 3       // cut() finds the end; a message has its boundaries, in both directions
};

// Properties of a protocol, to be joined with `|`.
enum {
  JOUST_SHARED_STATE = 1,  // connections of a server share memory: no engine with several processes serves it
  JOUST_NEEDS_STREAM = 2   // needs every message, in order: no engine of datagrams carries it
};

// The result of cut() for bytes with which no message begins.
#define JOUST_MALFORMED SIZE_MAX
// The result of on_message() that ends a connection without a failure.
#define JOUST_END ""

// The destination of messages. It is valid during the call that gets it.
struct joust_writer {
  void (*write)(struct joust_writer* writer, const void* bytes, size_t size);
};

// Sends one message, which is copied.
static inline void joust_write(struct joust_writer* writer, const void* bytes, size_t size) {
  writer->write(writer, bytes, size);
}

// An option: `--name value` of serve, load and race, and a key of the table [options] of a scenario.
struct joust_option {
  const char* name;      // lower-case letters, digits and '-', of no option that joust has itself
  const char* standard;  // the value where none is given
  const char* summary;   // one line
};

// The settings of a connection. Valid until it is closed.
struct joust_setup {
  const char* const* options;  // the value of each option, in the order of the table
  size_t payload;              // bytes, from --payload; 0 where it cannot be chosen (clients only)
  uint64_t connection;         // 0, 1, 2 ...: its number in the load (clients only)
};

struct joust_protocol_v1 {
  uint32_t version;        // JOUST_PROTOCOL_VERSION
  uint32_t framing;        // JOUST_RAW, JOUST_LENGTH4, JOUST_LINE or JOUST_CUT
  uint32_t properties;     // 0, or such as JOUST_NEEDS_STREAM
  uint32_t options;        // number of elements of `option`
  const char* name;        // lower-case letters, digits and '-'
  const char* summary;     // one line
  size_t largest;          // bytes of a message; a larger one is a protocol error. 0: 1 MiB
  size_t largest_payload;  // the greatest --payload, at least 32; 0: the size of a message cannot be chosen
  const struct joust_option* option;  // NULL if there are none

  // Returns NULL if the values of the options fit, else why they do not. May be NULL.
  const char* (*objection)(const char* const* options);

  // With JOUST_CUT: returns the size of the first message of `bytes` with its boundaries, 0 if it is not
  // complete yet, or JOUST_MALFORMED. Called again with more bytes of the same message. Else NULL.
  size_t (*cut)(const void* bytes, size_t size);

  // The server side. open_server() returns the state of one connection, or NULL if it cannot be made: then
  // the connection is closed and counted as failed. May be NULL: the state of every connection is NULL.
  void* (*open_server)(const struct joust_setup* setup);
  void (*close_server)(void* state);  // frees the state; may be NULL
  // Takes one message and writes any number of replies. Returns NULL to go on. Any other text ends the
  // connection after the replies: JOUST_END without a failure, else it says what the peer did wrong.
  const char* (*on_message)(void* state, const void* bytes, size_t size, struct joust_writer* replies);

  // The client side; its states as those of the server.
  void* (*open_client)(const struct joust_setup* setup);
  void (*close_client)(void* state);
  // Writes request 0, 1, 2 ... of the connection: exactly one message.
  void (*write_request)(void* state, uint64_t number, struct joust_writer* request);
  // Returns NULL if every byte of the reply to that request is right, else what is wrong with it. Several
  // requests may have been written before. Replies come in the order of the requests, without
  // JOUST_NEEDS_STREAM also in another one.
  const char* (*verify)(void* state, uint64_t number, const void* bytes, size_t size);
  // With JOUST_RAW: returns the bytes of the reply to that request, at least 1. Else NULL.
  size_t (*reply_size)(void* state, uint64_t number);
};

#if defined(__GNUC__) || defined(__clang__)
__attribute__((visibility("default")))
#endif
extern const struct joust_protocol_v1 joust_protocol;

#ifdef __cplusplus
}
#endif

#endif
