/* SPDX-License-Identifier: MIT */
#include "forge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "src/calls/calls.h"
#include "src/index/index_blocks.h"
#include "src/query/search/call_list.h"
#include "src/query/search/find_filter.h"
#include "src/timeline/timeline.h"

#define MAX_ARRAYS   16384
#define MAX_RECORDS  256
#define HEADER_LEN   104
#define HEAD_LEN     88
#define SIGNED_LEN   56
#define ENTRY_LEN    64 /* of the directory, as its tail has */
#define SECTION_LEN  16
#define ARRAY_LEN    24
#define SUMMARY_HEAD_LEN 40

uint64_t forge_n_steps = 700;
unsigned forge_share = 1, forge_turn;
const struct ts_index_key forge_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };

/* -------------------------------------------------------------------------------------------- the layout */

struct place {
	size_t off, len;
};

struct layout {
	struct place arrays[MAX_ARRAYS], records[MAX_RECORDS];
	size_t n_arrays, n_records;
	struct place summaries[MAX_RECORDS]; /* of each record, in the summary: what it has of the head and the tables */
	struct place summary, directory;
};

static uint64_t get(const uint8_t *p, unsigned len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return v;
}

/* Where a record's tables are: sections, arrays, and the signatures of blocks, which follow @end. */
static struct place tables_of(const uint8_t *head)
{
	return (struct place){ get(head + 24, 8),
			       get(head + 32, 4) * SECTION_LEN + get(head + 36, 4) * ARRAY_LEN };
}

/* Where an array is, by its entry in the tables; of a packed one, what is packed. */
static struct place place_of(const uint8_t *array, size_t record)
{
	uint64_t packed_len = get(array + 16, 4);

	return (struct place){ record + get(array, 8), packed_len ? packed_len : get(array + 8, 8) };
}

/* The record at @off and its arrays.  Returns where the next one is. */
static size_t lay_out_record(struct layout *l, const uint8_t *file, size_t off)
{
	const uint8_t *head = file + off, *array = head + get(head + 24, 8) + get(head + 32, 4) * SECTION_LEN;
	size_t len = get(head + 16, 8);

	assert(l->n_records < MAX_RECORDS);
	l->records[l->n_records++] = (struct place){ off, len };
	for (uint64_t i = 0, n = get(head + 36, 4); i < n; i++, array += ARRAY_LEN) {
		assert(l->n_arrays < MAX_ARRAYS);
		l->arrays[l->n_arrays++] = place_of(array, off);
	}
	return off + (len + 4095) / 4096 * 4096;
}

/* Where the summary begins, by the last entry of the directory. */
static size_t end_of_records(const uint8_t *directory, size_t len)
{
	const uint8_t *last = directory + len - 2 * ENTRY_LEN;

	return get(last + 16, 8) + (get(last + 24, 8) + 4095) / 4096 * 4096;
}

static void lay_out_summary(struct layout *l, const uint8_t *file)
{
	const struct place *last = &l->records[l->n_records - 1];
	size_t off = last->off + (last->len + 4095) / 4096 * 4096;

	l->summary = (struct place){ off, l->directory.off - off };
	off += SUMMARY_HEAD_LEN;
	for (size_t i = 0; i < l->n_records; i++) {
		const uint8_t *head = file + l->records[i].off;

		l->summaries[i] = (struct place){ off, tables_of(head).len + get(head + 44, 4) };
		off += l->summaries[i].len;
	}
	assert(off == l->directory.off);
}

/* Of a file that is as it was built. */
static void lay_out(struct layout *l, const uint8_t *file, size_t len)
{
	size_t directory = get(file + len - ENTRY_LEN + 16, 8);

	l->n_arrays = l->n_records = 0;
	l->directory = (struct place){ directory, len - directory };
	for (size_t off = 4096, end = end_of_records(file + directory, len - directory); off < end;)
		off = lay_out_record(l, file, off);
	lay_out_summary(l, file);
}

