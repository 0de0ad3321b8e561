/* SPDX-License-Identifier: MIT */
/*
 * Memory: m x M X, qSearch:memory, qCRC; for machines, QEMU's PhyMemMode, which selects physical addresses.
 *
 * Unknown bytes are never sent: a read ends before the first unknown byte, and is an error if that is its
 * first.  Each packet reads a bounded amount of memory.
 */
#include "packets.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/session/machine.h"
#include "protocol/session/session.h"
#include "protocol/session/trace_frame.h"

/* Errors are numbers without texts: gdb would parse a text as the memory's contents. */
#define ERROR_IO    0x05
#define ERROR_FAULT 0x14

/* The number of bytes that one packet may search or sum: a fraction of a second. */
#define MAX_SCAN (UINT64_C(64) << 20)
#define SCAN_BLOCK 65536u

#define LLDB_LINE_LEN 512u

/* Bytes of memory with their known flags. */
struct bytes {
	uint8_t *data;  /* owned; room for both */
	uint8_t *known; /* in the same memory */
};

static bool bytes_init(struct bytes *b, size_t len, struct rsp_reply *r)
{
	b->data = malloc(2 * len + 1);
	if (!b->data) {
		rsp_reply_error(r, RSP_ERROR_PLAIN);
		return false;
	}
	b->known = b->data + len;
	return true;
}

/* The number of known bytes at the beginning. */
static size_t known_prefix(const uint8_t *known, size_t len)
{
	const uint8_t *end = len ? memchr(known, 0, len) : NULL;

	return end ? (size_t)(end - known) : len;
}

static bool read_bytes(const struct rsp_session *s, uint64_t addr, size_t len, const struct bytes *b,
		       struct rsp_reply *r)
{
	struct ts_error err = { 0 };

	if (rsp_tracing_is_looking(&s->tracing) ?
		    rsp_trace_frame_mem(s, addr, len, b->data, b->known, &err) :
		    rsp_session_mem(s, s->pos, rsp_process(s), addr, len, b->data, b->known, &err))
		return true;
	rsp_reply_failure(r, &err);
	rsp_reply_error(r, ERROR_IO);
	return false;
}

/* ------------------------------------------------------------------------------------------------ reading */

struct range {
	uint64_t addr;
	uint64_t len;
};

static struct range take_range(struct rsp_args *a)
{
	struct range range;

	range.addr = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	range.len = rsp_args_u64(a);
	return range;
}

/*
 * lldb before 17 fills lines of 512 bytes and crashes if it gets a part of one.  It gets an error instead,
 * which it shows; with "settings set target.process.disable-memory-cache true" it reads as much as is known.
 * lldb 20 is the first that sends swbreak+; the setting does no harm to the versions between.
 */
static bool breaks_lldb(const struct rsp_session *s, struct range range, size_t known_len)
{
	bool is_line = range.len == LLDB_LINE_LEN && range.addr % LLDB_LINE_LEN == 0;

	return s->is_lldb && !s->has_swbreak && is_line && known_len < LLDB_LINE_LEN;
}

/*
 * Read up to @max bytes of a range; the known ones at its beginning go to @put.  A range without known bytes
 * is an error, and so is an empty one: an empty reply would mean that the packet is unsupported.
 */
static enum rsp_done read_range(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r, size_t max,
				void (*put)(struct rsp_reply *r, const uint8_t *data, size_t len))
{
	struct range range = take_range(a);
	size_t len = range.len < max ? (size_t)range.len : max;
	struct bytes b;

	if (!rsp_args_done(a) || !len)
		return RSP_BAD;
	if (!bytes_init(&b, len, r))
		return RSP_REPLIED;
	if (read_bytes(s, range.addr, len, &b, r)) {
		len = known_prefix(b.known, len);
		if (len && !breaks_lldb(s, range, len))
			put(r, b.data, len);
		else
			rsp_reply_error(r, ERROR_FAULT);
	}
	free(b.data);
	return RSP_REPLIED;
}

