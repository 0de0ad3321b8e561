/* SPDX-License-Identifier: MIT */
/*
 * A batch of steps holds what was appended, whatever it grows to.
 */
#include "unit.h"

#include "src/base/bytes.h"
#include "src/trace/step.h"

#include <string.h>

static struct ts_steps b;

static void setup(void)
{
	ts_steps_init(&b);
}

static void teardown(void)
{
	ts_steps_fini(&b);
}

static void close_step(void)
{
	ts_steps_close(&b, 0x1000, 4, 0);
}

START_TEST(each_step_has_the_effects_since_the_one_before)
{
	ts_steps_effect(&b, TS_FX_READ, 1, 1);
	ts_steps_effect(&b, TS_FX_READ, 2, 1);
	ts_steps_close(&b, 0x1000, 2, 7);
	ts_steps_close(&b, 0x1002, 3, 8);
	ts_steps_effect(&b, TS_FX_READ, 3, 1);
	ts_steps_close(&b, 0x1005, 0, 7);
	ck_assert_uint_eq(b.n_steps, 3);
	ck_assert_uint_eq(b.steps[0].first, 0);
	ck_assert_uint_eq(b.steps[0].n_effects, 2);
	ck_assert_uint_eq(b.steps[1].n_effects, 0);
	ck_assert_uint_eq(b.steps[2].first, 2);
	ck_assert_uint_eq(b.steps[2].n_effects, 1);
	ck_assert_uint_eq(b.steps[1].pc, 0x1002);
	ck_assert_uint_eq(b.steps[1].insn_len, 3);
	ck_assert_uint_eq(b.steps[1].thread, 8);
}
END_TEST

START_TEST(late_effects_are_those_of_the_last_step)
{
	ts_steps_effect(&b, TS_FX_READ, 1, 1);
	close_step();
	ts_steps_effect(&b, TS_FX_READ, 2, 1);
	ts_steps_extend_last(&b);
	close_step();
	ck_assert_uint_eq(b.steps[0].n_effects, 2);
	ck_assert_uint_eq(b.steps[1].n_effects, 0);
}
END_TEST

START_TEST(values_stay_what_they_were_while_the_batch_grows)
{
	for (uint32_t i = 0; i < 5000; i++) {
		ts_steps_value(&b, TS_FX_WRITE, i, &i, sizeof(i));
		close_step();
	}
	ck_assert(!b.is_failed);
	for (uint32_t i = 0; i < 5000; i++) {
		const struct ts_effect *e = &b.effects[b.steps[i].first];

		ck_assert_uint_eq(e->addr, i);
		ck_assert_uint_eq(e->len, sizeof(i));
		ck_assert_int_eq(memcmp(ts_effect_data(&b, e), &i, sizeof(i)), 0);
	}
}
END_TEST

START_TEST(of_a_word_the_first_bytes_are_the_value)
{
	for (uint32_t i = 0; i < 1000; i++) {
		ts_steps_word(&b, TS_FX_WRITE, i, (const uint8_t *)"abcdefgh", 1 + i % 8);
		close_step();
	}
	ck_assert_uint_eq(b.n_data, 1000 / 8 * 36);
	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert_uint_eq(b.effects[i].addr, i);
		ck_assert_uint_eq(b.effects[i].len, 1 + i % 8);
		ck_assert_mem_eq(ts_effect_data(&b, &b.effects[i]), "abcdefgh", 1 + i % 8);
	}
}
END_TEST

START_TEST(an_effect_without_a_value_has_no_data)
{
	struct ts_effect *e = ts_steps_effect(&b, TS_FX_WRITE, 5, 8);

	ck_assert_ptr_null(ts_effect_data(&b, e));
	ck_assert(!e->is_hidden);
	e = ts_steps_value(&b, TS_FX_WRITE, 5, NULL, 0);
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_ne(e->data, TS_NO_DATA);
}
END_TEST

