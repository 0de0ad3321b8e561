/* SPDX-License-Identifier: MIT */
/* The reads that instructions tell, beside those of recordings that have them, step by step, on each processor. */
#include "unit.h"

#include "ask_text.h"
#include "sample.h"
#include "src/query/code/insn_reads.h"
#include "src/query/search/read_chunks.h"

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

/* Is the chunk found for the byte, and by a search from its neighbours? */
static bool is_found(uint64_t chunk, uint32_t process, uint64_t addr, bool finds_open)
{
	struct ts_read_search s = { .process = process, .first = addr, .last = addr, .finds_open = finds_open };
	bool is_there = ts_query_may_read(a.q, &s, chunk);
	uint64_t ahead = ts_query_find_read(a.q, &s, chunk, TS_NO_CHUNK), back;

	s.is_reverse = true;
	back = ts_query_find_read(a.q, &s, chunk, TS_NO_CHUNK);
	ck_assert_int_eq(ahead == chunk, is_there);
	ck_assert_int_eq(back == chunk, is_there);
	ck_assert(ahead == TS_NO_CHUNK || ts_query_may_read(a.q, &s, ahead));
	ck_assert(back == TS_NO_CHUNK || ts_query_may_read(a.q, &s, back));
	return is_there;
}

START_TEST(chunks_are_found_by_the_reads_that_lack)
{
	uint64_t n = 0, n_chunks = 0, n_in_vain = 0;
	struct ts_error err = { 0 };

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	for (uint64_t pos = 0; ts_query_infers_reads(a.q) && pos < MAX_STEPS && pos < ts_query_n_steps(a.q); pos++) {
		uint64_t chunk = pos / TS_CHUNK_STEPS;
		uint32_t process = ts_query_process(a.q, ts_query_thread(a.q, pos));
		struct ts_insn_reads r;

		if (pos % TS_CHUNK_STEPS == 0) {
			ck_assert(is_found(chunk, process, pos, false)); /* nothing is known of it */
			ck_assert(ts_query_learn_reads(a.q, chunk, 9, &err));
			n_in_vain += is_found(chunk, process, UINT64_C(0xdeadbeef0000) + pos * 64, false);
			n_chunks++;
		}
		ck_assert(ts_query_unrecorded_reads(a.q, pos, &r, &err));
		ck_assert(!r.is_open || is_found(chunk, process, 0, true));
		for (unsigned i = 0; i < r.n; i++, n++) {
			ck_assert_msg(is_found(chunk, process, r.items[i].first, false), "the read of %" PRIu64, pos);
			ck_assert_msg(is_found(chunk, process, r.items[i].last, false), "the read of %" PRIu64, pos);
		}
	}
	ck_assert_msg(n_in_vain <= n_chunks / 8, "%" PRIu64 " of %" PRIu64 " chunks in vain", n_in_vain, n_chunks);
	printf("# %s: %" PRIu64 " reads in %" PRIu64 " chunks, %" PRIu64 " in vain\n", sample_names[_i], n, n_chunks, n_in_vain);
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("insn_reads");

	suite_add_tcase(suite, sample_case(instructions_read_what_the_recording_says));
	suite_add_tcase(suite, sample_case(chunks_are_found_by_the_reads_that_lack));
	return suite;
}
