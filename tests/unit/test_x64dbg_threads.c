/* SPDX-License-Identifier: MIT */
/*
 * x64dbg traces, written block by block: gaps, threads, what plugins add, decode points.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "x64dbg_case.h"
#include "world_lists.h"

/* ---------------------------------------------------------------------------------------- gaps */

START_TEST(a_new_session_forgets_memory_and_other_threads)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 @2000=11\n"
		  "step 5000 90 tid=c8\n"
		  "full 1002 90 ax=2000\n"
		  "step 1003 8a00 @2000=22\n"
		  "step 1005 90\n");
	ck_assert(!has_gap(0));
	ck_assert(has_gap(1));
	ck_assert_str_eq(mem(1, 0x2000, 1), "11");
	ck_assert_str_eq(mem(2, 0x2000, 1), "22"); /* so it was since the session began */
	ck_assert_uint_eq(reg_of(1, 1, "rax"), 0x2000);
	ck_assert_uint_eq(reg_of(2, 1, "rax"), UNKNOWN);
	ck_assert_uint_eq(reg(2, "rax"), 0x2000);
}
END_TEST

START_TEST(a_page_of_a_session_is_no_gap)
{
	struct xw_block b = INSN(0x1000, "\x8a\x00");
	uint64_t pc = 0x1002;

	xw_mem(&b, 0x2000, 0x11, 0x11);
	begin(b, 0x2000, 0);
	for (unsigned i = 1; i < 512; i++)
		nop(pc++);
	b = INSN(pc, "\x90");
	xw_reg(&b, RAX, 0x2000);
	add_full(b, 100);
	nop(pc + 1);
	load();
	ck_assert_ptr_null(ts_world_find_event(&tl->world, TS_EV_GAP, 0, false));
	ck_assert_str_eq(mem(513, 0x2000, 1), "11");
}
END_TEST

START_TEST(a_call_that_was_stepped_over_keeps_memory)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 sp=9000 @2000=11\n"
		  "step 1002 e810000000 @8ff8=0>1007\n"
		  "step 1007 90\n"
		  "step 1008 ffd0\n" /* call *%rax */
		  "step 100a 90\n"
		  "step 100b 90\n");
	ck_assert(!has_gap(0));
	ck_assert(has_gap(1));
	ck_assert(!has_gap(2));
	ck_assert(has_gap(3));
	ck_assert_str_eq(mem(5, 0x2000, 1), "11");
	ck_assert_str_eq(mem(2, 0x8ff8, 2), "0710");
}
END_TEST

/* Like a call that was stepped over; only a session forgets. */
START_TEST(other_code_that_ran_keeps_memory)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 sp=9000 @2000=11\n"
		  "step 1002 90\n"
		  "step 7000 90\n" /* which no instruction led to */
		  "step 7001 90\n");
	ck_assert(!has_gap(0));
	ck_assert(has_gap(1));
	ck_assert_str_eq(mem(2, 0x2000, 1), "11");
	ck_assert_str_eq(mem(3, 0x2000, 1), "11");
}
END_TEST

START_TEST(an_instruction_that_cannot_follow_is_a_gap)
{
	static const struct {
		const char *bytes;
		unsigned len;
		uint64_t next;
		bool is_gap;
	} cases[] = {
		{ "\x90", 1, 0x1001, false },	      { "\x90", 1, 0x1000, false },
		{ "\x90", 1, 0x1002, true },	      { "\xeb\x10", 2, 0x1012, false },
		{ "\xeb\x10", 2, 0x1002, true },      { "\x74\x10", 2, 0x1012, false },
		{ "\x74\x10", 2, 0x1002, false },     { "\x74\x10", 2, 0x1013, true },
		{ "\xc3", 1, 0x5000, false },	      { "\xf3\xaa", 2, 0x1000, false },
		{ "\xf3\xaa", 2, 0x1002, false },     { "\xf3\xaa", 2, 0x1003, true },
		{ "\x0f\x05", 2, 0x7000, false },     { "\xff\xe0", 2, 0x7000, false },
		{ "\xe8\0\0\0\0", 5, 0x1005, false }, { "\xe8\1\0\0\0", 5, 0x1007, true },
		{ "\x06", 1, 0x7000, false },	      { "\x8e\xd0", 2, 0x1004, false },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(xw_insn(true, 0x1000, cases[i].bytes, cases[i].len), 0, 0x9000);
		nop(cases[i].next);
		nop(cases[i].next + 1);
		load();
		ck_assert_msg(has_gap(0) == cases[i].is_gap, "case %u", i);
		teardown();
		setup();
	}
}
END_TEST

