/* SPDX-License-Identifier: MIT */
/* Notes of an index about the world: they are read as they were written, and what lies in one is refused. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "no_memory.h"
#include "src/timeline/file/journal.h"

#define N_NOTES 8
#define PROT_ALL (TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC)

static struct ts_steps made, batch;
static struct ts_buf notes;
static size_t ends[N_NOTES]; /* of each note */

static void note(unsigned i, const struct ts_effect *e)
{
	ts_journal_effect(&notes, 10 + i, i, &made, e);
	ends[i] = notes.len;
}

/* One note of each kind; note i is of position 10 + i and thread i. */
static void write_notes(void)
{
	struct ts_event *ev;
	struct ts_map *m;

	ts_steps_reset(&made);
	m = ts_steps_map(&made, 0x1000, 0x2000, "exe", 3, "/bin/x", 6);
	m->prot = PROT_ALL;
	m->file_off = 0x40;
	m->fill = TS_FILL_ZERO;
	ts_steps_map(&made, 0x8000, 0x1000, NULL, 0, NULL, 0);
	ts_steps_load(&made, UINT64_MAX - 0xfff, 0x1000, "/lib/y", 6);
	ev = ts_steps_event(&made, TS_EV_SYSCALL);
	ev->number = 59;
	ev->n_args = TS_MAX_SYSCALL_ARGS;
	ev->has_ret = ev->has_addr = ev->is_after = true;
	strcpy(ev->text, "execve");
	ts_steps_effect(&made, TS_FX_UNMAP, 0x1000, 0x1000);
	ts_steps_effect(&made, TS_FX_PROTECT, 0x2000, 0x1000)->item = TS_PROT_READ;
	ts_steps_effect(&made, TS_FX_FORGET_REGS, 0, 0);
	ts_steps_effect(&made, TS_FX_UNLOAD, UINT64_MAX - 0xfff, 0x1000);
	ck_assert(!made.is_failed);
	for (unsigned i = 0; i < N_NOTES; i++)
		note(i, &made.effects[i]);
	ck_assert(ts_buf_ok(&notes));
}

static void setup(void)
{
	ts_steps_init(&made);
	ts_steps_init(&batch);
	ts_buf_init(&notes);
	write_notes();
}

static void teardown(void)
{
	ts_buf_fini(&notes);
	ts_steps_fini(&batch);
	ts_steps_fini(&made);
}

static const char *text_at(uint32_t off)
{
	return off == TS_NO_DATA ? "(none)" : (const char *)batch.data + off;
}

START_TEST(notes_are_read_as_they_were_written)
{
	const uint8_t *p = notes.data;
	size_t len = notes.len;

	for (unsigned i = 0; i < N_NOTES; i++) {
		const struct ts_effect *e = &batch.effects[0], *want = &made.effects[i];
		struct ts_note n;

		ck_assert(ts_journal_next(&p, &len, &n, &batch));
		ck_assert_uint_eq(n.pos, 10 + i);
		ck_assert_uint_eq(n.thread, i);
		ck_assert_uint_eq(notes.len - len, ends[i]);
		e = &batch.effects[0];
		ck_assert_int_eq(n.kind, want->kind);
		ck_assert_uint_eq(batch.n_effects, 1);
		ck_assert(e->kind == want->kind && e->addr == want->addr && e->len == want->len);
		if (e->kind == TS_FX_PROTECT)
			ck_assert_uint_eq(e->item, TS_PROT_READ);
		if (i == 0) {
			ck_assert_str_eq(text_at(batch.maps[0].desc), "exe");
			ck_assert_str_eq(text_at(batch.maps[0].file), "/bin/x");
			ck_assert_uint_eq(batch.maps[0].file_off, 0x40);
			ck_assert(batch.maps[0].prot == PROT_ALL && batch.maps[0].fill == TS_FILL_ZERO);
		} else if (i == 1) {
			ck_assert_str_eq(text_at(batch.maps[0].desc), "(none)");
			ck_assert_str_eq(text_at(batch.maps[0].file), "(none)");
		} else if (i == 2) {
			ck_assert_str_eq(text_at(batch.modules[0].file), "/lib/y");
		} else if (i == 3) {
			ck_assert_uint_eq(batch.events[0].number, 59);
			ck_assert_str_eq(batch.events[0].text, "execve");
		}
	}
	ck_assert_uint_eq(len, 0);
}
END_TEST

static bool is_range(uint64_t addr, uint64_t len)
{
	return len && len - 1 <= UINT64_MAX - addr;
}

