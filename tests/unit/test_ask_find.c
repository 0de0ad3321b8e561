/* SPDX-License-Identifier: MIT */
/*
 * find against a look at each address and each position: random values in random recordings and in those of
 * each format, in chunks of a few steps.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"
#include "sample.h"
#include "src/ask/find/matches.h"
#include "src/base/collections/vec.h"
#include "src/query/paging.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_STEPS   150u
#define MAX_VALUE 12u

static struct script *s;
static struct naive *nv;
static struct ask_text a;
static struct script_random rnd;
static struct sample sample; /* s is NULL: a random recording is asked */
static uint64_t n_steps;

/* The value, and the memory in which it is looked for. */
static uint8_t bytes[MAX_VALUE];
static bool is_any[MAX_VALUE];
static unsigned n_bytes;
static uint64_t first, last;
static uint32_t process;

static bool stands(uint64_t pos, uint64_t addr)
{
	for (unsigned i = 0; i < n_bytes; i++) {
		uint8_t value;

		if (!is_any[i] && (!naive_mem(nv, pos, process, addr + i, &value) || value != bytes[i]))
			return false;
	}
	return true;
}

/* What the step did to the bytes at @addr. */
static const char *kind_of(uint64_t step, uint64_t addr)
{
	const struct ts_step *st = &s->steps.steps[step];
	uint32_t thread = st->thread;
	const char *kind = "unexplained";

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];
		bool is_over = e->len && e->addr <= addr + (n_bytes - 1) && e->addr + (e->len - 1) >= addr;

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (!is_over || s->rec.threads[thread].process != process)
			continue;
		if (e->kind == TS_FX_WRITE && !e->is_inferred)
			return "write";
		if (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP)
			kind = "map";
	}
	return kind;
}

/* Where and when it stands. */
static struct match {
	uint64_t addr, begin, end;
} * matches;
static size_t n_matches, cap_matches;
static struct ts_buf want;

/* The next position at which some of the bytes at @addr may be others. */
static uint64_t next_change(uint64_t pos, uint64_t addr)
{
	uint64_t next = n_steps + 1;

	for (unsigned i = 0; i < n_bytes; i++) {
		uint64_t change = naive_next_change(nv, pos, process, addr + i);

		next = change < next ? change : next;
	}
	return next;
}

static void add_matches(uint64_t addr)
{
	bool stood = false;

	for (uint64_t pos = 0; pos <= n_steps; pos = next_change(pos, addr)) {
		bool is_there = stands(pos, addr);

		if (is_there && !stood) {
			if (n_matches == cap_matches) {
				cap_matches = cap_matches ? 2 * cap_matches : 64;
				matches = realloc(matches, cap_matches * sizeof(*matches));
				ck_assert_ptr_nonnull(matches);
			}
			matches[n_matches++] = (struct match){ addr, pos, n_steps + 1 };
		} else if (!is_there && stood) {
			matches[n_matches - 1].end = pos;
		}
		stood = is_there;
	}
}