/* Is there a record at @off, before @end?  *n_summary and *n_arrays grow by what it has. */
static bool is_record(const uint8_t *file, size_t off, size_t end, size_t *n_summary, size_t *n_arrays)
{
	const uint8_t *head = file + off, *array;
	size_t len, n = 0;
	struct place t;

	if (end - off < HEAD_LEN)
		return false;
	len = get(head + 16, 8);
	t = tables_of(head);
	if (len < HEAD_LEN || len > end - off || t.off < HEAD_LEN || t.off > len || t.len > len - t.off ||
	    get(head + 44, 4) < HEAD_LEN || get(head + 44, 4) > len)
		return false;
	array = head + t.off + get(head + 32, 4) * SECTION_LEN;
	for (n = get(head + 36, 4); n; n--, array += ARRAY_LEN) {
		struct place p = place_of(array, 0);

		if (p.off > len || p.len > len - p.off)
			return false;
	}
	*n_summary += t.len + get(head + 44, 4);
	*n_arrays += get(head + 36, 4);
	return *n_arrays < MAX_ARRAYS;
}

bool forge_can(const uint8_t *file, size_t len)
{
	size_t directory, end, off = 4096, n = 0, n_summary = SUMMARY_HEAD_LEN, n_arrays = 0;
	const uint8_t *last = file + len - 2 * ENTRY_LEN;

	if (len < 8192 || memcmp(file + len - ENTRY_LEN, "index directory\n", 16))
		return false;
	directory = get(file + len - ENTRY_LEN + 16, 8);
	if (directory < 4096 || directory > len - 2 * ENTRY_LEN || get(last + 16, 8) > len || get(last + 24, 8) > len)
		return false;
	for (end = end_of_records(file + directory, len - directory); off < end && end <= directory; n++) {
		if (n == MAX_RECORDS || !is_record(file, off, end, &n_summary, &n_arrays))
			return false;
		off += (get(file + off + 16, 8) + 4095) / 4096 * 4096;
	}
	return off == end && end + n_summary == directory && directory + (n + 1) * ENTRY_LEN == len;
}

size_t forge_n_records(const uint8_t *file, size_t len)
{
	static struct layout l;

	lay_out(&l, file, len);
	return l.n_records;
}

struct forge_array forge_find(uint8_t *file, size_t len, int record, uint32_t kind, uint32_t owner, int ordinal)
{
	static struct layout l;
	uint8_t *head, *sections, *entry;

	lay_out(&l, file, len);
	if (record < 0)
		record += (int)l.n_records;
	head = file + l.records[record].off;
	sections = file + l.records[record].off + get(head + 24, 8);
	for (uint64_t i = 0, n = get(head + 32, 4); i < n; i++) {
		const uint8_t *s = sections + i * SECTION_LEN;
		int n_arrays = (int)get(s + 12, 4), which = ordinal < 0 ? ordinal + n_arrays : ordinal;

		if (get(s, 4) != kind || get(s + 4, 4) != owner || which < 0 || which >= n_arrays)
			continue;
		entry = sections + n * SECTION_LEN + (get(s + 8, 4) + (uint64_t)which) * ARRAY_LEN;
		return (struct forge_array){ entry, file + place_of(entry, l.records[record].off).off,
					     place_of(entry, 0).len };
	}
	return (struct forge_array){ 0 };
}

/* The sections of record @record, and their number. */
static uint8_t *sections_of(uint8_t *file, size_t len, int record, uint64_t *n)
{
	static struct layout l;
	uint8_t *head;

	lay_out(&l, file, len);
	if (record < 0)
		record += (int)l.n_records;
	head = file + l.records[record].off;
	*n = get(head + 32, 4);
	return head + get(head + 24, 8);
}

void forge_hide(uint8_t *file, size_t len, int record, uint32_t kind)
{
	uint64_t n;
	uint8_t *sections = sections_of(file, len, record, &n);

	for (uint64_t i = 0; i < n; i++) {
		if (get(sections + i * SECTION_LEN, 4) == kind)
			memset(sections + i * SECTION_LEN, 'x', 4);
	}
}

bool forge_shorten(uint8_t *file, size_t len, int record, uint64_t i, uint32_t n)
{
	uint64_t n_sections;
	uint8_t *sections = sections_of(file, len, record, &n_sections), *n_arrays = sections + i * SECTION_LEN + 12;

	if (i >= n_sections || n >= get(n_arrays, 4))
		return false;
	memcpy(n_arrays, &n, sizeof(n));
	return true;
}

/* --------------------------------------------------------------------------------------------- forging */

/*
 * What the head says may be forged, the record's length too: only what lies in the record, as it was built,
 * is signed.
 */
