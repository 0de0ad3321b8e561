/* SPDX-License-Identifier: MIT */
/*
 * Memory: m x M X; for machines, QEMU's PhyMemMode, which selects physical addresses.
 *
 * Unknown bytes are never sent: a read ends before the first unknown byte, and is an error if that is its
 * first.  Each packet reads a bounded amount of memory.
 */
#include "packets.h"

#include "protocol/session/bytes.h"
#include "protocol/session/machine.h"
#include "protocol/session/session.h"

/* Errors are numbers without texts: gdb would parse a text as the memory's contents. */
#define ERROR_IO    0x05
#define ERROR_FAULT 0x14

#define LLDB_LINE_LEN 512u

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
	struct rsp_bytes b;
	struct ts_error err = { 0 };

	if (s->is_in_child)
		return rsp_reply_error_text(r, RSP_NO_CHILD);
	if (!rsp_args_done(a) || !len)
		return RSP_BAD;
	if (!rsp_bytes_init(&b, len, &err)) {
		rsp_reply_error(r, RSP_ERROR_PLAIN);
	} else if (!rsp_bytes_read(&b, s, range.addr, len, &err)) {
		rsp_reply_failure(r, s->target->trace, &err);
		rsp_reply_error(r, ERROR_IO);
	} else {
		len = rsp_bytes_n_known(&b, len);
		if (len && !breaks_lldb(s, range, len))
			put(r, b.data, len);
		else
			rsp_reply_error(r, ERROR_FAULT);
	}
	rsp_bytes_fini(&b);
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
	r->is_binary = false; /* gdb 16 and lldb 20, the first that send x, take run lengths here too */
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

static enum rsp_done pkt_write_hex(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	struct range range = take_range(a);

	rsp_args_expect(a, ':');
	if (!rsp_args_ok(a) || rsp_args_hex_len(a) != range.len || a->left != 2 * rsp_args_hex_len(a))
		return RSP_BAD;
	return rsp_reply_error_text(r, RSP_NO_WRITE);
}

static enum rsp_done pkt_write_binary(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	struct range range = take_range(a);

	rsp_args_expect(a, ':');
	if (!rsp_args_ok(a) || a->left != range.len)
		return RSP_BAD;
	return rsp_reply_error_text(r, RSP_NO_WRITE);
}

/* ----------------------------------------------------------------------------------------------- physical */

static bool is_physical(const struct rsp_session *s)
{
	return ts_query_facts(s->target->q)->is_physical && !rsp_machine_is_virtual(s);
}

static enum rsp_done pkt_physical(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	return rsp_reply_puts(r, is_physical(s) ? "1" : "0");
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
	return rsp_reply_error_text(r, "the recording has %s addresses only", is_on ? "virtual" : "physical");
}

static const struct rsp_packet packets[] = {
	{ "m", RSP_PREFIX, .handler = pkt_m },
	{ "x", RSP_PREFIX, pkt_x, .feature = "binary-upload+" },
	{ "M", RSP_PREFIX, .handler = pkt_write_hex },
	{ "X", RSP_PREFIX, .handler = pkt_write_binary },
	{ "qqemu.Supported", RSP_EXACT, .reply = "PhyMemMode" },
	{ "qqemu.PhyMemMode", RSP_EXACT, .handler = pkt_physical },
	{ "Qqemu.PhyMemMode", RSP_ARGS, .handler = pkt_set_physical },
};
const struct rsp_packets rsp_mem_packets = RSP_PACKETS(packets);
