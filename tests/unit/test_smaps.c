/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "script.h"

/* A clock by which each look takes a millisecond, however fast the machine is: two pages a slice. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int64_t ns;

	(void)id;
	ns += 1000000;
	*ts = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	return 0;
}

#define PATH "/proc/100/smaps"

/* The reply to opening the file, however long that takes. */
static const char *reply_to_open(const char *path)
{
	char packet[128];

	snprintf(packet, sizeof(packet), "vFile:open:%s,0,1c0", fake_hex(path));
	return fake_resume(packet);
}

/* The list at the session's position. */
static const char *list(void)
{
	const char *at;

	ck_assert_str_eq(reply_to_open(PATH), "F3");
	fake_send("vFile:pread:3,7000,0");
	at = strchr(fake.text, ';');
	ck_assert_ptr_nonnull(at);
	memmove(fake.text, at + 1, strlen(at + 1) + 1);
	fake.reply.len -= (size_t)(at + 1 - fake.text);
	return fake.text;
}

#define TEXT_LINE                                                                                                 \
	"00401000-00401010 r-xp 00001000 00:00 1                                  /usr/bin/fake\n"
#define STACK_LINE                                                                                                \
	"7fffffffeff0-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n"

START_TEST(it_lists_the_known_parts_of_the_regions)
{
	ck_assert_str_eq(list(), TEXT_LINE STACK_LINE);
}
END_TEST

/* Step 1 writes four bytes. */
START_TEST(it_is_that_of_the_position)
{
	rsp_session_go(&fake.session, 2);
	ck_assert_str_eq(list(), TEXT_LINE
			 "00602000-00602004 rw-p 00000000 00:00 0                                  [data]\n" STACK_LINE);
}
END_TEST

static void map_zeros(struct ts_steps *b, uint64_t addr, uint32_t prot, const char *desc, const char *file, uint64_t off)
{
	struct ts_map *m = ts_steps_map(b, addr, 0x1000, desc, strlen(desc), file, file ? strlen(file) : 0);

	m->prot = prot;
	m->file_off = off;
	m->fill = TS_FILL_ZERO;
}

static void map_neighbours(struct ts_recording *rec)
{
	struct ts_steps *b = &rec->initial;

	map_zeros(b, 0x10000, TS_PROT_READ | TS_PROT_WRITE, "data", NULL, 0);
	map_zeros(b, 0x11000, TS_PROT_READ, "data", NULL, 0);
	map_zeros(b, 0x12000, TS_PROT_READ, "brk", NULL, 0);
	map_zeros(b, 0x13000, TS_PROT_READ, "x", "/x", 0);
	map_zeros(b, 0x14000, TS_PROT_READ, "x", "/x", 0x5000);
}

/* Pages side by side, each of which differs in one thing from the one before. */
START_TEST(regions_that_touch_are_told_apart)
{
	static const struct fake_options options = { .change = map_neighbours };
	const char *at;
	char want[16];

	fake_again(&options);
	at = list();
	for (unsigned i = 0; i < 5; i++) {
		snprintf(want, sizeof(want), "%08x-", 0x10000 + 0x1000 * i);
		ck_assert_msg(!strncmp(at, want, 9), "%s is not in: %s", want, fake.text);
		at = strchr(at, '\n') + 1;
	}
	ck_assert(!strncmp(at, TEXT_LINE, 9));
}
END_TEST

static void split_the_text(struct ts_recording *rec)
{
	struct ts_steps *b = &rec->initial;
	struct ts_map *m = ts_steps_map(b, 0x401004, 4, "other", 5, NULL, 0);

	m->prot = TS_PROT_READ;
	m->fill = TS_FILL_UNKNOWN;
	ts_steps_value(b, TS_FX_WRITE, 0x401006, "\1\2\3\4", 4);
}

/* The map that is put over four bytes of the text makes two of them unknown; the write comes after it. */
START_TEST(a_range_ends_with_its_region)
{
	const struct fake_options options = { .change = split_the_text };

	fake_again(&options);
	ck_assert_str_eq(
		list(),
		"00401000-00401004 r-xp 00001000 00:00 1                                  /usr/bin/fake\n"
		"00401006-00401008 r--p 00000000 00:00 0                                  [other]\n"
		"00401008-00401010 r-xp 00001008 00:00 1                                  /usr/bin/fake\n" STACK_LINE);
}
END_TEST

static struct script *without_a_map(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("x86_64", 1, process_of);

	ck_assert_ptr_nonnull(s);
	s->rec.threads[0].pid = 100;
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x1ffc, "12345678", 8);
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x3000, "1", 1);
	ts_steps_close(&s->steps, 0x1ffc, 1, 0);
	s->end = (struct ts_end){ .pc = 0x1ffd, .has_pc = true };
	return s;
}

START_TEST(without_a_map_it_lists_what_is_known)
{
	const struct fake_options options = { .make = without_a_map };

	fake_again(&options);
	ck_assert_str_eq(fake_send_hex("vFile:open:%s,0,0", "/proc/100/maps"), "F-1,2");
	ck_assert_str_eq(list(), "00001ffc-00002004 r--p 00000000 00:00 0 \n"
				 "00003000-00003001 r--p 00000000 00:00 0 \n");
}
END_TEST

START_TEST(only_the_sessions_process_has_one)
{
	ck_assert_str_eq(reply_to_open("/proc/101/smaps"), "F-1,2");
	ck_assert_str_eq(fake_send_hex("vFile:stat:%s", PATH), "F-1,2");
}
END_TEST

START_TEST(an_interrupt_ends_it)
{
	char packet[128];

	snprintf(packet, sizeof(packet), "vFile:open:%s,0,0", fake_hex(PATH));
	ck_assert_str_eq(fake_send(packet), "(none)");
	rsp_session_interrupt(&fake.session);
	rsp_reply_reset(&fake.reply);
	ck_assert(rsp_session_run(&fake.session, &fake.reply));
	ck_assert_mem_eq(fake.reply.data, "F-1,4", 5);
	ck_assert(!fake.session.files[0].is_open);
	ck_assert_str_eq(list(), TEXT_LINE STACK_LINE);
}
END_TEST

FAKE_SUITE("smaps", it_lists_the_known_parts_of_the_regions, regions_that_touch_are_told_apart, it_is_that_of_the_position,
	   a_range_ends_with_its_region, without_a_map_it_lists_what_is_known,
	   only_the_sessions_process_has_one, an_interrupt_ends_it)
