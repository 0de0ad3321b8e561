/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/session/breaks.h"
#include "protocol/tracing/ax_packet.h"
#include "protocol/tracing/frame_store.h"
#include "protocol/wire/args.h"

static struct rsp_breaks breaks;
static struct ts_stops stops;

static void setup(void)
{
	rsp_breaks_init(&breaks);
	memset(&stops, 0, sizeof(stops));
}

static void teardown(void)
{
	rsp_breaks_fini(&breaks);
}

static struct ts_break at(uint64_t addr)
{
	return (struct ts_break){ 0, addr };
}

/* One condition, always true. */
static struct ts_ax **condition(void)
{
	static const char text[] = "X3,220127";
	struct rsp_args a = rsp_args(text, sizeof(text) - 1);
	struct ts_ax **list = calloc(1, sizeof(struct ts_ax *));
	enum ts_ax_error error;

	list[0] = rsp_ax_parse(&a, &error);
	ck_assert_ptr_nonnull(list[0]);
	return list;
}

static bool insert(enum rsp_break_kind kind, uint64_t addr)
{
	return rsp_breaks_insert(&breaks, kind, at(addr), NULL, 0);
}

/* Does a search look at this place? */
static bool is_place(struct ts_break place)
{
	rsp_breaks_stops(&breaks, &stops);
	for (size_t i = 0; i < stops.n_breaks; i++) {
		if (stops.breaks[i].addr == place.addr && stops.breaks[i].process == place.process)
			return true;
	}
	return false;
}

static bool watch(uint64_t addr, uint64_t len, enum ts_watch_kind kind)
{
	return rsp_breaks_watch(&breaks, &(struct ts_watch){ 0, addr, len, kind });
}

static void unwatch(uint64_t addr, uint64_t len, enum ts_watch_kind kind)
{
	rsp_breaks_unwatch(&breaks, &(struct ts_watch){ 0, addr, len, kind });
}

START_TEST(a_breakpoint_that_is_inserted_twice_is_removed_at_once)
{
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, at(0x1000));
	ck_assert_ptr_null(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(0x1000)));
	ck_assert(!is_place(at(0x1000)));
}
END_TEST

START_TEST(what_is_not_there_may_be_removed)
{
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, at(0x1001));
	rsp_breaks_remove(&breaks, RSP_BREAK_HARD, at(0x1000));
	rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, (struct ts_break){ 1, 0x1000 });
	ck_assert(is_place(at(0x1000)));
}
END_TEST

START_TEST(a_soft_and_a_hard_one_at_a_place_are_two)
{
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	ck_assert(insert(RSP_BREAK_HARD, 0x1000));
	rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, at(0x1000));
	ck_assert_ptr_null(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(0x1000)));
	ck_assert_ptr_nonnull(rsp_breaks_at(&breaks, RSP_BREAK_HARD, at(0x1000)));
	ck_assert(is_place(at(0x1000)));
}
END_TEST

START_TEST(the_same_address_of_another_process_is_another_place)
{
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	ck_assert_ptr_null(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, (struct ts_break){ 1, 0x1000 }));
	ck_assert(!is_place((struct ts_break){ 1, 0x1000 }));
}
END_TEST

START_TEST(the_conditions_are_those_of_the_last_insertion)
{
	ck_assert(rsp_breaks_insert(&breaks, RSP_BREAK_SOFT, at(0x1000), condition(), 1));
	ck_assert(rsp_breaks_insert(&breaks, RSP_BREAK_SOFT, at(0x1000), condition(), 1));
	ck_assert_uint_eq(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(0x1000))->n_conditions, 1);
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	ck_assert_uint_eq(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(0x1000))->n_conditions, 0);
	ck_assert(rsp_breaks_insert(&breaks, RSP_BREAK_SOFT, at(0x1000), condition(), 1));
	ck_assert_uint_eq(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(0x1000))->n_conditions, 1);
}
END_TEST

START_TEST(each_of_many_is_found_until_it_is_removed)
{
	const uint64_t n = 1000;

	for (uint64_t i = 0; i < n; i++)
		ck_assert(
			rsp_breaks_insert(&breaks, RSP_BREAK_SOFT, at(i), i % 2 ? condition() : NULL, i % 2));
	for (uint64_t i = 0; i < n; i += 3)
		rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, at(i));
	for (uint64_t i = 0; i < n; i++) {
		const struct rsp_break *br = rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(i));

		ck_assert_int_eq(br != NULL, i % 3 != 0);
		ck_assert_int_eq(is_place(at(i)), i % 3 != 0);
		ck_assert(!br || (br->at.addr == i && br->n_conditions == i % 2));
	}
}
END_TEST

START_TEST(their_number_is_limited)
{
	for (uint64_t i = 0; i < RSP_MAX_BREAKS; i++)
		ck_assert(insert(RSP_BREAK_SOFT, 0x1000 + i));
	ck_assert(!insert(RSP_BREAK_SOFT, 0));
	ck_assert(!rsp_breaks_insert(&breaks, RSP_BREAK_SOFT, at(0), condition(), 1));
	ck_assert(insert(RSP_BREAK_SOFT, 0x1000));
	rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, at(0x1000));
	ck_assert(insert(RSP_BREAK_SOFT, 0));
	for (uint64_t i = 1; i < RSP_MAX_BREAKS; i += 2)
		rsp_breaks_remove(&breaks, RSP_BREAK_SOFT, at(0x1000 + i));
	for (uint64_t i = 1; i < RSP_MAX_BREAKS; i++)
		ck_assert_int_eq(rsp_breaks_at(&breaks, RSP_BREAK_SOFT, at(0x1000 + i)) != NULL, i % 2 == 0);
}
END_TEST

