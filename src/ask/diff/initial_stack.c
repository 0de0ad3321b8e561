/* SPDX-License-Identifier: MIT */
#include "initial_stack.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

/* Entries that are read, and bytes of all texts. */
#define MAX_ENTRIES 65536u
#define MAX_TEXT    (UINT64_C(8) << 20)

#define N_RANDOM 16u
#define BLOCK    256u

/* The reader of a stack: where it is, and what it may still read. */
struct reader {
	struct ts_initial_stack *s;
	struct ts_query *q;
	uint32_t process;
	size_t word;       /* bytes of a pointer */
	uint64_t at;
	uint64_t text_left;
	bool is_known;     /* all words so far were */
	struct ts_error *err;
};

static bool read_mem(struct reader *r, uint64_t addr, size_t len, uint8_t *data, uint8_t *known)
{
	return ts_query_mem(r->q, 0, r->process, addr, len, data, known, r->err);
}

/* The word at @addr to *value; is_known gets false if the recording does not know it. */
static bool take_word(struct reader *r, uint64_t addr, uint64_t *value)
{
	uint8_t data[8], known[8];

	if (!read_mem(r, addr, r->word, data, known))
		return false;
	r->is_known = r->is_known && !memchr(known, 0, r->word);
	*value = ts_arch_get(ts_query_regset(r->q)->arch, data, r->word);
	return true;
}

/* The name of a variable: the bytes before '='. */
static void take_name(char *name, size_t size, const uint8_t *text, size_t len)
{
	size_t n = 0;

	for (; n < len && n + 1 < size && text[n] && text[n] != '='; n++)
		name[n] = (char)text[n];
	name[n] = 0;
}

/* The text at @addr: *len gets its length with the NUL; 0 if no end of it is known.  @name: of a variable; else NULL. */
static bool take_text(struct reader *r, uint64_t addr, uint64_t *len, char *name, size_t size)
{
	uint8_t data[BLOCK], known[BLOCK];
	const uint8_t *end = NULL;
	uint64_t n = 0;

	for (*len = 0; !end && r->text_left >= BLOCK; r->text_left -= BLOCK) {
		const uint8_t *gap;

		if (!read_mem(r, addr + n, BLOCK, data, known))
			return false;
		end = memchr(data, 0, BLOCK);
		gap = memchr(known, 0, BLOCK);
		if (gap && (!end || gap - known <= end - data))
			return true;
		if (name && !n)
			take_name(name, size, data, BLOCK);
		n += end ? (uint64_t)(end - data) + 1 : BLOCK;
	}
	*len = end ? n : 0;
	return true;
}

static struct ts_given *add(struct reader *r, enum ts_given_kind kind, uint64_t key, size_t n_words)
{
	struct ts_initial_stack *s = r->s;

	if (s->n == MAX_ENTRIES || !ts_vec_reserve(&s->items, s->n, &s->cap, 1, sizeof(*s->items))) {
		ts_fail(r->err, TS_ENOMEM, TS_NO_OFF, "no memory to compare stacks");
		return NULL;
	}
	s->items[s->n] = (struct ts_given){ .kind = kind, .key = key, .slot = r->at, .slot_len = (uint32_t)(n_words * r->word) };
	r->at += n_words * r->word;
	return &s->items[s->n++];
}

/* Pointers to texts up to the null pointer. */
static bool take_pointers(struct reader *r, enum ts_given_kind kind)
{
	uint64_t value = 1;

	for (uint64_t i = 0; value && r->is_known && r->s->n < MAX_ENTRIES; i++) {
		struct ts_given *x;

		if (!take_word(r, r->at, &value))
			return false;
		if (!r->is_known)
			return true;
		x = add(r, kind, kind == TS_GIVEN_ARGUMENT ? i : 0, 1);
		if (!x)
			return false;
		x->text = value;
		if (value && !take_text(r, value, &x->text_len, kind == TS_GIVEN_VARIABLE ? x->name : NULL, sizeof(x->name)))
			return false;
	}
	r->is_known = r->is_known && !value;
	return true;
}

static bool take_auxiliary(struct reader *r)
{
	uint64_t type = 1, value;

	while (type && r->is_known && r->s->n < MAX_ENTRIES) {
		struct ts_given *x;

		if (!take_word(r, r->at, &type) || !take_word(r, r->at + r->word, &value))
			return false;
		if (!r->is_known)
			return true;
		x = add(r, TS_GIVEN_AUXILIARY, type, 2);
		if (!x)
			return false;
		x->text = value;
		if (type == TS_AUX_RANDOM)
			x->text_len = N_RANDOM;
		if ((type == TS_AUX_PLATFORM || type == TS_AUX_BASE_PLATFORM || type == TS_AUX_EXECFN) &&
		    !take_text(r, value, &x->text_len, NULL, 0))
			return false;
	}
	r->s->is_whole = r->is_known && !type;
	return true;
}

bool ts_initial_stack_read(struct ts_initial_stack *s, struct ts_query *q, struct ts_error *err)
{
	struct reader r = { .s = s, .q = q, .text_left = MAX_TEXT, .err = err };

	*s = (struct ts_initial_stack){ 0 };
	r.process = ts_query_process(q, ts_query_thread(q, 0));
	r.word = ts_query_regset(q)->arch->addr_bits / 8;
	r.is_known = r.word && r.word <= 8 && ts_query_reg(q, 0, ts_query_thread(q, 0), ts_query_regset(q)->sp, &s->sp, err);
	if (!r.is_known)
		return err->code == TS_OK;
	r.at = s->sp;
	return add(&r, TS_GIVEN_COUNT, 0, 1) && take_pointers(&r, TS_GIVEN_ARGUMENT) && take_pointers(&r, TS_GIVEN_VARIABLE) &&
	       take_auxiliary(&r);
}

void ts_initial_stack_fini(struct ts_initial_stack *s)
{
	free(s->items);
	s->items = NULL;
}

int ts_given_compare(const void *x, const void *y)
{
	const struct ts_given *a = x, *b = y;

	return TS_ORDER(a->kind, b->kind) ?: TS_ORDER(a->key, b->key) ?: strcmp(a->name, b->name) ?: TS_ORDER(a->slot, b->slot);
}
