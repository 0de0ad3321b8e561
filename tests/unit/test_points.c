/* SPDX-License-Identifier: MIT */
/*
 * Decode points: what was added comes back, in any order, from memory and from a file; long points that differ little
 * take little.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/index/index_file.h"
#include "src/index/index_write.h"
#include "src/timeline/points.h"

#define PATH	 "points"
#define KIND	 1
#define N_POINTS 200u
#define N_TASKS	 1000u
#define TASK_LEN 14u

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 } };

static struct ts_points points;
static struct ts_points_packer packer;
static struct ts_points_unpacker unpacker;
static struct ts_buf wanted[N_POINTS];
static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void setup(void)
{
	seed = 1;
}

static void teardown(void)
{
	for (unsigned i = 0; i < N_POINTS; i++)
		ts_buf_fini(&wanted[i]);
	ts_points_fini(&points);
	ts_points_packer_fini(&packer);
	ts_points_unpacker_fini(&unpacker);
	remove(PATH);
}

/* The state of @n_tasks tasks, of which 20 change from one point to the next. */
static void add_all(uint32_t n_tasks)
{
	static uint8_t tasks[N_TASKS * TASK_LEN];

	for (size_t i = 0; i < sizeof(tasks); i++)
		tasks[i] = (uint8_t)random_below(256);
	for (unsigned i = 0; i < N_POINTS; i++) {
		for (unsigned k = 0; k < 20 && n_tasks; k++)
			tasks[random_below(n_tasks) * TASK_LEN + 3]++;
		ts_buf_put(&wanted[i], tasks, n_tasks * TASK_LEN);
		ck_assert(ts_points_add(&points, &packer, &wanted[i]));
	}
}

static void expect(unsigned i)
{
	size_t len;
	const uint8_t *got = ts_points_get(&points, i, 4096 + i, &unpacker, &len);

	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(len, wanted[i].len);
	ck_assert(!len || !memcmp(got, wanted[i].data, len));
}

static void expect_all(void)
{
	for (unsigned i = 0; i < N_POINTS; i++)
		expect(i);
	for (unsigned i = N_POINTS; i-- > 0;)
		expect(i);
	for (unsigned n = 0; n < 1000; n++)
		expect(random_below(N_POINTS));
}

START_TEST(points_come_back_in_any_order)
{
	add_all((uint32_t[]){ 0, 1, 30, N_TASKS }[_i]);
	expect_all();
}
END_TEST

/* One long point in each group, and what changed. */
START_TEST(what_does_not_change_is_stored_once_a_group)
{
	add_all(N_TASKS);
	ck_assert_uint_gt(ts_points_mem(&points), N_TASKS * TASK_LEN * (N_POINTS / TS_POINTS_GROUP));
	ck_assert_uint_lt(ts_points_mem(&points), N_TASKS * TASK_LEN * (N_POINTS / TS_POINTS_GROUP) * 3 / 2);
}
END_TEST

/* Save them to a file, change what is written by @change, and load them. */
static struct ts_index_file *through_file(void (*change)(struct ts_points *))
{
	struct ts_error err = { 0 };
	struct ts_index_file *f = ts_index_create(PATH, &the_key, &err);
	struct ts_index_arrays a;

	ck_assert_ptr_nonnull(f);
	ts_index_begin(f, 1);
	ts_index_section(f, KIND, 0);
	if (change)
		change(&points);
	ts_points_save(&points, f);
	ck_assert(ts_index_commit(f, 10, true, &err) && ts_index_publish(f, &err));
	a = ts_index_find(f, 0, KIND, 0);
	ck_assert(ts_points_load(&points, &a));
	return f;
}

START_TEST(points_come_back_from_a_file)
{
	struct ts_index_file *f;

	add_all((uint32_t[]){ 1, 30, N_TASKS }[_i]);
	f = through_file(NULL);
	expect_all();
	ck_assert(!ts_index_is_damaged(f));
	ts_points_fini(&points);
	ts_index_close(f);
}
END_TEST

/* Signed, but no frame: nobody but a broken writer makes it. */
static void spoil_frame(struct ts_points *p)
{
	memset(p->buf.data + p->offs[20] + 1, 0x5a, 8);
}

/* A frame that claims to hold more than a point may. */
static void claim_much(struct ts_points *p)
{
	static const uint8_t head[] = { 1, 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0 };

	memcpy(p->buf.data + p->offs[20], head, sizeof(head));
}

START_TEST(a_bad_point_is_damage_and_the_others_are_served)
{
	struct ts_index_file *f;
	size_t len;

	add_all(N_TASKS);
	f = through_file(_i ? claim_much : spoil_frame);
	for (unsigned i = 0; i < 20; i++)
		expect(i);
	ck_assert(!ts_index_is_damaged(f));
	ck_assert_ptr_null(ts_points_get(&points, 25, 4096 + 25, &unpacker, &len));
	ck_assert(ts_index_is_damaged(f));
	expect(32);
	ts_points_fini(&points);
	ts_index_close(f);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("points");
	TCase *t = tcase_create("points");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, points_come_back_in_any_order, 0, 4);
	tcase_add_test(t, what_does_not_change_is_stored_once_a_group);
	tcase_add_loop_test(t, points_come_back_from_a_file, 0, 3);
	tcase_add_loop_test(t, a_bad_point_is_damage_and_the_others_are_served, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