/* ---------------------------------------------------------------------------------------- threads */

static void switch_to(uint32_t tid, uint64_t pc, uint64_t rax, bool is_flagged)
{
	struct xw_block b = INSN(pc, "\x90");

	b.has_tid = true;
	b.is_flagged = is_flagged;
	b.tid = tid;
	xw_reg(&b, RAX, rax);
	add(&b);
}

/* Registers are recorded before instructions: what the last one wrote is shown when the thread goes on. */
START_TEST(a_thread_that_waits_is_after_its_last_instruction)
{
	load_text("x64\n"
		  "full 1000 90 ax=1\n"
		  "step 1001 b805000000 ax=2 cx=7 tid=64\n" /* mov eax, 5 */
		  "step 5000 90 ax=3 tid=c8\n"
		  "step 5001 ffc1 ax=4 cx=8 tid=c8\n"         /* inc ecx */
		  "step 1006 90 ax=5 cx=9 tid=64\n"
		  "step 1007 90\n");
	ck_assert_uint_eq(rec->n_threads, 2);
	ck_assert_uint_eq(rec->threads[0].tid, 100);
	ck_assert_uint_eq(rec->threads[1].tid, 200);
	ck_assert_uint_eq(reg(1, "rax"), 2);
	ck_assert_uint_eq(reg(2, "rax"), 3);
	ck_assert_uint_eq(reg_of(3, 0, "rax"), 5);
	ck_assert_uint_eq(reg_of(3, 0, "rcx"), 7); /* not written by the mov: nobody knows when it changed */
	ck_assert_uint_eq(reg_of(3, 0, "rip"), 0x1006);
	ck_assert_uint_eq(reg(4, "rax"), 5);
	ck_assert_uint_eq(reg(4, "rcx"), 9);
	ck_assert_uint_eq(reg_of(5, 1, "rax"), 4); /* it does not go on */
	ck_assert_uint_eq(reg_of(5, 1, "rcx"), UNKNOWN);
	ck_assert_uint_eq(reg_of(5, 1, "rip"), 0x5001);
	ck_assert_uint_eq(reg_of(1, 1, "rax"), UNKNOWN); /* it had not run */
}
END_TEST

/* Code that was not recorded ran before the thread went on: it may have written the register again. */
START_TEST(a_thread_that_goes_on_elsewhere_does_not_show_what_it_wrote)
{
	load_text("x64\n"
		  "full 1000 b805000000 ax=2\n"
		  "step 5000 90 ax=3 tid=c8\n"
		  "step 1234 90 ax=6 tid=64\n"
		  "step 1235 90\n");
	ck_assert_uint_eq(reg_of(1, 0, "rax"), UNKNOWN);
	ck_assert_uint_eq(reg_of(1, 0, "rip"), 0x1000);
	ck_assert_uint_eq(reg(2, "rax"), 6);
}
END_TEST

START_TEST(a_thread_id_without_its_flag_is_found)
{
	load_text("x64\n"
		  "full 1000 90 ax=1\n"
		  "step 1001 90 ax=2 tid=64\n"
		  "step 5000 90 ax=3 tid?=c8\n"
		  "step 5001 90\n"
		  "step 5002 90\n"
		  "step 5003 90\n"
		  "step 5004 90\n"
		  "step 5005 90 ax=4 tid=c8\n"
		  "step 1002 90 ax=5 tid?=64\n"
		  "step 1003 90\n"
		  "step 1004 90\n");
	ck_assert_uint_eq(tl->n_steps, 10);
	ck_assert_uint_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(rec->n_threads, 2);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 2)].tid, 200);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 8)].tid, 100);
	ck_assert_uint_eq(rec->n_warnings, 1);
	ck_assert_uint_eq(rec->warnings[0].count, 2);
	ck_assert_ptr_nonnull(strstr(rec->warnings[0].text, "thread id"));
}
END_TEST