/* Conditions are memory that a client fills: they have a limit of their own, and count as trace frames do. */
START_TEST(their_expressions_are_bounded_and_counted)
{
	struct rsp_frame_budget budget = { .max = 2000 };
	uint64_t i = 0;

	breaks.budget = &budget;
	while (rsp_breaks_insert(&breaks, RSP_BREAK_SOFT, at(i), condition(), 1))
		i++;
	ck_assert_uint_gt(i, 5);
	ck_assert_uint_le(i, 10);
	ck_assert_uint_eq(budget.used, breaks.mem);
	ck_assert(insert(RSP_BREAK_SOFT, i)); /* without an expression */
	ck_assert(!rsp_breaks_set_commands(&breaks, RSP_BREAK_SOFT, at(i), condition(), 1));
	ck_assert(insert(RSP_BREAK_SOFT, 0)); /* replaces its condition */
	ck_assert(rsp_breaks_set_commands(&breaks, RSP_BREAK_SOFT, at(i), condition(), 1));
	rsp_breaks_fini(&breaks);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_watchpoint_is_there_once)
{
	ck_assert(watch(0x1000, 4, TS_WATCH_WRITE));
	ck_assert(watch(0x1000, 4, TS_WATCH_WRITE));
	rsp_breaks_stops(&breaks, &stops);
	ck_assert_uint_eq(stops.n_watches, 1);
	unwatch(0x1000, 4, TS_WATCH_WRITE);
	unwatch(0x1000, 4, TS_WATCH_WRITE);
	rsp_breaks_stops(&breaks, &stops);
	ck_assert_uint_eq(stops.n_watches, 0);
}
END_TEST

START_TEST(watchpoints_differ_in_address_length_kind_and_process)
{
	ck_assert(watch(0x1000, 4, TS_WATCH_WRITE));
	ck_assert(watch(0x1004, 4, TS_WATCH_WRITE));
	ck_assert(watch(0x1000, 8, TS_WATCH_WRITE));
	ck_assert(watch(0x1000, 4, TS_WATCH_READ));
	ck_assert(rsp_breaks_watch(&breaks, &(struct ts_watch){ 1, 0x1000, 4, TS_WATCH_WRITE }));
	unwatch(0x1000, 4, TS_WATCH_ACCESS);
	rsp_breaks_stops(&breaks, &stops);
	ck_assert_uint_eq(stops.n_watches, 5);
	unwatch(0x1000, 4, TS_WATCH_READ);
	rsp_breaks_stops(&breaks, &stops);
	ck_assert_uint_eq(stops.n_watches, 4);
	for (size_t i = 0; i < stops.n_watches; i++)
		ck_assert_int_eq(stops.watches[i].kind, TS_WATCH_WRITE);
}
END_TEST

START_TEST(what_is_watched_in_all_is_limited)
{
	for (uint64_t i = 0; i < RSP_MAX_WATCHED / TS_MAX_WATCH_LEN; i++)
		ck_assert(watch(i, TS_MAX_WATCH_LEN, TS_WATCH_WRITE));
	ck_assert(!watch(0x1000, 1, TS_WATCH_WRITE));
	ck_assert(watch(0, TS_MAX_WATCH_LEN, TS_WATCH_WRITE));
	unwatch(0, TS_MAX_WATCH_LEN, TS_WATCH_WRITE);
	ck_assert(watch(0x1000, TS_MAX_WATCH_LEN, TS_WATCH_WRITE));
}
END_TEST

START_TEST(watchpoints_are_limited_in_number)
{
	for (uint64_t i = 0; i < RSP_MAX_WATCHES; i++)
		ck_assert(watch(i, 1, TS_WATCH_WRITE));
	ck_assert(!watch(0x1000, 1, TS_WATCH_WRITE));
	unwatch(0, 1, TS_WATCH_WRITE);
	ck_assert(watch(0x1000, 1, TS_WATCH_WRITE));
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const all[] = {
		a_breakpoint_that_is_inserted_twice_is_removed_at_once,
		what_is_not_there_may_be_removed,
		a_soft_and_a_hard_one_at_a_place_are_two,
		the_same_address_of_another_process_is_another_place,
		the_conditions_are_those_of_the_last_insertion,
		each_of_many_is_found_until_it_is_removed,
		their_number_is_limited,
		their_expressions_are_bounded_and_counted,
		a_watchpoint_is_there_once,
		watchpoints_differ_in_address_length_kind_and_process,
		what_is_watched_in_all_is_limited,
		watchpoints_are_limited_in_number,
	};
	Suite *suite = suite_create("breaks");
	TCase *tcase = tcase_create("breaks");

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tcase_add_test(tcase, all[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
