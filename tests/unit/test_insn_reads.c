/* SPDX-License-Identifier: MIT */
/* The reads that instructions tell, beside those of recordings that have them, step by step, on each processor. */
#include "unit.h"

#include "ask_text.h"
#include "sample.h"
#include "src/query/insn_reads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Steps of a recording that are looked at; bytes of a step. */
#define MAX_STEPS 4000u
#define MAX_BYTES 1024u

static struct sample sample;
static struct ask_text a;

struct bytes {
	uint64_t at[MAX_BYTES];
	unsigned n;
};

static void add(struct bytes *b, uint64_t first, uint64_t len)
{
	for (uint64_t i = 0; i < len && b->n < MAX_BYTES; i++)
		b->at[b->n++] = first + i;
}

static bool has(const struct bytes *b, uint64_t addr)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->at[i] == addr)
			return true;
	return false;
}

/* What the recording says: without the instruction's own bytes. */
static void take_recorded(uint64_t pos, struct bytes *b, bool *is_call)
{
	struct ts_error err = { 0 };
	const struct ts_steps *batch;
	const struct ts_step *st = ts_query_step(a.q, pos, &batch, &err);

	ck_assert_ptr_nonnull(st);
	b->n = 0;
	*is_call = false;
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &batch->effects[st->first + i];

		*is_call |= e->kind == TS_FX_EVENT;
		if (e->kind == TS_FX_THREAD)
			break;
		if (e->kind == TS_FX_READ && !e->is_hidden && st->pc - e->addr >= e->len)
			add(b, e->addr, e->len);
	}
}

START_TEST(instructions_read_what_the_recording_says)
{
	unsigned n_steps = 0, n_open = 0, n_more = 0, n_less = 0;
	struct ts_error err = { 0 };
	char first[200] = "";

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	for (uint64_t pos = 0; ts_query_facts(a.q)->has_reads && ts_query_has_operands(a.q) && pos < MAX_STEPS &&
			       pos < ts_query_n_steps(a.q);
	     pos++) {
		struct bytes said, told = { .n = 0 };
		struct ts_insn_reads r;
		unsigned more = 0, less = 0;
		bool is_call;

		take_recorded(pos, &said, &is_call);
		ck_assert(ts_query_insn_reads(a.q, pos, &r, &err));
		n_steps++;
		n_open += r.is_open;
		for (unsigned i = 0; i < r.n; i++)
			add(&told, r.items[i].first, r.items[i].last - r.items[i].first + 1);
		for (unsigned i = 0; i < told.n; i++)
			more += !has(&said, told.at[i]);
		for (unsigned i = 0; i < said.n && !r.is_open && !is_call; i++)
			less += !has(&told, said.at[i]);
		n_more += more != 0;
		n_less += less != 0;
		if ((more || less) && !*first)
			snprintf(first, sizeof(first), "position %" PRIu64 ": %u bytes told, %u recorded, %u and %u alone", pos, told.n,
				 said.n, more, less);
	}
	if (!strcmp(ts_query_facts(a.q)->format, "bap"))
		n_more = 0; /* tracewrap leaves out what vector instructions load */
	printf("# %s: %u steps, %u not told\n", sample_names[_i], n_steps, n_open);
	ck_assert_msg(!n_more && !n_less, "%s: %s", sample_names[_i], first);
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("insn_reads");

	suite_add_tcase(suite, sample_case(instructions_read_what_the_recording_says));
	return suite;
}
