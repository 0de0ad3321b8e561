/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

/* Bytes to read of an instruction whose length is not recorded. */
#define LONGEST_INSN 16u
#define LONG_ACCESS  4096u

/* A longer range is a mistake. */
#define MAX_RANGE (UINT64_C(1) << 24)

/* A position where an address is executed, and the address's tracepoint. */
struct ts_hit {
	uint64_t pos;
	uint32_t tracepoint;
};

/* ----------------------------------------------------------------------------------- what a user asks for */

void ts_selection_options_init(struct ts_selection_options *o)
{
	*o = (struct ts_selection_options){
		.last = UINT64_MAX,
		.collect = { .has_regs = true, .has_code = true, .has_accessed = true, .stack = 256 },
	};
}

/* A number up to a character of @stops or the end; *end gets where it ends. */
static bool number(const char *text, const char *stops, uint64_t *n, const char **end)
{
	char *stop;

	errno = 0;
	*n = strtoull(text, &stop, 0);
	*end = stop;
	return *text >= '0' && *text <= '9' && !errno && (!*stop || strchr(stops, *stop));
}

bool ts_selection_positions(struct ts_selection_options *o, const char *text, struct ts_error *err)
{
	const char *at = text;

	o->has_positions = true;
	o->first = 0;
	o->last = UINT64_MAX;
	if (*at != ':' && !number(at, ":", &o->first, &at))
		goto bad;
	if (*at++ != ':')
		goto bad;
	if (*at && !number(at, "", &o->last, &at))
		goto bad;
	if (o->first <= o->last)
		return true;
bad:
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
		       "'%s': FIRST:LAST, in this order; either may be missing, as in 1000:2000, 50%%: or :mark", text);
}

bool ts_selection_at(struct ts_selection_options *o, const char *text, struct ts_error *err)
{
	const char *end;
	uint64_t addr;

	if (!number(text, "", &addr, &end))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' is not an address: a number, as in 0x401000",
			       text);
	for (unsigned i = 0; i < o->n_at; i++) {
		if (o->at[i] == addr)
			return true;
	}
	if (o->n_at == TS_MAX_SELECTED)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "more than %d addresses", TS_MAX_SELECTED);
	o->at[o->n_at++] = addr;
	return true;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool collect_memory(struct ts_collect *c, const char *text, const char **end)
{
	struct ts_range r;

	if (c->n_memory == TS_MAX_SELECTED || !number(text, "+", &r.addr, end) || **end != '+' ||
	    !number(*end + 1, ",", &r.len, end) || !r.len || r.len > MAX_RANGE ||
	    r.len - 1 > UINT64_MAX - r.addr)
		return false;
	c->memory[c->n_memory++] = r;
	return true;
}

/* One item; *end gets where it ends. */
static bool collect_item(struct ts_collect *c, const char *text, const char **end)
{
	size_t len = strcspn(text, ",");

	*end = text + len;
	if (len == 4 && has_prefix(text, "regs"))
		return c->has_regs = true;
	if (len == 4 && has_prefix(text, "code"))
		return c->has_code = true;
	if (len == 8 && has_prefix(text, "accessed"))
		return c->has_accessed = true;
	if (has_prefix(text, "stack:"))
		return number(text + 6, ",", &c->stack, end) && c->stack <= MAX_RANGE;
	return has_prefix(text, "mem:") && collect_memory(c, text + 4, end);
}

bool ts_selection_collect(struct ts_selection_options *o, const char *text, struct ts_error *err)
{
	const char *at = text, *end;

	o->has_collect = true;
	o->collect = (struct ts_collect){ 0 };
	for (;; at = end + 1) {
		if (!collect_item(&o->collect, at, &end))
			return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
				       "'%.*s' cannot be collected: regs, stack:LEN, "
				       "mem:ADDR+LEN, accessed and code can, at most %" PRIu64 " bytes",
				       (int)strcspn(at, ","), at, MAX_RANGE);
		if (!*end)
			return true;
	}
}

/* ------------------------------------------------------------------------------------------------ frames */

