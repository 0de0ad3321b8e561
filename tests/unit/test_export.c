/* SPDX-License-Identifier: MIT */
/*
 * Recordings exported, loaded again, and compared with themselves at every exported position.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "no_memory.h"
#include "script.h"
#include "src/export/export.h"
#include "src/export/selection.h"
#include "src/timeline/timeline.h"

#define OUT "out.tf"
#define MAX_REGS 8192

/* A recording to ask, whoever made it. */
struct asked {
	struct ts_source *src;
	struct script *script;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
};

static struct asked from, to;
static struct ts_selection sel;
static struct ts_selection_options opt;
static struct ts_error err;
static char exported_zeros[4096], left_out[4096];

/* As ck_assert, for millions of them: libcheck's own tells the parent process about each. */
#define CHECK(condition, ...)                      \
	do {                                       \
		if (!(condition))                  \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

static void setup(void)
{
	from = to = (struct asked){ 0 };
	sel = (struct ts_selection){ 0 };
	ts_error_reset(&err);
	ts_selection_options_init(&opt);
}

static void stop_asking(struct asked *a)
{
	ts_query_free(a->q);
	ts_timeline_free(a->tl);
	if (a->script)
		script_free(a->script);
	else
		ts_recording_close(a->rec);
	ts_source_close(a->src);
	*a = (struct asked){ 0 };
}

static void teardown(void)
{
	ts_selection_fini(&sel);
	stop_asking(&from);
	stop_asking(&to);
}

static void start_asking(struct asked *a)
{
	a->tl = ts_timeline_new(a->rec, NULL, &err);
	ck_assert_ptr_nonnull(a->tl);
	ck_assert_msg(ts_timeline_grow(a->tl, UINT64_MAX, &err) == TS_END, "%s", err.text);
	a->q = ts_query_new(a->tl, &err);
	ck_assert_ptr_nonnull(a->q);
}

static void load(struct asked *a, const char *path)
{
	const struct ts_loader_options none = { 0 };

	a->src = ts_source_open(path, &err);
	ck_assert_msg(a->src != NULL, "%s: %s", path, err.text);
	a->rec = ts_loader_open(ts_loader_probe(a->src, &err), a->src, &none, &err);
	ck_assert_msg(a->rec != NULL, "%s: %s", path, err.text);
	start_asking(a);
}

static void load_script(struct script *s)
{
	from.script = s;
	from.rec = &s->rec;
	start_asking(&from);
}

static bool write_out(const char *path)
{
	struct ts_export *e = ts_export_new(from.q, &sel.frames, &sel.tracing, path, &err);
	enum ts_next next = TS_FAIL;
	struct ts_buf names;

	ts_buf_init(&names);
	if (e) {
		while ((next = ts_export_run(e, 100, &err)) == TS_MORE)
			;
		ts_export_zeros(e, &names);
		snprintf(exported_zeros, sizeof(exported_zeros), "%s ", ts_buf_text(&names));
		ts_buf_reset(&names);
		ts_export_left_out(e, &names);
		snprintf(left_out, sizeof(left_out), "%s ", ts_buf_text(&names));
	}
	ts_buf_fini(&names);
	ts_export_free(e);
	return next == TS_END;
}

static void export(void)
{
	ck_assert_msg(ts_selection_init(&sel, from.q, &opt, &err), "%s", err.text);
	ck_assert_msg(write_out(OUT), "%s", err.text);
	load(&to, OUT);
	ck_assert_uint_eq(to.rec->frames->n_frames, sel.frames.n_frames);
	ck_assert_uint_eq(to.rec->n_warnings, 0);
}

static bool is_listed(const char *names, const char *name)
{
	char word[128];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(names, word) != NULL;
}

/* The registers of frame @n are those of its position, or unknown if they were left out. */
static void compare_regs(uint64_t n, uint64_t pos)
{
	static uint8_t data[MAX_REGS], known[MAX_REGS], new_data[MAX_REGS], new_known[MAX_REGS];

	CHECK(ts_query_regs(from.q, pos, ts_query_thread(from.q, pos), data, known, &err), "%s", err.text);
	CHECK(ts_query_regs(to.q, n, 0, new_data, new_known, &err), "%s", err.text);
	CHECK(from.rec->regs.n_regs == to.rec->regs.n_regs, "%u registers", to.rec->regs.n_regs);
	for (unsigned i = 0; i < from.rec->regs.n_regs; i++) {
		const struct ts_reg *r = &from.rec->regs.regs[i];
		const struct ts_reg *new = &to.rec->regs.regs[ts_regset_find(&to.rec->regs, r->name)];
		bool is_known = !memchr(known + r->off, 0, r->len);
		bool is_there = opt.collect.has_regs && !is_listed(left_out, r->name);

		CHECK(new->len == r->len, "%s has %u bytes", r->name, new->len);
		if (new->role == TS_ROLE_PC && !opt.collect.has_regs)
			continue;
		CHECK(!memchr(new_known + new->off, is_there ? 0 : 1, new->len), "frame %" PRIu64 ": %s", n,
		      r->name);
		CHECK(!is_there || is_known || is_listed(exported_zeros, r->name), "frame %" PRIu64 ": %s", n,
		      r->name);
		for (unsigned j = 0; is_there && j < r->len; j++)
			CHECK(new_data[new->off + j] == (known[r->off + j] ? data[r->off + j] : 0),
			      "frame %" PRIu64 ": %s", n, r->name);
	}
}

/* The memory of frame @n is what is known of its ranges at its position, and nothing else. */
static void compare_memory(uint64_t n, const struct ts_frame *want, const struct ts_frame *got)
{
	static uint8_t data[70000], known[70000], new_data[70000], new_known[70000];
	uint32_t process = ts_timeline_process(from.tl, ts_query_thread(from.q, want->pos));
	uint64_t n_want = 0, n_got = 0;

	for (size_t i = 0; i < want->n_ranges; i++) {
		uint64_t addr = want->ranges[i].addr;
		size_t len = (size_t)want->ranges[i].len;

		CHECK(len <= sizeof(data), "a range of %zu bytes", len);
		CHECK(ts_query_mem(from.q, want->pos, process, addr, len, data, known, &err), "%s", err.text);
		CHECK(ts_query_mem(to.q, n, 0, addr, len, new_data, new_known, &err), "%s", err.text);
		for (size_t j = 0; j < len; j++) {
			n_want += known[j];
			CHECK(known[j] == new_known[j] && (!known[j] || data[j] == new_data[j]),
			      "frame %" PRIu64 ": memory at 0x%" PRIx64, n, addr + j);
		}
	}
	for (size_t i = 0; i < got->n_ranges; i++)
		n_got += got->ranges[i].len;
	CHECK(n_got == n_want, "frame %" PRIu64 ": %" PRIu64 " bytes of memory, not %" PRIu64, n, n_got,
	      n_want);
}

static void compare_all(void)
{
	struct ts_frame want, got;

	ts_frame_init(&want);
	ts_frame_init(&got);
	for (uint64_t n = 0; n < sel.frames.n_frames; n++) {
		CHECK(ts_frames_get(&sel.frames, n, &want, &err) &&
			      ts_frames_get(to.rec->frames, n, &got, &err),
		      "%s", err.text);
		CHECK(want.tracepoint == got.tracepoint && want.has_regs == got.has_regs, "frame %" PRIu64,
		      n);
		compare_regs(n, want.pos);
		compare_memory(n, &want, &got);
	}
	ts_frame_fini(&want);
	ts_frame_fini(&got);
}

static void round_trip(const char *path)
{
	load(&from, unit_data_path(path));
	export();
	compare_all();
}

START_TEST(samples_come_back_as_they_were)
{
	static const char *const samples[] = { "x64_walk",  "arm_walk", "arm64_walk",
					       "mips_walk", "x86_walk", "x64_fpu" };
	char path[64];

	snprintf(path, sizeof(path), "usercorn/%s.ucir", samples[_i]);
	opt.first = 300;
	opt.last = 1100;
	round_trip(path);
	ck_assert_uint_eq(sel.frames.n_frames, 801);
}
END_TEST

START_TEST(random_recordings_come_back_as_they_were)
{
	opt.collect.n_memory = SCRIPT_N_ARENAS;
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++)
		opt.collect.memory[i] =
			(struct ts_range){ script_arenas[i].first,
					   script_arenas[i].last - script_arenas[i].first + 1 };
	load_script(script_random_new((uint64_t)_i, 600));
	export();
	compare_all();
}
END_TEST

