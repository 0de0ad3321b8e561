/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints and watchpoints: Z0..Z4 and z0..z4.
 *
 * They are never written into memory, so soft and hard ones differ in name only.  Conditions are checked when
 * they are received and evaluated here at each hit; so are commands, which print (dynamic printf).
 */
#include <stdlib.h>

#include "packets.h"
#include "protocol/session/jobs/asking.h"
#include "protocol/session/breaks.h"
#include "protocol/session/session.h"
#include "protocol/tracing/ax_packet.h"
#include "protocol/wire/args.h"
#include "src/base/log.h"
#include "src/base/collections/vec.h"
#include "src/query/code/insn_reads.h"

/* The longest list of conditions that one breakpoint may have. */
#define MAX_CONDITIONS 64

struct place {
	uint64_t addr, len; /* len: of an instruction (its kind) or of the watched range */
};

/* "addr,kind" */
static struct place parse_place(const struct rsp_session *s, struct rsp_args *a)
{
	struct place p;

	p.addr = rsp_args_u64(a) & ts_arch_addr_mask(rsp_regset(s)->arch);
	rsp_args_expect(a, ',');
	p.len = rsp_args_u64(a);
	return p;
}

static struct ts_break break_at(const struct rsp_session *s, const struct place *p)
{
	return (struct ts_break){ rsp_process(s), p->addr };
}

/* Expressions of one breakpoint. */
struct code {
	struct ts_ax **items; /* owned; NULL: none */
	size_t n, cap;
};

static void free_code(struct code *code)
{
	while (code->n)
		ts_ax_free(code->items[--code->n]);
	free(code->items);
	code->items = NULL;
}

/* Does an expression come next?  Takes the separator before it. */
static bool has_code(struct rsp_args *a, bool has_separators, size_t n_before)
{
	struct rsp_args ahead = *a;

	if (has_separators && rsp_args_accept_word(&ahead, ";X"))
		return rsp_args_accept(a, ';');
	return (n_before || !has_separators) && rsp_args_peek(a) == 'X';
}

/*
 * Any number of "Xlen,code", each after a ';' if @has_separators; gdb omits it from the second one on.  On
 * success *code is the caller's.
 *
 * Returns false on failure; then @r has an error, or @a is bad.
 */
static bool parse_code(struct rsp_args *a, bool has_separators, struct code *code, struct rsp_reply *r)
{
	enum ts_ax_error error;

	*code = (struct code){ 0 };
	error = TS_AX_OK;
	while (error == TS_AX_OK && code->n < MAX_CONDITIONS && has_code(a, has_separators, code->n)) {
		if (!ts_vec_reserve(&code->items, code->n, &code->cap, 1, sizeof(struct ts_ax *))) {
			error = TS_AX_NO_MEMORY;
			break;
		}
		code->items[code->n] = rsp_ax_parse(a, &error);
		code->n += code->items[code->n] != NULL;
	}
	if (error == TS_AX_OK)
		return true;
	if (error == TS_AX_SYNTAX) {
		rsp_args_fail(a);
	} else {
		/* gdb takes every refused breakpoint for unreadable memory, and shows no text */
		ts_log(TS_LOG_WARN, "breakpoint refused: %s", ts_ax_error_text(error));
		rsp_reply_error_text(r, "breakpoint: %s", ts_ax_error_text(error));
	}
	free_code(code);
	return false;
}

/* Conditions, and then ";cmds:KEEP," and commands; they are not kept when the client disconnects. */
static bool parse_all_code(struct rsp_args *a, struct code *conditions, struct code *commands,
			   struct rsp_reply *r)
{
	*commands = (struct code){ 0 };
	if (!parse_code(a, true, conditions, r))
		return false;
	if (rsp_args_accept_word(a, ";cmds:")) {
		rsp_args_u32(a);
		rsp_args_expect(a, ',');
		if (!parse_code(a, false, commands, r)) {
			free_code(conditions);
			return false;
		}
	}
	if (rsp_args_done(a))
		return true;
	free_code(conditions);
	free_code(commands);
	rsp_args_fail(a);
	return false;
}

