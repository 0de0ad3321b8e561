/* SPDX-License-Identifier: MIT */
#include "sieve.h"

#include <string.h>

/*
 * After so many effects of one step no line is loaded: what the step did before would have to be repeated on
 * it.
 */
#define MAX_REPEATED 32u

/* An access: the bytes at [first, last]. */
struct access {
	const struct ts_steps *batch;
	uint64_t pos;
	uint32_t i; /* ordinal of the effect in the step */
	uint64_t first, last;
	const uint8_t *value;
};

bool ts_sieve_init(struct ts_sieve *s, struct ts_query *q, const struct ts_value *value, uint32_t process,
		   struct ts_error *err)
{
	*s = (struct ts_sieve){ .value = value };
	s->last = ts_arch_addr_mask(ts_query_regset(q)->arch);
	for (unsigned byte = 0; byte < 256; byte++) {
		for (uint32_t i = 0; i < value->len && i < 64; i++) {
			if (!value->mask[i] || value->bytes[i] == byte)
				s->accepts[byte] |= UINT64_C(1) << i;
		}
	}
	return ts_mirror_init(&s->mirror, q, process, err);
}

void ts_sieve_fini(struct ts_sieve *s)
{
	ts_mirror_fini(&s->mirror);
}

/* ------------------------------------------------------------------------------------------------ lines */

/*
 * The effects of the step before this one, on a line that is as the step found it.  Returns false if they
 * cannot be repeated.
 */
static bool repeat_step(struct ts_mirror_line *line, const struct access *a)
{
	const struct ts_step *st = &a->batch->steps[a->pos % TS_CHUNK_STEPS];

	for (uint32_t i = 0; i < a->i; i++) {
		const struct ts_effect *e = &a->batch->effects[st->first + i];

		if (e->kind < TS_FX_WRITE || !e->len)
			continue;
		if ((e->kind != TS_FX_WRITE && e->kind != TS_FX_READ) || !ts_effect_data(a->batch, e))
			return false;
		ts_mirror_change_line(line, e->addr, e->addr + (e->len - 1), ts_effect_data(a->batch, e));
	}
	return true;
}

/* The line before the access; *line gets NULL if it cannot be told. */
static bool load_line(struct ts_sieve *s, const struct access *a, uint64_t addr, struct ts_mirror_line **line,
		      struct ts_error *err)
{
	*line = ts_mirror_find(&s->mirror, addr);
	if (*line || a->i >= MAX_REPEATED)
		return true;
	*line = ts_mirror_load(&s->mirror, a->pos, addr, err);
	if (!*line)
		return false;
	if (repeat_step(*line, a))
		return true;
	ts_mirror_forget(&s->mirror, addr, addr);
	*line = NULL;
	return true;
}

/* Does the access show what the lines hold anyway?  False if that is not known. */
static bool is_old(const struct ts_sieve *s, const struct access *a)
{
	for (uint64_t addr = a->first;;) {
		const struct ts_mirror_line *line = ts_mirror_find(&s->mirror, addr);
		size_t at = addr % TS_MIRROR_LINE, n = TS_MIRROR_LINE - at;

		if (a->last - addr < n)
			n = (size_t)(a->last - addr) + 1;
		if (!line || memcmp(line->data + at, a->value + (addr - a->first), n) ||
		    memchr(line->known + at, 0, n))
			return false;
		if (a->last - addr < TS_MIRROR_LINE - at)
			return true;
		addr += n;
	}
}

/* ----------------------------------------------------------------------------------------------- the test */

/*
 * Do the bytes agree with a part of the value, at any alignment?  Bit i of the state: they agree up to here
 * with the value if its byte i comes here, whatever lies before the access.
 */
static bool agrees_somewhere(const struct ts_sieve *s, const struct access *a)
{
	uint32_t len = s->value->len;
	uint64_t state = UINT64_MAX, top, n = a->last - a->first + 1;

	if (len > 64)
		return true;
	top = UINT64_C(1) << (len - 1);
	for (uint64_t i = 0; i < n; i++) {
		state = (state << 1 | 1) & s->accepts[a->value[i]];
		if (state & top)
			return true;
	}
	return state;
}

/* Does the value stand at @addr, as the lines and the access have it? */
static bool stands(struct ts_sieve *s, const struct access *a, uint64_t addr, bool *may, struct ts_error *err)
{
	const struct ts_value *v = s->value;

	for (uint32_t i = 0; i < v->len; i++) {
		uint64_t at = addr + i;

		if (v->mask[i] && at >= a->first && at <= a->last && a->value[at - a->first] != v->bytes[i])
			return true;
	}
	for (uint32_t i = 0; i < v->len; i++) {
		struct ts_mirror_line *line;
		uint64_t at = addr + i;

		if (!v->mask[i] || (at >= a->first && at <= a->last))
			continue;
		if (!load_line(s, a, at, &line, err))
			return false;
		if (line &&
		    (!line->known[at % TS_MIRROR_LINE] || line->data[at % TS_MIRROR_LINE] != v->bytes[i]))
			return true;
	}
	*may = true;
	return true;
}

/* Look at each alignment at which the value overlaps the access. */
static bool look(struct ts_sieve *s, const struct access *a, bool *may, struct ts_error *err)
{
	uint64_t before = s->value->len - 1;
	struct ts_mirror_line *line;

	/* the next time the same bytes are old */
	if (!load_line(s, a, a->first, &line, err) || !load_line(s, a, a->last, &line, err))
		return false;
	for (uint64_t addr = a->first < before ? 0 : a->first - before; s->last - addr >= before; addr++) {
		if (!stands(s, a, addr, may, err))
			return false;
		if (*may || addr == a->last)
			break;
	}
	return true;
}

bool ts_sieve_take(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		   enum ts_sieved *sieved, struct ts_error *err)
{
	const struct ts_effect *e = &batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i];
	const struct access a = { batch, pos, i, e->addr, e->addr + (e->len - 1), ts_effect_data(batch, e) };
	bool may = false;

	*sieved = TS_SIEVED_SAME;
	if (is_old(s, &a))
		return true;
	if (agrees_somewhere(s, &a) && !look(s, &a, &may, err))
		return false;
	ts_mirror_change(&s->mirror, a.first, a.last, a.value);
	*sieved = may ? TS_SIEVED_MAY_BEGIN : TS_SIEVED_OTHER;
	return true;
}