static void sign_record(const struct ts_signer *s, uint8_t *file, const struct place *r)
{
	uint8_t *head = file + r->off;
	struct place t = tables_of(head);
	struct iovec parts[3] = { { file, HEADER_LEN }, { head, SIGNED_LEN } };

	if (t.off < HEAD_LEN || t.off > r->len || t.len > r->len - t.off)
		return;
	parts[2] = (struct iovec){ head + t.off, r->len - t.off };
	if (ts_index_blocks_n(t.off) <= (r->len - t.off - t.len) / TS_SIGNATURE_LEN)
		ts_index_blocks_sign(s, head, HEAD_LEN, t.off, head + t.off + t.len);
	ts_signer_sign(s, parts, 3, head + SIGNED_LEN);
}

/*
 * What was forged in the record is in its summary, too.  A head that leads elsewhere leaves the summary as it was, but
 * for the head.
 */
static void copy_to_summary(uint8_t *file, const struct layout *l, size_t record)
{
	const struct place *r = &l->records[record], *s = &l->summaries[record];
	const uint8_t *head = file + r->off;
	uint8_t *to = file + s->off;
	struct place t = tables_of(head);
	size_t small_end = get(head + 44, 4);

	memcpy(to, head, HEAD_LEN);
	if (small_end < HEAD_LEN || small_end + t.len != s->len || t.off > r->len || t.len > r->len - t.off)
		return;
	memcpy(to + HEAD_LEN, head + t.off, t.len);
	memcpy(to + HEAD_LEN + t.len, head + HEAD_LEN, small_end - HEAD_LEN);
}

/* The directory says of each record what its head says, but for what was forged. */
static void copy_to_directory(uint8_t *file, const struct layout *l)
{
	uint8_t *entry = file + l->directory.off;

	for (size_t i = 0; i < l->n_records; i++, entry += ENTRY_LEN)
		memcpy(entry + 32, file + l->records[i].off + SIGNED_LEN, TS_SIGNATURE_LEN);
}