static void put_hex(struct rsp_reply *r, const uint8_t *data, size_t len)
{
	rsp_reply_hex(r, data, len);
}

static void put_binary(struct rsp_reply *r, const uint8_t *data, size_t len)
{
	rsp_reply_putc(r, 'b');
	rsp_reply_binary(r, data, len);
}

static enum rsp_done pkt_m(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	return read_range(s, a, r, rsp_reply_room(r) / 2, put_hex);
}

static enum rsp_done pkt_x(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	return read_range(s, a, r, rsp_reply_room(r) - 1, put_binary);
}

/* ------------------------------------------------------------------------------------------------ writing */

static enum rsp_done refuse_write(struct rsp_reply *r)
{
	rsp_reply_error_text(r, "a recording can't be changed");
	return RSP_REPLIED;
}

static enum rsp_done pkt_write_hex(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct range range = take_range(a);

	(void)s;
	rsp_args_expect(a, ':');
	if (!rsp_args_ok(a) || rsp_args_hex_len(a) != range.len || a->left != 2 * rsp_args_hex_len(a))
		return RSP_BAD;
	return refuse_write(r);
}

static enum rsp_done pkt_write_binary(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct range range = take_range(a);

	(void)s;
	rsp_args_expect(a, ':');
	if (!rsp_args_ok(a) || a->left != range.len)
		return RSP_BAD;
	return refuse_write(r);
}

/* ---------------------------------------------------------------------------------------------- searching */

/* The first place of @pattern in [0, len) of @b where all its bytes are known; SIZE_MAX if there is none. */
static size_t find_pattern(const struct bytes *b, size_t len, const uint8_t *pattern, size_t pattern_len)
{
	size_t at = 0;

	while (at + pattern_len <= len) {
		const uint8_t *hit = memmem(b->data + at, len - at, pattern, pattern_len);
		const uint8_t *unknown;

		if (!hit)
			break;
		at = (size_t)(hit - b->data);
		unknown = memrchr(b->known + at, 0, pattern_len);
		if (!unknown)
			return at;
		at = (size_t)(unknown - b->known) + 1;
	}
	return SIZE_MAX;
}

enum scan {
	SCAN_FOUND,
	SCAN_NOTHING,
	SCAN_FAILED, /* the reply has the reason */
};

/*
 * Look for @pattern in @range, a block at a time; blocks overlap by the pattern's length minus one.
 *
 * *addr gets its address.
 */
static enum scan search(struct rsp_session *s, struct range range, const uint8_t *pattern, size_t pattern_len,
			uint64_t *addr, struct rsp_reply *r)
{
	size_t overlap = pattern_len - 1;
	enum scan result = SCAN_NOTHING;
	struct bytes b;

	if (!bytes_init(&b, SCAN_BLOCK + overlap, r))
		return SCAN_FAILED;
	while (result == SCAN_NOTHING && range.len >= pattern_len) {
		size_t len = range.len < SCAN_BLOCK + overlap ? (size_t)range.len : SCAN_BLOCK + overlap;
		size_t at;

		if (!read_bytes(s, range.addr, len, &b, r)) {
			result = SCAN_FAILED;
			break;
		}
		at = find_pattern(&b, len, pattern, pattern_len);
		if (at != SIZE_MAX) {
			*addr = range.addr + at;
			result = SCAN_FOUND;
		}
		range.addr += len - overlap;
		range.len -= len - overlap;
	}
	free(b.data);
	return result;
}

/* Is the range within the address space? */
static bool is_sane(struct range range)
{
	return range.len && range.len - 1 <= UINT64_MAX - range.addr;
}

