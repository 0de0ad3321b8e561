/* SPDX-License-Identifier: MIT */
/*
 * Tenet logs that are several files: of threads, and with the list of images that pintenet writes beside
 * them.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/kit/threads.h"
#include "ucir_text.h"

#define REGS "rax=0x1,rbx=0x2,rcx=0x3,rdx=0x4,rbp=0x5,rsp=0x7000,rsi=0x6,rdi=0x7,r8=0x8,r9=0x9,r10=0xa,r11=0xb," \
	     "r12=0xc,r13=0xd,r14=0xe,r15=0xf"
#define FIRST REGS ",rip=0x1000\nrax=0x9,rip=0x1001,mw=0x5000:01\nrbx=0x8,rip=0x1003,mw=0x5001:02\n"
#define SECOND REGS ",rip=0x2000,mr=0x6000:aa\nrcx=0x7,rip=0x2001,mr=0x5000:bb\n"

/* More than a reader looks ahead for the end of a file. */
#define FAR ((1u << 20) + 1000)

static struct ucir_trace t;
static struct ts_buf steps;
static struct ts_source *second;

static void setup(void)
{
	t = (struct ucir_trace){ .format = "tenet" };
	ts_error_reset(&t.err);
	ts_buf_init(&steps);
	ts_buf_init(&t.bytes);
	ts_steps_init(&t.steps);
	second = NULL;
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&steps);
	ts_source_close(second);
}

static void again(void)
{
	teardown();
	setup();
}

/* The log is called @name, as pintenet would. */
static void open_log(const char *name, const char *text, const struct ts_loader_options *opt)
{
	ts_buf_puts(&t.bytes, text);
	t.src = ts_source_from_memory(t.bytes.data, t.bytes.len, name, &t.err);
	ck_assert_ptr_nonnull(t.src);
	t.rec = ts_loader_open(ts_loader_find("tenet"), t.src, opt, &t.err);
	if (!t.rec)
		return;
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	ck_assert_ptr_nonnull(t.reader);
}

static void open_two(const char *first, const char *next, const char *exec)
{
	struct ts_loader_options opt = { .exec = exec };
	const struct ts_source *threads[1];

	second = ts_source_from_memory(next, strlen(next), "logs/run.2.log", &t.err);
	threads[0] = second;
	opt.threads = threads;
	opt.n_threads = 1;
	open_log("logs/run.1.log", first, &opt);
	ck_assert_msg(t.rec, "%s", t.err.text);
}

/* ------------------------------------------------------------------------------------------------ threads */

START_TEST(threads_are_one_after_the_other)
{
	open_two(FIRST, SECOND, NULL);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	/*
	 * what the last instruction of a thread that waits did to its registers is not shown; memory is
	 * unknown then
	 */
	ck_assert_str_eq(ts_buf_text(&steps),
			 "1000/1@0 rax=9 W5000=01\n1001/2@0 W5001=02 F0,ffffffffffffffff\n"
			 "2000/1@1 rcx=7 R5000,1=\n");
	ck_assert_uint_eq(t.rec->n_threads, 2);
	ck_assert_str_eq(t.rec->threads[0].name, "run.1.log");
	ck_assert_str_eq(t.rec->threads[1].name, "run.2.log");
	ck_assert_uint_eq(t.rec->threads[1].tid, 2);
	ck_assert(t.rec->is_before);
	ck_assert_uint_eq(ucir_warned(t.rec, "one after the other"), 1);
	ck_assert_uint_eq(t.reader->end.pc, 0x2001);
}
END_TEST

START_TEST(the_end_of_a_file_may_be_far_from_its_last_position)
{
	char *text = malloc(strlen(FIRST) + 2 * FAR);
	size_t len = strlen(FIRST);

	memcpy(text, FIRST, len);
	for (unsigned i = 0; i < FAR / 64; i++, len += 64)
		memcpy(text + len, "#                                                              \n", 64);
	text[len] = '\0';
	open_two(text, SECOND, NULL);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	/*
	 * whether it was the last instruction is not looked up so far ahead: memory is forgotten when the
	 * next file begins
	 */
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 rax=9 W5000=01\n1001/2@0 rbx=8 W5001=02\n"
					      "2000/1@1 F0,ffffffffffffffff rcx=7 R5000,1=\n");
	free(text);
}
END_TEST

