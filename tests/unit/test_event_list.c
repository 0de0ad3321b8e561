/* SPDX-License-Identifier: MIT */
/*
 * Events in memory, in an index file, and in both: they are found as a search through all of them finds them, and what
 * a file says falsely is noticed when it is read.
 */
#include "unit.h"

#include "script.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"
#include "src/timeline/world/event_list.h"

#include <stdio.h>
#include <string.h>

#define PATH       "events.tsindex"
#define KIND       7
#define N_SEGMENTS 6u
#define SEGMENT    40u /* steps */
#define MAX_EVENTS 400u
#define N_THREADS  3u

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };

static struct ts_error err;
static struct ts_event_list list;
static struct ts_index_file *f;
static struct {
	uint64_t step;
	uint32_t thread;
	uint64_t number;
} all[MAX_EVENTS];
static unsigned n_all;

static void add(uint64_t step, uint32_t thread)
{
	struct ts_event ev;

	memset(&ev, 0xa5, sizeof(ev)); /* what is in the padding, and after the text's end */
	ev = (struct ts_event){ .kind = TS_EV_SYSCALL, .number = 1000 + n_all, .n_args = 2, .text = "read" };
	ck_assert_uint_lt(n_all, MAX_EVENTS);
	ck_assert(ts_event_list_add(&list, step, thread, &ev));
	all[n_all].step = step;
	all[n_all].thread = thread;
	all[n_all++].number = ev.number;
}

/* Some segments have none, and some steps several. */
static void add_segment(struct script_random *r, unsigned segment)
{
	uint64_t step = (uint64_t)segment * SEGMENT;

	if (script_random(r) % 4 == 0)
		return;
	while ((step += script_random(r) % 9) < (segment + 1) * SEGMENT)
		add(step, (uint32_t)(script_random(r) % N_THREADS));
}

static uint64_t count_below(uint64_t step)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < n_all; i++)
		n += all[i].step < step;
	return n;
}

static void check(void)
{
	ck_assert_uint_eq(list.n, n_all);
	for (unsigned i = 0; i < n_all; i++) {
		const struct ts_event_at *h = ts_event_list_at(&list, i);

		ck_assert_uint_eq(h->step, all[i].step);
		ck_assert_uint_eq(h->thread, all[i].thread);
		ck_assert_uint_eq(h->event.number, all[i].number);
		ck_assert_str_eq(h->event.text, "read");
	}
	for (uint64_t step = 0; step < (N_SEGMENTS + 1) * SEGMENT; step++)
		ck_assert_uint_eq(ts_event_list_below(&list, step), count_below(step));
	ck_assert_uint_eq(ts_event_list_below(&list, UINT64_MAX), n_all);
}

/* The segment goes to the file, and its events are taken from there. */
static void save(unsigned segment)
{
	struct ts_index_arrays a;

	ts_index_begin(f, 1);
	ts_index_section(f, KIND, 0);
	ts_event_list_save(&list, f);
	ck_assert(ts_index_commit(f, (segment + 1) * SEGMENT, segment + 1 == N_SEGMENTS, &err));
	a = ts_index_find(f, segment, KIND, 0);
	ck_assert(ts_event_list_load(&list, &a, (segment + 1) * SEGMENT, N_THREADS));
	ck_assert_uint_eq(list.n_items, 0);
}

static void open_again(void)
{
	ts_index_close(f);
	ts_event_list_fini(&list);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
}

static void load_all(unsigned from)
{
	for (unsigned i = from; i < N_SEGMENTS; i++) {
		struct ts_index_arrays a = ts_index_find(f, i, KIND, 0);

		ck_assert(ts_event_list_load(&list, &a, (i + 1) * SEGMENT, N_THREADS));
	}
}

static void setup(void)
{
	ts_error_reset(&err);
	n_all = 0;
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
}

static void teardown(void)
{
	ts_event_list_fini(&list);
	ts_index_close(f);
	f = NULL;
	remove(PATH);
}

