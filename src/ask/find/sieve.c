/* SPDX-License-Identifier: MIT */
#include "sieve.h"

#include <string.h>

/* The maximum number of effects of a step that are applied to a line after it was loaded. */
#define MAX_REPEATED 32u

/* No lines are loaded for a longer read. */
#define MAX_LOADED 4096u

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

static bool is_read_there(const struct ts_effect *e, const struct ts_mirror_line *line)
{
	return e->kind == TS_FX_READ && e->len && e->addr <= line->addr + (TS_MIRROR_LINE - 1) &&
	       e->addr + (e->len - 1) >= line->addr;
}

/* Does the value of the read agree with the line? */
static bool shows(const struct ts_mirror_line *line, const struct ts_steps *batch, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(batch, e);

	for (size_t i = 0; value && i < TS_MIRROR_LINE; i++) {
		uint64_t at = line->addr + i - e->addr;

		if (at < e->len && (!line->known[i] || line->data[i] != value[at]))
			return false;
	}
	return true;
}

/*
 * Does the step change memory, or read the same bytes, before its effect @i?  Then effect @i need not read the bytes that were
 * there when the step began.
 */
static bool is_touched_before(const struct ts_steps *batch, const struct ts_step *st, uint32_t i)
{
	const struct ts_effect *read = &batch->effects[st->first + i];

	for (uint32_t k = 0; k < i; k++) {
		const struct ts_effect *e = &batch->effects[st->first + k];

		if (e->kind == TS_FX_THREAD || (e->kind >= TS_FX_WRITE && e->kind != TS_FX_READ) ||
		    (e->kind == TS_FX_READ && e->len && e->addr <= read->addr + (read->len - 1) &&
		     e->addr + (e->len - 1) >= read->addr))
			return true;
	}
	return false;
}

/*
 * Apply the first @n effects of step @pos to a line, which was loaded as of the step, or (@is_now) as of the step before.
 *
 * Returns false if an effect cannot be applied.
 */
static bool repeat(const struct ts_sieve *s, struct ts_mirror_line *line, const struct ts_steps *batch,
		   uint64_t pos, uint32_t n, bool is_now)
{
	const struct ts_step *st = &batch->steps[pos % TS_CHUNK_STEPS];

	if (n > MAX_REPEATED)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ts_effect *e = &batch->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			return false;
		if (e->kind < TS_FX_WRITE || !e->len ||
		    ts_query_process(s->mirror.q, st->thread) != s->mirror.process)
			continue;
		if (is_read_there(e, line) && is_now && !shows(line, batch, e)) {
			if (is_touched_before(batch, st, i) || !ts_effect_data(batch, e))
				return false;
			ts_mirror_change_line(line, e->addr, e->addr + (e->len - 1),
					      ts_effect_data(batch, e));
		}
		if (e->kind != TS_FX_READ && (e->kind != TS_FX_WRITE || !ts_effect_data(batch, e)))
			return false;
		if (e->kind == TS_FX_WRITE)
			ts_mirror_change_line(line, e->addr, e->addr + (e->len - 1),
					      ts_effect_data(batch, e));
	}
	return true;
}

/*
 * The line was loaded as of the step, and so contains what the step's reads show.  Set *may to whether it differs from the line
 * as of the position before.
 */
static bool may_differ(struct ts_sieve *s, const struct access *a, const struct ts_mirror_line *line,
		       bool *may, struct ts_error *err)
{
	const struct ts_step *st = &a->batch->steps[a->pos % TS_CHUNK_STEPS];
	uint8_t data[TS_MIRROR_LINE], known[TS_MIRROR_LINE];
	bool has_read = false;

	*may = false;
	for (uint32_t i = 0; i < st->n_effects && !has_read; i++)
		has_read = is_read_there(&a->batch->effects[st->first + i], line);
	if (!has_read || !a->pos)
		return true;
	s->mirror.n_loads++;
	if (!ts_query_mem(s->mirror.q, a->pos - 1, s->mirror.process, line->addr, TS_MIRROR_LINE, data, known,
			  err))
		return false;
	*may = memcmp(data, line->data, sizeof(data)) || memcmp(known, line->known, sizeof(known));
	return true;
}