START_TEST(the_executions_of_addresses_are_exported)
{
	uint64_t pc, other, n = 0;
	bool has_pc;

	load(&from, unit_data_path("usercorn/x64_walk.ucir"));
	ck_assert(ts_query_pc(from.q, 2000, 0, &pc, &has_pc, &err));
	ck_assert(ts_query_pc(from.q, 2005, 0, &other, &has_pc, &err));
	ck_assert_uint_ne(pc, other);
	opt.at[opt.n_at++] = pc;
	opt.at[opt.n_at++] = other;
	export();
	compare_all();
	for (uint64_t pos = 0; pos <= from.tl->n_steps; pos++) {
		uint64_t at;

		CHECK(ts_query_pc(from.q, pos, 0, &at, &has_pc, &err), "%s", err.text);
		if (at != pc && at != other)
			continue;
		CHECK(sel.frames.ops->pos(&sel.frames, n) == pos, "frame %" PRIu64, n);
		CHECK(to.rec->frames->ops->next_of(to.rec->frames, at == pc ? 1 : 2, n) == n,
		      "frame %" PRIu64, n);
		n++;
	}
	ck_assert_uint_eq(n, sel.frames.n_frames);
	ck_assert_ptr_nonnull(ts_tracing_find(to.rec->tracing, 1, pc));
	ck_assert_ptr_nonnull(ts_tracing_find(to.rec->tracing, 2, other));
}
END_TEST

