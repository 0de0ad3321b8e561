/* SPDX-License-Identifier: MIT */
#include "framing.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/error.h"
#include "src/base/text/hex.h"

#define INTERRUPT  0x03
#define ESCAPE_XOR 0x20

/*
 * A run is the byte, '*', and a printable character: repeats + 29.  Below 3 repeats the character would not
 * be printable (and nothing is gained); the framing characters are not used as counts either, so that a
 * simple reader cannot be misled.
 */
#define RUN_BIAS 29
#define RUN_MIN  3
#define RUN_MAX  (126 - RUN_BIAS)

/* '$', '#' and two digits */
#define FRAMING_LEN 4

bool rsp_framing_init(struct rsp_framing *f, size_t packet_size, struct ts_error *err)
{
	*f = (struct rsp_framing){ .max_len = packet_size };
	f->payload = malloc(packet_size + 1);
	if (!f->payload)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for packets of %zu bytes", packet_size);
	ts_buf_init(&f->out);
	ts_buf_init(&f->last);
	return true;
}

void rsp_framing_fini(struct rsp_framing *f)
{
	free(f->payload);
	f->payload = NULL;
	ts_buf_fini(&f->out);
	ts_buf_fini(&f->last);
}

bool rsp_framing_ok(const struct rsp_framing *f)
{
	return ts_buf_ok(&f->out);
}

/* A '$' was received. */
static void begin_packet(struct rsp_framing *f)
{
	if (f->acks == RSP_ACKS_ENDING)
		f->acks = RSP_ACKS_OFF;
	f->state = RSP_FRAME_BODY;
	f->len = 0;
	f->sum = 0;
	f->is_oversize = false;
}

static void add_to_payload(struct rsp_framing *f, uint8_t c)
{
	if (f->len < f->max_len)
		f->payload[f->len++] = c;
	else
		f->is_oversize = true;
}

static void acknowledge(struct rsp_framing *f, char sign)
{
	if (f->acks == RSP_ACKS_ON)
		ts_buf_putc(&f->out, (uint8_t)sign);
}

static enum rsp_event end_packet(struct rsp_framing *f, bool is_intact)
{
	f->state = RSP_FRAME_BETWEEN;
	f->payload[f->len] = '\0';
	acknowledge(f, is_intact ? '+' : '-');
	if (!is_intact)
		return RSP_EV_BADSUM;
	return f->is_oversize ? RSP_EV_OVERSIZE : RSP_EV_PACKET;
}

/*
 * A reply that has not been sent yet cannot be the one that the client rejects: many '-' do not make many
 * copies.
 */
static void resend(struct rsp_framing *f)
{
	if (!f->out.len)
		ts_buf_put(&f->out, f->last.data, f->last.len);
}

static enum rsp_event feed_between(struct rsp_framing *f, uint8_t c)
{
	switch (c) {
	case '$':
		begin_packet(f);
		return RSP_EV_NONE;
	case INTERRUPT:
		return RSP_EV_INTERRUPT;
	case '+':
		if (f->acks == RSP_ACKS_OFF)
			return RSP_EV_NONE;
		if (f->acks == RSP_ACKS_ENDING)
			f->acks = RSP_ACKS_OFF;
		ts_buf_reset(&f->last);
		return RSP_EV_ACK;
	case '-':
		if (f->acks == RSP_ACKS_OFF)
			return RSP_EV_NONE;
		resend(f);
		return RSP_EV_NAK;
	default:
		return RSP_EV_NONE;
	}
}

/* An escape truncated by '#' is kept as received, for the packet's handler to reject. */
static void feed_body(struct rsp_framing *f, uint8_t c)
{
	bool is_escaped = f->state == RSP_FRAME_ESCAPED;

	if (c == '$') {
		begin_packet(f);
		return;
	}
	if (c == '#') {
		if (is_escaped)
			add_to_payload(f, '}');
		f->state = RSP_FRAME_SUM_HIGH;
		return;
	}
	f->sum = (uint8_t)(f->sum + c);
	if (!is_escaped && c == '}') {
		f->state = RSP_FRAME_ESCAPED;
		return;
	}
	add_to_payload(f, is_escaped ? c ^ ESCAPE_XOR : c);
	f->state = RSP_FRAME_BODY;
}

static enum rsp_event feed_sum(struct rsp_framing *f, uint8_t digit)
{
	if (f->state == RSP_FRAME_SUM_HIGH) {
		f->claimed = digit;
		f->state = RSP_FRAME_SUM_LOW;
		return RSP_EV_NONE;
	}
	return end_packet(f, f->acks != RSP_ACKS_ON || f->sum == (f->claimed << 4 | digit));
}

