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
static void save_flags(const struct bap_course *co, const struct bap_thread *t, struct ts_buf *b)
{
	for (unsigned i = 0; i < co->rec->names.n_flags; i++) {
		const struct regmap_flags *def = &co->rec->names.flags[i];
		const struct bap_flag_bits *f = &t->flags[i];

		point_put(b, f->value ^ def->usual);
		point_put(b, f->known ^ ~def->need);
		point_put(b, f->last);
	}
}

static bool is_written(const struct bap_thread *t, const struct bap_extent *e)
{
	return e->len && !memchr(t->state + e->off, BAP_UNREPORTED, e->len);
}

static void save_run(const struct bap_thread *t, uint32_t off, uint32_t len, struct ts_buf *b)
{
	point_put(b, off);
	point_put_bytes(b, t->data + off, len);
}

/* Registers that the thread's last instruction wrote. */
static void save_last(const struct bap_thread *t, struct ts_buf *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_last; i++)
		n += is_written(t, &t->last[i]);
	point_put(b, n);
	for (unsigned i = 0; i < t->n_last; i++)
		if (is_written(t, &t->last[i]))
			save_run(t, t->last[i].off, t->last[i].len, b);
}

static bool is_only_told(const struct bap_thread *t, uint32_t off)
{
	return t->state[off] == BAP_REPORTED && !bap_is_written(t, off);
}

/* The other reported bytes, as runs of offset, length and bytes; the last run is empty. */
static void save_told(const struct bap_thread *t, uint32_t g_len, struct ts_buf *b)
{
	for (uint32_t i = 0, end; i < g_len; i = end) {
		end = i + 1;
		if (!is_only_told(t, i))
			continue;
		while (end < g_len && is_only_told(t, end))
			end++;
		save_run(t, i, end - i, b);
	}
	save_run(t, 0, 0, b);
}

static void save_calls(const struct bap_calls *calls, struct ts_buf *b)
{
	point_put(b, calls->n);
	for (uint32_t i = 0; i < calls->n; i++) {
		const struct bap_call *c = &calls->items[i];

		point_put(b, c->address);
		point_put(b, c->thread_id);
		point_put(b, c->number);
		point_put(b, c->n_args);
		for (uint32_t j = 0; j < c->n_args; j++)
			point_put(b, c->args[j]);
	}
}

/* The thread that runs is the first one that lives. */
void bap_course_save(const struct bap_course *co, bool has_reported, struct ts_buf *b)
{
	const struct bap_known *k = &co->known;

	point_put(b, co->n_modules);
	point_put_bytes(b, co->last_insn, co->last_len);
	save_calls(&co->calls, b);
	point_put(b, k->n_live);
	for (uint32_t i = 0; i < k->n_live; i++) {
		point_put(b, k->live[i]->id);
		save_flags(co, k->live[i], b);
		save_last(k->live[i], b);
		if (has_reported)
			save_told(k->live[i], co->rec->base.regs.g_len, b);
	}
	point_put(b, co->now ? co->now->id : 0);
}

static void resume_flags(const struct bap_course *co, struct bap_thread *t, struct point *p)
{
	for (unsigned i = 0; i < co->rec->names.n_flags; i++) {
		const struct regmap_flags *def = &co->rec->names.flags[i];
		struct bap_flag_bits *f = &t->flags[i];

		f->value = (uint32_t)point_get(p, UINT32_MAX) ^ def->usual;
		f->known = (uint32_t)point_get(p, UINT32_MAX) ^ ~def->need;
		f->last = (uint32_t)point_get(p, UINT32_MAX);
	}
}

/* A run of register bytes; its length, 0 also after a failure. */
static uint32_t resume_run(struct bap_thread *t, uint32_t g_len, uint32_t *off, struct point *p)
{
	const uint8_t *bytes;
	size_t len;

	*off = (uint32_t)point_get(p, g_len);
	bytes = point_get_bytes(p, g_len - *off, &len);
	if (!bytes)
		return 0;
	memcpy(t->data + *off, bytes, len);
	memset(t->state + *off, BAP_REPORTED, len);
	return (uint32_t)len;
}

static void resume_thread(struct bap_course *co, struct bap_thread *t, bool has_reported, struct point *p)
{
	uint32_t g_len = co->rec->base.regs.g_len, off;

	resume_flags(co, t, p);
	t->n_last = (unsigned)point_get_count(p, BAP_MAX_LAST, 2);
	for (unsigned i = 0; i < t->n_last; i++) {
		uint32_t len = resume_run(t, g_len, &off, p);

		t->last[i] = (struct bap_extent){ off, len };
	}
	while (has_reported && resume_run(t, g_len, &off, p))
		;
}

static void resume_calls(struct bap_calls *calls, struct point *p)
{
	calls->n = (uint32_t)point_get_count(p, BAP_MAX_CALLS, 4);
	for (uint32_t i = 0; i < calls->n; i++) {
		struct bap_call *c = &calls->items[i];

		*c = (struct bap_call){ .address = point_get(p, UINT64_MAX) };
		c->thread_id = point_get(p, UINT64_MAX);
		c->number = point_get(p, UINT64_MAX);
		c->n_args = (uint32_t)point_get_count(p, TS_MAX_SYSCALL_ARGS, 1);
		for (uint32_t j = 0; j < c->n_args; j++)
			c->args[j] = point_get(p, UINT64_MAX);
	}
}

static bool resume_threads(struct bap_course *co, bool has_reported, struct point *p)
{
	struct bap_known *k = &co->known;
	uint32_t n = (uint32_t)point_get_count(p, BAP_MAX_LIVE, 2);

	for (uint32_t i = 0; i < n && point_ok(p); i++) {
		uint64_t id = point_get(p, UINT64_MAX);
		struct bap_thread *t = bap_threads_add(k, id, p->err);

		if (!t)
			return false;
		resume_thread(co, t, has_reported, p);
	}
	return point_ok(p);
}

bool bap_course_resume(struct bap_course *co, bool has_reported, struct point *p)
{
	const uint8_t *insn;
	uint64_t now;
	size_t len;

	bap_forget_threads(&co->known);
	co->now = NULL;
	co->n_modules = point_get(p, UINT64_MAX);
	insn = point_get_bytes(p, sizeof(co->last_insn), &len);
	if (insn)
		memcpy(co->last_insn, insn, len);
	co->last_len = (uint8_t)len;
	resume_calls(&co->calls, p);
	if (!resume_threads(co, has_reported, p))
		return false;
	now = point_get(p, UINT64_MAX);
	for (uint32_t i = 0; i < co->known.n_live && point_ok(p) && !co->now; i++)
		if (co->known.live[i]->id == now)
			co->now = co->known.live[i];
	return point_ok(p) && (co->now || !co->known.n_live || point_fail(p));
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
