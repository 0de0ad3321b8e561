/* SPDX-License-Identifier: MIT */
/*
 * Registers: g G p P.
 *
 * A register is sent whole or as unknown ("xx" for each byte): gdb and lldb check only its first byte to
 * decide whether it is available, and would show the unknown bytes of a partly known register as zeros.
 */
#include "packets.h"

#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/trace_frame.h"

/* Errors are numbers without texts: gdb would parse a text as the registers' values. */
#define ERROR_IO      0x05
#define ERROR_UNKNOWN 0x14

/* The registers of a thread: g_len bytes, and as many known flags. */
struct values {
	const uint8_t *data, *known; /* borrowed from the session's scratch */
};

/* Returns false, with an error as reply, if they cannot be read. */
static bool read_values(const struct rsp_session *s, uint32_t thread, struct values *v, struct rsp_reply *r)
{
	uint8_t *data = s->scratch, *known = s->scratch + rsp_regset(s)->g_len;
	struct ts_error err = { 0 };

	if (s->is_in_child) {
		rsp_reply_error_text(r, RSP_NO_CHILD);
		return false;
	}
	*v = (struct values){ data, known };
	if (rsp_tracing_is_looking(&s->tracing) ? rsp_trace_frame_regs(s, data, known, &err) :
						  rsp_session_regs(s, s->pos, thread, data, known, &err))
		return true;
	rsp_reply_failure(r, s->target->trace, &err);
	rsp_reply_error(r, ERROR_IO);
	return false;
}

static bool is_known(const struct ts_reg *reg, const struct values *v)
{
	return !memchr(v->known + reg->off, 0, reg->len);
}

static void put_reg(const struct ts_reg *reg, const struct values *v, struct rsp_reply *r)
{
	if (is_known(reg, v))
		rsp_reply_hex(r, v->data + reg->off, reg->len);
	else
		rsp_reply_unknown(r, reg->len);
}

/*
 * Take the suffix of lldb's register packets, ";thread:1;".  Without it the thread is the current one.
 *
 * Fails if the thread does not exist, or on anything else.
 */
static uint32_t take_thread(const struct rsp_session *s, struct rsp_args *a)
{
	uint32_t thread = s->thread;

	if (rsp_args_accept_word(a, "thread:")) {
		thread = rsp_session_find_thread(s, rsp_args_tid(a));
		rsp_args_accept(a, ';');
		if (thread == TS_NO_THREAD)
			rsp_args_fail(a);
	}
	if (a->left)
		rsp_args_fail(a);
	return thread;
}

/* As take_thread(), after other arguments and a ';'. */
static uint32_t take_suffix(const struct rsp_session *s, struct rsp_args *a)
{
	if (a->left)
		rsp_args_expect(a, ';');
	return take_thread(s, a);
}

/* As many whole registers as fit: the client reads the others with p. */
static enum rsp_done pkt_g(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	const struct ts_regset *set = rsp_regset(s);
	uint32_t thread = take_thread(s, a);
	struct values v;

	if (!rsp_args_ok(a))
		return RSP_BAD;
	if (!read_values(s, thread, &v, r))
		return RSP_REPLIED;
	for (unsigned i = 0; i < set->n_regs && rsp_reply_room(r) >= 2 * (size_t)set->regs[i].len; i++)
		put_reg(&set->regs[i], &v, r);
	return RSP_REPLIED;
}

/* lldb reads "xx" as a value, 0xcc; an error it shows as "unavailable". */
static enum rsp_done pkt_p(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	const struct ts_regset *set = rsp_regset(s);
	int reg = ts_regset_by_num(set, rsp_args_u32(a));
	uint32_t thread = take_suffix(s, a);
	struct values v;

	if (!rsp_args_ok(a) || reg < 0)
		return RSP_BAD;
	if (!read_values(s, thread, &v, r))
		return RSP_REPLIED;
	if (s->is_lldb && !is_known(&set->regs[reg], &v))
		rsp_reply_error(r, ERROR_UNKNOWN);
	else
		put_reg(&set->regs[reg], &v, r);
	return RSP_REPLIED;
}

/* Take a value to be written, and return its length in bytes; what was read as unknown comes back as "xx". */
static size_t take_value(struct rsp_args *a)
{
	size_t n = 0;

	while (a->left && rsp_args_peek(a) != ';') {
		if (!rsp_args_accept_word(a, "xx"))
			rsp_args_u8(a);
		n++;
	}
	return n;
}

static enum rsp_done pkt_write_all(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	size_t len = take_value(a);

	take_suffix(s, a);
	if (!rsp_args_ok(a) || !len || len > rsp_regset(s)->g_len)
		return RSP_BAD;
	return rsp_reply_error_text(r, RSP_NO_WRITE);
}

/*
 * Is it a register that gdb writes along with a pc?  A recording never has a system call to restart, and gdb
 * writes the unchanged pc when it runs the program again.
 */
static bool is_no_restart(const struct ts_reg *reg, struct rsp_args value)
{
	bool is_ones = true;

	for (unsigned i = 0; i < reg->len; i++)
		is_ones &= rsp_args_u8(&value) == 0xff;
	return reg->role == TS_ROLE_RESTART && is_ones;
}

static enum rsp_done pkt_write_one(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	const struct ts_regset *set = rsp_regset(s);
	int reg = ts_regset_by_num(set, rsp_args_u32(a));
	struct rsp_args value;
	size_t len;

	rsp_args_expect(a, '=');
	value = *a;
	len = take_value(a);
	take_suffix(s, a);
	if (!rsp_args_ok(a) || reg < 0 || len != set->regs[reg].len)
		return RSP_BAD;
	return is_no_restart(&set->regs[reg], value) ? RSP_OK : rsp_reply_error_text(r, RSP_NO_WRITE);
}

static const struct rsp_packet packets[] = {
	{ "g", RSP_ARGS, .handler = pkt_g },
	{ "G", RSP_PREFIX, .handler = pkt_write_all },
	{ "p", RSP_PREFIX, .handler = pkt_p },
	{ "P", RSP_PREFIX, .handler = pkt_write_one },
};
const struct rsp_packets rsp_regs_packets = RSP_PACKETS(packets);
