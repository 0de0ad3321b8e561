/* SPDX-License-Identifier: MIT */
/*
 * A timeline to an index file and back.
 *
 * A record is a segment and what was learned while it was read.  Its sections, which are arrays
 * (index_file.c):
 *
 *   HEAD  struct saved_head; the threads and warnings of the recording so far; why it ends where it does, as text; where its
 *         reader goes on
 *   PNTS  the decode points of the segment's chunks (points.c)
 *   RUNS  where each run of instructions began, and the runs that are new (runs.c)
 *   SPCE  for the registers (owner 0) and each process (owner 1, 2, ...): lines and their versions, what is known of position 0
 *         (space_file.c)
 *   MODE  of a machine: modes of the processor (mode.c)
 *   JRNL  what changed threads, maps, modules, and events (journal.c)
 *
 * The last record may be a HEAD alone.  Numbers and structs are as in memory of a little-endian machine; on
 * another no index file is used.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "journal.h"

#define KIND(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define HEAD KIND('H', 'E', 'A', 'D')
#define PNTS KIND('P', 'N', 'T', 'S')
#define RUNS KIND('R', 'U', 'N', 'S')
#define SPCE KIND('S', 'P', 'C', 'E')
#define MODE KIND('M', 'O', 'D', 'E')
#define JRNL KIND('J', 'R', 'N', 'L')

enum flag {
	HAS_SEGMENT = 1,
	END_HAS_PC = 2,
	END_HAS_EXIT = 4,
	END_IS_FAULT = 8,
	HAS_NO_READS = 16,
};

struct saved_head {
	uint64_t n_steps, n_chunks; /* up to the end of this record */
	uint64_t fall_through;
	uint64_t reader_pc;         /* struct ts_end of the reader */
	uint64_t end_pc;            /* that of the recording, if this is the last record */
	uint64_t damage_off;
	uint32_t damage_code;
	uint32_t n_processes;       /* of the recording */
	uint32_t n_memory;          /* spaces beside that of the registers */
	uint32_t flags;
};

/* ------------------------------------------------------------------------------------------------ saving */

static void save_head(struct ts_timeline *tl, bool has_segment)
{
	const struct ts_builder *bd = tl->builder;
	const struct ts_recording *rec = tl->rec;
	const struct ts_end *end = &bd->end;
	struct saved_head head = {
		.n_steps = bd->n_steps,
		.n_chunks = bd->n_chunks,
		.fall_through = bd->fall_through,
		.reader_pc = end->pc,
		.end_pc = tl->end_pc,
		.damage_off = bd->damage.off,
		.damage_code = bd->damage.code,
		.n_processes = rec->n_processes,
		.n_memory = tl->n_memory,
		.flags = (has_segment ? HAS_SEGMENT : 0) | (end->has_pc ? END_HAS_PC : 0) |
			 (end->has_exit ? END_HAS_EXIT : 0) | (end->is_fault ? END_IS_FAULT : 0) |
			 (tl->has_no_reads ? HAS_NO_READS : 0),
	};

	ts_index_section(tl->file, HEAD, 0);
	ts_index_put(tl->file, &head, 1, sizeof(head));
	ts_index_put(tl->file, rec->threads, rec->n_threads, sizeof(*rec->threads));
	ts_index_put(tl->file, rec->warnings, rec->n_warnings, sizeof(rec->warnings[0]));
	ts_index_put(tl->file, bd->damage.text, strlen(bd->damage.text) + 1, 1);
	ts_index_put(tl->file, bd->here.data, bd->here.len, 1);
}

static void save_segment(struct ts_timeline *tl, uint64_t segment)
{
	struct ts_builder *bd = tl->builder;

	ts_index_section(tl->file, PNTS, 0);
	ts_points_save(&tl->points[segment], tl->file);
	ts_index_section(tl->file, RUNS, 0);
	ts_runs_save(tl->runs, tl->file);
	ts_index_section(tl->file, JRNL, 0);
	ts_index_put(tl->file, bd->journal.data, bd->journal.len, 1);
	ts_buf_reset(&bd->journal);
	if (tl->rec->is_physical) {
		ts_index_section(tl->file, MODE, 0);
		ts_modes_save(&tl->modes, tl->file);
	}
	ts_index_section(tl->file, SPCE, 0);
	ts_space_save(tl->regs, segment, tl->file);
	for (uint32_t i = 0; i < tl->n_memory; i++) {
		ts_index_section(tl->file, SPCE, i + 1);
		ts_space_save(tl->memory[i], segment, tl->file);
	}
}

