// SPDX-License-Identifier: MIT
//
// A plug-in in C: "SET 3 value" stores a value under a number and is answered "OK", "GET 3" is answered with
// the value. Each connection has values of its own.
//
//   cc -shared -fPIC -O2 -o keyvalue.so keyvalue.c       # -I include, if joust is not installed
//   joust protocols ./keyvalue.so
//   joust race -p ./keyvalue.so --keys 8 --server threads,epoll -c 100
#include <joust/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 64, VALUE = 4000, LINE = VALUE + 96 };  // bytes of a value, of a line

// The server side.
struct server {
  char* values[KEYS];
  size_t sizes[KEYS];
};

static void* open_server(const struct joust_setup* setup) {
  (void)setup;
  return calloc(1, sizeof(struct server));
}

static void close_server(void* state) {
  struct server* server = state;
  for (int key = 0; key < KEYS; ++key) free(server->values[key]);
  free(server);
}

// Reads the digits of a key, which end at `end` or with a space. Returns KEYS if there is no such key.
static unsigned read_key(const char** text, const char* end) {
  unsigned key = 0;
  const char* at = *text;
  for (; at < end && *at >= '0' && *at <= '9' && key < KEYS; ++at) key = 10 * key + (unsigned)(*at - '0');
  if (at == *text || key >= KEYS || (at < end && *at != ' ')) return KEYS;
  *text = at;
  return key;
}

static const char* on_message(void* state, const void* bytes, size_t size, struct joust_writer* replies) {
  struct server* server = state;
  const char *text = bytes, *const end = text + size;
  const int sets = size > 4 && memcmp(text, "SET ", 4) == 0;
  if (!sets && (size < 5 || memcmp(text, "GET ", 4) != 0)) return "a line is neither SET nor GET";
  text += 4;
  const unsigned key = read_key(&text, end);
  if (key == KEYS) return "a key is not between 0 and 63";
  if (!sets) {
    joust_write(replies, server->values[key], server->sizes[key]);
    return NULL;
  }
  if (text == end) return "SET has no value";
  const size_t length = (size_t)(end - text - 1);  // behind the space
  char* value = realloc(server->values[key], length + 1);
  if (value == NULL) return "the server is out of memory";
  memcpy(value, text + 1, length);
  server->values[key] = value;
  server->sizes[key] = length;
  joust_write(replies, "OK", 2);
  return NULL;
}

// The client side: request 2n sets a key, request 2n + 1 gets it.
struct client {
  uint64_t connection;
  size_t payload;
  unsigned keys;
  char value[VALUE];
  char complaint[160];
};

static void* open_client(const struct joust_setup* setup) {
  struct client* client = calloc(1, sizeof(struct client));
  if (client == NULL) return NULL;
  client->connection = setup->connection;
  client->payload = setup->payload;
  client->keys = (unsigned)atoi(setup->options[0]);
  return client;
}

// Returns the value of SET number n: different for each connection and each number, so that a reply to
// another request is noticed.
static const char* value_of(struct client* client, uint64_t n) {
  char mark[64];
  const int size = snprintf(mark, sizeof mark, "%" PRIu64 "/%" PRIu64 " ", client->connection, n);
  for (size_t i = 0; i < client->payload; ++i) client->value[i] = mark[i % (size_t)size];
  return client->value;
}

static void write_request(void* state, uint64_t number, struct joust_writer* request) {
  struct client* client = state;
  const uint64_t n = number / 2;
  const unsigned key = (unsigned)(n % client->keys);
  char line[LINE];
  int size = snprintf(line, sizeof line, number % 2 == 0 ? "SET %u " : "GET %u", key);
  if (number % 2 == 0) {
    memcpy(line + size, value_of(client, n), client->payload);
    size += (int)client->payload;
  }
  joust_write(request, line, (size_t)size);
}

static const char* verify(void* state, uint64_t number, const void* bytes, size_t size) {
  struct client* client = state;
  const int sets = number % 2 == 0;
  const char* expected = sets ? "OK" : value_of(client, number / 2);
  const size_t length = sets ? 2 : client->payload;
  if (size == length && memcmp(bytes, expected, length) == 0) return NULL;
  snprintf(client->complaint, sizeof client->complaint, "the answer to %s number %" PRIu64 " is not %s",
           sets ? "SET" : "GET", number / 2, sets ? "OK" : "the value that was set");
  return client->complaint;
}

static const char* objection(const char* const* options) {
  const int keys = atoi(options[0]);
  return keys >= 1 && keys <= KEYS ? NULL : "--keys: allowed are 1 to 64";
}

static const struct joust_option kOptions[] = {{"keys", "16", "number of keys of a connection, 1 to 64"}};

const struct joust_protocol_v1 joust_protocol = {
    .version = JOUST_PROTOCOL_VERSION,
    .framing = JOUST_LINE,
    .properties = JOUST_NEEDS_STREAM,  // a GET is right only behind its SET
    .options = 1,
    .name = "keyvalue",
    .summary = "values under numbers, set and read again",
    .largest = LINE,
    .largest_payload = VALUE,
    .option = kOptions,
    .objection = objection,
    .open_server = open_server,
    .close_server = close_server,
    .on_message = on_message,
    .open_client = open_client,
    .close_client = free,
    .write_request = write_request,
    .verify = verify,
};