static struct ts_selection *of_frames(struct ts_frames *f)
{
	return (struct ts_selection *)((char *)f - offsetof(struct ts_selection, frames));
}

static uint64_t frames_pos(const struct ts_frames *f, uint64_t n)
{
	const struct ts_selection *s = of_frames((struct ts_frames *)f);

	return s->hits ? s->hits[n].pos : s->opt.first + n;
}

static uint32_t tracepoint_of(const struct ts_selection *s, uint64_t n)
{
	return s->hits ? s->hits[n].tracepoint : 1;
}

static uint64_t frames_next_of(const struct ts_frames *f, uint32_t tracepoint, uint64_t from)
{
	const struct ts_selection *s = of_frames((struct ts_frames *)f);

	while (from < f->n_frames && tracepoint_of(s, from) != tracepoint)
		from++;
	return from < f->n_frames ? from : TS_NO_FRAME;
}

/* Add [addr, addr + len), clipped at the end of the address space. */
static void add_range(struct ts_selection *s, struct ts_frame *out, uint64_t addr, uint64_t len)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(s->q)->arch);

	addr &= mask;
	if (len && len - 1 > mask - addr)
		len = mask - addr + 1;
	if (len)
		ts_frame_add_range(out, addr, len);
}

static bool add_stack(struct ts_selection *s, uint64_t pos, struct ts_frame *out, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(s->q);
	const struct ts_reg *sp = set->sp >= 0 ? &set->regs[set->sp] : NULL;

	if (!sp || sp->len > 8)
		return true;
	if (!ts_query_regs(s->q, pos, ts_query_thread(s->q, pos), s->regs, s->known, err))
		return false;
	if (!memchr(s->known + sp->off, 0, sp->len))
		add_range(s, out, ts_arch_get(set->arch, s->regs + sp->off, sp->len), s->opt.collect.stack);
	return true;
}

/* The instruction that would run at @pos, where the recording ends. */
static bool add_next(struct ts_selection *s, uint64_t pos, struct ts_frame *out, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(s->q, pos, ts_query_thread(s->q, pos), &pc, &has_pc, err))
		return false;
	if (has_pc)
		add_range(s, out, pc, LONGEST_INSN);
	return true;
}

/* An access of a step.  Long ones take of *@left. */
static void add_access(struct ts_selection *s, struct ts_frame *out, const struct ts_effect *e,
		       uint64_t *left)
{
	uint64_t len = e->len;

	if (len > LONG_ACCESS) {
		len = len < *left ? len : *left;
		*left -= len;
		s->is_cut |= len < e->len;
	}
	add_range(s, out, e->addr, len);
}

/* What the instruction at @pos is, and what it accesses. */
static bool add_step(struct ts_selection *s, uint64_t pos, struct ts_frame *out, struct ts_error *err)
{
	bool has_accessed = s->opt.collect.has_accessed && !ts_query_facts(s->q)->is_physical;
	uint64_t left = TS_MAX_ACCESSED;
	const struct ts_steps *b;
	const struct ts_step *st;

	if (pos == ts_query_n_steps(s->q))
		return !s->opt.collect.has_code || add_next(s, pos, out, err);
	st = ts_query_step(s->q, pos, &b, err);
	if (!st)
		return false;
	if (s->opt.collect.has_code && st->pc != TS_NO_PC)
		add_range(s, out, st->pc, st->insn_len ? st->insn_len : LONGEST_INSN);
	for (uint32_t i = 0; has_accessed && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if ((e->kind == TS_FX_READ || e->kind == TS_FX_WRITE) && !e->is_hidden)
			add_access(s, out, e, &left);
	}
	return true;
}

static bool frames_get(struct ts_frames *f, uint64_t n, struct ts_frame *out, struct ts_error *err)
{
	struct ts_selection *s = of_frames(f);
	const struct ts_collect *c = &s->opt.collect;
	uint64_t pos = frames_pos(f, n);

	if (s->base)
		return s->base->ops->get(s->base, pos, out, err);
	out->pos = pos;
	out->tracepoint = tracepoint_of(s, n);
	out->has_regs = c->has_regs;
	out->has_pc = c->has_regs || s->hits;
	out->is_step = !s->hits && n;
	for (unsigned i = 0; i < c->n_memory; i++)
		add_range(s, out, c->memory[i].addr, c->memory[i].len);
	if (c->stack && !add_stack(s, pos, out, err))
		return false;
	if ((c->has_code || c->has_accessed) && !add_step(s, pos, out, err))
		return false;
	if (!out->is_failed)
		out->n_ranges = ts_ranges_merge(out->ranges, out->n_ranges);
	return true;
}