/*
 * Set *line to the line before the access, NULL if it cannot be determined.  It is loaded as of the step before, and so does not
 * contain what this step's reads show.
 */
static bool load_line(struct ts_sieve *s, const struct access *a, uint64_t addr, struct ts_mirror_line **line,
		      struct ts_error *err)
{
	bool is_first = a->pos % TS_CHUNK_STEPS == 0, may = false;

	*line = ts_mirror_find(&s->mirror, addr);
	if (*line || a->i > MAX_REPEATED)
		return true;
	*line = ts_mirror_load(&s->mirror, is_first ? a->pos : a->pos - 1, addr, err);
	if (!*line || (is_first && !may_differ(s, a, *line, &may, err)))
		return false;
	if (!may &&
	    (is_first || repeat(s, *line, a->batch, a->pos - 1,
				a->batch->steps[(a->pos - 1) % TS_CHUNK_STEPS].n_effects, false)) &&
	    repeat(s, *line, a->batch, a->pos, a->i, true))
		return true;
	ts_mirror_forget(&s->mirror, addr, addr);
	*line = NULL;
	return true;
}

/* Are the bytes of the access in the cached lines already?  Returns false if a line is not cached. */
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
 * Do the bytes agree with a part of the value, at any alignment?  Bit i of the state is set if the bytes so far agree with the
 * value when its byte i is the current byte.
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

/* Set *may if the value is at @addr, according to the lines and the access. */
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

/* Compare the value at each alignment at which it overlaps the access. */
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

static struct access access_of(const struct ts_steps *batch, uint64_t pos, uint32_t i)
{
	const struct ts_effect *e = &batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i];

	return (struct access){ batch, pos, i, e->addr, e->addr + (e->len - 1), ts_effect_data(batch, e) };
}

/* As is_old(), after the lines have been loaded. */
static bool is_old_loaded(struct ts_sieve *s, const struct access *a, bool *is_same, struct ts_error *err)
{
	*is_same = false;
	if (a->last - a->first >= MAX_LOADED)
		return true;
	for (uint64_t addr = a->first;; addr += TS_MIRROR_LINE) {
		struct ts_mirror_line *line;

		if (!load_line(s, a, addr < a->last ? addr : a->last, &line, err))
			return false;
		if (!line || addr >= a->last || a->last - addr < TS_MIRROR_LINE - addr % TS_MIRROR_LINE)
			break;
	}
	*is_same = is_old(s, a);
	return true;
}

bool ts_sieve_is_same(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		      bool *is_same, struct ts_error *err)
{
	const struct access a = access_of(batch, pos, i);

	return is_old_loaded(s, &a, is_same, err);
}

bool ts_sieve_take(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		   enum ts_sieved *sieved, struct ts_error *err)
{
	const struct access a = access_of(batch, pos, i);
	bool is_read = batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i].kind == TS_FX_READ;
	bool agrees, is_unsure, is_same = is_old(s, &a), may = false;

	*sieved = TS_SIEVED_SAME;
	agrees = !is_same && agrees_somewhere(s, &a);
	if (agrees && is_read && !is_old_loaded(s, &a, &is_same, err))
		return false;
	if (is_same)
		return true;
	if (agrees && !look(s, &a, &may, err))
		return false;
	/* a read that differs from memory may show the bytes before the step wrote them */
	is_unsure = is_read && (!agrees || is_touched_before(batch, &batch->steps[pos % TS_CHUNK_STEPS], i));
	if (is_unsure)
		ts_mirror_forget(&s->mirror, a.first, a.last);
	else
		ts_mirror_change(&s->mirror, a.first, a.last, a.value);
	*sieved = is_read && !is_unsure ? TS_SIEVED_DIFFERS : TS_SIEVED_OTHER;
	if (may)
		*sieved = TS_SIEVED_MAY_BEGIN;
	return true;
}

bool ts_sieve_line(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint64_t addr,
		   struct ts_mirror_line **line, struct ts_error *err)
{
	const struct access after = { .batch = batch,
				      .pos = pos,
				      .i = batch->steps[pos % TS_CHUNK_STEPS].n_effects };

	return load_line(s, &after, addr, line, err);
}
