/* SPDX-License-Identifier: MIT */
#include "forge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "src/calls/calls.h"
#include "src/timeline/timeline.h"

#define N_STEPS      700
#define MAX_SECTIONS 1024
#define HEADER_LEN   88
#define HEAD_LEN     64
#define ENTRY_LEN    56

const struct ts_index_key forge_key = { 10, 20, 30, 40, 50, { .id = 60 } };

/* -------------------------------------------------------------------------------------------- the layout */

struct place {
	size_t off, len;
};

struct layout {
	struct place sections[MAX_SECTIONS], tables[MAX_SECTIONS];
	size_t n_sections, n_tables;
};

static uint64_t get(const uint8_t *p, unsigned len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return v;
}

/* The record at @off and its sections, as far as its numbers make sense.  Returns where the next one is. */
static size_t lay_out_record(struct layout *l, const uint8_t *file, size_t len, size_t off)
{
	uint64_t record_len = get(file + off + 16, 8), n = get(file + off + 24, 4);

	if (record_len < HEAD_LEN || record_len > len - off || n > (record_len - HEAD_LEN) / ENTRY_LEN ||
	    l->n_tables == MAX_SECTIONS)
		return len;
	l->tables[l->n_tables++] = (struct place){ off, HEAD_LEN + (size_t)n * ENTRY_LEN };
	for (uint64_t i = 0; i < n && l->n_sections < MAX_SECTIONS; i++) {
		const uint8_t *e = file + off + HEAD_LEN + i * ENTRY_LEN;
		uint64_t at = get(e + 8, 8), size = get(e + 16, 8);

		if (at <= record_len && size <= record_len - at)
			l->sections[l->n_sections++] = (struct place){ off + at, size };
	}
	return off + (record_len + 4095) / 4096 * 4096;
}

static void lay_out(struct layout *l, const uint8_t *file, size_t len)
{
	l->n_sections = l->n_tables = 0;
	for (size_t off = 4096; off < len && len - off >= HEAD_LEN;)
		off = lay_out_record(l, file, len, off);
}

/* --------------------------------------------------------------------------------------------- forging */

/* What the table says may be forged, the record's length too: only what lies in the file is signed. */
static void sign_table(uint8_t *file, size_t len, const struct place *t)
{
	const struct ts_signer *s = &forge_key.signer;
	uint8_t *head = file + t->off;
	uint64_t left = len - t->off;
	struct iovec parts[3] = { { file, HEADER_LEN },
				  { head, 32 },
				  { head + HEAD_LEN, t->len - HEAD_LEN } };

	for (size_t i = HEAD_LEN; i < t->len; i += ENTRY_LEN) {
		uint64_t at = get(head + i + 8, 8), size = get(head + i + 16, 8);

		if (at <= left && size <= left - at)
			ts_signer_sign(s, &(struct iovec){ head + at, size }, 1, head + i + 24);
	}
	ts_signer_sign(s, parts, 3, head + 32);
}

/* What is put in place of the number @old. */
static uint64_t other_number(uint64_t old, unsigned op, uint16_t operand)
{
	switch (op % 8) {
	case 0: return old + 1;
	case 1: return old - 1;
	case 2: return operand;
	case 3: return ~(uint64_t)operand;
	case 4: return old ^ UINT64_C(1) << operand % 64;
	case 5: return UINT64_C(1) << operand % 64;
	case 6: return old + operand;
	default: return old * 2;
	}
}

/* Bytes of an edit: 2 the section, 2 the place in it, 1 the number's length, 1 the operation, 2 its operand.
 */
static void edit(const struct layout *l, uint8_t *file, const uint8_t *e)
{
	size_t which = get(e, 2) % (l->n_sections + l->n_tables);
	struct place p = which < l->n_sections ? l->sections[which] : l->tables[which - l->n_sections];
	unsigned len = 1u << e[4] % 4;
	uint64_t number;
	uint8_t *at;

	if (p.len < len)
		return;
	/* half of the places are near the beginning, where counts and first offsets are */
	at = file + p.off +
	     (e[4] & 0x80 ? get(e + 2, 2) % (p.len < 64 ? p.len : 64) : get(e + 2, 2) % p.len) / len * len;
	if (at + len > file + p.off + p.len)
		return;
	number = other_number(get(at, len), e[5], (uint16_t)get(e + 6, 2));
	memcpy(at, &number, len);
}

void forge(uint8_t *file, size_t len, const uint8_t *edits, size_t n)
{
	static struct layout l;

	lay_out(&l, file, len);
	for (size_t i = 0; i < n && l.n_sections; i++)
		edit(&l, file, edits + i * FORGE_EDIT_LEN);
	for (size_t i = 0; i < l.n_tables; i++)
		sign_table(file, len, &l.tables[i]);
}

/* ---------------------------------------------------------------------------------------------- asking */

static void die(const char *what)
{
	fprintf(stderr, "forge: %s\n", what);
	abort();
}

static uint8_t *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;

	if (!f || fseek(f, 0, SEEK_END))
		die("cannot read the index");
	*len = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*len);
	if (!bytes || fread(bytes, 1, *len, f) != *len)
		die("cannot read the index");
	fclose(f);
	return bytes;
}

