/* SPDX-License-Identifier: MIT */
/*
 * The reply to one packet: empty, OK, an error, or data; never two of them.
 *
 * Its size is limited to the PacketSize reported to the client.  If text does not fit, it is dropped and
 * rsp_reply_finish() replaces the reply by an error: no client receives half a reply.
 * Binary data is truncated to fit, because its packets can announce that more follows.  The payload is
 * stored unescaped; only framing.c writes escapes.
 */
#ifndef RSP_REPLY_H
#define RSP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rsp_tid;
struct ts_error;

/* The result of a packet's handler, and the next action of its caller. */
enum rsp_done {
	RSP_REPLIED,     /* the reply holds data or an error: send it */
	RSP_OK,          /* done: send OK */
	RSP_BAD,         /* malformed arguments: send an error */
	RSP_DEFERRED,    /* the reply comes later if the session has a job now: send nothing */
	RSP_WAIT,        /* nothing was done yet: run the packet again when more has been read (see wait.h) */
	RSP_CLOSE,       /* the session ends: send nothing */
	RSP_UNSUPPORTED, /* not supported for this recording or client: send the empty reply */
};

enum rsp_reply_kind {
	RSP_REPLY_EMPTY, /* the packet is not supported */
	RSP_REPLY_OK,
	RSP_REPLY_DATA,
	RSP_REPLY_ERROR, /* final: later additions are dropped */
};

/* The form of error that the client understands. */
enum rsp_error_style {
	RSP_ERROR_NUMBER, /* "E01" */
	RSP_ERROR_TEXT,   /* "E.text", gdb */
	RSP_ERROR_HEX,    /* "E01;74657874", lldb after QEnableErrorStrings */
};

/* The error number of errors that only have a text. */
#define RSP_ERROR_PLAIN 1

struct rsp_reply {
	uint8_t *data;                     /* owned: the payload, unescaped */
	size_t len;                        /* bytes in data */
	enum rsp_reply_kind kind;
	bool is_binary;                    /* to be sent as RSP_BINARY */
	enum rsp_error_style error_style;  /* set by the session; survives a reset */

	/* private from here */
	size_t max_len;  /* PacketSize */
	size_t wire_len; /* characters of data between '$' and '#', escapes included, without run lengths */
	bool is_full;    /* text did not fit */
};

/*
 * Prepare an empty reply of at most @packet_size characters on the wire (at least 64: an error always fits).
 *
 * Returns false if memory is exhausted (TS_ENOMEM in @err); @r then needs no rsp_reply_fini().
 */
bool rsp_reply_init(struct rsp_reply *r, size_t packet_size, struct ts_error *err);
void rsp_reply_fini(struct rsp_reply *r);

/* Make the reply empty again. */
void rsp_reply_reset(struct rsp_reply *r);

/* The number of characters that can still be added. */
size_t rsp_reply_room(const struct rsp_reply *r);

/* Make it "OK".  The reply must be empty, and no data may follow: both are asserted. */
void rsp_reply_ok(struct rsp_reply *r);

/*
 * Add text; characters that require it are escaped on the wire.  Those that return a value return RSP_REPLIED, for a
 * handler to return.
 */
void rsp_reply_putc(struct rsp_reply *r, char c);
enum rsp_done rsp_reply_puts(struct rsp_reply *r, const char *text);
void rsp_reply_put(struct rsp_reply *r, const void *text, size_t len);
enum rsp_done rsp_reply_printf(struct rsp_reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add a number in hex, without leading zeros.  Returns RSP_REPLIED. */
enum rsp_done rsp_reply_num(struct rsp_reply *r, uint64_t value);

/* Add a thread id, "pP.T" if it has a process. */
void rsp_reply_tid(struct rsp_reply *r, struct rsp_tid tid);

/* Add bytes as two hex digits each.  Returns RSP_REPLIED. */
enum rsp_done rsp_reply_hex(struct rsp_reply *r, const void *bytes, size_t len);

/* Add a register of at most 8 bytes as in stop replies: its number, ':', the bytes, ';'. */
void rsp_reply_register(struct rsp_reply *r, uint32_t regnum, const void *bytes, size_t len);

/* Add a text's bytes in hex; or @len times "xx", for unknown bytes. */
void rsp_reply_hex_text(struct rsp_reply *r, const char *text);
void rsp_reply_unknown(struct rsp_reply *r, size_t len);

/* The number of these bytes that fit as binary data, escapes included. */
size_t rsp_reply_fit(const struct rsp_reply *r, const void *bytes, size_t len);

/*
 * Add as many of these bytes as fit, as binary data; the reply is binary from then on.  Returns that number.
 */
size_t rsp_reply_binary(struct rsp_reply *r, const void *bytes, size_t len);

/*
 * Make the reply an error, discarding its contents.
 *
 * rsp_reply_error() is "Enn" for every client: the only form that gdb treats as an error in the replies to m,
 * g and p, where it parses anything else as data.  The text is one sentence without a full stop; characters
 * that the client would not show unchanged become '?'; a client that does not accept a text receives only the number.
 * Both return RSP_REPLIED.
 */
enum rsp_done rsp_reply_error(struct rsp_reply *r, uint8_t number);
enum rsp_done rsp_reply_error_text(struct rsp_reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns true if gdb shows all characters of this text unchanged in an error ("E.text"). */
bool rsp_reply_is_plain(const char *text);

/* Call before sending: turns a reply that did not fit into an error. */
void rsp_reply_finish(struct rsp_reply *r);

#endif