START_TEST(it_is_found_behind_any_block)
{
	begin(INSN(0x1000, "\x90"), 1, 0);
	for (unsigned i = 1; i < 5; i++)
		nop(0x1000 + i);
	switch_to(200, 0x5000, 3, false); /* behind one without a flag */
	for (unsigned i = 1; i < 6; i++)
		nop(0x5000 + i);
	load();
	ck_assert_uint_eq(tl->n_steps, 10);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 5)].tid, 200);
}
END_TEST

START_TEST(threads_that_alternate_are_found)
{
	begin(INSN(0x1000, "\x90"), 1, 0);
	switch_to(100, 0x1001, 2, true);
	for (unsigned i = 0; i < 20; i++) {
		switch_to(i % 2 ? 100 : 200, 0x5000 + 2 * i, 3, false);
		switch_to(i % 2 ? 100 : 200, 0x5001 + 2 * i, 3, true);
	}
	switch_to(300, 0x7000, 3, false);
	load();
	ck_assert_uint_eq(tl->n_steps, 43); /* the last block is its thread's only one: a step */
	ck_assert_uint_eq(rec->n_threads, 3);
	ck_assert_uint_eq(rec->threads[ts_query_thread(q, 42)].tid, 300);
	ck_assert_uint_eq(reg(42, "rax"), 3);
}
END_TEST

/* Bytes that were read of a source whose operations are counted_ops; it is else as it was. */
static const struct ts_source_ops *uncounted;

static struct ts_source_ops counted_ops;

static uint64_t n_read;

static bool read_counted(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *got,
			 struct ts_error *e)
{
	n_read += len;
	return uncounted->read(s, off, data, len, got, e);
}

/* After each flagged block the reader looks four blocks ahead. */
START_TEST(what_is_looked_at_ahead_is_not_read_again)
{
	struct ts_reader *r;

	begin(INSN(0x1000, "\x90"), 0, 0);
	for (unsigned i = 0; i < 8000; i++) {
		struct xw_block b = INSN(0x1000, "\x90");

		b.has_tid = b.is_flagged = i % 16 == 0;
		b.tid = 100 + i / 16 % 2;
		add(&b);
	}
	load();
	r = rec->ops->reader(rec, &err);
	uncounted = src->ops;
	counted_ops = *uncounted;
	counted_ops.read = read_counted;
	src->ops = &counted_ops;
	n_read = 0;
	while (ts_reader_next(r, &steps, &err) == TS_ITEM)
		;
	ts_reader_close(r);
	ck_assert_uint_gt(n_read, file.len / 2);
	ck_assert_uint_lt(n_read, file.len + (64 << 10));
}
END_TEST

/* ---------------------------------------------------------------------------------------- plugins */

START_TEST(user_blocks_are_passed_over)
{
	static const uint8_t data[300] = { 0 };

	xw_head(&file, true, NULL);
	xw_user_block(&file, 0xff, data, 300);
	add_full(INSN(0x1000, "\x90"), 100);
	xw_user_block(&file, 0x81, data, 0);
	nop(0x1001);
	xw_user_block(&file, 0x80, data, 5);
	xw_user_block(&file, 0x80, data, 7);
	load();
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(rec->n_warnings, 0);
}
END_TEST