enum rsp_event rsp_framing_feed(struct rsp_framing *f, const uint8_t **bytes, size_t *len)
{
	enum rsp_event event = RSP_EV_NONE;

	while (*len && event == RSP_EV_NONE) {
		uint8_t c = **bytes;

		switch (f->state) {
		case RSP_FRAME_BETWEEN:
			event = feed_between(f, c);
			break;
		case RSP_FRAME_BODY:
		case RSP_FRAME_ESCAPED:
			feed_body(f, c);
			break;
		case RSP_FRAME_SUM_HIGH:
		case RSP_FRAME_SUM_LOW:
			if (ts_hex_digit(c) < 0) /* not part of this packet: the next feed sees it again */
				return end_packet(f, false);
			event = feed_sum(f, (uint8_t)ts_hex_digit(c));
			break;
		}
		++*bytes;
		--*len;
	}
	return event;
}

/* Eight bytes, the first in the lowest bits. */
static uint64_t load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* The number of repeats of s[0] after it, up to the limit of a run; 0 if a run does not save space. */
static size_t count_repeats(const uint8_t *s, size_t len)
{
	size_t n = 0;

	while (n + 1 < len && n < RUN_MAX && s[n + 1] == s[0])
		n++;
	if (n < RUN_MIN)
		return 0;
	while (n + RUN_BIAS == '#' || n + RUN_BIAS == '$' || n + RUN_BIAS == '+' || n + RUN_BIAS == '-')
		n--;
	return n;
}

/*
 * The number of bytes from @s on, of the next eight, that are sent unchanged: up to one that is escaped or
 * begins a run.  There must be eight and RUN_MIN more bytes.
 */
static unsigned count_plain(const uint8_t *s, enum rsp_encoding encoding)
{
	uint64_t bytes = load(s);
	uint64_t ends = ts_zero_bytes(bytes ^ TS_EACH_BYTE('#')) | ts_zero_bytes(bytes ^ TS_EACH_BYTE('$')) |
			ts_zero_bytes(bytes ^ TS_EACH_BYTE('}')) | ts_zero_bytes(bytes ^ TS_EACH_BYTE('*'));

	if (encoding == RSP_TEXT)
		ends |= ts_zero_bytes((bytes ^ load(s + 1)) | (bytes ^ load(s + 2)) | (bytes ^ load(s + 3)));
	return ends ? (unsigned)__builtin_ctzll(ends) / 8 : 8;
}

/* Encode the payload at @dst, where there is room for twice its length; returns the end of the output. */
static uint8_t *encode(uint8_t *dst, const uint8_t *src, size_t len, enum rsp_encoding encoding)
{
	for (size_t i = 0; i < len; i++) {
		size_t repeats;

		for (unsigned n = 8; n == 8 && len - i >= 8 + RUN_MIN; i += n) {
			n = count_plain(src + i, encoding);
			memcpy(dst, src + i, 8);
			dst += n;
		}
		if (rsp_is_escaped(src[i])) {
			*dst++ = '}';
			*dst++ = src[i] ^ ESCAPE_XOR;
			continue;
		}
		*dst++ = src[i];
		repeats = encoding == RSP_TEXT ? count_repeats(src + i, len - i) : 0;
		if (repeats) {
			*dst++ = '*';
			*dst++ = (uint8_t)(repeats + RUN_BIAS);
			i += repeats;
		}
	}
	return dst;
}

static uint8_t *put_sum(uint8_t *dst, const uint8_t *body)
{
	uint8_t sum = 0;

	for (const uint8_t *p = body; p < dst; p++)
		sum = (uint8_t)(sum + *p);
	*dst++ = '#';
	*dst++ = ts_hex_char(sum >> 4);
	*dst++ = ts_hex_char(sum);
	return dst;
}

void rsp_framing_send(struct rsp_framing *f, const void *payload, size_t len, enum rsp_encoding encoding)
{
	uint8_t *start = ts_buf_room(&f->out, 2 * len + FRAMING_LEN);
	uint8_t *end;

	if (!start)
		return;
	*start = '$';
	end = put_sum(encode(start + 1, payload, len, encoding), start + 1);
	f->out.len += (size_t)(end - start);

	ts_buf_reset(&f->last);
	if (f->acks == RSP_ACKS_ON)
		ts_buf_put(&f->last, start, (size_t)(end - start));
}

void rsp_framing_stop_acks(struct rsp_framing *f)
{
	if (f->acks == RSP_ACKS_ON)
		f->acks = RSP_ACKS_ENDING;
}
