/* SPDX-License-Identifier: MIT */
/*
 * A client's bytes, at once and one by one: both ways must give the same events and the same bytes to send.
 * Each packet is then sent back in both encodings, as the worst payload that a reply can be.  The same bytes as a server's: what
 * the guard lets through is no request, and does not depend on how the bytes come.
 */
#include "fuzz.h"

#include "protocol/wire/framing.h"
#include "protocol/wire/guard.h"
#include "src/base/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_SIZE 256

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The next event when each byte comes alone. */
static enum rsp_event feed_slowly(struct rsp_framing *f, const uint8_t **bytes, size_t *len)
{
	while (*len) {
		size_t one = 1;
		enum rsp_event event = rsp_framing_feed(f, bytes, &one);

		*len -= 1 - one;
		if (event != RSP_EV_NONE)
			return event;
		require(!one);
	}
	return RSP_EV_NONE;
}

static void require_same(const struct rsp_framing *a, const struct rsp_framing *b)
{
	require(a->out.len == b->out.len && (!a->out.len || !memcmp(a->out.data, b->out.data, a->out.len)));
}

static void answer(struct rsp_framing *f, const uint8_t *payload, size_t len)
{
	rsp_framing_send(f, payload, len, RSP_TEXT);
	rsp_framing_send(f, payload, len, RSP_BINARY);
	if (len == 1 && *payload == 'n')
		rsp_framing_stop_acks(f);
}

/* What passes of pieces of @piece bytes. */
static bool pass(const uint8_t *bytes, size_t len, size_t piece, struct ts_buf *passed)
{
	struct rsp_guard guard = { 0 };
	bool goes_on = true;

	for (size_t at = 0; goes_on && at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece, n_passed = 0;
		uint8_t *to = ts_buf_add(passed, n + RSP_GUARD_HEAD);

		require(to != NULL);
		goes_on = rsp_guard_take(&guard, bytes + at, n, to, &n_passed);
		require(n_passed <= n + RSP_GUARD_HEAD && (goes_on || guard.why));
		passed->len -= n + RSP_GUARD_HEAD - n_passed;
	}
	return goes_on;
}

static void check_guard(const uint8_t *bytes, size_t len)
{
	static const size_t pieces[] = { 1, 7, 4096 };
	struct ts_buf passed[3];
	bool goes_on[3];

	for (size_t i = 0; i < 3; i++) {
		ts_buf_init(&passed[i]);
		goes_on[i] = pass(bytes, len, pieces[i], &passed[i]);
		require(goes_on[i] == goes_on[0] && passed[i].len == passed[0].len);
		require(!passed[0].len || !memcmp(passed[i].data, passed[0].data, passed[0].len));
	}
	for (size_t i = 0; i + 2 < passed[0].len; i++) {
		if (passed[0].data[i] == '$' && passed[0].data[i + 1] == 'F')
			require(passed[0].data[i + 2] == '-' || isxdigit(passed[0].data[i + 2])); /* no request's name */
	}
	for (size_t i = 0; i < 3; i++)
		ts_buf_fini(&passed[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_error err = { 0 };
	struct rsp_framing fast, slow;
	const uint8_t *slow_bytes = bytes;
	size_t slow_len = len;
	enum rsp_event event;

	check_guard(bytes, len);
	require(rsp_framing_init(&fast, PACKET_SIZE, &err) && rsp_framing_init(&slow, PACKET_SIZE, &err));
	do {
		event = rsp_framing_feed(&fast, &bytes, &len);
		require(feed_slowly(&slow, &slow_bytes, &slow_len) == event);
		require(slow_bytes == bytes && slow_len == len);
		if (event == RSP_EV_PACKET) {
			require(fast.len == slow.len && !memcmp(fast.payload, slow.payload, fast.len));
			answer(&fast, fast.payload, fast.len);
			answer(&slow, slow.payload, slow.len);
		}
		require_same(&fast, &slow);
		require(fast.out.len <= 2 * (2 * PACKET_SIZE + 4) + 1);
		ts_buf_consume(&fast.out, fast.out.len);
		ts_buf_consume(&slow.out, slow.out.len);
	} while (event != RSP_EV_NONE);
	require(!len);
	rsp_framing_fini(&fast);
	rsp_framing_fini(&slow);
	return 0;
}