START_TEST(an_effect_has_a_value_or_an_item)
{
	const struct ts_effect *e;

	ts_steps_effect(&b, TS_FX_PROTECT, 0, 4096)->item = TS_PROT_READ;
	e = &b.effects[0];
	ck_assert_uint_eq(ts_effect_item(e), TS_PROT_READ);
	ck_assert_ptr_null(ts_effect_data(&b, e));
	e = ts_steps_value(&b, TS_FX_WRITE, 0, "abcd", 4);
	ck_assert_uint_eq(ts_effect_item(e), 0);
	ck_assert_mem_eq(ts_effect_data(&b, e), "abcd", 4);
	e = ts_steps_value(&b, TS_FX_WRITE, 0, "efgh", 4);
	ck_assert_uint_eq(ts_effect_item(e), 0);
	e = ts_steps_effect(&b, TS_FX_UNMAP, 0, 4096);
	ck_assert_uint_eq(ts_effect_item(e), 0);
	ck_assert_ptr_null(ts_effect_data(&b, e));
}
END_TEST

START_TEST(texts_of_maps_are_copied_and_terminated)
{
	char desc[] = "stackXX";

	for (uint32_t i = 0; i < 300; i++) {
		const struct ts_map *m = ts_steps_map(&b, i, 4096, desc, 5, NULL, 0);

		ck_assert_uint_eq(m->addr, i);
		ck_assert_uint_eq(m->len, 4096);
	}
	desc[0] = '?';
	for (uint32_t i = 0; i < 300; i++) {
		const struct ts_map *m = &b.maps[b.effects[i].item];

		ck_assert_uint_eq(m->addr, b.effects[i].addr);
		ck_assert_str_eq(ts_steps_text(&b, m->desc), "stack");
		ck_assert_ptr_null(ts_steps_text(&b, m->file));
	}
}
END_TEST

START_TEST(an_effect_names_its_event)
{
	for (uint64_t i = 0; i < 200; i++)
		ts_steps_event(&b, TS_EV_SYSCALL)->number = i;
	for (uint64_t i = 0; i < 200; i++) {
		ck_assert_int_eq(b.effects[i].kind, TS_FX_EVENT);
		ck_assert_uint_eq(b.events[b.effects[i].item].number, i);
	}
}
END_TEST

START_TEST(a_rollback_drops_what_came_last)
{
	uint32_t n;

	ts_steps_map(&b, 0, 4096, "stack", 5, NULL, 0);
	ts_steps_load(&b, 0, 4096, "libc", 4);
	ts_steps_event(&b, TS_EV_GAP);
	close_step();
	ts_steps_event(&b, TS_EV_EXIT);
	n = b.n_effects;
	ts_steps_rollback(&b, n); /* nothing */
	ck_assert_uint_eq(b.n_effects, 4);
	ts_steps_effect(&b, TS_FX_PROTECT, 0, 4096)->item = 0;
	ts_steps_event(&b, TS_EV_SYSCALL);
	ts_steps_map(&b, 4096, 4096, "brk", 3, NULL, 0);
	ts_steps_load(&b, 4096, 4096, "libm", 4);
	ts_steps_event(&b, TS_EV_SIGNAL);
	ts_steps_map(&b, 8192, 4096, "heap", 4, NULL, 0);
	ts_steps_rollback(&b, n);
	ck_assert_uint_eq(b.n_effects, 4);
	ck_assert_uint_eq(b.n_maps, 1);
	ck_assert_uint_eq(b.n_modules, 1);
	ck_assert_uint_eq(b.n_events, 2);
	ck_assert_int_eq(b.events[b.effects[3].item].kind, TS_EV_EXIT);
	ts_steps_rollback(&b, b.n_closed);
	ck_assert_uint_eq(b.n_effects, 3);
	ck_assert_uint_eq(b.n_events, 1);
	ck_assert_uint_eq(b.n_steps, 1);
	ts_steps_event(&b, TS_EV_FAULT);
	close_step();
	ck_assert_int_eq(b.events[b.effects[b.steps[1].first].item].kind, TS_EV_FAULT);
}
END_TEST

