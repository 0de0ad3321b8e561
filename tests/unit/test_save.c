/* SPDX-License-Identifier: MIT */
/*
 * Trace frames that clients save in files: where they may, and that nothing else is overwritten.
 */
#include "fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script.h"

static struct rsp_session *const s = &fake.session;

static void allow(void)
{
	mkdir("folder", 0700);
	fake.target.export_dir = "folder";
	fake_send("qSupported:error-message+");
}

static const char *save(const char *name)
{
	char packet[0x1000];

	snprintf(packet, sizeof(packet), "QTSave:%s", fake_hex(name));
	return fake_resume(packet);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void make_file(const char *path)
{
	FILE *f = fopen(path, "wb");

	fputs("keep me", f);
	fclose(f);
}

static void expect_kept(const char *path)
{
	char text[20] = "";
	FILE *f = fopen(path, "rb");

	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	fclose(f);
	ck_assert_str_eq(text, "keep me");
}

/* The file has the head of one of gdb's, and says how many frames there are. */
static void expect_frames(const char *path, const char *count)
{
	char text[0x4000];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	ck_assert_uint_gt(n, 8);
	fclose(f);
	text[n] = '\0';
	ck_assert_int_eq(memcmp(text, "\x7fTRACE0\n", 8), 0);
	ck_assert_msg(strstr(text, count) != NULL, "%s", text);
}

START_TEST(all_positions_are_frames_of_a_file)
{
	allow();
	ck_assert_str_eq(save("run.tf"), "OK");
	expect_frames("folder/run.tf", "tframes:b;");
	ck_assert_str_eq(save("folder/run.tf"), "OK"); /* also by its path, and once more */
	ck_assert_str_eq(fake_resume("qRcmd,6578706f727420782e7466"), "OK"); /* export x.tf */
	ck_assert(is_there("folder/x.tf"));
	ck_assert_ptr_nonnull(strstr(fake_console(), "saved as zeros: "));
}
END_TEST

START_TEST(the_frames_of_a_run_are_saved)
{
	allow();
	fake_send("QTinit");
	fake_send("QTDP:1:0000000000401001:E:0:0-");
	fake_send("QTDP:-1:0000000000401001:M-1,602000,4");
	ck_assert_str_eq(fake_resume("QTStart"), "OK");
	ck_assert_str_eq(save("run.tf"), "OK");
	expect_frames("folder/run.tf", "tframes:1;");
}
END_TEST

START_TEST(without_a_folder_nothing_is_saved)
{
	fake_send("qSupported:error-message+");
	ck_assert_str_eq(save("run.tf"),
			 "E.the server was started without --export-dir, so it writes no files");
	ck_assert_str_eq(fake_resume("qRcmd,6578706f727420782e7466"),
			 "E.the server was started without --export-dir, so it writes no files");
}
END_TEST

START_TEST(only_plain_names_are_files)
{
	static const char *const names[] = { ".hidden", "..", "../x", "a/b", "/tmp/x", "folder/../x", "a\nb", "a\x1b[m",
					     "\xc2\x9b", "folder/", "\xff" };

	allow();
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_str_eq(save(names[i]), "E.files are saved under plain names, in folder");
	ck_assert_int_eq(rename("folder", "gone"), 0);
	ck_assert_int_eq(save("run.tf")[0], 'E'); /* which is gone */
	ck_assert_str_eq(fake_send("QTSave:"), "E16");
	ck_assert_str_eq(fake_send("QTSave:6"), "E16");
	ck_assert_str_eq(fake_send("QTSave:610062"), "E16");
	ck_assert_str_eq(fake_send("QTSave:61zz"), "E16");
}
END_TEST

START_TEST(the_recording_is_not_overwritten)
{
	const struct fake_options with_exec = { .exec = "folder/program" };

	mkdir("folder", 0700);
	make_file("folder/trace");
	make_file("folder/program");
	fake_again(&with_exec);
	allow();
	fake.target.trace = "./folder/trace";
	ck_assert_str_eq(save("trace"), "E.trace is the recording that is served here");
	ck_assert_str_eq(save("program"), "E.program is the recording that is served here");
	expect_kept("folder/trace");
	expect_kept("folder/program");
	ck_assert_str_eq(save("other"), "OK");
}
END_TEST

/* More frames than a slice can write. */
static void make_long(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;

	for (unsigned i = 0; i < 100000; i++)
		ts_steps_close(b, 0x401000, 1, 0);
}

START_TEST(saving_can_be_interrupted)
{
	struct ts_buf out;

	fake_again(&(struct fake_options){ .change = make_long });
	allow();
	make_file("folder/run.tf");
	fake_send("QTSave:72756e2e7466");
	ck_assert_msg(rsp_session_is_running(s), "%s", fake.text);
	ts_buf_init(&out);
	s->job.ops->progress(s, &out);
	ck_assert_int_eq(strncmp(ts_buf_text(&out), "saving: ", 8), 0);
	ts_buf_fini(&out);
	rsp_session_interrupt(s);
	rsp_reply_reset(&fake.reply);
	ck_assert(rsp_session_run(s, &fake.reply));
	rsp_reply_finish(&fake.reply);
	ck_assert_int_eq(strncmp((const char *)fake.reply.data, "E.interrupted at ", 17), 0);
	expect_kept("folder/run.tf");
	fake_send("QTSave:72756e2e7466");
	rsp_session_reset(s); /* the client goes */
	ck_assert(!rsp_session_is_running(s));
	expect_kept("folder/run.tf");
}
END_TEST

START_TEST(a_run_that_still_collects_is_not_saved)
{
	allow();
	fake_send_hex("qRcmd,%s", "collect live");
	fake_send("QTinit");
	fake_send("QTDP:1:0000000000401001:E:0:0");
	ck_assert_str_eq(fake_send("QTStart"), "OK");
	ck_assert_str_eq(save("run.tf"), "OK"); /* it waits for moves; what it has is saved */
	expect_frames("folder/run.tf", "tframes:0;");
}
END_TEST

FAKE_SUITE("save", all_positions_are_frames_of_a_file, the_frames_of_a_run_are_saved,
	   without_a_folder_nothing_is_saved, only_plain_names_are_files, the_recording_is_not_overwritten,
	   saving_can_be_interrupted, a_run_that_still_collects_is_not_saved)