START_TEST(events_are_found_in_memory_and_in_the_file)
{
	struct script_random r = { (uint64_t)_i };

	for (unsigned i = 0; i < N_SEGMENTS; i++) {
		add_segment(&r, i);
		check();
		save(i);
		check();
	}
	ck_assert(ts_index_publish(f, &err));
	open_again();
	load_all(0);
	check();
}
END_TEST

START_TEST(what_was_there_before_the_first_step_is_not_saved)
{
	struct script_random r = { (uint64_t)_i };

	add(0, 0);
	add(0, 1);
	ck_assert(ts_event_list_begin(&list));
	add(0, 2); /* of step 0 itself */
	for (unsigned i = 0; i < N_SEGMENTS; i++) {
		add_segment(&r, i);
		save(i);
		check();
	}
	ck_assert(ts_index_publish(f, &err));
	open_again();
	n_all = 0;
	add(0, 0);
	add(0, 1);
	ck_assert(ts_event_list_begin(&list));
	load_all(0);
	ck_assert_uint_eq(list.pieces[0].n, 2);
	ck_assert_uint_eq(ts_event_list_at(&list, 2)->event.number, 1002);
	ck_assert_uint_eq(ts_event_list_below(&list, 1) >= 3, true);
}
END_TEST

/* What a file may say of an event, and must not be believed. */
static void spoil(struct ts_event_at *h, unsigned how)
{
	switch (how) {
	case 0: h->step = SEGMENT; break;
	case 1: h->thread = N_THREADS; break;
	case 2: h->event.n_args = TS_MAX_SYSCALL_ARGS + 1; break;
	case 3: memset(h->event.text, 'x', sizeof(h->event.text)); break;
	case 4: memset(&h->event.has_ret, 2, 1); break;
	case 5: memset(&h->event.has_addr, 0xff, 1); break;
	case 6: memset(&h->event.is_after, 2, 1); break;
	default: memset(&h->event.kind, 0x77, sizeof(h->event.kind)); break;
	}
}

START_TEST(what_a_file_says_falsely_is_noticed_when_it_is_read)
{
	struct ts_index_arrays a;

	add(3, 0);
	add(5, 1);
	spoil(&list.items[1], (unsigned)_i);
	save(0);
	a = ts_index_find(f, 0, KIND, 0);
	ck_assert_uint_eq(ts_event_list_at(&list, 0)->step, 3);
	ck_assert(!a.blocks->pool->is_damaged);
	ck_assert_uint_eq(ts_event_list_at(&list, 1)->step, 0);
	ck_assert_uint_eq(ts_event_list_at(&list, 1)->event.n_args, 0);
	ck_assert(a.blocks->pool->is_damaged);
}
END_TEST

START_TEST(equal_events_have_equal_bytes)
{
	struct ts_event x, y;

	memset(&x, 0xff, sizeof(x));
	memset(&y, 0, sizeof(y));
	x.kind = y.kind = TS_EV_SIGNAL;
	x.number = y.number = 11;
	x.addr = y.addr = x.ret = y.ret = 0;
	memset(x.args, 0, sizeof(x.args));
	x.n_args = 0;
	x.has_ret = x.has_addr = x.is_after = false;
	strcpy(x.text, "why");
	strcpy(y.text, "why");
	add(1, 0);
	ck_assert(ts_event_list_add(&list, 1, 0, &x));
	ck_assert(ts_event_list_add(&list, 1, 0, &y));
	ck_assert_mem_eq(&list.items[1], &list.items[2], sizeof(list.items[1]));
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("event_list");
	TCase *t = tcase_create("event_list");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, events_are_found_in_memory_and_in_the_file, 1, 12);
	tcase_add_loop_test(t, what_was_there_before_the_first_step_is_not_saved, 1, 4);
	tcase_add_loop_test(t, what_a_file_says_falsely_is_noticed_when_it_is_read, 0, 8);
	tcase_add_test(t, equal_events_have_equal_bytes);
	suite_add_tcase(s, t);
	return s;
}
