/* SPDX-License-Identifier: MIT */
#include "forks.h"

#include <stdlib.h>
#include <string.h>

#include "query.h"
#include "snapshot.h"
#include "src/arch/syscall_name.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

#define N_NUMBERS 64u

enum call { UNASKED, IS_OTHER, IS_FORK, IS_VFORK, IS_CLONE };

/* Linux's clone: with these flags the child shares its memory, or is a thread. */
enum { SHARES_MEMORY = 0x100, WAITS = 0x4000, IS_THREAD = 0x10000 };

struct ts_forks {
	struct ts_fork *items; /* by step */
	size_t n, cap;
	uint64_t n_seen;       /* system calls that have been examined */
	struct {
		uint64_t number;
		uint8_t call; /* enum call */
	} numbers[N_NUMBERS];
};

void ts_forks_free(struct ts_forks *f)
{
	if (f)
		free(f->items);
	free(f);
}

static enum call call_of(const struct ts_arch *arch, uint64_t number)
{
	char text[32];
	const char *name = ts_syscall_name(arch, number, text, sizeof(text));

	if (!name)
		return IS_OTHER;
	return !strcmp(name, "fork")  ? IS_FORK :
	       !strcmp(name, "vfork") ? IS_VFORK :
	       !strcmp(name, "clone") ? IS_CLONE :
					IS_OTHER;
}

static enum call call_at(struct ts_forks *f, const struct ts_arch *arch, uint64_t number)
{
	unsigned i = number % N_NUMBERS;

	if (f->numbers[i].call == UNASKED || f->numbers[i].number != number) {
		f->numbers[i].number = number;
		f->numbers[i].call = (uint8_t)call_of(arch, number);
	}
	return f->numbers[i].call;
}

/* IS_FORK, IS_VFORK or IS_OTHER. */
static enum call kind_of(struct ts_forks *f, const struct ts_arch *arch, const struct ts_event *e)
{
	enum call call;

	if (!e->has_ret || !e->ret || e->ret > INT32_MAX)
		return IS_OTHER; /* without a result, in the child, or failed */
	call = call_at(f, arch, e->number);
	if (call != IS_CLONE)
		return call;
	if (!e->n_args || (e->args[0] & IS_THREAD))
		return IS_OTHER;
	if (e->args[0] & WAITS)
		return IS_VFORK;
	return e->args[0] & SHARES_MEMORY ? IS_OTHER : IS_FORK;
}

enum ts_next ts_query_look_for_forks(struct ts_query *q, uint64_t *left)
{
	uint64_t n = ts_query_n_events(q, TS_EV_SYSCALL);
	struct ts_forks *f = q->forks;

	if (!f)
		f = q->forks = calloc(1, sizeof(*f));
	if (!f)
		return TS_FAIL;
	for (; f->n_seen < n; f->n_seen++, --*left) {
		const struct ts_event_at *at = ts_query_event(q, TS_EV_SYSCALL, f->n_seen);
		enum call kind;

		if (!*left)
			return TS_MORE;
		kind = kind_of(f, ts_query_regset(q)->arch, &at->event);
		if (kind == IS_OTHER)
			continue;
		if (!TS_PUSH(f->items, f->n, f->cap,
			     (struct ts_fork){ at->step, at->thread, (uint32_t)at->event.ret, kind == IS_VFORK }))
			return TS_FAIL;
	}
	return TS_ITEM;
}

/* How many forks are at a step below @step. */
static size_t n_below(const struct ts_forks *f, uint64_t step)
{
	size_t at = 0;

	TS_BISECT(at, f->n, i, f->items[i].step < step);
	return at;
}

const struct ts_fork *ts_query_fork(const struct ts_query *q, uint64_t from, bool is_reverse)
{
	const struct ts_forks *f = q->forks;
	size_t i;

	if (!f)
		return NULL;
	i = n_below(f, is_reverse ? from + 1 : from);
	if (is_reverse)
		return i ? &f->items[i - 1] : NULL;
	return i < f->n ? &f->items[i] : NULL;
}
