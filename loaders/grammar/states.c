/* SPDX-License-Identifier: MIT */
#include "states.h"

#include <stdlib.h>
#include <string.h>

#include "src/trace/point.h"
#include "src/base/collections/vec.h"

void grammar_files_init(struct grammar_files *f, const struct grammar *g, const struct ts_regset *set)
{
	*f = (struct grammar_files){ .set = set, .missing = g->missing, .g_len = set->g_len };
}

static void drop(struct grammar_files *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->files[i].g);
	free(f->files);
	f->files = NULL;
	f->n = 0;
}

void grammar_files_fini(struct grammar_files *f)
{
	drop(f);
	free(f->listed);
	free(f->zeros);
}

static bool make_room(struct grammar_files *f)
{
	if (!f->listed)
		f->listed = calloc(1, f->g_len);
	if (!f->zeros)
		f->zeros = calloc(2, f->g_len);
	return f->listed && f->zeros;
}

/* Registers for @thread, which has none.  Returns NULL if memory is exhausted. */
static struct grammar_file *make(struct grammar_files *f, uint32_t thread)
{
	struct grammar_file *file;

	if (!make_room(f) || !ts_vec_extend(&f->files, &f->n, thread, sizeof(*f->files)))
		return NULL;
	file = &f->files[thread];
	file->g = calloc(2, f->g_len);
	file->known = file->g ? file->g + f->g_len : NULL;
	return file->g ? file : NULL;
}

/* The registers of @thread.  If it has none yet, they are made, and *is_new is true. */
static inline struct grammar_file *get(struct grammar_files *f, uint32_t thread, bool *is_new)
{
	*is_new = thread >= f->n || !f->files[thread].g;
	return *is_new ? make(f, thread) : &f->files[thread];
}

static void tell(struct ts_steps *out, enum ts_effect_kind kind, uint64_t off, const uint8_t *bytes, uint64_t len,
		 bool is_hidden)
{
	struct ts_effect *e = bytes ? ts_steps_value(out, kind, off, bytes, (uint32_t)len)
				    : ts_steps_effect(out, kind, off, len);

	if (e)
		e->is_hidden = is_hidden;
}

/* One register of eight bytes, as most have. */
static inline void change_word(struct grammar_file *file, const struct ts_effect *e, const uint8_t *bytes, struct ts_steps *out,
			       bool is_hidden)
{
	const uint64_t all = UINT64_C(0x0101010101010101);
	uint64_t was, is, known;
	struct ts_effect *told;

	memcpy(&was, file->g + e->addr, 8);
	memcpy(&is, bytes, 8);
	memcpy(&known, file->known + e->addr, 8);
	if (known == all && was == is)
		return;
	memcpy(file->g + e->addr, &is, 8);
	memcpy(file->known + e->addr, &all, 8);
	told = ts_steps_word(out, TS_FX_REG_WRITE, e->addr, bytes, 8);
	if (told)
		told->is_hidden = is_hidden;
}

/* One register that the state lists. */
static void change(struct grammar_file *file, const struct ts_steps *state, const struct ts_effect *e,
		   struct ts_steps *out, bool is_hidden)
{
	const uint8_t *bytes = ts_effect_data(state, e);
	bool is_known;

	if (bytes && e->len == 8) {
		change_word(file, e, bytes, out, is_hidden);
		return;
	}
	if (!bytes) {
		if (memchr(file->known + e->addr, 1, e->len))
			tell(out, TS_FX_REG_WRITE, e->addr, NULL, e->len, is_hidden);
		memset(file->known + e->addr, 0, e->len);
		return;
	}
	is_known = !memchr(file->known + e->addr, 0, e->len);
	if (is_known && !memcmp(file->g + e->addr, bytes, e->len))
		return;
	memcpy(file->g + e->addr, bytes, e->len);
	memset(file->known + e->addr, 1, e->len);
	tell(out, TS_FX_REG_WRITE, e->addr, bytes, e->len, is_hidden);
}

static void mark_listed(const struct grammar_files *f, const struct ts_steps *state)
{
	const uint64_t all = UINT64_C(0x0101010101010101);

	memset(f->listed, 0, f->g_len);
	for (uint32_t i = 0; i < state->n_effects; i++) {
		const struct ts_effect *e = &state->effects[i];

		if (e->kind != TS_FX_REG_WRITE)
			continue;
		if (e->len == 8)
			memcpy(f->listed + e->addr, &all, 8);
		else
			memset(f->listed + e->addr, 1, e->len);
	}
}

/* Is one of the eight bytes from @i on known and not listed? */
static inline bool is_missing(const struct grammar_files *f, const struct grammar_file *file, uint32_t i)
{
	uint64_t known, listed;

	memcpy(&known, file->known + i, 8);
	memcpy(&listed, f->listed + i, 8);
	return known & ~listed;
}

/* Registers that were known, and that the state does not list, are unknown. */
static void tell_missing(const struct grammar_files *f, struct grammar_file *file, struct ts_steps *out,
			 bool is_hidden)
{
	for (uint32_t i = 0, n; i < f->g_len; i += n) {
		n = 8;
		if (i + 8 <= f->g_len && !is_missing(f, file, i))
			continue;
		for (n = 0; i + n < f->g_len && file->known[i + n] && !f->listed[i + n]; n++)
			file->known[i + n] = 0;
		if (n)
			tell(out, TS_FX_REG_WRITE, i, NULL, n, is_hidden);
		n += !n;
	}
}

