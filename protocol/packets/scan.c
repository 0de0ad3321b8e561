/* SPDX-License-Identifier: MIT */
/*
 * Packets that go through much memory: qSearch:memory, qCRC.  Each is a job (protocol/session/jobs/job.h), so that
 * other clients are served between its blocks.
 */
#include "packets.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/session/bytes.h"
#include "protocol/session/session.h"
#include "src/base/clock.h"

/* Errors are numbers without texts: gdb would parse a text as an answer. */
#define ERROR_INTERRUPTED 0x04
#define ERROR_IO          0x05
#define ERROR_FAULT       0x14

/* The number of bytes that one packet may go through: a few seconds. */
#define MAX_LEN (UINT64_C(64) << 20)

/* Read at once: about half a millisecond. */
#define BLOCK 16384u

struct scan {
	uint64_t addr, len;     /* what is left */
	struct rsp_bytes bytes; /* room for BLOCK + n_pattern */
	bool is_cut;            /* the range was too long, and is its beginning now */

	uint8_t *pattern;       /* owned; NULL: a checksum is made */
	size_t n_pattern;
	uint32_t table[256];    /* of the checksum */
	uint32_t sum;
};

static void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	rsp_bytes_fini(&scan->bytes);
	free(scan->pattern);
	free(scan);
}

/* ---------------------------------------------------------------------------------------------- searching */

/*
 * The first place of the pattern in the first @len bytes where all of it is known; SIZE_MAX if none is found.
 */
static size_t find_pattern(const struct scan *scan, size_t len)
{
	const struct rsp_bytes *b = &scan->bytes;
	size_t at = 0;

	while (at + scan->n_pattern <= len) {
		const uint8_t *hit = memmem(b->data + at, len - at, scan->pattern, scan->n_pattern);
		const uint8_t *unknown;

		if (!hit)
			break;
		at = (size_t)(hit - b->data);
		unknown = memrchr(b->known + at, 0, scan->n_pattern);
		if (!unknown)
			return at;
		at = (size_t)(unknown - b->known) + 1;
	}
	return SIZE_MAX;
}

/* Look in the first @len bytes; blocks overlap by the pattern's length minus one.  Returns false to go on. */
static bool search_block(struct scan *scan, size_t len, struct rsp_reply *r)
{
	size_t at = find_pattern(scan, len), step = len - (scan->n_pattern - 1);

	if (at != SIZE_MAX) {
		rsp_reply_puts(r, "1,");
		rsp_reply_num(r, scan->addr + at);
		return true;
	}
	scan->addr += step;
	scan->len -= step;
	if (scan->len >= scan->n_pattern)
		return false;
	if (scan->is_cut)
		rsp_reply_error(r, ERROR_FAULT);
	else
		rsp_reply_puts(r, "0");
	return true;
}

/* ----------------------------------------------------------------------------------------------- checksum */

/* The effect of a leading byte on a CRC-32 with the highest bit first, polynomial 0x04c11db7. */
static void crc_init(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t sum = i << 24;

		for (unsigned bit = 0; bit < 8; bit++)
			sum = sum & 0x80000000u ? sum << 1 ^ 0x04c11db7u : sum << 1;
		table[i] = sum;
	}
}

/* Sum up @len bytes.  Returns false to go on. */
static bool sum_block(struct scan *scan, size_t len, struct rsp_reply *r)
{
	if (rsp_bytes_n_known(&scan->bytes, len) < len) {
		rsp_reply_error(r, ERROR_FAULT);
		return true;
	}
	for (size_t i = 0; i < len; i++)
		scan->sum = scan->sum << 8 ^ scan->table[scan->sum >> 24 ^ scan->bytes.data[i]];
	scan->addr += len;
	scan->len -= len;
	if (scan->len)
		return false;
	rsp_reply_printf(r, "C%08x", scan->sum);
	return true;
}

/* ------------------------------------------------------------------------------------------------ the job */

/* Returns false to go on. */
static bool scan_block(struct rsp_session *s, struct scan *scan, struct rsp_reply *r)
{
	size_t room = BLOCK + scan->n_pattern, len = scan->len < room ? (size_t)scan->len : room;
	struct ts_error err = { 0 };

	if (len < scan->n_pattern) {
		rsp_reply_puts(r, "0");
		return true;
	}
	if (!rsp_bytes_read(&scan->bytes, s, scan->addr, len, &err)) {
		rsp_reply_failure(r, s->target->trace, &err);
		rsp_reply_error(r, ERROR_IO);
		return true;
	}
	return scan->pattern ? search_block(scan, len, r) : sum_block(scan, len, r);
}

static void cancel(struct rsp_session *s)
{
	scan_free(s->job.state);
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	bool is_over = s->job.is_interrupted;

	if (is_over)
		rsp_reply_error(r, ERROR_INTERRUPTED);
	while (!is_over && ts_now_ns() < end_ns)
		is_over = scan_block(s, s->job.state, r);
	if (is_over)
		cancel(s);
	return is_over;
}

static enum rsp_done start(struct rsp_session *s, struct scan *scan, struct rsp_reply *r)
{
	static const struct rsp_job_ops ops = { .slice = slice, .cancel = cancel };
	struct ts_error err = { 0 };

	if (!scan || !rsp_bytes_init(&scan->bytes, BLOCK + scan->n_pattern, &err)) {
		scan_free(scan);
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	}
	rsp_job_start(&s->job, &ops, scan);
	return RSP_DEFERRED;
}

/* Is the range within the address space? */
static bool is_sane(uint64_t addr, uint64_t len)
{
	return len && len - 1 <= UINT64_MAX - addr;
}

/* A range that is too long is searched up to the limit; a hit there is an answer, no hit is an error. */
static enum rsp_done pkt_search(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint64_t addr = rsp_args_u64(a), len;
	const uint8_t *pattern;
	struct scan *scan;
	size_t n_pattern;

	rsp_args_expect(a, ';');
	len = rsp_args_u64(a);
	rsp_args_expect(a, ';');
	pattern = rsp_args_rest(a, &n_pattern);
	if (!rsp_args_done(a) || !n_pattern || !is_sane(addr, len))
		return RSP_BAD;
	scan = calloc(1, sizeof(*scan));
	if (scan) {
		scan->addr = addr;
		scan->is_cut = len > MAX_LEN;
		scan->len = scan->is_cut ? MAX_LEN : len;
		scan->n_pattern = n_pattern;
		scan->pattern = malloc(n_pattern);
	}
	if (scan && scan->pattern) {
		memcpy(scan->pattern, pattern, n_pattern);
	} else {
		scan_free(scan);
		scan = NULL;
	}
	return start(s, scan, r);
}

static enum rsp_done pkt_crc(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint64_t addr = rsp_args_u64(a), len;
	struct scan *scan;

	rsp_args_expect(a, ',');
	len = rsp_args_u64(a);
	if (!rsp_args_done(a) || !is_sane(addr, len))
		return RSP_BAD;
	if (len > MAX_LEN)
		return rsp_reply_error(r, ERROR_FAULT);
	scan = calloc(1, sizeof(*scan));
	if (scan) {
		scan->addr = addr;
		scan->len = len;
		scan->sum = UINT32_MAX;
		crc_init(scan->table);
	}
	return start(s, scan, r);
}

static const struct rsp_packet packets[] = {
	{ "qSearch:memory", RSP_ARGS, .handler = pkt_search },
	{ "qCRC", RSP_ARGS, .handler = pkt_crc },
};
const struct rsp_packets rsp_scan_packets = RSP_PACKETS(packets);