/* Take the segment's arrays from a record. */
static bool map_segment(struct ts_timeline *tl, const struct ts_index_file *f, size_t record,
			uint64_t segment)
{
	struct ts_index_arrays points = ts_index_find(f, record, PNTS, 0);
	struct ts_index_arrays runs = ts_index_find(f, record, RUNS, 0);
	bool done = ts_points_load(&tl->points[segment], &points) && ts_runs_load_sealed(tl->runs, &runs);

	for (uint32_t i = 0; i <= tl->n_memory && done; i++) {
		struct ts_index_arrays space = ts_index_find(f, record, SPCE, i);

		done = ts_space_load_segment(i ? tl->memory[i - 1] : tl->regs, segment, &space);
	}
	return done;
}

bool ts_builder_save(struct ts_timeline *tl, bool is_last, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	size_t record = ts_index_n_records(tl->file);
	bool has_segment = record < bd->n_sealed; /* each record so far has one */

	if (!ts_buf_ok(&bd->journal))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for what is to be written");
	ts_index_begin(tl->file, has_segment ? 5 + tl->n_memory + tl->rec->is_physical : 1);
	save_head(tl, has_segment);
	if (has_segment)
		save_segment(tl, bd->n_sealed - 1);
	if (!ts_index_commit(tl->file, is_last, err))
		return false;
	if (has_segment && !map_segment(tl, tl->file, record, bd->n_sealed - 1))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to map it");
	ts_index_let_go(tl->file, record);
	return true;
}

/* ------------------------------------------------------------------------------------------------ loading */

/* What the loader learned when it read this for the first time. */
static bool load_recording(struct ts_recording *rec, const struct saved_head *head, struct ts_index_arrays *a)
{
	size_t n_threads, n_warnings;
	struct ts_thread *threads = ts_index_take(a, sizeof(*threads), &n_threads);
	const struct ts_warning *warnings = ts_index_take(a, sizeof(*warnings), &n_warnings);
	struct ts_learned learned = { .threads = threads, .n_processes = head->n_processes };

	if (a->is_bad || n_threads < rec->n_threads || n_warnings > TS_MAX_WARNINGS)
		return false;
	for (size_t i = 0; i < n_threads; i++) {
		if (threads[i].process >= head->n_processes)
			return false;
	}
	learned.n_threads = (uint32_t)n_threads;
	learned.n_warnings = (unsigned)n_warnings;
	memcpy(learned.warnings, warnings, n_warnings * sizeof(*warnings));
	return ts_learned_give(&learned, rec);
}

static bool load_head(struct ts_timeline *tl, const struct saved_head *head, struct ts_index_arrays *a)
{
	struct ts_builder *bd = tl->builder;
	size_t text_len;
	const char *text;

	if (!load_recording(tl->rec, head, a))
		return false;
	text = ts_index_take(a, 1, &text_len);
	if (!text || !text_len || text[text_len - 1])
		return false;
	bd->n_steps = head->n_steps;
	bd->n_chunks = head->n_chunks;
	bd->fall_through = head->fall_through;
	bd->end = (struct ts_end){
		.pc = head->reader_pc,
		.has_pc = head->flags & END_HAS_PC,
		.has_exit = head->flags & END_HAS_EXIT,
		.is_fault = head->flags & END_IS_FAULT,
	};
	tl->end_pc = head->end_pc;
	tl->has_exit = head->flags & END_HAS_EXIT;
	tl->is_fault = head->flags & END_IS_FAULT;
	if (head->damage_code != TS_OK)
		ts_fail(&tl->damage, head->damage_code, head->damage_off, "%s", text);
	return true;
}

static bool load_journal(struct ts_timeline *tl, struct ts_index_arrays *a)
{
	struct ts_target target = { 0 };
	struct ts_steps batch;
	struct ts_note note;
	size_t len;
	const uint8_t *p = ts_index_take(a, 1, &len);
	bool done = p != NULL;

	ts_steps_init(&batch);
	while (done && len) {
		done = ts_journal_next(&p, &len, &note, &batch) && note.thread < tl->rec->n_threads;
		if (!done)
			break;
		if (note.kind == TS_FX_THREAD) {
			ts_builder_run(tl, note.pos, note.thread);
			continue;
		}
		target.pos = note.pos;
		done = ts_builder_aim(tl, &target, note.thread) &&
		       ts_builder_apply(tl, &target, &batch, batch.effects);
	}
	ts_steps_fini(&batch);
	return done && !tl->world.is_failed;
}