static void sign_end(const struct ts_signer *s, uint8_t *file, const struct layout *l)
{
	uint8_t *entry = file + l->directory.off, *tail = entry + l->n_records * ENTRY_LEN,
		*summary = file + l->summary.off;
	struct iovec parts[3] = { { file, HEADER_LEN }, { entry, l->directory.len - ENTRY_LEN }, { tail, 32 } };
	struct iovec of_summary[2] = { { file, HEADER_LEN },
				       { summary + SUMMARY_HEAD_LEN, l->summary.len - SUMMARY_HEAD_LEN } };

	ts_signer_sign(s, of_summary, 2, summary + 8);
	ts_signer_sign(s, parts, 3, tail + 32);
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

/* What an edit changes. */
enum where {
	BOTH,    /* a record, and its summary accordingly */
	RECORD,  /* only a record */
	SUMMARY, /* only a summary */
};

static enum where where_of(const uint8_t *e)
{
	static const enum where wheres[] = { BOTH, BOTH, RECORD, SUMMARY };

	return wheres[e[5] >> 6];
}

/* What is edited: the array, head or tables @which, or the directory; in the summary, that of a record. */
static struct place place_to_edit(const struct layout *l, const uint8_t *file, const uint8_t *e)
{
	size_t n = l->n_arrays + 2 * l->n_records, which = get(e, 2) % (n + 1);
	struct place p, t;

	if (where_of(e) == SUMMARY)
		return l->summaries[get(e, 2) % l->n_records];
	if (which < l->n_arrays || which == n)
		return which == n ? l->directory : l->arrays[which];
	p = l->records[(which - l->n_arrays) / 2];
	if ((which - l->n_arrays) % 2 == 0)
		return (struct place){ p.off, HEAD_LEN };
	t = tables_of(file + p.off);
	return t.off <= p.len && t.len <= p.len - t.off ? (struct place){ p.off + t.off, t.len } : p;
}

/*
 * Bytes of an edit: 2 the array, 2 the place in it, 1 the number's length, 1 where and the operation, 2 its
 * operand.
 */
static void edit(const struct layout *l, uint8_t *file, const uint8_t *e)
{
	struct place p = place_to_edit(l, file, e);
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

/* Make the edits there, and sign the records if they are changed. */
static void edit_where(const struct ts_signer *s, enum where where, const struct layout *l, uint8_t *file, const uint8_t *edits,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (where_of(edits + i * FORGE_EDIT_LEN) == where)
			edit(l, file, edits + i * FORGE_EDIT_LEN);
	}
	for (size_t i = 0; i < l->n_records && where != SUMMARY; i++)
		sign_record(s, file, &l->records[i]);
}

void forge_as(const struct ts_signer *s, uint8_t *file, size_t len, const uint8_t *edits, size_t n)
{
	static struct layout l;

	lay_out(&l, file, len);
	edit_where(s, BOTH, &l, file, edits, n);
	for (size_t i = 0; i < l.n_records; i++)
		copy_to_summary(file, &l, i);
	copy_to_directory(file, &l);
	edit_where(s, RECORD, &l, file, edits, n);
	edit_where(s, SUMMARY, &l, file, edits, n);
	sign_end(s, file, &l);
}

void forge(uint8_t *file, size_t len, const uint8_t *edits, size_t n)
{
	forge_as(&forge_key.signer, file, len, edits, n);
}

/* ---------------------------------------------------------------------------------------------- asking */

/* The made-up recording, whose loader had something to say. */
static struct script *new_script(uint64_t seed)
{
	struct script *s = script_random_new(seed, forge_n_steps);

	ts_recording_warn(&s->rec, "a warning of the loader");
	return s;
}

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
	struct script *s = new_script(seed);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);

	remove(path);
	if (tl)
		ts_timeline_make_digests(tl);
	if (!tl || !ts_timeline_use_file(tl, ts_index_create(path, &forge_key, &err), &err) ||
	    ts_timeline_grow(tl, UINT64_MAX, &err) != TS_END || tl->file_error.code != TS_OK)
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
		check_pos(q, ts_query_find_execution(q, p, pc, pc + 20, pos, TS_FORWARDS));
		check_pos(q, ts_query_find_execution(q, p, pc, pc + 20, pos, TS_BACKWARDS));
		for (unsigned i = 0; i < SCRIPT_N_ARENAS && p < ts_query_n_processes(q); i++) {
			const struct script_arena *m = &script_arenas[i];

			for (unsigned a = TS_ACCESS_CHANGE; a <= TS_ACCESS_REPLACE; a *= 2) {
				uint64_t next = ts_query_find_access(q, a, p, m->first, m->last,
								     pos / TS_CHUNK_STEPS, TS_FORWARDS);
				uint64_t prev = ts_query_find_access(q, a, p, m->first, m->last,
								     pos / TS_CHUNK_STEPS, TS_BACKWARDS);

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
		ts_query_find_event(q, kind, pos, false);
		ts_query_find_event(q, kind, pos, true);
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
	struct ts_call_window w = { .n = 0 };
	struct ts_call call;

	if (!tl->calls)
		return;
	for (uint32_t t = 0; t < ts_calls_n_threads(tl->calls) && t < SCRIPT_MAX_THREADS; t++) {
		if (!ts_calls_innermost(tl->calls, &w, t, pos, &call))
			continue;
		for (unsigned i = 0; i < 100 && ts_calls_outer(tl->calls, &w, &call); i++)
			continue;
	}
}

/* The lists of all calls. */
static void ask_lists(struct ts_query *q, const struct ts_timeline *tl)
{
	struct ts_call calls[TS_CALL_BLOCK];

	for (uint32_t t = 0; tl->calls && t < SCRIPT_MAX_THREADS; t++) {
		uint32_t n = ts_query_n_calls_before(q, t, ts_query_end(q)), i = 0, n_block;

		while (i < n && (n_block = ts_query_call_block(q, t, i, calls)) != 0) {
			for (uint32_t k = 0; k < n_block; k++) {
				if (calls[k].kind != TS_CALL_SWITCH && calls[k].pos >= ts_query_end(q))
					die("a call after the end");
			}
			if (calls[0].ordinal + n_block <= i)
				return; /* a list that lies may lead back */
			i = calls[0].ordinal + n_block;
		}
	}
}

static bool ask(const struct script *s, struct ts_timeline *tl)
{
	struct ts_error err = { 0 };
	struct ts_query *q = ts_query_new(tl, &err);
	bool done = true;

	if (!q)
		return false;
	for (uint64_t i = forge_turn % forge_share; i <= 6; i += forge_share) {
		uint64_t pos = ts_query_end(q) / 6 * i;

		if (pos > ts_query_end(q))
			pos = ts_query_end(q);
		done &= ask_state(q, pos);
		ask_sets(q, pos, s->steps.steps[i * (forge_n_steps / 7)].pc);
		ask_world(q, pos);
		ask_calls(tl, pos);
	}
	ask_lists(q, tl);
	ts_query_free(q);
	return done;
}

static void write_file(const char *path, const uint8_t *file, size_t len)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(file, 1, len, out) != len || fclose(out))
		die("cannot write the index");
}

