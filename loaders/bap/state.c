/* SPDX-License-Identifier: MIT */
/*
 * What is known of a thread: see state.h.
 */
#include "state.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"
#include "word_ops.h"

void bap_known_init(struct bap_known *k, struct bap *rec, struct bap_look *look, struct ts_end *end)
{
	*k = (struct bap_known){ .rec = rec, .look = look, .end = end, .serial = 1 };
}

void bap_forget_threads(struct bap_known *k)
{
	for (uint32_t i = 0; i < k->n_live; i++) {
		free(k->live[i]->data);
		free(k->live[i]);
	}
	k->n_live = 0;
	bap_shown_forget(k->shown);
}

void bap_known_fini(struct bap_known *k)
{
	bap_forget_threads(k);
	threads_fini(&k->threads);
	free(k->shown);
	free(k->results);
}

void bap_forget_flags(const struct regmap *names, struct bap_thread *t)
{
	for (unsigned i = 0; i < names->n_flags; i++) {
		t->flags[i] = (struct bap_flag_bits){ .value = names->flags[i].usual,
						      .known = ~names->flags[i].need };
	}
}

/* Bytes that stay reported are marked by a second bit, which is then moved to the bit of reported bytes. */
static void forget_told(struct bap_thread *t, uint32_t len)
{
	for (unsigned i = 0; i < t->n_last; i++)
		for (uint32_t j = t->last[i].off; j < t->last[i].off + t->last[i].len; j++)
			if (t->state[j] != BAP_UNREPORTED)
				t->state[j] = BAP_REPORTED << 1;
	for (uint32_t i = 0; i < len; i++)
		t->state[i] >>= 1;
}

void bap_forget_reported(struct bap_known *k)
{
	for (uint32_t i = 0; i < k->n_live; i++)
		forget_told(k->live[i], k->rec->base.regs.g_len);
	bap_shown_forget(k->shown);
}

void bap_forget_seen(struct bap_known *k)
{
	for (uint32_t i = 0; i < k->n_live; i++)
		memset(k->live[i]->seen, 0, k->rec->base.regs.g_len);
	k->serial = 1;
}

/* ---------------------------------------------------------------------------------------------- registers */

/* Words of registers may extend past the last one: the arrays have room for that. */

/* ff for each byte that has its lowest bit set. */
static uint64_t spread(uint64_t bits)
{
	return (bits & BAP_ONES) * 0xff;
}

void bap_warn_contradiction(struct bap_known *k)
{
	bap_warn(k->look,
		 "values before an instruction that contradict the result of the previous one are ignored");
}

static bool is_in(const struct bap_extent *e, uint32_t off)
{
	return off - e->off < e->len;
}

bool bap_is_written(const struct bap_thread *t, uint32_t off)
{
	bool is_last = false;

	for (unsigned i = 0; i < t->n_last && !is_last; i++)
		is_last = is_in(&t->last[i], off);
	return is_last && t->state[off] != BAP_UNREPORTED;
}

/* Does the previous instruction's result differ in one of the @len bytes? */
static __attribute__((noinline)) bool is_contradicted(const struct bap_thread *t, uint32_t off, uint64_t word,
						      uint32_t len)
{
	uint8_t bytes[8];

	memcpy(bytes, &word, sizeof(bytes));
	for (uint32_t i = 0; i < len; i++)
		if (bytes[i] != t->data[off + i] && bap_is_written(t, off + i))
			return true;
	return false;
}

/* Bytes that were not seen in this list.  The last instruction's result is believed more. */
static inline void see_unseen(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word,
			      uint32_t len)
{
	uint64_t mask = bap_first_bytes(len), state = ts_load(t->state + off);
	uint64_t differs = (ts_load(t->data + off) ^ word) & mask;

	bap_store(t->seen + off, k->serial * BAP_ONES, mask);
	if (!differs && !(~state & BAP_ONES & mask))
		return;
	if (differs & spread(state) && is_contradicted(t, off, word, len)) {
		bap_warn_contradiction(k);
		return;
	}
	bap_shown_changed(k->shown, t, off, len);
	bap_append_word(k, TS_FX_REG_READ, off, word, len);
	bap_store(t->data + off, word, mask);
	bap_store(t->state + off, state | BAP_ONES, mask);
}