/* Does the state list a register that is zero?  Then its writer lists all that it knows. */
static bool lists_zero(const struct ts_steps *state)
{
	static const uint8_t zeros[16];

	for (uint32_t i = 0; i < state->n_effects; i++) {
		const struct ts_effect *e = &state->effects[i];

		if (e->kind == TS_FX_REG_WRITE && e->data != TS_NO_DATA && e->len <= sizeof(zeros) &&
		    !memcmp(state->data + e->data, zeros, e->len))
			return true;
	}
	return false;
}

/* General registers, those before the program counter, that a first state leaves out: inferred to be zero. */
static void tell_zeros(const struct grammar_files *f, struct grammar_file *file, struct ts_steps *out)
{
	static const uint8_t zeros[16];

	for (int i = 0; i < f->set->pc; i++) {
		const struct ts_reg *r = &f->set->regs[i];

		if (r->len > sizeof(zeros) || memchr(f->listed + r->off, 1, r->len))
			continue;
		memset(file->known + r->off, 1, r->len);
		tell(out, TS_FX_REG_READ, r->off, zeros, r->len, false);
	}
}

/* What the state does not list. */
static void change_others(const struct grammar_files *f, struct grammar_file *file, bool is_new, const struct ts_steps *state,
			  bool is_all, struct ts_steps *out, bool is_hidden)
{
	mark_listed(f, state);
	if (f->missing == GRAMMAR_UNKNOWN)
		tell_missing(f, file, out, is_hidden);
	if (f->missing == GRAMMAR_ZERO && is_new && is_all && !lists_zero(state))
		tell_zeros(f, file, out);
}

bool grammar_files_change(struct grammar_files *f, uint32_t thread, const struct ts_steps *state, bool is_all,
			  struct ts_steps *out, bool is_hidden)
{
	bool is_new;
	struct grammar_file *file = get(f, thread, &is_new);

	if (!file)
		return false;
	for (uint32_t i = 0; i < state->n_effects; i++) {
		if (state->effects[i].kind == TS_FX_REG_WRITE)
			change(file, state, &state->effects[i], out, is_hidden);
	}
	if (f->missing == GRAMMAR_UNKNOWN || (f->missing == GRAMMAR_ZERO && is_new))
		change_others(f, file, is_new, state, is_all, out, is_hidden);
	return true;
}

struct grammar_file *grammar_files_get(struct grammar_files *f, uint32_t thread)
{
	bool is_new;

	return get(f, thread, &is_new);
}

void grammar_file_note(struct grammar_file *file, const struct ts_steps *fx, uint32_t first, uint32_t end,
		       enum ts_effect_kind kind)
{
	for (uint32_t i = first; i < end; i++) {
		const struct ts_effect *e = &fx->effects[i];
		const uint8_t *bytes = ts_effect_data(fx, e);

		if (e->kind != kind || (!bytes && kind == TS_FX_REG_READ))
			continue;
		if (bytes && e->len == 8) {
			const uint64_t all = UINT64_C(0x0101010101010101);

			memcpy(file->g + e->addr, bytes, 8);
			memcpy(file->known + e->addr, &all, 8);
			continue;
		}
		if (bytes)
			memcpy(file->g + e->addr, bytes, e->len);
		memset(file->known + e->addr, bytes != NULL, e->len);
	}
}

bool grammar_files_copy(struct grammar_files *to, const struct grammar_files *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		bool is_new;
		struct grammar_file *file = from->files[i].g ? get(to, i, &is_new) : NULL;

		if (file)
			memcpy(file->g, from->files[i].g, 2 * (size_t)to->g_len);
		else if (from->files[i].g)
			return false;
	}
	return true;
}

void grammar_files_forget(struct grammar_files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->files[i].g)
			memset(f->files[i].g, 0, 2 * (size_t)f->g_len);
	}
}

/* ------------------------------------------------------------------------------------------ decode points */

/* Known bytes and values, as what changed against the thread before. */
bool grammar_files_point(struct grammar_files *f, struct ts_point *p, uint32_t n_threads)
{
	uint64_t n = ts_point_count(p, f->n, n_threads, 1);
	const uint8_t *base;

	if (!p->to) {
		drop(f);
		if (!make_room(f))
			return false;
	}
	base = f->zeros;
	for (uint32_t i = 0; i < n && ts_point_ok(p); i++) {
		bool is_there = p->to && f->files[i].g, is_new;
		struct grammar_file *file;

		if (!TS_POINT(p, is_there, 1))
			continue;
		file = get(f, i, &is_new);
		if (!file)
			return false;
		if (!ts_point_change(p, file->g, base, 2 * (size_t)f->g_len))
			return true; /* the point says so */
		for (uint32_t k = 0; k < f->g_len; k++)
			file->known[k] = file->known[k] != 0;
		base = file->g;
	}
	return true;
}