enum forged forge_ask(const char *path, const uint8_t *file, size_t len, uint64_t seed)
{
	struct script *s = new_script(seed);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	enum forged forged = FORGED_REFUSED;
	struct ts_index_file *f;

	if (!tl)
		die("no memory");
	write_file(path, file, len);
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

/* ----------------------------------------------------------------------------------------------- sketches */

/* The recording over the good index at @path. */
struct opened {
	struct script *s;
	struct ts_timeline *tl;
	struct ts_query *q;
};

static void close_index(struct opened *o)
{
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	script_free(o->s);
}

/* Returns false if the file beside the index contradicts it, which removes that file. */
static bool open_index(struct opened *o, const char *path, uint64_t seed)
{
	struct ts_error err = { 0 };

	*o = (struct opened){ 0 };

	o->s = new_script(seed);
	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	if (!o->tl)
		die("no memory");
	ts_timeline_make_digests(o->tl);
	if (!ts_timeline_use_file(o->tl, ts_index_open(path, &forge_key, &err), &err)) {
		if (err.code != TS_ECORRUPT || !err.text[0])
			die("refused without a sentence");
		close_index(o);
		return false;
	}
	o->q = ts_query_new(o->tl, &err);
	if (!o->q)
		die("no memory");
	return true;
}

static void make_sketches(struct opened *o)
{
	struct ts_error err = { 0 };
	enum ts_next need;

	do {
		need = ts_query_need_values(o->q, forge_n_steps, &err);
	} while (need == TS_MORE);
	if (need != TS_END)
		die("cannot make sketches");
}

/* In which chunks values may begin, for more values than one segment's sketch has keys. */
static void ask_sketches(const struct ts_query *q)
{
	static const uint8_t mask[] = { 1, 1, 1, 1, 1 };
	const uint64_t end = (ts_query_end(q) + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS;

	for (unsigned i = 5 * (forge_turn % forge_share); i < 1280; i += 5 * forge_share) {
		const uint8_t bytes[] = { (uint8_t)i, (uint8_t)(i / 3), (uint8_t)(i % 7), 0, (uint8_t)i };
		struct ts_probe *p = ts_query_probe_new(bytes, mask, 1 + i / 256);

		if (!p)
			die("no memory");
		for (uint64_t chunk = 0, next; chunk < end; chunk = next + 1) {
			next = ts_query_next_begin(q, p, chunk, end);
			if (next < chunk || next > end)
				die("a chunk that was not asked about");
		}
		ts_query_probe_free(p);
	}
}

static void name_sketches(const char *path, char name[100])
{
	snprintf(name, 100, "%s.find", path);
}

uint8_t *forge_find_original(const char *path, uint64_t seed, size_t *len)
{
	struct opened o;
	char name[100];

	name_sketches(path, name);
	remove(name);
	free(forge_original(path, seed, len));
	if (!open_index(&o, path, seed))
		die("cannot open the index");
	make_sketches(&o);
	close_index(&o);
	return read_file(name, len);
}

/* The index is good, with the sketches or without. */
enum forged forge_find_ask(const char *path, const uint8_t *file, size_t len, uint64_t seed)
{
	enum forged forged = FORGED_REFUSED;
	struct opened o;
	char name[100];

	name_sketches(path, name);
	write_file(name, file, len);
	if (!open_index(&o, path, seed) && !open_index(&o, path, seed))
		die("cannot open the index");
	if (ts_query_has_values(o.q)) {
		ask_sketches(o.q);
		forged = ts_timeline_is_damaged(o.tl) ? FORGED_NOTICED : FORGED_BELIEVED;
	}
	close_index(&o);
	return forged;
}