uint8_t *forge_original(const char *path, uint64_t seed, size_t *len)
{
	struct script *s = script_random_new(seed, N_STEPS);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);

	remove(path);
	if (tl)
		ts_timeline_make_digests(tl);
	if (!tl || !ts_timeline_use_file(tl, ts_index_create(path, &forge_key, &err), &err) ||
	    ts_timeline_grow(tl, UINT64_MAX, &err) != TS_GROW_DONE || tl->file_error.code != TS_OK)
		die("cannot build the index");
	ts_timeline_free(tl);
	script_free(s);
	return read_file(path, len);
}

static bool ask_state(struct ts_query *q, uint64_t pos)
{
	static uint8_t data[16384], known[16384];
	struct ts_error err = { 0 };
	bool done = true;

	for (uint32_t t = 0; t < ts_query_n_threads(q) && t < SCRIPT_MAX_THREADS; t++)
		done &= ts_query_regs(q, pos, t, data, known, &err);
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *m = &script_arenas[i];

		for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++)
			done &= ts_query_mem(q, pos, p, m->first, (size_t)(m->last - m->first) + 1, data,
					     known, &err);
	}
	return done || err.text[0] ? done : (die("an error without a sentence"), false);
}

static void check_pos(const struct ts_query *q, uint64_t pos)
{
	if (pos != UINT64_MAX && pos > ts_query_end(q))
		die("a position beyond the end");
}

static void ask_sets(struct ts_query *q, uint64_t pos, uint64_t pc)
{
	for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++) {
		check_pos(q, ts_query_next_execution(q, p, pc, pc + 20, pos));
		check_pos(q, ts_query_prev_execution(q, p, pc, pc + 20, pos));
		for (unsigned i = 0; i < SCRIPT_N_ARENAS && p < ts_query_n_processes(q); i++) {
			const struct script_arena *m = &script_arenas[i];

			for (enum ts_access a = TS_ACCESS_CHANGE; a <= TS_ACCESS_READ; a++) {
				uint64_t next = ts_query_next_access(q, a, p, m->first, m->last,
								     pos / TS_CHUNK_STEPS);
				uint64_t prev = ts_query_prev_access(q, a, p, m->first, m->last,
								     pos / TS_CHUNK_STEPS);

				check_pos(q, next == UINT64_MAX ? next : next * TS_CHUNK_STEPS);
				check_pos(q, prev == UINT64_MAX ? prev : prev * TS_CHUNK_STEPS);
			}
		}
	}
}

static void ask_world(struct ts_query *q, uint64_t pos)
{
	struct ts_region_info regions[16];
	struct ts_module_info m;

	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		ts_query_next_event(q, kind, pos);
		ts_query_prev_event(q, kind, pos);
	}
	for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++) {
		ts_query_regions(q, p, pos, regions, 16);
		for (size_t at = 0; ts_query_next_module(q, p, pos, &at, &m);)
			continue;
	}
	for (uint32_t t = 0; t < ts_query_n_threads(q) && t < SCRIPT_MAX_THREADS; t++) {
		ts_query_is_alive(q, t, pos);
		check_pos(q, ts_query_next_step(q, t, pos));
		check_pos(q, ts_query_prev_step(q, t, pos));
	}
}

static void ask_calls(const struct ts_timeline *tl, uint64_t pos)
{
	struct ts_call call;

	if (!tl->calls)
		return;
	for (uint32_t t = 0; t < ts_calls_n_threads(tl->calls) && t < SCRIPT_MAX_THREADS; t++) {
		if (!ts_calls_innermost(tl->calls, t, pos, &call))
			continue;
		for (unsigned i = 0; i < 100 && ts_calls_outer(tl->calls, &call); i++)
			continue;
	}
}

static bool ask(const struct script *s, struct ts_timeline *tl)
{
	struct ts_error err = { 0 };
	struct ts_query *q = ts_query_new(tl, &err);
	bool done = true;

	if (!q)
		return false;
	for (uint64_t i = 0; i <= 6; i++) {
		uint64_t pos = ts_query_end(q) / 6 * i;

		if (pos > ts_query_end(q))
			pos = ts_query_end(q);
		done &= ask_state(q, pos);
		ask_sets(q, pos, s->steps.steps[i * (N_STEPS / 7)].pc);
		ask_world(q, pos);
		ask_calls(tl, pos);
	}
	ts_query_free(q);
	return done;
}

enum forged forge_ask(const char *path, const uint8_t *file, size_t len, uint64_t seed)
{
	struct script *s = script_random_new(seed, N_STEPS);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	enum forged forged = FORGED_REFUSED;
	struct ts_index_file *f;
	FILE *out = fopen(path, "wb");

	if (!tl || !out || fwrite(file, 1, len, out) != len || fclose(out))
		die("cannot write the index");
	ts_timeline_make_digests(tl);
	f = ts_index_open(path, &forge_key, &err);
	if (f && ts_timeline_use_file(tl, f, &err))
		forged = ask(s, tl) ? FORGED_BELIEVED : FORGED_NOTICED;
	else if (!err.text[0])
		die("refused without a sentence");
	ts_timeline_free(tl);
	script_free(s);
	return forged;
}