/* A range that is too long is searched up to the limit; a hit there is an answer, no hit is an error. */
static enum rsp_done pkt_search(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct range range;
	const uint8_t *pattern;
	size_t pattern_len;
	bool is_cut;
	uint64_t addr = 0;

	range.addr = rsp_args_u64(a);
	rsp_args_expect(a, ';');
	range.len = rsp_args_u64(a);
	rsp_args_expect(a, ';');
	pattern = rsp_args_rest(a, &pattern_len);
	if (!rsp_args_done(a) || !pattern_len || !is_sane(range))
		return RSP_BAD;
	is_cut = range.len > MAX_SCAN;
	if (is_cut)
		range.len = MAX_SCAN;
	switch (search(s, range, pattern, pattern_len, &addr, r)) {
	case SCAN_FOUND:
		rsp_reply_puts(r, "1,");
		rsp_reply_num(r, addr);
		break;
	case SCAN_NOTHING:
		if (is_cut)
			rsp_reply_error(r, ERROR_FAULT);
		else
			rsp_reply_puts(r, "0");
		break;
	case SCAN_FAILED: break;
	}
	return RSP_REPLIED;
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

static uint32_t crc(const uint32_t table[256], uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = sum << 8 ^ table[sum >> 24 ^ data[i]];
	return sum;
}

static enum rsp_done pkt_crc(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct range range = take_range(a);
	uint32_t sum = UINT32_MAX, table[256];
	struct bytes b;

	if (!rsp_args_done(a) || !is_sane(range))
		return RSP_BAD;
	if (range.len > MAX_SCAN) {
		rsp_reply_error(r, ERROR_FAULT);
		return RSP_REPLIED;
	}
	if (!bytes_init(&b, SCAN_BLOCK, r))
		return RSP_REPLIED;
	crc_init(table);
	while (range.len && r->kind == RSP_REPLY_EMPTY) {
		size_t len = range.len < SCAN_BLOCK ? (size_t)range.len : SCAN_BLOCK;

		if (!read_bytes(s, range.addr, len, &b, r))
			break;
		if (known_prefix(b.known, len) < len)
			rsp_reply_error(r, ERROR_FAULT);
		sum = crc(table, sum, b.data, len);
		range.addr += len;
		range.len -= len;
	}
	free(b.data);
	if (r->kind == RSP_REPLY_EMPTY)
		rsp_reply_printf(r, "C%08x", sum);
	return RSP_REPLIED;
}

/* ----------------------------------------------------------------------------------------------- physical */

static enum rsp_done pkt_qemu_features(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	(void)s;
	(void)a;
	rsp_reply_puts(r, "PhyMemMode");
	return RSP_REPLIED;
}

static bool is_physical(const struct rsp_session *s)
{
	return ts_query_facts(s->target->q)->is_physical && !rsp_machine_is_virtual(s);
}

static enum rsp_done pkt_physical(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	(void)a;
	rsp_reply_puts(r, is_physical(s) ? "1" : "0");
	return RSP_REPLIED;
}

/* A number; as in QEMU, any but 0 means "on". */
static enum rsp_done pkt_set_physical(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_on = rsp_args_u64(a) != 0;

	if (!rsp_args_done(a))
		return RSP_BAD;
	if (s->target->has_paging)
		s->is_physical = is_on;
	if (is_physical(s) == is_on)
		return RSP_OK;
	rsp_reply_error_text(r, "the recording has %s addresses only", is_on ? "virtual" : "physical");
	return RSP_REPLIED;
}

static const struct rsp_packet packets[] = {
	{ "m", RSP_PREFIX, pkt_m, NULL },
	{ "x", RSP_PREFIX, pkt_x, .feature = "binary-upload+" },
	{ "M", RSP_PREFIX, pkt_write_hex, NULL },
	{ "X", RSP_PREFIX, pkt_write_binary, NULL },
	{ "qSearch:memory", RSP_ARGS, pkt_search, NULL },
	{ "qCRC", RSP_ARGS, pkt_crc, NULL },
	{ "qqemu.Supported", RSP_EXACT, pkt_qemu_features, NULL },
	{ "qqemu.PhyMemMode", RSP_EXACT, pkt_physical, NULL },
	{ "Qqemu.PhyMemMode", RSP_ARGS, pkt_set_physical, NULL },
};
const struct rsp_packets rsp_mem_packets = RSP_PACKETS(packets);
