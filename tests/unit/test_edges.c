/* SPDX-License-Identifier: MIT */
/*
 * Edges of the call graph: each has one number, in this process and from an index file.
 */
#include "unit.h"

#include <stdio.h>

#include "src/calls/edges.h"
#include "src/index/index_write.h"

#define PATH    "edges.tsindex"
#define N_EDGES 3000u

static const struct ts_index_key the_key = { .trace_len = 10 };

/* Far and near, to both sides, at the ends of the address space. */
static struct ts_call_edge edge(uint32_t i)
{
	static const uint64_t bases[] = { 0, UINT64_C(0x7fff00000000), UINT64_MAX - 0x100000,
					  UINT64_C(1) << 63 };

	return (struct ts_call_edge){ bases[i % 4] + i * 4, bases[i / 4 % 4] + (i * 37) % 512 };
}

static void add(struct ts_call_edges *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		ck_assert_uint_eq(ts_call_edges_number(s, edge(i).pc, edge(i).target), i);
}

static void check(struct ts_call_edges *s, uint32_t n)
{
	ck_assert_uint_eq(s->n, n);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(s->items[i].pc, edge(i).pc);
		ck_assert_uint_eq(s->items[i].target, edge(i).target);
	}
	add(s, 0, n); /* none is new */
	ck_assert_uint_eq(s->n, n);
}

START_TEST(an_edge_keeps_its_number)
{
	struct ts_call_edges s = { 0 };

	add(&s, 0, N_EDGES);
	check(&s, N_EDGES);
	ts_call_edges_fini(&s);
}
END_TEST

/* Two records, each with the edges that were new. */
static uint64_t write_file(void)
{
	struct ts_call_edges s = { 0 };
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	uint64_t len;

	remove(PATH);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	for (uint32_t i = 0; i < 2; i++) {
		add(&s, i * N_EDGES / 3, (2 * i + 1) * N_EDGES / 3);
		ts_index_begin(f, 1);
		ts_index_section(f, 1, 0);
		ts_call_edges_save(&s, f);
		ck_assert(ts_index_commit(f, i + 1, i == 1, &err));
	}
	ck_assert(ts_index_publish(f, &err));
	ts_index_close(f);
	len = ts_call_edges_saved_len(&s);
	ts_call_edges_fini(&s);
	return len;
}

START_TEST(edges_are_the_same_from_an_index_file)
{
	struct ts_call_edges s = { 0 };
	struct ts_error err = { 0 };
	uint64_t len = write_file(), found = 0;
	struct ts_index_file *f = ts_index_open(PATH, &the_key, &err);

	ck_assert_msg(f, "%s", err.text);
	for (uint32_t i = 0; i < 2; i++) {
		struct ts_index_arrays a = ts_index_find(f, i, 1, 0), b = a;
		size_t n;

		ck_assert_ptr_nonnull(ts_index_take(&b, 1, &n));
		found += n;
		ck_assert(ts_call_edges_load(&s, &a, false));
		check(&s, (2 * i + 1) * N_EDGES / 3);
		a = ts_index_find(f, i, 1, 0);
		ck_assert(ts_call_edges_load(&s, &a, true));
		check(&s, (2 * i + 1) * N_EDGES / 3);
	}
	ck_assert_uint_eq(found, len);
	ts_index_close(f);
	ts_call_edges_fini(&s);
}
END_TEST

UNIT_SUITE("edges", an_edge_keeps_its_number, edges_are_the_same_from_an_index_file)