START_TEST(without_registers_there_are_none)
{
	opt.collect.has_regs = false;
	opt.last = 50;
	round_trip("usercorn/x64_walk.ucir");
}
END_TEST

START_TEST(an_exported_file_exports_as_itself)
{
	uint8_t *bytes[2];
	size_t len[2];
	FILE *f;

	opt.first = 300;
	opt.last = 400;
	round_trip("usercorn/x64_walk.ucir");
	ts_selection_fini(&sel);
	stop_asking(&from);
	from = to;
	to = (struct asked){ 0 };
	rename(OUT, "first.tf");
	ts_selection_options_init(&opt);
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	ck_assert(write_out(OUT));
	for (unsigned i = 0; i < 2; i++) {
		f = fopen(i ? OUT : "first.tf", "rb");
		bytes[i] = malloc(1 << 20);
		len[i] = fread(bytes[i], 1, 1 << 20, f);
		fclose(f);
	}
	ck_assert_uint_eq(len[0], len[1]);
	ck_assert(!memcmp(bytes[0], bytes[1], len[0]));
	free(bytes[0]);
	free(bytes[1]);
}
END_TEST

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

START_TEST(an_unfinished_file_is_never_seen)
{
	struct ts_export *e;

	ck_assert_int_eq(mkdir("alone", 0777), 0);
	load(&from, unit_data_path("usercorn/x64_walk.ucir"));
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	e = ts_export_new(from.q, &sel.frames, &sel.tracing, "alone/" OUT, &err);
	ck_assert_ptr_nonnull(e);
	ck_assert_int_eq(ts_export_run(e, 7481 + 7000, &err), TS_MORE);
	ck_assert(ts_export_progress(e) > 0.9 && ts_export_progress(e) < 1);
	ck_assert(!is_file("alone/" OUT));
	ts_export_free(e);
	ck_assert_int_eq(rmdir("alone"), 0);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error)
{
	load(&from, unit_data_path("usercorn/x64_walk.ucir"));
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	ck_assert(!write_out("nowhere/out.tf"));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_ptr_nonnull(strstr(err.text, "nowhere/out.tf"));
}
END_TEST

/* The text section of the file. */
static char *text_of_file(void)
{
	static char text[1 << 16];
	FILE *f = fopen(OUT, "rb");
	size_t len = fread(text, 1, sizeof(text) - 1, f);

	text[len] = '\0';
	fclose(f);
	*strstr(text, "\n\n") = '\0';
	return text;
}

/* That of what is exported of @tracing. */
static char *exported_text(void)
{
	ck_assert(write_out(OUT));
	return text_of_file();
}

