/* SPDX-License-Identifier: MIT */
#include "insns.h"

#include <stdlib.h>
#include <string.h>

#include "paging.h"
#include "snapshot.h"

#define N_DECODED 1024u /* a power of two */

struct ts_insns {
	struct ts_x86 x86;                    /* where the registers lie */
	struct ts_decoded decoded[N_DECODED]; /* by pc: a loop has the same instructions again and again */
};

bool ts_query_is_x86(const struct ts_query *q)
{
	const char *name = ts_query_regset(q)->arch->name;

	return !strcmp(name, "x86_64") || !strcmp(name, "i386");
}

void ts_insns_free(struct ts_insns *x)
{
	free(x);
}

/* ------------------------------------------------------------------------------------------ what changes */

/* The later of two chunks, of which TS_NO_CHUNK is none. */
static uint64_t later(uint64_t a, uint64_t b)
{
	if (a == TS_NO_CHUNK || b == TS_NO_CHUNK)
		return a == TS_NO_CHUNK ? b : a;
	return a > b ? a : b;
}

/*
 * The last chunk up to @chunk in which one of @len bytes at @addr may have become another one; TS_NO_CHUNK if
 * there is none.
 */
static uint64_t last_change(const struct ts_query *q, uint32_t process, uint64_t addr, unsigned len,
			    uint64_t chunk)
{
	uint64_t last = addr > UINT64_MAX - len ? UINT64_MAX : addr + len - 1;

	return later(ts_query_prev_access(q, TS_ACCESS_CHANGE, process, addr, last, chunk),
		     ts_query_prev_access(q, TS_ACCESS_REPLACE, process, addr, last, chunk));
}

/*
 * The first chunk >= @first from which on a machine's mode is the same to the end of @chunk; chunk + 1: none.
 */
static uint64_t first_of_mode(const struct ts_query *q, uint64_t first, uint64_t chunk)
{
	uint64_t end = (chunk + 1) * TS_CHUNK_STEPS;

	if (first <= chunk && ts_query_next_mode(q, first * TS_CHUNK_STEPS) < end)
		first = ts_query_next_mode(q, chunk * TS_CHUNK_STEPS) < end ? chunk + 1 : chunk;
	return first;
}

bool ts_query_code_since(struct ts_query *q, uint32_t process, uint64_t pc, unsigned len, uint64_t pos,
			 uint64_t *first, struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, changed;
	struct ts_translation t;

	if (!ts_query_mode(q, pos)) {
		changed = last_change(q, process, pc, len, chunk);
		*first = changed == TS_NO_CHUNK ? 0 : changed + 1;
		return true;
	}
	*first = chunk + 1;
	if (!ts_translate_at(q, pos, process, pc, &t, err))
		return false;
	if (t.mapping != TS_MAPPED || len > t.page_len || (pc & (t.page_len - 1)) > t.page_len - len)
		return true;
	changed = last_change(q, process, t.phys, len, chunk);
	for (unsigned i = 0; i < t.n_entries; i++)
		changed = later(changed, last_change(q, process, t.entries[i].addr, t.entry_len, chunk));
	*first = first_of_mode(q, changed == TS_NO_CHUNK ? 0 : changed + 1, chunk);
	return true;
}

/* ------------------------------------------------------------------------------------------- instructions */

bool ts_query_code_size(const struct ts_query *q, uint64_t pos, struct ts_x86 *x)
{
	const struct ts_mode *mode = ts_query_mode(q, pos);
	enum ts_code_size size = mode ? ts_mode_code_size(mode) : TS_CODE_UNKNOWN;

	if (size != TS_CODE_UNKNOWN)
		x->is_64 = size == TS_CODE_64;
	return size != TS_CODE_16;
}

/*
 * The bytes at the instruction in memory of position @at, as far as they are known, in the mode of step @pos.
 */
static bool decode(struct ts_decoded *d, struct ts_query *q, uint64_t pos, uint64_t at, struct ts_error *err)
{
	uint8_t known[TS_X86_MAX_INSN];

	if (!ts_virtual_mem(q, at, d->process, d->pc, sizeof(d->bytes), d->bytes, known, err))
		return false;
	for (d->len = 0; d->len < sizeof(known) && known[d->len];)
		d->len++;
	d->x86 = q->insns->x86;
	d->is_insn = ts_query_code_size(q, pos, &d->x86) &&
		     ts_x86_decode(&d->x86, d->pc, d->bytes, d->len, &d->insn) &&
		     ts_x86_registers(&d->x86, d->bytes, d->len, &d->fields);
	*d->text = 0;
	return true;
}

static bool make_insns(struct ts_query *q, struct ts_error *err)
{
	q->insns = calloc(1, sizeof(*q->insns));
	if (!q->insns)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for instructions");
	ts_x86_init(&q->insns->x86, ts_query_regset(q));
	return true;
}

/*
 * What was decoded before is used again where its bytes cannot have changed.  Memory at the beginning of a
 * chunk is read without replaying steps of it.
 */
struct ts_decoded *ts_query_insn(struct ts_query *q, uint64_t pos, struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, first;
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(q, pos, &b, err);
	struct ts_decoded *d;
	uint32_t process;

	if (!st || (!q->insns && !make_insns(q, err)))
		return NULL;
	d = &q->insns->decoded[(st->pc ^ st->pc >> 10) % N_DECODED];
	process = ts_query_process(q, st->thread);
	if (d->pc == st->pc && d->process == process && chunk >= d->first_chunk && chunk < d->end_chunk)
		return d;
	d->pc = st->pc;
	d->process = process;
	d->first_chunk = d->end_chunk = 0;
	if (!ts_query_code_since(q, process, d->pc, TS_X86_MAX_INSN, pos, &first, err) ||
	    !decode(d, q, pos, first <= chunk ? chunk * TS_CHUNK_STEPS : pos, err))
		return NULL;
	d->first_chunk = first;
	d->end_chunk = chunk + 1;
	return d;
}

const char *ts_decoded_text(struct ts_decoded *d)
{
	if (!*d->text &&
	    (!d->is_insn || !ts_x86_text(&d->x86, d->pc, d->bytes, d->len, d->text, sizeof(d->text))))
		*d->text = 0;
	return d->text;
}
