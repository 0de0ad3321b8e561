/* SPDX-License-Identifier: MIT */
/*
 * find against a look at each address and each position: random values in random recordings, in chunks of a few
 * steps.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define N_STEPS 150u
#define MAX_VALUE 4u

static struct script *s;
static struct naive *nv;
static struct ask_text a;
static struct script_random rnd;

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
		if (e->kind == TS_FX_WRITE)
			return "write";
		if (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP)
			kind = "map";
	}
	return kind;
}

static char want[1 << 20];
static size_t n_want;

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	n_want += (size_t)vsnprintf(want + n_want, sizeof(want) - n_want, fmt, ap);
	va_end(ap);
}

static void put_match(uint64_t addr, uint64_t begin)
{
	const struct ts_step *st = begin ? &s->steps.steps[begin - 1] : NULL;
	uint64_t end = begin;
	char pc[32] = "", until[24] = "";

	while (end <= N_STEPS && stands(end, addr))
		end++;
	if (end <= N_STEPS)
		snprintf(until, sizeof(until), "%" PRIu64, end);
	put("%" PRIu64 "\t%s\t0x%" PRIx64 "\t%u\t", begin, until, addr, n_bytes);
	if (st && st->pc != TS_NO_PC)
		snprintf(pc, sizeof(pc), "0x%" PRIx64, st->pc);
	if (st)
		put("%s\t%" PRIu64 "\t%" PRId64 "\t%s\t\n", kind_of(begin - 1, addr), begin - 1,
		    a.names.tids[st->thread], pc);
	else
		put("start\t\t\t\t\n");
}

static void ask_any(void)
{
	uint64_t len, from = 0, to = N_STEPS + 1, at = script_below(&rnd, N_STEPS + 1);
	char question[300] = "find";
	const char *got;

	n_bytes = 1 + (unsigned)script_below(&rnd, MAX_VALUE);
	script_range(&rnd, 40, &first, &len);
	last = first + len - 1;
	if (len < n_bytes || last > ts_arch_addr_mask(s->rec.regs.arch) || last == UINT64_MAX)
		return;
	for (unsigned i = 0; i < n_bytes; i++) {
		is_any[i] = i && script_chance(&rnd, 20);
		bytes[i] = (uint8_t)script_below(&rnd, 4);
		if (is_any[i])
			strcat(question, " ??");
		else
			sprintf(question + strlen(question), " %02x", bytes[i]);
	}
	process = s->rec.threads[naive_thread(nv, at)].process;
	sprintf(question + strlen(question), " in memory 0x%" PRIx64 ":0x%" PRIx64 " at %" PRIu64, first, last + 1, at);
	if (script_chance(&rnd, 30)) {
		from = script_below(&rnd, N_STEPS);
		to = from + 1 + script_below(&rnd, N_STEPS - from);
		sprintf(question + strlen(question), " in %" PRIu64 ":%" PRIu64, from, to);
	}
	n_want = 0;
	*want = 0;
	for (uint64_t pos = from; pos < to; pos++) {
		for (uint64_t addr = first; addr + (n_bytes - 1) <= last; addr++) {
			if (stands(pos, addr) && (!pos || !stands(pos - 1, addr)))
				put_match(addr, pos);
		}
	}
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	got = strchr(ts_buf_text(&a.out), '\n') + 1;
	ck_assert_msg(!strcmp(got, want), "%s\nexpected:\n%sgot:\n%s", question, want, got);
}

START_TEST(a_value_is_found_wherever_and_whenever_it_stands)
{
	s = script_random_new((uint64_t)_i, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, s);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	rnd.state = (uint64_t)_i;
	for (unsigned i = 0; i < 25; i++)
		ask_any();
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_find");
	TCase *c = tcase_create("ask_find");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 1, 100);
	/* two reads in a step; zeros in a map of terabytes: few seeds have that */
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 605, 606);
	tcase_add_loop_test(c, a_value_is_found_wherever_and_whenever_it_stands, 308, 309);
	suite_add_tcase(suite, c);
	return suite;
}
