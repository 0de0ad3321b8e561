/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include <string.h>

void bap_course_init(struct bap_course *co, struct bap *rec, struct bap_look *look, struct ts_end *end)
{
	memset(co, 0, sizeof(*co));
	co->rec = co->in.rec = rec;
	co->in.look = look;
	bap_plans_init(&co->plans, rec);
	bap_known_init(&co->known, rec, look, end);
}

void bap_course_fini(struct bap_course *co)
{
	bap_plans_fini(&co->plans);
	bap_known_fini(&co->known);
}

struct bap_thread *bap_course_thread(struct bap_course *co, uint64_t id, uint64_t off, struct ts_error *err)
{
	if (__builtin_expect(!co->now || co->now->id != id, 0))
		co->now = bap_threads_find(&co->known, id, NULL, off, err);
	return co->now;
}

void bap_course_lose(struct bap_course *co)
{
	uint64_t half = co->rec->addr_mask / 2 + 1;
	struct ts_steps *out = co->known.out;

	ts_steps_event(out, TS_EV_GAP);
	ts_steps_effect(out, TS_FX_FORGET, 0, half);
	ts_steps_effect(out, TS_FX_FORGET, half, half);
	bap_lose_all_threads(&co->known);
	co->calls.n = 0;
}

/* ------------------------------------------------------------------------------------------ decode points */

/* The flags, of those logged one by one, that differ from the state of a new thread. */
static void point_flags(const struct bap_course *co, struct bap_thread *t, struct ts_point *p)
{
	for (unsigned i = 0; i < co->rec->names.n_flags; i++) {
		const struct regmap_flags *def = &co->rec->names.flags[i];
		struct bap_flag_bits *f = &t->flags[i];

		f->value = (uint32_t)ts_point_number(p, f->value ^ def->usual, UINT32_MAX) ^ def->usual;
		f->known = (uint32_t)ts_point_number(p, f->known ^ ~def->need, UINT32_MAX) ^ ~def->need;
		TS_POINT(p, f->last, UINT32_MAX);
	}
}

static bool is_written(const struct bap_thread *t, const struct bap_extent *e)
{
	return e->len && !memchr(t->state + e->off, BAP_UNREPORTED, e->len);
}

/* A run of register bytes.  Returns whether it has any; not after a failure. */
static bool point_run(struct bap_thread *t, uint32_t g_len, struct bap_extent *run, struct ts_point *p)
{
	TS_POINT(p, run->off, g_len);
	run->len = (uint32_t)ts_point_bytes(p, t->data + run->off, run->len, g_len - run->off);
	if (!p->to)
		memset(t->state + run->off, BAP_REPORTED, run->len);
	return run->len;
}

/* Registers that the thread's last instruction wrote. */
static void point_last(struct bap_thread *t, uint32_t g_len, struct ts_point *p)
{
	struct bap_extent runs[BAP_MAX_LAST] = { 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_last; i++)
		if (is_written(t, &t->last[i]))
			runs[n++] = t->last[i];
	n = (unsigned)ts_point_count(p, n, BAP_MAX_LAST, 2);
	for (unsigned i = 0; i < n; i++)
		point_run(t, g_len, &runs[i], p);
	if (p->to)
		return;
	memcpy(t->last, runs, sizeof(runs));
	t->n_last = n;
}

static bool is_only_told(const struct bap_thread *t, uint32_t off)
{
	return t->state[off] == BAP_REPORTED && !bap_is_written(t, off);
}

/* Returns the first run of other reported bytes at or after @off; an empty run at 0 after the last one. */
static struct bap_extent find_told(const struct bap_thread *t, uint32_t g_len, uint32_t off)
{
	uint32_t end;

	while (off < g_len && !is_only_told(t, off))
		off++;
	for (end = off; end < g_len && is_only_told(t, end);)
		end++;
	return (struct bap_extent){ end > off ? off : 0, end - off };
}

static void point_thread(const struct bap_course *co, struct bap_thread *t, bool has_reported, struct ts_point *p)
{
	uint32_t g_len = co->rec->base.regs.g_len;
	struct bap_extent run = { 0 };

	point_flags(co, t, p);
	point_last(t, g_len, p);
	do {
		if (has_reported && p->to)
			run = find_told(t, g_len, run.off + run.len);
	} while (has_reported && point_run(t, g_len, &run, p));
}