/* Of up to eight bytes, those that were not seen yet: rare, and not in line because of its array. */
static __attribute__((noinline)) void see_rest(struct bap_known *k, struct bap_thread *t, uint32_t off,
					       uint64_t word, uint32_t len)
{
	uint8_t bytes[2 * sizeof(word)] = { 0 };

	memcpy(bytes, &word, sizeof(word));
	for (uint32_t i = 0, n; i < len; i += n) {
		for (n = 0; i + n < len && t->seen[off + i + n] != k->serial; n++)
			;
		if (n)
			see_unseen(k, t, off + i, ts_load(bytes + i), n);
		else
			n = 1;
	}
}

void bap_see_word(struct bap_known *k, struct bap_thread *t, uint32_t off, uint64_t word, uint32_t len)
{
	if (bap_has_byte(ts_load(t->seen + off), k->serial, bap_first_bytes(len)))
		see_rest(k, t, off, word, len);
	else
		see_unseen(k, t, off, word, len);
}

static uint64_t load_value(const uint8_t *p, uint32_t len)
{
	uint64_t word = 0;

	memcpy(&word, p, len);
	return word;
}

void bap_see_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0, n; i < len; i += n) {
		n = len - i < 8 ? len - i : 8;
		bap_see_word(k, t, off + i, load_value(data + i, n), n);
	}
}

void bap_write_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, const uint8_t *data, uint32_t len)
{
	bap_note_last(t, off, len);
	for (uint32_t i = 0, n; i < len; i += n) {
		n = len - i < 8 ? len - i : 8;
		bap_write_bytes(k, t, off + i, load_value(data + i, n), n);
	}
}

void bap_lose_reg(struct bap_known *k, struct bap_thread *t, uint32_t off, uint32_t len)
{
	bap_shown_changed(k->shown, t, off, len);
	ts_steps_effect(k->out, TS_FX_REG_WRITE, off, len);
	memset(t->state + off, BAP_UNREPORTED, len);
	for (unsigned i = 0; i < t->n_last; i++) /* the state has those that are lost in part */
		if (t->last[i].off >= off && t->last[i].off + t->last[i].len <= off + len)
			t->last[i].len = 0;
}