static bool load_spaces(struct ts_timeline *tl, const struct ts_index_file *f, size_t record,
			uint32_t n_memory)
{
	if (n_memory && !ts_builder_memory(tl, n_memory - 1))
		return false;
	for (uint32_t i = 0; i <= n_memory; i++) {
		struct ts_index_arrays a = ts_index_find(f, record, SPCE, i);
		struct ts_space *sp = i ? tl->memory[i - 1] : tl->regs;

		if (!ts_space_load_segment(sp, record, &a) || !ts_space_load_state(sp, record, &a))
			return false;
	}
	return true;
}

static bool load_modes(struct ts_timeline *tl, const struct ts_index_file *f, size_t record)
{
	struct ts_index_arrays a = ts_index_find(f, record, MODE, 0);

	return !tl->rec->is_physical || ts_modes_load(&tl->modes, &a);
}

static bool load_points(struct ts_timeline *tl, const struct ts_index_file *f, size_t record)
{
	struct ts_points *p = realloc(tl->points, (record + 1) * sizeof(*p));
	struct ts_index_arrays a = ts_index_find(f, record, PNTS, 0);

	if (!p)
		return false;
	tl->points = p;
	p[record] = (struct ts_points){ 0 };
	tl->n_points = tl->cap_points = record + 1;
	return ts_points_load(&p[record], &a) &&
	       p[record].n >= tl->builder->n_chunks - record * TS_SEGMENT_CHUNKS;
}

/* *point gets the rest of the head: where the reader goes on. */
static bool load_record(struct ts_timeline *tl, const struct ts_index_file *f, size_t record,
			struct ts_index_arrays *point)
{
	struct ts_index_arrays a = ts_index_find(f, record, HEAD, 0);
	struct ts_index_arrays runs = ts_index_find(f, record, RUNS, 0);
	struct ts_index_arrays journal = ts_index_find(f, record, JRNL, 0);
	const struct saved_head *head = ts_index_take_n(&a, sizeof(*head), 1);

	if (!head || !(head->flags & HAS_NO_READS) != !tl->has_no_reads || !load_head(tl, head, &a))
		return false;
	*point = a;
	if (!(head->flags & HAS_SEGMENT))
		return record + 1 == ts_index_n_records(f) && ts_index_is_finished(f);
	if (head->n_chunks <= record * TS_SEGMENT_CHUNKS ||
	    head->n_chunks > (record + 1) * TS_SEGMENT_CHUNKS || !load_points(tl, f, record) ||
	    !ts_runs_load(tl->runs, &runs) || !load_journal(tl, &journal) ||
	    !load_spaces(tl, f, record, head->n_memory) || !load_modes(tl, f, record))
		return false;
	tl->builder->n_sealed = record + 1;
	return true;
}

/* The recording is complete: nothing is read any more but what is asked for. */
static void end_build(struct ts_timeline *tl)
{
	ts_space_end_build(tl->regs);
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_end_build(tl->memory[i]);
	ts_builder_free(tl);
	tl->rec->is_read = true;
}

static bool resume(struct ts_timeline *tl, struct ts_index_arrays *point, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	size_t len;
	const uint8_t *p = ts_index_take(point, 1, &len);

	if (!p || !ts_feed_resume(bd->feed, p, len, &bd->end, err))
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "it does not tell where to go on");
	ts_buf_reset(&bd->here);
	ts_buf_put(&bd->here, p, len);
	if (!ts_buf_ok(&bd->here))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to go on");
	ts_space_resume(tl->regs, tl->builder->n_chunks);
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_resume(tl->memory[i], tl->builder->n_chunks);
	return true;
}

bool ts_timeline_use_file(struct ts_timeline *tl, struct ts_index_file *f, struct ts_error *err)
{
	size_t n = ts_index_n_records(f);
	struct ts_index_arrays point = { .is_bad = true };

	for (size_t i = 0; i < n; i++) {
		if (!load_record(tl, f, i, &point)) {
			tl->file = f;
			return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "its record %zu contradicts itself", i);
		}
	}
	tl->file = f;
	if (!n)
		return true;
	ts_builder_publish(tl);
	if (!ts_index_is_finished(f))
		return resume(tl, &point, err);
	end_build(tl);
	return true;
}