static void point_calls(struct bap_calls *calls, struct ts_point *p)
{
	calls->n = (uint32_t)ts_point_count(p, calls->n, BAP_MAX_CALLS, 4);
	for (uint32_t i = 0; i < calls->n; i++) {
		struct bap_call *c = &calls->items[i];

		TS_POINT(p, c->address, UINT64_MAX);
		TS_POINT(p, c->thread_id, UINT64_MAX);
		TS_POINT(p, c->number, UINT64_MAX);
		c->n_args = (uint32_t)ts_point_count(p, c->n_args, TS_MAX_SYSCALL_ARGS, 1);
		for (uint32_t j = 0; j < c->n_args; j++)
			TS_POINT(p, c->args[j], UINT64_MAX);
	}
}

/* The thread that runs is the first one that lives and has the id. */
static bool choose_thread(struct bap_course *co, uint64_t id, struct ts_point *p)
{
	for (uint32_t i = 0; i < co->known.n_live && ts_point_ok(p) && !co->now; i++)
		if (co->known.live[i]->id == id)
			co->now = co->known.live[i];
	return ts_point_ok(p) && (co->now || !co->known.n_live || ts_point_fail(p));
}

bool bap_course_point(struct bap_course *co, bool has_reported, struct ts_point *p)
{
	struct bap_known *k = &co->known;
	uint64_t now = co->now ? co->now->id : 0;
	uint32_t n;

	if (!p->to) {
		bap_forget_threads(k);
		co->now = NULL;
	}
	TS_POINT(p, co->n_modules, UINT64_MAX);
	co->last_len = (uint8_t)ts_point_bytes(p, co->last_insn, co->last_len, sizeof(co->last_insn));
	point_calls(&co->calls, p);
	n = (uint32_t)ts_point_count(p, k->n_live, BAP_MAX_LIVE, 2);
	for (uint32_t i = 0; i < n && ts_point_ok(p); i++) {
		uint64_t id = ts_point_number(p, p->to ? k->live[i]->id : 0, UINT64_MAX);
		struct bap_thread *t = p->to ? k->live[i] : bap_threads_add(k, id, p->err);

		if (!t)
			return false;
		point_thread(co, t, has_reported, p);
	}
	TS_POINT(p, now, UINT64_MAX);
	return p->to || choose_thread(co, now, p);
}

/* ------------------------------------------------------------------------- system calls that wait */

void bap_calls_add(struct bap_calls *calls, const struct bap_look *look, const struct bap_call *call)
{
	if (calls->n == BAP_MAX_CALLS) {
		bap_warn(look, "system calls without their instruction are ignored");
		memmove(calls->items, calls->items + 1, --calls->n * sizeof(*call));
	}
	calls->items[calls->n++] = *call;
}

/* The number that the instruction's own registers show, where a recorder stored the address instead. */
static bool syscall_number(const struct bap_known *k, const struct bap_thread *t, uint64_t *number)
{
	const char *reg = k->rec->addr_mask == UINT64_MAX ? "rax" : "eax";
	const struct regmap_slot *s = regmap_find(&k->rec->names, reg, 3);

	if (s->kind != REGMAP_REG || memchr(t->state + s->off, BAP_UNREPORTED, s->len))
		return false;
	*number = ts_arch_get(k->rec->base.regs.arch, t->data + s->off, s->len);
	return true;
}

void bap_calls_take(struct bap_calls *calls, struct bap_known *k, const struct bap_thread *t,
		    uint64_t address)
{
	for (uint32_t i = 0; i < calls->n; i++) {
		struct bap_call *c = &calls->items[i];
		struct ts_event *ev;

		if (c->address != address || c->thread_id != t->id)
			continue;
		ev = ts_steps_event(k->out, TS_EV_SYSCALL);
		if (ev) {
			ev->number = c->number;
			if (c->number == c->address && !syscall_number(k, t, &ev->number))
				ev->number = UINT64_MAX;
			ev->n_args = (uint8_t)c->n_args;
			memcpy(ev->args, c->args, sizeof(ev->args));
		}
		ts_steps_effect(k->out, TS_FX_UNSEEN, 0, 0);
		memmove(c, c + 1, (--calls->n - i) * sizeof(*c));
		return;
	}
}