START_TEST(a_reset_batch_is_empty_and_good)
{
	ts_steps_value(&b, TS_FX_WRITE, 0, "x", 1);
	close_step();
	ck_assert(!ts_steps_grow_data(&b, UINT32_MAX));
	ck_assert(b.is_failed);
	ts_steps_reset(&b);
	ck_assert(!b.is_failed);
	close_step();
	ck_assert_uint_eq(b.n_steps, 1);
	ck_assert_uint_eq(b.steps[0].first, 0);
	ck_assert_uint_eq(b.steps[0].n_effects, 0);
}
END_TEST

START_TEST(a_batch_past_4_gib_is_refused_without_an_allocation)
{
	ts_steps_value(&b, TS_FX_WRITE, 0, "x", 1);
	ck_assert(!ts_steps_grow_data(&b, UINT32_MAX));
	ck_assert(b.is_failed);
	ck_assert_uint_lt(b.cap_data, 1000);
	ck_assert_uint_eq(b.n_effects, 1);
}
END_TEST

/* Writes of 8 bytes from @addr on, one after the other. */
static void write_words(uint64_t addr, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ts_steps_value(&b, TS_FX_WRITE, addr + 8 * i, &(uint64_t){ i }, 8);
}

START_TEST(many_writes_that_go_on_are_one)
{
	uint64_t value;

	write_words(0x1000, 1);
	close_step();
	write_words(0x2000, 100);
	ts_steps_effect(&b, TS_FX_FORGET, 1, 1);
	write_words(0x3000, 50);
	write_words(0x3000 + 50 * 8 + 1, 1);
	write_words(UINT64_MAX - 7, 1);
	write_words(0, 1);
	close_step();
	close_step();
	ck_assert_uint_eq(b.steps[1].first, 1);
	ck_assert_uint_eq(b.steps[1].n_effects, 6);
	ck_assert_uint_eq(b.steps[2].first, 7);
	ck_assert_uint_eq(b.effects[1].addr, 0x2000);
	ck_assert_uint_eq(b.effects[1].len, 800);
	memcpy(&value, ts_effect_data(&b, &b.effects[1]) + 99 * 8, 8);
	ck_assert_uint_eq(value, 99);
	ck_assert_int_eq(b.effects[2].kind, TS_FX_FORGET);
	ck_assert_uint_eq(b.effects[3].len, 400);
	ck_assert_uint_eq(b.effects[6].addr, 0);
}
END_TEST

START_TEST(what_was_hidden_is_no_part_of_what_was_not)
{
	write_words(0x1000, 40);
	for (unsigned i = 20; i < 40; i++)
		b.effects[i].is_hidden = true;
	close_step();
	ck_assert_uint_eq(b.steps[0].n_effects, 2);
	ck_assert(!b.effects[0].is_hidden && b.effects[1].is_hidden);
	ck_assert_uint_eq(b.effects[1].addr, 0x1000 + 160);
}
END_TEST

START_TEST(what_is_put_where_room_was_made_is_a_word)
{
	const uint8_t bytes[12] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	for (unsigned i = 0; i < 1000; i++) {
		ck_assert(ts_steps_room(&b, 2, 16));
		ts_steps_put(&b, TS_FX_REG_WRITE, i, bytes, 4);
		ts_steps_put(&b, TS_FX_WRITE, i, bytes + 4, 3);
	}
	close_step();
	ck_assert_uint_eq(b.steps[0].n_effects, 2000);
	ck_assert_uint_eq(b.n_data, 7000);
	for (unsigned i = 0; i < 2000; i++) {
		const struct ts_effect *e = &b.effects[i];

		ck_assert_int_eq(e->kind, i % 2 ? TS_FX_WRITE : TS_FX_REG_WRITE);
		ck_assert_uint_eq(e->addr, i / 2);
		ck_assert_uint_eq(e->len, i % 2 ? 3 : 4);
		ck_assert_mem_eq(ts_effect_data(&b, e), bytes + i % 2 * 4, e->len);
		ck_assert(!e->is_hidden);
	}
}
END_TEST