static int by_begin(const void *one, const void *other)
{
	const struct match *x = one, *y = other;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void put_match(const struct match *m)
{
	const struct ts_step *st = m->begin ? &s->steps.steps[m->begin - 1] : NULL;

	ts_buf_printf(&want, "%" PRIu64 "\t", m->begin);
	if (m->end <= n_steps)
		ts_buf_printf(&want, "%" PRIu64, m->end);
	ts_buf_printf(&want, "\t%s0x%" PRIx64 "\t%u\t", ts_query_facts(a.q)->is_physical ? "phys:" : "", m->addr, n_bytes);
	if (!st) {
		ts_buf_puts(&want, "start\t\t\t\t\t\n");
		return;
	}
	ts_buf_printf(&want, "%s\t%" PRIu64 "\t%" PRId64 "\t", kind_of(m->begin - 1, m->addr), m->begin - 1,
		      a.names.tids[st->thread]);
	if (st->pc != TS_NO_PC)
		ts_buf_printf(&want, "0x%" PRIx64, st->pc);
	ts_buf_puts(&want, "\t\t\n");
}

/* Virtual addresses are taken out of the rows: each is translated to the physical one of its row. */
static const char *take_virtual(const char *rows)
{
	static char out[1 << 20];
	size_t n = 0;

	for (const char *p = rows, *end; *p; p = end + 1) {
		const char *cell;
		struct ts_translation t;

		end = strchr(p, '\n');
		for (cell = end; cell[-1] != '\t'; cell--)
			;
		if (cell < end) {
			const char *phys = strstr(p, "phys:"), *pos = strstr(p, "\twrite\t");

			ck_assert(phys && phys < end && pos && pos < end);
			ck_assert(ts_translate_at(a.q, strtoull(pos + 7, NULL, 0), process, strtoull(cell, NULL, 0), &t, &a.err));
			ck_assert_uint_eq(t.phys, strtoull(phys + 5, NULL, 0));
		}
		ck_assert_uint_lt(n + (size_t)(end - p) + 2, sizeof(out));
		memcpy(out + n, p, (size_t)(cell - p));
		n += (size_t)(cell - p);
		out[n++] = '\n';
	}
	out[n] = 0;
	return out;
}

/* Look for the bytes from address @first to @last. */
static void ask_for(uint64_t at)
{
	uint64_t from = 0, to = n_steps + 1;
	char question[300] = "find";
	const char *got;

	for (unsigned i = 0; i < n_bytes; i++)
		sprintf(question + strlen(question), is_any[i] ? " ??" : " %02x", bytes[i]);
	process = s->rec.threads[naive_thread(nv, at)].process;
	sprintf(question + strlen(question), " in memory %s0x%" PRIx64 ":0x%" PRIx64 " at %" PRIu64,
		ts_query_facts(a.q)->is_physical ? "phys:" : "", first, last + 1, at);
	if (script_chance(&rnd, 30)) {
		from = script_below(&rnd, n_steps);
		to = from + 1 + script_below(&rnd, n_steps - from);
		sprintf(question + strlen(question), " in %" PRIu64 ":%" PRIu64, from, to);
	}
	n_matches = 0;
	ts_buf_reset(&want);
	for (uint64_t addr = first; addr + (n_bytes - 1) <= last; addr++)
		add_matches(addr);
	if (n_matches)
		qsort(matches, n_matches, sizeof(*matches), by_begin);
	for (size_t i = 0; i < n_matches; i++) {
		if (matches[i].begin >= from && matches[i].begin < to)
			put_match(&matches[i]);
	}
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	got = take_virtual(strchr(ts_buf_text(&a.out), '\n') + 1);
	twins_check_rows(question, got, ts_buf_text(&want));
}

/* What is known at an address, at a random position, if anything is: most random bytes stand nowhere. */
static void choose_bytes(void)
{
	uint64_t pos = script_below(&rnd, n_steps + 1), addr = first + script_below(&rnd, last - first + 1);
	bool is_real = script_chance(&rnd, 60);

	for (unsigned i = 0; i < n_bytes; i++) {
		is_any[i] = i && script_chance(&rnd, 10);
		bytes[i] = (uint8_t)script_below(&rnd, 4);
		if (is_real && addr + i <= last && !naive_mem(nv, pos, process, addr + i, &bytes[i]))
			is_any[i] = i;
	}
}

static void ask_any(void)
{
	uint64_t len, at = script_below(&rnd, n_steps + 1);

	n_bytes = 1 + (unsigned)script_below(&rnd, MAX_VALUE);
	script_range(&rnd, 40, &first, &len);
	last = first + len - 1;
	if (len < n_bytes || last > ts_arch_addr_mask(s->rec.regs.arch) || last == UINT64_MAX)
		return;
	process = s->rec.threads[naive_thread(nv, at)].process;
	choose_bytes();
	ask_for(at);
}

/*
 * What stands somewhere in the range at some time, or nearly so.  Of a machine, find has physical addresses.
 */
static void ask_sample(void)
{
	uint64_t at = script_below(&rnd, n_steps + 1), when = script_below(&rnd, n_steps + 1), len, off;

	n_bytes = 1 + (unsigned)script_below(&rnd, MAX_VALUE);
	script_bytes(s, &rnd, 40, &first, &len);
	if (len < n_bytes)
		return;
	last = first + len - 1;
	off = script_below(&rnd, len - n_bytes + 1);
	process = s->rec.threads[naive_thread(nv, at)].process;
	for (unsigned i = 0; i < n_bytes; i++) {
		bytes[i] = 0;
		is_any[i] = i && script_chance(&rnd, 20);
		naive_mem(nv, when, process, first + off + i, &bytes[i]);
		bytes[i] ^= script_chance(&rnd, 2);
	}
	ask_for(at);
}

START_TEST(a_value_is_found_wherever_and_whenever_it_stands)
{
	s = script_random_new((uint64_t)_i, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, &s->rec);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	n_steps = N_STEPS;
	rnd.state = (uint64_t)_i;
	for (unsigned i = 0; i < 25; i++)
		ask_any();
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

START_TEST(a_value_of_a_sample_is_found)
{
	unsigned n = sample_n_questions(_i, 12);

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	s = sample.s;
	nv = sample.nv;
	n_steps = s->steps.n_steps;
	rnd.state = twins_seed((uint64_t)_i);
	for (unsigned i = 0; i < n; i++)
		ask_sample();
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

/* Else an answer that is stopped there would seem to be complete up to where the recording was read. */
START_TEST(what_is_read_before_the_search_is_not_searched)
{
	const uint64_t n_early = TS_CHUNK_STEPS; /* these are searched for what comes soon */
	struct ts_answer *answer;
	uint64_t prepared = 0;

	s = script_random_new(1, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, &s->rec);
	answer = ts_answer_new(&a.ask, "find u32:0x01020304", TS_FORM_TSV, &a.err);
	ck_assert_msg(answer, "%s", a.err.text);
	while (ts_answer_run(answer, 1, &a.out, &a.end, &a.err) == TS_MORE &&
	       !ts_answer_prepared(answer))
		ck_assert_uint_le(ts_answer_at(answer), n_early);
	while (ts_answer_run(answer, 1, &a.out, &a.end, &a.err) == TS_MORE &&
	       ts_answer_prepared(answer)) {
		ck_assert_uint_ge(ts_answer_prepared(answer), prepared);
		prepared = ts_answer_prepared(answer);
		/* some is, meanwhile */
		ck_assert_uint_le(ts_answer_at(answer), n_early + TS_CHUNK_STEPS + prepared / 2);
	}
	ck_assert_uint_gt(prepared, 0);
	ck_assert_uint_eq(ts_answer_prepared(answer), 0);
	ts_answer_free(answer);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* Chunks that unmap it, or map zeros there, are passed over, but not for a value that stands. */
START_TEST(a_value_that_is_unmapped_begins_anew)
{
	static const char *const wants[] = { "\n1\t", "\n401\t", "\n801\t" };
	const char *rows;

	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < 1000; i++) {
		if (i % 400 == 0)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x5000, "wanted!!", 8);
		if (i == 200)
			ts_steps_effect(&s->steps, TS_FX_UNMAP, 0x5000, 8);
		if (i == 600)
			ts_steps_map(&s->steps, 0x5004, 4, NULL, 0, NULL, 0)->fill = TS_FILL_ZERO;
		ts_steps_close(&s->steps, 0x401000, 1, 0);
	}
	ask_text_init(&a, &s->rec);
	for (unsigned n = 0; n < 2; n++) { /* the second time there are sketches */
		ck_assert(ask_text(&a, TS_FORM_TSV, "find \"wanted!!\""));
		ck_assert_uint_eq(a.n_rows, sizeof(wants) / sizeof(wants[0]));
		rows = ts_buf_text(&a.out);
		for (unsigned i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
			ck_assert_ptr_nonnull(strstr(rows, wants[i]));
		ck_assert_ptr_nonnull(strstr(rows, "\t201\t0x5000\t8\twrite\t"));
		ck_assert_ptr_nonnull(strstr(rows, "\t601\t0x5000\t8\twrite\t"));
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* The bytes that a read shows there agree with a part of the value, elsewhere. */
START_TEST(a_value_ends_where_a_read_shows_something_else)
{
	const char *rows;

	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < 40; i++) {
		if (i == 3 || i == 20)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x5000, "wxyz", 4);
		if (i == 10)
			ts_steps_value(&s->steps, TS_FX_READ, 0x5000, "!!!w", 4);
		if (i == 12)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x5004, "xyz", 3);
		if (i == 30) {
			ts_steps_value(&s->steps, TS_FX_READ, 0x5002, "yw", 2);
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x5000, "abyz", 4);
		}
		ts_steps_close(&s->steps, 0x401000, 1, 0);
	}
	ask_text_init(&a, &s->rec);
	for (unsigned n = 0; n < 2; n++) { /* the second time there are sketches */
		ck_assert(ask_text(&a, TS_FORM_TSV, "find \"wxyz\""));
		rows = ts_buf_text(&a.out);
		ck_assert_msg(a.n_rows == 4, "%s", rows);
		ck_assert_ptr_nonnull(strstr(rows, "\n4\t10\t0x5000\t4\twrite\t"));
		ck_assert_ptr_nonnull(strstr(rows, "\n13\t21\t0x5003\t4\twrite\t"));
		ck_assert_ptr_nonnull(strstr(rows, "\n21\t30\t0x5000\t4\twrite\t"));
		ck_assert_ptr_nonnull(strstr(rows, "\n30\t31\t0x5003\t4\tunexplained\t"));
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* An address whose byte is known at position 0, and stays the same for some chunks. */
static bool choose_lasting(uint64_t *addr, uint8_t *value)
{
	uint64_t len;

	for (unsigned i = 0; i < 1000; i++) {
		script_range(&rnd, 1, addr, &len);
		if (naive_mem(nv, 0, process, *addr, value) && naive_next_change(nv, 0, process, *addr) > 16)
			return true;
	}
	return false;
}

START_TEST(what_stands_at_the_start_is_told_before_the_rest_is_searched)
{
	struct ts_answer *answer;
	enum ts_next got = TS_MORE;
	char question[80];
	uint64_t addr;
	uint8_t value;

	s = script_random_new(1, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, &s->rec);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	n_steps = N_STEPS;
	rnd.state = 1;
	process = s->rec.threads[naive_thread(nv, 0)].process;
	ck_assert(choose_lasting(&addr, &value));
	snprintf(question, sizeof(question), "find %02x in memory 0x%" PRIx64 ":0x%" PRIx64 " at 0", value,
		 addr, addr + 1);
	answer = ts_answer_new(&a.ask, question, TS_FORM_TSV, &a.err);
	ck_assert_msg(answer, "%s", a.err.text);
	while (got == TS_MORE && !ts_answer_n_rows(answer))
		got = ts_answer_run(answer, 1, &a.out, &a.end, &a.err);
	ck_assert_uint_eq(ts_answer_n_rows(answer), 1);
	ck_assert_uint_eq(got, TS_MORE);
	ck_assert_uint_lt(ts_answer_at(answer), n_steps / 2);
	ts_answer_free(answer);
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* The positions where the rows of an answer in JSON begin. */
struct begins {
	uint64_t *at;
	size_t n, cap;
};

static uint64_t number_after(const char *line, const char *name)
{
	const char *p = strstr(line, name);

	ck_assert_ptr_nonnull(p);
	return strtoull(p + strlen(name), NULL, 10);
}

static struct begins begins_of(char *text)
{
	struct begins b = { 0 };
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line && !strncmp(line, "{\"begin\":", 9);
	     line = strtok_r(NULL, "\n", &rest)) {
		ck_assert(ts_vec_reserve(&b.at, b.n, &b.cap, 1, sizeof(*b.at)));
		b.at[b.n++] = number_after(line, "\"begin\":");
	}
	return b;
}

/*
 * Ask, which shows @max rows at most, and stop it after @n_turns.  Returns false if it was over before.
 */
static bool is_stopped_with_all_before(const char *question, uint64_t max, unsigned n_turns,
				       const struct begins *whole)
{
	struct ts_answer *answer = ts_answer_new(&a.ask, question, TS_FORM_JSON, &a.err);
	enum ts_next got = TS_MORE;
	uint64_t pos, n_rows, n_before = 0;
	const char *end;

	ck_assert_msg(answer, "%s", a.err.text);
	ts_buf_reset(&a.out);
	for (unsigned i = 0; i < n_turns && got == TS_MORE; i++)
		got = ts_answer_run(answer, 1, &a.out, &a.end, &a.err);
	if (got == TS_MORE) {
		ts_answer_stop(answer);
		while (ts_answer_run(answer, 1, &a.out, &a.end, &a.err) == TS_MORE)
			;
		ts_buf_put(&a.out, "", 1);
		n_rows = ts_answer_n_rows(answer);
		end = strstr((const char *)a.out.data, "\"stopped\"");
		ck_assert_ptr_nonnull(end);
		pos = number_after(end, "\"position\":");
		for (size_t i = 0; i < whole->n; i++)
			n_before += whole->at[i] < pos;
		ck_assert_msg((n_before < max ? n_before : max) <= n_rows,
			      "%s: %" PRIu64 " rows up to %" PRIu64, question, n_rows, pos);
	}
	ts_answer_free(answer);
	return got == TS_MORE;
}

START_TEST(what_is_stopped_has_all_rows_before_the_place_that_it_says)
{
	char question[80], last_two[100];
	struct begins whole;
	uint64_t addr;
	uint8_t value;

	s = script_random_new((uint64_t)_i, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, &s->rec);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	n_steps = N_STEPS;
	rnd.state = (uint64_t)_i;
	process = s->rec.threads[naive_thread(nv, 0)].process;
	if (choose_lasting(&addr, &value)) {
		snprintf(question, sizeof(question), "find %02x at 0", value);
		ck_assert(ask_text(&a, TS_FORM_JSON, question));
		ts_buf_put(&a.out, "", 1);
		whole = begins_of((char *)a.out.data);
		for (unsigned turns = 1; is_stopped_with_all_before(question, UINT64_MAX, turns, &whole);
		     turns += turns / 4 + 1)
			continue;
		snprintf(last_two, sizeof(last_two), "%s last 2", question);
		for (unsigned turns = 1; is_stopped_with_all_before(last_two, 2, turns, &whole);
		     turns += turns / 4 + 1)
			continue;
		free(whole.at);
	}
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_find");
	TCase *c = tcase_create("ask_find");

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 1, 100);
	/* two reads in a step; zeros in a map of terabytes: few seeds have that */
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 605, 606);
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 308, 309);
	/* a read contradicts what the step before wrote */
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 2430, 2431);
	tcase_add_test(c, a_value_that_is_unmapped_begins_anew);
	tcase_add_test(c, a_value_ends_where_a_read_shows_something_else);
	tcase_add_test(c, what_is_read_before_the_search_is_not_searched);
	tcase_add_test(c, what_stands_at_the_start_is_told_before_the_rest_is_searched);
	tcase_add_loop_test(c, what_is_stopped_has_all_rows_before_the_place_that_it_says, 1, 11);
	tcase_add_loop_test(c, what_is_stopped_has_all_rows_before_the_place_that_it_says, 105, 125);
	/* what holds nothing of the value ends with the address space */
	tcase_add_loop_test(c, what_is_stopped_has_all_rows_before_the_place_that_it_says, 186, 187);
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, sample_case(a_value_of_a_sample_is_found));
	return suite;
}