/* ------------------------------------------------------------------------------------------------ hits */

struct hits {
	struct ts_hit *items; /* owned */
	size_t n, cap;
};

static bool add_hit(struct hits *h, uint64_t pos, uint32_t tracepoint, struct ts_error *err)
{
	return TS_PUSH(h->items, h->n, h->cap, (struct ts_hit){ pos, tracepoint }) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu frames", h->n);
}

/* All executions of the addresses, by position. */
static bool find_hits(struct ts_selection *s, struct hits *h, struct ts_error *err)
{
	for (unsigned i = 0; i < s->opt.n_at; i++) {
		uint64_t addr = s->opt.at[i];
		uint64_t pos = ts_query_find_arrival(s->q, TS_ANY_PROCESS, addr, addr, s->opt.first, TS_FORWARDS);

		while (pos != TS_NO_POS && pos <= s->opt.last) {
			if (!add_hit(h, pos, i + 1, err))
				return false;
			pos = ts_query_find_arrival(s->q, TS_ANY_PROCESS, addr, addr, pos + 1, TS_FORWARDS);
		}
	}
	if (!h->n)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "nothing was executed at 0x%" PRIx64 "%s in positions %" PRIu64 " to %" PRIu64,
			       s->opt.at[0], s->opt.n_at > 1 ? " or at the others" : "", s->opt.first,
			       s->opt.last);
	TS_SORT_BY(h->items, h->n, pos);
	return true;
}

/* -------------------------------------------------------------------------------------------- tracepoints */

static bool piece(struct ts_tracing *t, enum ts_piece kind, const char *text, struct ts_error *err)
{
	return ts_tracing_piece(t, kind, text, strlen(text), TS_NO_OFF, err);
}

/* The same with what was put together for it. */
static bool put_piece(struct ts_tracing *t, enum ts_piece kind, struct ts_buf *text, struct ts_error *err)
{
	if (!ts_buf_ok(text))
		return ts_no_memory(err, "a tracepoint");
	return piece(t, kind, ts_buf_text(text), err);
}

static bool source(struct ts_tracing *t, uint32_t tracepoint, uint64_t addr, const char *type,
		   const char *text, struct ts_error *err)
{
	struct ts_buf b;
	bool done;

	ts_buf_init(&b);
	ts_buf_printf(&b, "%" PRIx32 ":%" PRIx64 ":%s:0:%zx:", tracepoint, addr, type, strlen(text));
	ts_buf_hex(&b, text, strlen(text));
	done = put_piece(t, TS_PIECE_SOURCE, &b, err);
	ts_buf_fini(&b);
	return done;
}

/* The actions of what a frame collects, as far as gdb can express it. */
static bool put_actions(struct ts_selection *s, uint32_t tracepoint, uint64_t addr, enum ts_piece kind,
			struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(s->q);
	const struct ts_collect *c = &s->opt.collect;
	struct ts_buf b;
	bool done = true;

	ts_buf_init(&b);
	if (c->has_regs) {
		uint32_t top = set->regs[set->n_regs - 1].regnum;

		ts_buf_printf(&b, "%" PRIx32 ":%" PRIx64 ":R", tracepoint, addr);
		for (uint32_t i = 0; i <= top / 8; i++)
			ts_buf_puts(&b, "ff");
		done = put_piece(&s->tracing, kind, &b, err) &&
		       source(&s->tracing, tracepoint, addr, "cmd", "collect $regs", err);
	}
	for (unsigned i = 0; done && i < c->n_memory; i++) {
		ts_buf_reset(&b);
		ts_buf_printf(&b, "%" PRIx32 ":%" PRIx64 ":M-1,%" PRIx64 ",%" PRIx64, tracepoint, addr,
			      c->memory[i].addr, c->memory[i].len);
		done = put_piece(&s->tracing, kind, &b, err);
		ts_buf_reset(&b);
		ts_buf_printf(&b, "collect *(unsigned char *) 0x%" PRIx64 "@%" PRIu64, c->memory[i].addr,
			      c->memory[i].len);
		done = done && source(&s->tracing, tracepoint, addr, "cmd", ts_buf_text(&b), err);
	}
	ts_buf_fini(&b);
	return done;
}