START_TEST(few_writes_stay_as_they_are)
{
	write_words(0x1000, TS_MANY_EFFECTS);
	close_step();
	ck_assert_uint_eq(b.steps[0].n_effects, TS_MANY_EFFECTS);
}
END_TEST

START_TEST(a_copy_has_all_that_the_batch_has_whatever_it_had_before)
{
	struct ts_steps to;

	ts_steps_init(&to);
	for (unsigned n = 0; n < 200; n += 7) {
		ts_steps_reset(&b);
		write_words(0x1000, n);
		ts_steps_map(&b, 0x5000, 0x1000, "exe", 3, "/bin/true", 9);
		ts_steps_load(&b, 0x5000, 0x1000, "/bin/false", 10);
		ts_steps_event(&b, TS_EV_EXIT)->number = n;
		close_step();
		ts_steps_effect(&b, TS_FX_READ, 5, 1);
		ts_steps_copy(&to, &b);
		ck_assert_uint_eq(to.n_steps, 1);
		ck_assert_uint_eq(to.n_effects, b.n_effects);
		ck_assert_uint_eq(to.n_closed, b.n_closed);
		ck_assert_mem_eq(to.steps, b.steps, sizeof(*b.steps));
		ck_assert_mem_eq(to.effects, b.effects, b.n_effects * sizeof(*b.effects));
		ck_assert_uint_eq(to.n_data, b.n_data);
		ck_assert_mem_eq(to.data, b.data, b.n_data);
		ck_assert_str_eq(ts_steps_text(&to, to.maps[0].file), "/bin/true");
		ck_assert_str_eq(ts_steps_text(&to, to.modules[0].file), "/bin/false");
		ck_assert_uint_eq(to.events[0].number, n);
		ck_assert_uint_eq(to.n_maps + to.n_modules + to.n_events, 3);
		ck_assert(!to.is_failed);
	}
	b.is_failed = true;
	ts_steps_copy(&to, &b);
	ck_assert(to.is_failed);
	ts_steps_fini(&to);
}
END_TEST

/* Sixteen bytes at once, but for those at both ends. */
START_TEST(bytes_are_copied_away_to_any_place_and_no_other)
{
	uint8_t from[80], to[120];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i + 1);
	for (size_t at = 0; at < 17; at++) {
		for (size_t len = 0; len <= sizeof(from) - 3; len++) {
			memset(to, 0xee, sizeof(to));
			ts_copy_away(to + at, from + at % 3, len);
			ck_assert_mem_eq(to + at, from + at % 3, len);
			for (size_t i = 0; i < sizeof(to); i++)
				ck_assert((i >= at && i < at + len) || to[i] == 0xee);
		}
	}
}
END_TEST

UNIT_FIXTURE_SUITE("step", setup, teardown, each_step_has_the_effects_since_the_one_before,
		   late_effects_are_those_of_the_last_step, values_stay_what_they_were_while_the_batch_grows,
		   of_a_word_the_first_bytes_are_the_value, an_effect_without_a_value_has_no_data,
		   an_effect_has_a_value_or_an_item, texts_of_maps_are_copied_and_terminated, an_effect_names_its_event,
		   a_rollback_drops_what_came_last, a_reset_batch_is_empty_and_good,
		   a_batch_past_4_gib_is_refused_without_an_allocation,
		   many_writes_that_go_on_are_one, what_was_hidden_is_no_part_of_what_was_not,
		   what_is_put_where_room_was_made_is_a_word, few_writes_stay_as_they_are,
		   a_copy_has_all_that_the_batch_has_whatever_it_had_before,
		   bytes_are_copied_away_to_any_place_and_no_other)