static void add_piece(enum ts_piece kind, const char *text)
{
	ck_assert_msg(ts_tracing_piece(&sel.tracing, kind, text, strlen(text), 0, &err), "%s", err.text);
}

START_TEST(gdb_can_read_every_line)
{
	struct ts_buf b;
	char *text, *line;

	load(&from, unit_data_path("usercorn/x64_walk.ucir"));
	opt.last = 3;
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	add_piece(TS_PIECE_DEFINE, "7:1000:E:0:0");
	ts_buf_init(&b);
	ts_buf_puts(&b, "7:1000:cmd:0:1:");
	for (unsigned i = 0; i < 600; i++)
		ts_buf_puts(&b, "41");
	add_piece(TS_PIECE_SOURCE, ts_buf_text(&b));
	ts_buf_reset(&b);
	ts_buf_puts(&b, "8:2000:E:0:0:X3e8,");
	for (unsigned i = 0; i < 1000; i++)
		ts_buf_puts(&b, "27");
	add_piece(TS_PIECE_DEFINE, ts_buf_text(&b));
	add_piece(TS_PIECE_SOURCE, "7:1000:cmd:0:b:636f6c6c6563742f732070"); /* collect/s p */
	add_piece(TS_PIECE_SOURCE, "7:1000:cond:0:1:2f73");
	ts_buf_fini(&b);
	text = exported_text();
	ck_assert_ptr_nonnull(strstr(text, "\ntp T7:1000:E:0:0\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ntp T8:2000:E:0:0\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ntp Z7:1000:cmd:0:9:636f6c6c6563742070\n")); /* collect p */
	ck_assert_ptr_nonnull(strstr(text, "\ntp Z7:1000:cond:0:1:2f73"));
	ck_assert_ptr_null(strstr(text, "414141414141"));
	ck_assert_ptr_nonnull(strstr(text, "\nstatus 0;tstop::0;tframes:4;tcreated:4"));
	ck_assert(strstr(text, "tp T1:") > strstr(text, "tp T7:")); /* the newest first */
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_uint_lt(strlen(line), 999);
}
END_TEST

START_TEST(registers_that_gdb_cannot_do_without_are_noted)
{
	load(&from, unit_data_path("usercorn/mips_walk.ucir"));
	opt.last = 100;
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	exported_text();
	load(&to, OUT);
	ck_assert_str_eq(to.rec->tracing->status.notes, "not known but 0: status lo hi badvaddr cause");
	ck_assert(is_listed(left_out, "f0"));
}
END_TEST

START_TEST(where_memory_is_short_a_file_is_whole_or_is_not_there)
{
	uint64_t n = 0, n_calls;
	int64_t n_lost;
	char *wanted;

	load(&from, unit_data_path("usercorn/mips_walk.ucir"));
	opt.last = 3;
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	wanted = strdup(exported_text());
	do {
		bool done;

		remove(OUT);
		ts_error_reset(&err);
		no_memory_start(n, n + 1);
		done = write_out(OUT);
		n_calls = no_memory_end(&n_lost);
		ck_assert_int_eq(err.code, done ? TS_OK : TS_ENOMEM);
		ck_assert(done == is_file(OUT) && !n_lost);
		ck_assert(!done || !strcmp(text_of_file(), wanted));
	} while (n_calls > n++); /* until none fails */
	ck_assert_uint_gt(n, 5);
	free(wanted);
}
END_TEST

START_TEST(a_run_that_goes_on_is_saved_as_over)
{
	load(&from, unit_data_path("usercorn/x64_walk.ucir"));
	opt.last = 3;
	ck_assert(ts_selection_init(&sel, from.q, &opt, &err));
	sel.tracing.status.is_running = true;
	sel.tracing.status.n_created = 9;
	ck_assert_ptr_nonnull(strstr(exported_text(), "\nstatus 0;tunknown:0;tframes:4;tcreated:9;"));
}
END_TEST

static bool parse(bool (*read)(struct ts_selection_options *o, const char *text, struct ts_error *err),
		  const char *text)
{
	ts_error_reset(&err);
	if (read(&opt, text, &err))
		return true;
	ck_assert_int_eq(err.code, TS_EUSAGE);
	return false;
}