START_TEST(the_end_of_a_long_file_is_looked_for)
{
	char *text = malloc(strlen(FIRST) + 2 * FAR + 100);
	size_t len = strlen(FIRST);

	memcpy(text, FIRST, len);
	for (unsigned i = 0; i < 2 * FAR / 64; i++, len += 64)
		memcpy(text + len, "#                                                              \n", 64);
	strcpy(text + len, "rcx=0x5,rip=0x1005\nrdx=0x6,rip=0x1007\n");
	open_two(text, SECOND, NULL);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps),
			 "1000/1@0 rax=9 W5000=01\n1001/2@0 rbx=8 W5001=02\n1003/2@0 rcx=5\n"
			 "1005/2@0 F0,ffffffffffffffff\n2000/1@1 rcx=7 R5000,1=\n");
	free(text);
}
END_TEST

START_TEST(code_of_the_program_stays_known_from_thread_to_thread)
{
	char exec[4096];

	snprintf(exec, sizeof(exec), "%s", unit_data_path("image/exe64.elf")); /* 0xb4 bytes at 0x400000 */
	open_two(FIRST, SECOND, exec);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&steps), "W5001=02 F0,400000 F4000b4,ffffffffffbfff4b\n"));
}
END_TEST

/* Whose accesses a line lists is voted for over all files. */
#define OWN_FIRST REGS ",rip=0x1000,mw=0x6ff8:0200000000000000\nrsp=0x6ff8,rip=0x1001,mr=0x5000:aa\nrax=0xaa,rip=0x1004\n"

START_TEST(a_file_of_lines_own_accesses_ends_with_a_line)
{
	open_two(OWN_FIRST, REGS ",rip=0x2000,mr=0x6000:bb\nrbx=0xbb,rip=0x2003\n", NULL);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps),
			 "1000/1@0 W6ff8=0200000000000000 rsp=6ff8\n1001/3@0 R5000,1= F0,ffffffffffffffff\n"
			 "2000/3@1 R6000,1= rbx=bb\n");
}
END_TEST

START_TEST(readers_go_on_in_every_file)
{
	open_two(FIRST, SECOND, NULL);
	ucir_resume_everywhere(&t);
	again();
	open_two(OWN_FIRST, SECOND, NULL);
	ucir_resume_everywhere(&t);
}
END_TEST

START_TEST(a_thread_without_a_position_is_refused)
{
	const struct ts_source *threads[1];
	struct ts_loader_options opt = { .threads = threads, .n_threads = 1 };

	second = ts_source_from_memory("rax=0x1\n", 8, "run.2.log", &t.err);
	threads[0] = second;
	open_log("run.1.log", FIRST, &opt);
	ck_assert_ptr_null(t.rec);
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(t.err.text, "no line has a program counter"));
}
END_TEST

START_TEST(more_files_than_threads_are_refused)
{
	const struct ts_loader_options opt = { .n_threads = THREADS_MAX };

	open_log("run.1.log", FIRST, &opt);
	ck_assert_ptr_null(t.rec);
	ck_assert_int_eq(t.err.code, TS_ELIMIT);
}
END_TEST

/* ------------------------------------------------------------------------------------------------- images */