void bap_switch_thread(struct bap_known *k, const struct bap_thread *t)
{
	struct ts_effect *e = ts_steps_effect(k->out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = t->ordinal;
}

void bap_lose_all_threads(struct bap_known *k)
{
	uint32_t len = k->rec->base.regs.g_len;

	ts_steps_effect(k->out, TS_FX_FORGET_REGS, 0, len);
	for (uint32_t i = 0; i < k->n_live; i++) {
		memset(k->live[i]->state, BAP_UNREPORTED, len);
		bap_forget_flags(&k->rec->names, k->live[i]);
		k->live[i]->n_last = 0;
	}
	bap_shown_forget(k->shown);
}

/* -------------------------------------------------------------------------------------------------- flags */

/* Where the byte from bit @shift on is in the 'g' layout. */
static inline uint32_t flag_off(const struct bap *rec, const struct regmap_flags *def, unsigned shift)
{
	return def->off + (rec->base.regs.arch->is_big_endian ? def->len - 1 - shift / 8 : shift / 8);
}

/* The lowest bit of that byte of @bytes (ff each, not 0) which comes first in the 'g' layout. */
static inline unsigned first_shift(const struct bap *rec, uint32_t bytes)
{
	bool is_big = rec->base.regs.arch->is_big_endian;

	return (unsigned)(is_big ? 31 - __builtin_clz(bytes) : __builtin_ctz(bytes)) & ~7u;
}

/* ff for each byte that a flag register has. */
static inline uint32_t bytes_of(const struct regmap_flags *def)
{
	return UINT32_MAX >> (32 - 8 * def->len);
}

/* A flag register's number as a word of the 'g' layout, and back. */
static inline uint64_t flags_word(const struct bap *rec, const struct regmap_flags *def, uint32_t number)
{
	uint64_t word = htole64(number);

	return rec->base.regs.arch->is_big_endian ? bap_reverse(word, def->len) : word;
}

static inline uint32_t flags_number(const struct bap *rec, const struct regmap_flags *def, uint64_t word)
{
	return (uint32_t)le64toh(rec->base.regs.arch->is_big_endian ? bap_reverse(word, def->len) : word);
}

/* ff for each byte of a number that is not 0. */
static inline uint32_t whole_bytes(uint32_t n)
{
	n |= n >> 4;
	n |= n >> 2;
	n |= n >> 1;
	return (n & UINT32_C(0x01010101)) * 0xff;
}

/* 0xff for each byte of a flag register that was not reported with this value. */
static inline uint32_t stale_bytes(const struct bap *rec, const struct bap_thread *t,
				   const struct regmap_flags *def, uint32_t value)
{
	uint32_t data = flags_number(rec, def, ts_load(t->data + def->off));
	uint32_t state = flags_number(rec, def, ts_load(t->state + def->off));

	return (whole_bytes(data ^ value) | ~((state & (uint32_t)BAP_ONES) * 0xff)) & bytes_of(def);
}

/* A bit that is seen before anything changes it had that value from the start. */
static void note_first(struct bap_known *k, const struct bap_thread *t, unsigned group, uint32_t bits,
		       bool is_write)
{
	struct bap_first_flags *first = &k->rec->first_flags[group];
	uint32_t seen = is_write ? 0 : bits & first->open;

	if (t->id != k->rec->first_thread)
		return;
	first->known |= seen;
	first->value |= seen & t->flags[group].value;
	first->open &= ~bits;
}

/* The byte from bit @shift on is seen, written, or written with a value that is unknown. */
static __attribute__((noinline)) void tell_byte(struct bap_known *k, struct bap_thread *t, unsigned group,
						unsigned shift, bool is_write, bool is_known)
{
	uint32_t off = flag_off(k->rec, &k->rec->names.flags[group], shift);
	uint64_t byte = htole64(t->flags[group].value >> shift & 0xff);

	if (!is_write)
		bap_see_word(k, t, off, byte, 1);
	else if (is_known)
		bap_write_bytes(k, t, off, byte, 1);
	else
		bap_lose_reg(k, t, off, 1);
}

void bap_report_flags(struct bap_known *k, struct bap_thread *t, unsigned group, uint32_t bits, bool is_write)
{
	const struct regmap_flags *def = &k->rec->names.flags[group];
	const struct bap_flag_bits *f = &t->flags[group];
	uint32_t touched = whole_bytes(bits) & bytes_of(def), missing = def->need & ~f->known;
	uint32_t unknown = __builtin_expect(missing != 0, 0) ? whole_bytes(missing) : 0;
	uint32_t unlogged =
		~touched & ~whole_bytes(def->need) & bytes_of(def); /* their bits are never logged */
	uint32_t see = unlogged | (is_write ? 0 : touched & ~unknown), write = is_write ? touched : 0;
	uint32_t stale = stale_bytes(k->rec, t, def, f->value);

	if (__builtin_expect(k->notes_first, 0))
		note_first(k, t, group, bits, is_write);
	bap_store(t->seen + def->off, k->serial * BAP_ONES, flags_word(k->rec, def, see & ~stale));
	for (uint32_t rest = (see & stale) | write; rest;) {
		unsigned shift = first_shift(k->rec, rest);
		uint32_t bit = UINT32_C(1) << shift;

		rest &= ~(UINT32_C(0xff) << shift);
		if (write & ~unknown & bit)
			bap_note_last(t, flag_off(k->rec, def, shift), 1);
		if ((stale | unknown) & bit)
			tell_byte(k, t, group, shift, write & bit, !(unknown & bit));
	}
}

void bap_see_all_flags(struct bap_known *k, struct bap_thread *t)
{
	for (unsigned i = 0; i < k->rec->names.n_flags; i++) {
		if (t->flags[i].seen)
			bap_report_flags(k, t, i, t->flags[i].seen, false);
		t->flags[i].seen = t->flags[i].contradicted = 0;
	}
}
