/* SPDX-License-Identifier: MIT */
/*
 * Bytes to packets and back: checksums, escapes, run lengths, acknowledgements.
 *
 * One struct rsp_framing serves one connection and does no I/O.  The server passes received bytes to it, in
 * any split, and takes the events out one by one; output gathers in one contiguous buffer, so that a reply,
 * with the '+' for its packet before it, is one send.  Acknowledging and resending happen here; a caller sees
 * them only for its log.
 */
#ifndef RSP_FRAMING_H
#define RSP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

struct ts_error;

/* An event in the input. */
enum rsp_event {
	RSP_EV_NONE,      /* all input is consumed */
	RSP_EV_PACKET,    /* a packet; its payload, unescaped, lies in the frame until the next feed */
	RSP_EV_ACK,       /* '+' */
	RSP_EV_NAK,       /* '-': the last reply is sent again */
	RSP_EV_INTERRUPT, /* 0x03 between packets */
	RSP_EV_BADSUM,    /* a packet was damaged; it has been requested again */
	RSP_EV_OVERSIZE,  /* a packet longer than PacketSize was discarded: reply with an error */
};

/* How a payload may be encoded. */
enum rsp_encoding {
	RSP_TEXT,   /* with run lengths */
	RSP_BINARY, /* without: clients expand run lengths before they undo escapes */
};

/* State of the receiver. */
enum rsp_framing_state {
	RSP_FRAME_BETWEEN, /* between packets; all but '$', '+', '-' and 0x03 is garbage */
	RSP_FRAME_BODY,
	RSP_FRAME_ESCAPED, /* after '}' */
	RSP_FRAME_SUM_HIGH,
	RSP_FRAME_SUM_LOW,
};

enum rsp_acks {
	RSP_ACKS_ON,
	RSP_ACKS_ENDING, /* the OK to QStartNoAckMode is sent; its own acknowledgement may still arrive */
	RSP_ACKS_OFF,
};

struct rsp_framing {
	uint8_t *payload; /* owned; after RSP_EV_PACKET the packet, followed by a NUL */
	size_t len;       /* bytes in payload */
	struct ts_buf out; /* to be sent; the server takes from its front with ts_buf_consume() */

	/* private from here */
	size_t max_len; /* of a payload */
	enum rsp_framing_state state;
	uint8_t sum;     /* over the body so far */
	uint8_t claimed; /* first digit of the checksum */
	bool is_oversize;
	enum rsp_acks acks;
	struct ts_buf last; /* the last frame sent and not acknowledged; empty without acks */
};

/*
 * Prepare @f for a new connection; acknowledgements are on.
 *
 * @packet_size is the PacketSize in the reply to qSupported: a longer payload is RSP_EV_OVERSIZE.
 *
 * Returns false if memory is exhausted (TS_ENOMEM in @err); @f then needs no rsp_framing_fini().
 */
bool rsp_framing_init(struct rsp_framing *f, size_t packet_size, struct ts_error *err);
void rsp_framing_fini(struct rsp_framing *f);

/*
 * Process input up to the next event.
 *
 * @bytes and @len are moved past the consumed bytes.  Call it until it returns RSP_EV_NONE, which it does
 * only with *len at 0; an incomplete packet stays in @f until more arrives.  Acknowledgements and resent
 * frames are added to f->out.
 *
 * Garbage between packets is dropped.  A '$' within a body starts a new packet: the one before it was
 * truncated.  Without acknowledgements a wrong checksum is ignored, because the packet cannot be requested
 * again; a checksum that is not a number is RSP_EV_BADSUM even then.
 */
enum rsp_event rsp_framing_feed(struct rsp_framing *f, const uint8_t **bytes, size_t *len);

/* Add a packet with this payload to f->out, whole or (rsp_framing_ok() then fails) not at all. */
void rsp_framing_send(struct rsp_framing *f, const void *payload, size_t len, enum rsp_encoding encoding);

/* QStartNoAckMode: its OK has been sent with rsp_framing_send(); no later packet is acknowledged. */
void rsp_framing_stop_acks(struct rsp_framing *f);

/* Returns false if memory was exhausted for output: the connection cannot continue. */
bool rsp_framing_ok(const struct rsp_framing *f);

/* Returns true if this byte must be sent as '}' and the byte ^ 0x20. */
static inline bool rsp_is_escaped(uint8_t c)
{
	return c == '#' || c == '$' || c == '}' || c == '*';
}

#endif