static void write_list(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* As a source of a file, beside which others are looked for. */
static void open_beside(const char *name, const struct ts_loader_options *opt)
{
	write_list(name, FIRST);
	t.src = ts_source_open(name, &t.err);
	ck_assert_ptr_nonnull(t.src);
	t.rec = ts_loader_open(ts_loader_find("tenet"), t.src, opt, &t.err);
	ck_assert_msg(t.rec, "%s: %s", name, t.err.text);
}

static unsigned n_modules(void)
{
	return t.rec->initial.n_modules;
}

START_TEST(the_list_of_images_is_found_by_the_logs_name)
{
	static const struct {
		const char *log;
		unsigned n;
	} cases[] = {
		{ "prog.12.log", 1 }, { "prog.x.1.log", 0 }, { "prog.log", 0 }, { "prog12.log", 0 }, { ".12.log", 0 },
		{ "12.log", 0 }, { "prog.12x.log", 0 }, { "prog.12.txt", 0 }, { "prog..log", 0 },
		{ "my.login.0.log", 1 },
	};
	const struct ts_loader_options opt = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_list("prog.log", "Loaded image: 0x1000:0x1fff -> /bin/prog\n");
		write_list(".log", "Loaded image: 0x1000:0x1fff -> /bin/prog\n");
		write_list("my.login.log", "Loaded image: 0x1000:0x1fff -> /bin/prog\n");
		if (strcmp(cases[i].log, "prog.log") != 0)
			open_beside(cases[i].log, &opt);
		else
			open_log("prog.log", FIRST, &opt);
		ck_assert_msg(n_modules() == cases[i].n, "%s: %u", cases[i].log, n_modules());
		remove(cases[i].log);
		again();
	}
}
END_TEST

START_TEST(lines_of_the_list)
{
	static const struct {
		const char *line, *modules; /* address, length, name */
	} cases[] = {
		{ "Loaded image: 0x1000:0x1fff -> prog", "1000,1000,prog" },
		{ "Loaded image: 0x1000:0x1fff -> prog\r", "1000,1000,prog" },
		{ "Loaded image: 0x7fff00000000:0x7fff00000001 -> a b.so", "7fff00000000,2,a b.so" },
		{ "Loaded image: 0x0:0xfffffffffffffffe -> big", "0,ffffffffffffffff,big" },
		{ "Loaded image: 0x0:0xffffffffffffffff -> all", "" },     /* no length says that */
		{ "Loaded image: 0x1000:0x1000 -> empty", "" },
		{ "Loaded image: 0x1000:0xfff -> turned", "" },
		{ "Loaded image: 1000:0x1fff -> prog", "" },
		{ "Loaded image: 0x1000:1fff -> prog", "" },
		{ "Loaded image: 0x:0x1fff -> prog", "" },
		{ "Loaded image: 0x1000:0x -> prog", "" },
		{ "Loaded image: 0x00000000000001000:0x1fff -> prog", "" }, /* 17 digits */
		{ "Loaded image: 0x1000-0x1fff -> prog", "" },
		{ "Loaded image: 0x1000:0x1fff => prog", "" },
		{ "Loaded image: 0x1000:0x1fff -> ", "" },
		{ "Loaded image: 0x1000:0x1fff -> \r", "" },
		{ "Main image: 0x1000:0x1fff -> prog", "" },
	};
	const struct ts_loader_options opt = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ts_buf text;

		ts_buf_init(&text);
		ts_buf_printf(&text, "%s\n", cases[i].line);
		write_list("prog.log", ts_buf_text(&text));
		ts_buf_reset(&text);
		open_beside("prog.12.log", &opt);
		for (uint32_t k = 0; k < t.rec->initial.n_effects; k++) {
			const struct ts_effect *e = &t.rec->initial.effects[k];

			if (e->kind == TS_FX_LOAD)
				ts_buf_printf(&text, "%llx,%llx,%s", (unsigned long long)e->addr,
					      (unsigned long long)e->len,
					      ts_steps_text(&t.rec->initial,
							    t.rec->initial.modules[e->item].file));
		}
		ck_assert_msg(!strcmp(ts_buf_text(&text), cases[i].modules), "%s: %s", cases[i].line,
			      ts_buf_text(&text));
		ts_buf_fini(&text);
		again();
	}
}
END_TEST