static enum rsp_done insert_break(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	enum rsp_break_kind kind = a->arg;
	struct place p = parse_place(s, a);
	struct code conditions, commands;

	if (!parse_all_code(a, &conditions, &commands, r))
		return a->is_bad ? RSP_BAD : RSP_REPLIED;
	for (size_t i = 0; i < conditions.n; i++)
		rsp_asking_offer(s, p.addr, conditions.items[i]);
	if (rsp_breaks_insert(&s->breaks, kind, break_at(s, &p), conditions.items, conditions.n)) {
		if (rsp_breaks_set_commands(&s->breaks, kind, break_at(s, &p), commands.items, commands.n))
			return RSP_OK;
		rsp_breaks_remove(&s->breaks, kind, break_at(s, &p));
	} else {
		free_code(&commands);
	}
	return rsp_reply_error_text(r, "no memory for another breakpoint");
}

static enum rsp_done remove_break(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	struct place p = parse_place(s, a);

	if (!rsp_args_done(a))
		return RSP_BAD;
	if (!s->is_in_child) /* gdb takes its breakpoints out of the child of a fork */
		rsp_breaks_remove(&s->breaks, a->arg, break_at(s, &p));
	return RSP_OK;
}

/*
 * Parse a watchpoint.  Returns false if the arguments are malformed, or with the reason in @r if they are
 * refused.
 */
static bool parse_watch(const struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r, struct ts_watch *w)
{
	struct place p = parse_place(s, a);

	if (!rsp_args_done(a))
		return false;
	*w = (struct ts_watch){ rsp_process(s), p.addr, p.len, a->arg };
	if (!p.len || p.len > TS_MAX_WATCH_LEN || p.len - 1 > UINT64_MAX - p.addr) {
		rsp_reply_error_text(r, "a watched range has 1 to %u bytes", (unsigned)TS_MAX_WATCH_LEN);
		return false;
	}
	return true;
}

static enum rsp_done insert_watch(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_watch w;

	if (!parse_watch(s, a, r, &w))
		return r->kind == RSP_REPLY_ERROR ? RSP_REPLIED : RSP_BAD;
	if (a->arg != TS_WATCH_WRITE && !ts_query_facts(s->target->q)->has_reads && !ts_query_infers_reads(s->target->q))
		return RSP_UNSUPPORTED; /* reads are not recorded, and the instructions do not show them: the watchpoint would never trigger */
	if (rsp_breaks_watch(&s->breaks, &w))
		return RSP_OK;
	return rsp_reply_error_text(r, "no memory for another watchpoint");
}

static enum rsp_done remove_watch(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_watch w;

	if (!parse_watch(s, a, r, &w))
		return r->kind == RSP_REPLY_ERROR ? RSP_REPLIED : RSP_BAD;
	if (!s->is_in_child)
		rsp_breaks_unwatch(&s->breaks, &w);
	return RSP_OK;
}

static const struct rsp_packet packets[] = {
	{ "Z0", RSP_ARGS, insert_break, .feature = "ConditionalBreakpoints+", .arg = RSP_BREAK_SOFT },
	{ "z0", RSP_ARGS, remove_break, .feature = "swbreak+", .arg = RSP_BREAK_SOFT },
	{ "Z1", RSP_ARGS, insert_break, .feature = "hwbreak+", .arg = RSP_BREAK_HARD },
	{ "z1", RSP_ARGS, remove_break, .feature = "BreakpointCommands+", .arg = RSP_BREAK_HARD },
	{ "Z2", RSP_ARGS, .handler = insert_watch, .arg = TS_WATCH_WRITE },
	{ "z2", RSP_ARGS, .handler = remove_watch, .arg = TS_WATCH_WRITE },
	{ "Z3", RSP_ARGS, .handler = insert_watch, .arg = TS_WATCH_READ },
	{ "z3", RSP_ARGS, .handler = remove_watch, .arg = TS_WATCH_READ },
	{ "Z4", RSP_ARGS, .handler = insert_watch, .arg = TS_WATCH_ACCESS },
	{ "z4", RSP_ARGS, .handler = remove_watch, .arg = TS_WATCH_ACCESS },
};

const struct rsp_packets rsp_break_packets = RSP_PACKETS(packets);