START_TEST(positions_are_read)
{
	static const char *const bad[] = { "",	  "5",	  "x:5",   "5:4",
					   "5:x", "-1:5", "1:2:3", "99999999999999999999:" };

	ck_assert(parse(ts_selection_positions, "5:0x10") && opt.first == 5 && opt.last == 16);
	ck_assert(parse(ts_selection_positions, ":7") && opt.first == 0 && opt.last == 7);
	ck_assert(parse(ts_selection_positions, "7:") && opt.first == 7 && opt.last == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!parse(ts_selection_positions, bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(lists_of_what_to_collect_are_read)
{
	static const char *const bad[] = { "",
					   "regs,",
					   ",regs",
					   "reg",
					   "regsx",
					   "stack",
					   "stack:",
					   "stack:x",
					   "stack:16777217",
					   "mem:5",
					   "mem:5+",
					   "mem:5+0",
					   "mem:0xffffffffffffffff+2",
					   "mem:0+16777217",
					   "code accessed" };
	const struct ts_collect *c = &opt.collect;

	ck_assert(parse(ts_selection_collect, "regs,stack:0x40,mem:0x1000+16,accessed,code,mem:32+1"));
	ck_assert(c->has_regs && c->has_accessed && c->has_code && c->stack == 64 && c->n_memory == 2);
	ck_assert(c->memory[0].addr == 0x1000 && c->memory[0].len == 16 && c->memory[1].addr == 32);
	ck_assert(parse(ts_selection_collect, "code"));
	ck_assert(!c->has_regs && !c->has_accessed && c->has_code && !c->stack && !c->n_memory);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!parse(ts_selection_collect, bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(addresses_are_read)
{
	ck_assert(parse(ts_selection_at, "0x401000") && parse(ts_selection_at, "0x401000") &&
		  parse(ts_selection_at, "16"));
	ck_assert_uint_eq(opt.n_at, 2);
	ck_assert(!parse(ts_selection_at, "main") && !parse(ts_selection_at, "") &&
		  !parse(ts_selection_at, "1,2"));
	for (unsigned i = 0; i < TS_MAX_SELECTED - 2; i++)
		opt.at[opt.n_at++] = 0x1000 + i;
	ck_assert(!parse(ts_selection_at, "5"));
}
END_TEST

START_TEST(what_cannot_be_selected_is_refused)
{
	load(&from, unit_data_path("usercorn/x64_walk.ucir"));
	opt.first = 7481;
	ck_assert(!ts_selection_init(&sel, from.q, &opt, &err));
	ck_assert_int_eq(err.code, TS_EUSAGE);
	ts_selection_fini(&sel);
	ts_error_reset(&err);
	opt.first = 0;
	opt.at[opt.n_at++] = 0x123;
	ck_assert(!ts_selection_init(&sel, from.q, &opt, &err));
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "0x123"));
}
END_TEST

Suite *unit_suite(void)
{
	static const TTest *tests[16];
	unsigned n = 0;
	Suite *s;

	tests[n++] = the_executions_of_addresses_are_exported;
	tests[n++] = without_registers_there_are_none;
	tests[n++] = an_exported_file_exports_as_itself;
	tests[n++] = an_unfinished_file_is_never_seen;
	tests[n++] = a_folder_that_is_not_there_is_an_error;
	tests[n++] = gdb_can_read_every_line;
	tests[n++] = registers_that_gdb_cannot_do_without_are_noted;
	tests[n++] = a_run_that_goes_on_is_saved_as_over;
	tests[n++] = positions_are_read;
	tests[n++] = where_memory_is_short_a_file_is_whole_or_is_not_there;
	tests[n++] = lists_of_what_to_collect_are_read;
	tests[n++] = addresses_are_read;
	tests[n++] = what_cannot_be_selected_is_refused;
	s = unit_suite_of("export", setup, teardown, tests, n);
	{
		TCase *loops = tcase_create("round trips");

		tcase_add_checked_fixture(loops, setup, teardown);
		tcase_set_timeout(loops, 300);
		tcase_add_loop_test(loops, samples_come_back_as_they_were, 0, 6);
		tcase_add_loop_test(loops, random_recordings_come_back_as_they_were, 0, 8);
		suite_add_tcase(s, loops);
	}
	return s;
}