START_TEST(a_list_with_a_long_line_counts_up_to_it)
{
	const struct ts_loader_options opt = { 0 };
	char *text = malloc(10000);

	strcpy(text, "Loaded image: 0x1000:0x1fff -> prog\n");
	memset(text + strlen(text) + 1, 0, 1);
	memset(strchr(text, '\0'), 'x', 5000);
	strcpy(text + 36 + 5000, "\nLoaded image: 0x3000:0x3fff -> next\n");
	write_list("prog.log", text);
	open_beside("prog.12.log", &opt);
	ck_assert_uint_eq(n_modules(), 1);
	ck_assert_int_eq(t.err.code, TS_OK);
	free(text);
}
END_TEST

/* A program that is not linked to a fixed address lies where the list says, unless the user says it. */
START_TEST(the_program_lies_where_its_image_does)
{
	static const struct {
		const char *image;
		uint64_t said; /* 0: nothing */
		uint64_t at;   /* of its first byte; 0: it is not used */
	} cases[] = {
		{ "so64.elf", 0, 0x7000000 },
		{ "so64.elf", 0x9000000, 0x9000000 },
		{ "other.so", 0, 0 },
	};
	char exec[4096], list[100];

	snprintf(exec, sizeof(exec), "%s", unit_data_path("image/so64.elf"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ts_loader_options opt = { .exec = exec, .exec_base = cases[i].said ? &cases[i].said : NULL };
		uint64_t first = UINT64_MAX;

		snprintf(list, sizeof(list),
			 "Loaded image: 0x1000:0x1fff -> a\nLoaded image: 0x7000000:0x7000fff -> %s\n",
			 cases[i].image);
		write_list("prog.log", list);
		open_beside("prog.12.log", &opt);
		for (size_t k = 0; k < t.rec->memory.n_ranges; k++)
			first = t.rec->memory.ranges[k].first < first ? t.rec->memory.ranges[k].first : first;
		ck_assert_uint_eq(first, cases[i].at ? cases[i].at : UINT64_MAX);
		again();
	}
}
END_TEST

/* ---------------------------------------------------------------------------------------------- processor */

START_TEST(a_bare_pc_needs_the_users_word)
{
	static const struct {
		const char *said, *arch; /* NULL: refused */
	} cases[] = { { "aarch64", "aarch64" },
		      { "arm", "arm" },
		      { "x86_64", NULL },
		      { "pdp11", NULL },
		      { NULL, NULL } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ts_loader_options opt = { .arch = cases[i].said };

		open_log("x", "pc=0x1000\npc=0x1004\n", &opt);
		ck_assert_msg(!t.rec == !cases[i].arch, "%s", t.err.text);
		if (t.rec)
			ck_assert_str_eq(t.rec->regs.arch->name, cases[i].arch);
		else
			ck_assert_ptr_nonnull(strstr(t.err.text, "--arch aarch64 or --arch arm"));
		again();
	}
}
END_TEST

START_TEST(what_the_names_say_counts_more_than_the_user)
{
	const struct ts_loader_options opt = { .arch = "arm" };

	open_log("x", "rip=0x1\nrip=0x2\n", &opt);
	ck_assert_str_eq(t.rec->regs.arch->name, "x86_64");
}
END_TEST

UNIT_FIXTURE_SUITE("tenet_files", setup, teardown, threads_are_one_after_the_other,
		   the_end_of_a_file_may_be_far_from_its_last_position, the_end_of_a_long_file_is_looked_for,
		   code_of_the_program_stays_known_from_thread_to_thread,
		   a_file_of_lines_own_accesses_ends_with_a_line, readers_go_on_in_every_file,
		   a_thread_without_a_position_is_refused, more_files_than_threads_are_refused,
		   the_list_of_images_is_found_by_the_logs_name, lines_of_the_list,
		   a_list_with_a_long_line_counts_up_to_it, the_program_lies_where_its_image_does,
		   a_bare_pc_needs_the_users_word, what_the_names_say_counts_more_than_the_user)