static const char facts[] =
	"{\"value0\": {\"supertrace.version\": 65536, \"exeBuf\": [77, 90, 144,\n 0], \"process.id\": 4242, "
	"\"process.handle\": 184467440737095516150,"
	"\"threads\": [{\"id\": 200, \"name\": \"wor\\\"[1,2]ker\"}, {\"id\": 100, \"name\": \"\"}, {\"id\": "
	"\"x\"}, 7],"
	"\"memoryMaps\": [{\"addr\": 8192, \"size\": 4096, \"protect\": 4, \"state\": 4096, \"dataValid\": "
	"true, \"data\": [1,2,3]},"
	"{\"addr\": \"0x400000\", \"size\": \"8192\", \"protect\": 32, \"state\": 4096, \"data\": []},"
	"{\"addr\": 65536, \"size\": 4096, \"protect\": 4, \"state\": 8192},"
	/* PAGE_READWRITE | PAGE_GUARD: the first access faults */
	"{\"addr\": 131072, \"size\": 4096, \"protect\": 260, \"state\": 4096},"
	"{\"addr\": \"0xffffffffffff0000\", \"size\": \"0x10001\", \"protect\": 4, \"state\": 4096}," /* a byte too long */
	"{\"addr\": 1e18, \"size\": 1e19, \"protect\": 4, \"state\": 4096}],"
	"\"modules\": [{\"path\": \"C:\\\\dir\\\\prog.exe\", \"base\": 4194304, \"size\": 8192, "
	"\"isMainModule\": true},"
	"{\"path\": \"C:\\\\Windows\\\\ntdll.dll\", \"base\": 2147418112, \"size\": 4096}, {\"base\": 1}, "
	"null]}}";

START_TEST(a_plugins_list_of_modules_threads_and_regions_is_used)
{
	const struct ts_region *regions[4];
	const struct ts_module_span *m;
	size_t at = 0;

	begin(INSN(0x1000, "\x90"), 1, 0);
	switch_to(200, 0x5000, 3, true);
	nop(0x5001);
	xw_user_block(&file, 0x80, facts, sizeof(facts) - 1);
	load();
	ck_assert_uint_eq(rec->threads[0].pid, 4242);
	ck_assert_str_eq(rec->threads[1].name, "wor\"[1,2]ker");
	ck_assert_str_eq(rec->threads[0].name, "");
	ck_assert_uint_eq(world_regions(&tl->world, 0, 0, regions, 4), 2);
	ck_assert_uint_eq(regions[0]->first, 0x2000);
	ck_assert_uint_eq(regions[0]->prot, TS_PROT_READ | TS_PROT_WRITE);
	ck_assert_uint_eq(regions[1]->last, 0x401fff);
	m = world_next_module(&tl->world, 0, 0, &at);
	ck_assert_str_eq(ts_world_text(&tl->world, m->file), "C:\\dir\\prog.exe");
	m = world_next_module(&tl->world, 0, 0, &at);
	ck_assert_uint_eq(m->first, 0x7fff0000);
	ck_assert_ptr_null(world_next_module(&tl->world, 0, 0, &at));
	ck_assert_uint_eq(rec->n_warnings, 0);
}
END_TEST

/* A trace of one step, and a last block with this text. */
static void load_facts(const char *text)
{
	teardown();
	setup();
	begin(INSN(0x1000, "\x90"), 1, 0);
	nop(0x1001);
	xw_user_block(&file, 0x80, text, strlen(text));
	load();
	ck_assert_uint_eq(tl->n_steps, 1);
}

START_TEST(facts_that_cannot_be_are_passed_over)
{
	const struct ts_region *region;
	size_t at = 0;

	load_facts(
		"{\"process.id\": 4294967296, \"threads\": 7, \"modules\": {\"path\": \"x\"}, \"memoryMaps\": \"all\"}");
	ck_assert_uint_eq(rec->threads[0].pid, 1); /* as without them */
	ck_assert_uint_eq(rec->n_warnings, 0);
	load_facts("{\"process.id\": -5, \"modules\": [{\"path\": \"\", \"base\": 4096, \"size\": 4096},"
		   "{\"path\": 5, \"base\": 4096, \"size\": 4096}, {\"path\": \"no size\", \"base\": 4096}],"
		   "\"memoryMaps\": [{\"addr\": 8192, \"size\": 4096, \"protect\": 1, \"state\": 4096},"
		   "{\"addr\": 8192, \"size\": 0, \"protect\": 4, \"state\": 4096}]}");
	ck_assert_uint_eq(rec->threads[0].pid, 1);
	ck_assert_uint_eq(world_regions(&tl->world, 0, 0, &region, 1), 0);
	ck_assert_ptr_null(world_next_module(&tl->world, 0, 0, &at));
	ck_assert_uint_eq(rec->n_warnings, 0);
	load_facts("{\"process.id\": 4294967295}"); /* the largest there may be; not in another object */
	ck_assert_uint_eq(rec->threads[0].pid, UINT32_MAX);
}
END_TEST