static bool define(struct ts_selection *s, uint32_t tracepoint, uint64_t addr, uint64_t n_steps,
		   struct ts_error *err)
{
	char text[96];

	snprintf(text, sizeof(text), "%" PRIx32 ":%" PRIx64 ":E:%" PRIx64 ":0", tracepoint, addr, n_steps);
	if (!piece(&s->tracing, TS_PIECE_DEFINE, text, err))
		return false;
	snprintf(text, sizeof(text), "*0x%" PRIx64, addr);
	if (!source(&s->tracing, tracepoint, addr, "at", text, err) ||
	    !put_actions(s, tracepoint, addr, TS_PIECE_ACTIONS, err))
		return false;
	if (!n_steps)
		return true;
	snprintf(text, sizeof(text), "while-stepping %" PRIu64, n_steps);
	return source(&s->tracing, tracepoint, addr, "cmd", text, err) &&
	       put_actions(s, tracepoint, addr, TS_PIECE_STEP_ACTIONS, err) &&
	       source(&s->tracing, tracepoint, addr, "cmd", "end", err);
}

static bool define_all(struct ts_selection *s, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	for (unsigned i = 0; i < s->opt.n_at; i++) {
		if (!define(s, i + 1, s->opt.at[i], 0, err))
			return false;
	}
	if (s->opt.n_at)
		return true;
	if (!ts_query_pc(s->q, s->opt.first, ts_query_thread(s->q, s->opt.first), &pc, &has_pc, err))
		return false;
	return define(s, 1, pc, s->opt.last - s->opt.first, err);
}

/* ------------------------------------------------------------------------------------------ the selection */

static bool copy_tracing(struct ts_selection *s, const struct ts_tracing *from)
{
	s->tracing = *from; /* borrowed: its arena is not ours */
	s->tracing.arena = (struct ts_arena){ 0 };
	return true;
}

bool ts_selection_init(struct ts_selection *s, struct ts_query *q, const struct ts_selection_options *o,
		       struct ts_error *err)
{
	static const struct ts_frames_ops ops = { .get = frames_get,
						  .pos = frames_pos,
						  .next_of = frames_next_of };
	const struct ts_facts *facts = ts_query_facts(q);
	struct hits hits = { 0 };
	uint64_t end = ts_query_end(q);

	*s = (struct ts_selection){ .q = q, .opt = *o, .frames.ops = &ops };
	ts_tracing_init(&s->tracing);
	if (facts->frames && !o->n_at && !o->has_collect)
		s->base = facts->frames;
	if (facts->frames)
		end = facts->frames->n_frames - 1;
	if (o->first > end)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "position %" PRIu64 " is after the last one, %" PRIu64, o->first, end);
	if (s->opt.last > end)
		s->opt.last = end;
	s->frames.n_frames = s->opt.last - s->opt.first + 1;
	if (s->base)
		return copy_tracing(s, facts->tracing);
	s->regs = malloc(2 * (size_t)facts->regs->g_len + 1);
	if (!s->regs)
		return ts_no_memory(err, "frames");
	s->known = s->regs + facts->regs->g_len;
	if (o->n_at) {
		bool done = find_hits(s, &hits, err);

		s->hits = hits.items;
		s->frames.n_frames = hits.n;
		if (!done)
			return false;
	}
	s->tracing.status.end = TS_RUN_STOPPED;
	return define_all(s, err);
}

void ts_selection_fini(struct ts_selection *s)
{
	free(s->hits);
	free(s->regs);
	ts_tracing_fini(&s->tracing);
	*s = (struct ts_selection){ 0 };
}