/* What the world relies on. */
static void check(const struct ts_note *n)
{
	ck_assert_uint_eq(batch.n_effects, 1);
	ck_assert(!batch.effects[0].len || is_range(batch.effects[0].addr, batch.effects[0].len));
	switch (n->kind) {
	case TS_FX_MAP:
		ck_assert(is_range(batch.maps[0].addr, batch.maps[0].len));
		ck_assert(batch.maps[0].prot <= PROT_ALL && (unsigned)batch.maps[0].fill <= TS_FILL_ZERO);
		break;
	case TS_FX_LOAD:
		ck_assert(is_range(batch.modules[0].addr, batch.modules[0].len));
		ck_assert_uint_lt(strlen(text_at(batch.modules[0].file)), batch.n_data);
		break;
	case TS_FX_EVENT:
		ck_assert_uint_lt(batch.events[0].kind, TS_N_EVENT_KINDS);
		ck_assert_uint_le(batch.events[0].n_args, TS_MAX_SYSCALL_ARGS);
		ck_assert_ptr_nonnull(memchr(batch.events[0].text, '\0', sizeof(batch.events[0].text)));
		break;
	case TS_FX_PROTECT:
		ck_assert_uint_le(batch.effects[0].item, PROT_ALL);
		break;
	default:
		ck_assert(n->kind == TS_FX_UNMAP || n->kind == TS_FX_FORGET || n->kind == TS_FX_UNLOAD ||
			  n->kind == TS_FX_FORGET_REGS);
	}
}

/* Read the @len bytes, which are an allocation of their own.  Returns how many notes were accepted. */
static unsigned read_notes(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	const uint8_t *p = copy;
	struct ts_note n;
	unsigned n_notes = 0;

	memcpy(copy, bytes, len);
	while (ts_journal_next(&p, &len, &n, &batch)) {
		check(&n);
		n_notes++;
	}
	free(copy);
	return n_notes;
}

START_TEST(notes_that_are_truncated_are_read_up_to_there)
{
	for (size_t len = 0; len <= notes.len; len++) {
		unsigned n = 0;

		while (n < N_NOTES && ends[n] <= len)
			n++;
		ck_assert_uint_eq(read_notes(notes.data, len), n);
	}
}
END_TEST

START_TEST(a_text_without_its_end_is_refused)
{
	uint8_t *text = memmem(notes.data, notes.len, "execve", 6);

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', sizeof(((struct ts_event *)0)->text));
	ck_assert_uint_eq(read_notes(notes.data, notes.len), 3); /* those before it */
}
END_TEST

START_TEST(a_map_and_a_module_of_no_bytes_are_refused)
{
	enum { LEN_AT = 16 }; /* in the head of a note */

	memset(notes.data + ends[1] + LEN_AT, 0, sizeof(uint64_t));
	ck_assert_uint_eq(read_notes(notes.data, notes.len), 2);
	memset(notes.data + LEN_AT, 0, sizeof(uint64_t));
	ck_assert_uint_eq(read_notes(notes.data, notes.len), 0);
}
END_TEST

/* Each 8 bytes of each note, and each byte, become something else. */
START_TEST(notes_with_any_number_changed_are_refused_or_hold_what_the_world_relies_on)
{
	static const uint8_t changes[] = { 0x01, 0x02, 0x08, 0x80, 0xff };
	unsigned n_refused = 0;

	for (size_t i = 0; i < notes.len; i++) {
		for (unsigned k = 0; k < 2 * sizeof(changes); k++) {
			size_t n = k < sizeof(changes) || notes.len - i < 8 ? 1 : 8;

			for (size_t j = 0; j < n; j++)
				notes.data[i + j] ^= changes[k % sizeof(changes)];
			n_refused += read_notes(notes.data, notes.len) < N_NOTES;
			for (size_t j = 0; j < n; j++)
				notes.data[i + j] ^= changes[k % sizeof(changes)];
		}
	}
	ck_assert_uint_gt(n_refused, notes.len);
	ck_assert_uint_eq(read_notes(notes.data, notes.len), N_NOTES);
}
END_TEST

START_TEST(without_memory_a_note_is_not_read_and_can_be_read_again)
{
	for (unsigned i = 0; i < N_NOTES; i++) {
		const uint8_t *first = notes.data + (i ? ends[i - 1] : 0);
		bool done = false;

		for (uint64_t n = 0; !done; n++) {
			const uint8_t *p = first;
			size_t len = ends[i] - (size_t)(first - notes.data);
			struct ts_note ignored;
			int64_t n_lost;

			ts_steps_fini(&batch);
			ts_steps_init(&batch);
			no_memory_start(n, n + 1);
			done = ts_journal_next(&p, &len, &ignored, &batch);
			no_memory_end(&n_lost);
			ck_assert(done ? !len : p == first);
			ck_assert(!done || i == N_NOTES - 1 || batch.n_effects == 1);
		}
	}
}
END_TEST

START_TEST(without_memory_to_write_it_is_known)
{
	int64_t n_lost;

	ts_buf_fini(&notes);
	ts_buf_init(&notes);
	no_memory_start(0, 1);
	ts_journal_effect(&notes, 1, 0, &made, &made.effects[0]);
	no_memory_end(&n_lost);
	ck_assert(!ts_buf_ok(&notes));
}
END_TEST

UNIT_FIXTURE_SUITE("journal", setup, teardown, notes_are_read_as_they_were_written,
		   a_text_without_its_end_is_refused, a_map_and_a_module_of_no_bytes_are_refused, notes_that_are_truncated_are_read_up_to_there,
		   notes_with_any_number_changed_are_refused_or_hold_what_the_world_relies_on,
		   without_memory_a_note_is_not_read_and_can_be_read_again, without_memory_to_write_it_is_known)