/* Microsoft's PAGE_ constants (VirtualProtect). */
START_TEST(protections_of_regions)
{
	static const struct {
		unsigned protect;
		uint32_t prot;
	} cases[] = {
		{ 0x02, TS_PROT_READ },
		{ 0x04, TS_PROT_READ | TS_PROT_WRITE },
		{ 0x08, TS_PROT_READ | TS_PROT_WRITE },                 /* PAGE_WRITECOPY */
		{ 0x10, TS_PROT_EXEC },
		{ 0x20, TS_PROT_READ | TS_PROT_EXEC },
		{ 0x40, TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC },
		{ 0x80, TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC },  /* PAGE_EXECUTE_WRITECOPY */
		{ 0x204, TS_PROT_READ | TS_PROT_WRITE },                /* PAGE_NOCACHE */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ts_region *region;
		char text[200];

		teardown();
		setup();
		snprintf(text, sizeof(text),
			 "{\"value0\": {\"memoryMaps\": [{\"addr\": 8192, \"size\": 4096, \"protect\": %u, \"state\": 4096}]}}",
			 cases[i].protect);
		begin(INSN(0x1000, "\x90"), 1, 0);
		nop(0x1001);
		xw_user_block(&file, 0x80, text, strlen(text));
		load();
		ck_assert_uint_eq(world_regions(&tl->world, 0, 0, &region, 1), 1);
		ck_assert_msg(region->prot == cases[i].prot, "0x%x: %u", cases[i].protect, region->prot);
	}
}
END_TEST

START_TEST(a_last_block_that_is_no_json_is_ignored)
{
	load_text("x64\n"
		  "full 1000 90\n"
		  "step 1001 90\n"
		  "user 80 {\"threads\": }\n");
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(rec->n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(rec->warnings[0].text, "not valid JSON"));
}
END_TEST

/* ---------------------------------------------------------------------------------------- decode points */

/* Sessions, threads, damage, and a stretch without a block that holds all. */
static void write_much(void)
{
	uint64_t pc = 0x1000;

	begin(INSN(pc, "\x90"), 1, 0);
	for (unsigned i = 1; i < 2600; i++) {
		struct xw_block b = INSN(++pc, "\x90");

		xw_reg(&b, RAX, i);
		if (i % 97 == 0) {
			switch_to(100 + i % 3, pc, i, true);
		} else if (i % 101 == 0) {
			switch_to(100 + i % 5, pc, i, false);
		} else if (i % 7 == 0) {
			b = INSN(pc, "\x88\x00");
			xw_reg(&b, RAX, 0x2000 + i);
			xw_mem(&b, 0x2000 + i, i, i + 1);
			add(&b);
			pc++;
		} else if (i == 512 || i == 700 || i == 2500) {
			add_full(b, 100);
		} else if (i == 2450) {
			ts_buf_puts(&file, "\x05 damage");
		} else if (i % 131 == 0) {
			pc = 0x1000 + i % 5;
		} else {
			add(&b);
		}
	}
}

static void compare_step(const struct ts_steps *a, uint32_t n, const struct ts_steps *b)
{
	const struct ts_step *x = &a->steps[n], *y = &b->steps[0];

	if (x->pc != y->pc || x->thread != y->thread || x->n_effects != y->n_effects ||
	    x->insn_len != y->insn_len)
		ck_abort_msg("step %u is another one", n);
	for (uint32_t i = 0; i < x->n_effects; i++) {
		const struct ts_effect *e = &a->effects[x->first + i], *f = &b->effects[i];
		const uint8_t *p = ts_effect_data(a, e), *r = ts_effect_data(b, f);

		if (e->kind != f->kind || e->addr != f->addr || e->len != f->len ||
		    e->is_hidden != f->is_hidden || !p != !r || (p && memcmp(p, r, e->len)) ||
		    (e->kind == TS_FX_THREAD && e->item != f->item))
			ck_abort_msg("step %u, effect %u is another one", n, i);
	}
}

START_TEST(a_reader_goes_on_from_everywhere_as_from_the_start)
{
	struct ts_reader *one, *other;
	struct ts_steps out;
	struct ts_buf point;

	write_much();
	load();
	ck_assert_uint_gt(steps.n_steps, 2400);
	one = rec->ops->reader(rec, &err);
	other = rec->ops->reader(rec, &err);
	ts_steps_init(&out);
	ts_buf_init(&point);
	for (uint32_t i = 0; i < steps.n_steps; i++) {
		ts_buf_reset(&point);
		ts_reader_save(one, &point);
		ck_assert_msg(ts_reader_resume(other, point.data, point.len, &err), "step %u: %s", i,
			      err.text);
		ts_steps_reset(&out);
		ck_assert(other->ops->next(other, &out, &err) == TS_ITEM);
		compare_step(&steps, i, &out);
		if (other->end.pc != (i + 1 < steps.n_steps ? steps.steps[i + 1].pc : other->end.pc))
			ck_abort_msg("step %u ends elsewhere", i);
		ts_steps_reset(&out);
		ck_assert(one->ops->next(one, &out, &err) == TS_ITEM);
	}
	ts_buf_fini(&point);
	ts_steps_fini(&out);
	ts_reader_close(one);
	ts_reader_close(other);
}
END_TEST

/*
 * Bytes of an index are anybody's: each point is refused with one sentence, or reading from it ends somehow.
 */
START_TEST(a_forged_decode_point_is_refused_or_harmless)
{
	struct ts_reader *r;
	struct ts_buf point;
	uint8_t bytes[2048];

	write_much();
	ck_assert(try_load());
	r = rec->ops->reader(rec, &err);
	for (int i = 0; i < 1600; i++) { /* past a mark that has registers */
		ts_steps_reset(&steps);
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_ITEM);
	}
	ts_buf_init(&point);
	ts_reader_save(r, &point);
	ck_assert_uint_lt(point.len, sizeof(bytes));
	for (size_t len = 0; len < point.len; len++) {
		memcpy(bytes, point.data, point.len);
		ck_assert(!ts_reader_resume(r, bytes, len, &err));
		ck_assert_int_eq(err.code, TS_ECORRUPT);
		ck_assert_str_eq(err.text, "the decode point belongs to another trace");
		ts_error_reset(&err);
		ts_steps_reset(&steps);
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_FAIL);
		ts_error_reset(&err);
	}
	for (size_t bit = 0; bit < 30 * 8 && bit < point.len * 8; bit++) {
		memcpy(bytes, point.data, point.len);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_error_reset(&err);
		if (ts_reader_resume(r, bytes, point.len, &err)) {
			ts_steps_reset(&steps);
			for (int i = 0; i < 50 && ts_reader_next(r, &steps, &err) == TS_ITEM; i++)
				;
		}
	}
	ts_error_reset(&err);
	ck_assert(ts_reader_resume(r, point.data, point.len, &err));
	ts_reader_close(r);
	ts_buf_fini(&point);
}
END_TEST

UNIT_FIXTURE_SUITE("x64dbg_threads", setup, teardown, a_new_session_forgets_memory_and_other_threads,
		   a_page_of_a_session_is_no_gap, a_call_that_was_stepped_over_keeps_memory,
		   other_code_that_ran_keeps_memory, an_instruction_that_cannot_follow_is_a_gap,
		   a_thread_that_waits_is_after_its_last_instruction,
		   a_thread_that_goes_on_elsewhere_does_not_show_what_it_wrote, a_thread_id_without_its_flag_is_found,
		   it_is_found_behind_any_block, threads_that_alternate_are_found,
		   what_is_looked_at_ahead_is_not_read_again, user_blocks_are_passed_over,
		   a_plugins_list_of_modules_threads_and_regions_is_used,
		   facts_that_cannot_be_are_passed_over, protections_of_regions,
		   a_last_block_that_is_no_json_is_ignored, a_forged_decode_point_is_refused_or_harmless,
		   a_reader_goes_on_from_everywhere_as_from_the_start)
