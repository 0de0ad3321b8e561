/* SPDX-License-Identifier: MIT */
/*
 * A timeline to an index file and back.
 *
 * A record is a segment and what was learned while it was read.  Its sections are the head and those of the table
 * (section.h); src/index/FORMAT has their arrays.
 *
 * A complete file is opened by WRLD and LAYR: then no journal is read, however long.  A file that is
 * continued, or has none, is opened by applying the notes of all journals again.
 *
 * The last record may lack a segment.  Numbers and structs are as in memory of a little-endian machine; on
 * another no index file is used.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/timeline/builder.h"
#include "journal.h"
#include "section.h"
#include "src/timeline/space/space_parts.h"
#include "src/base/log.h"
#include "src/index/index_blocks.h"
#include "src/index/index_place.h"
#include "src/index/index_write.h"

#define HEAD TS_SECTION_KIND('H', 'E', 'A', 'D')
#define WRLD TS_SECTION_KIND('W', 'R', 'L', 'D')
#define LAYR TS_SECTION_KIND('L', 'A', 'Y', 'R')

enum flag {
	HAS_SEGMENT = 1,
	END_HAS_PC = 2,
	END_HAS_EXIT = 4,
	END_IS_FAULT = 8,
	HAS_NO_READS = 16,
	END_IS_ASSUMED = 32,
	END_IS_ABSENT = 64,
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

/*
 * The threads without what is in their padding: a file holds the same bytes each time.  Returns false if
 * memory is exhausted.
 */
static bool put_threads(const struct ts_recording *rec, struct ts_index_file *f)
{
	struct ts_thread *clean = calloc(rec->n_threads + 1u, sizeof(*clean));

	for (uint32_t i = 0; clean && i < rec->n_threads; i++) {
		clean[i].process = rec->threads[i].process;
		clean[i].pid = rec->threads[i].pid;
		clean[i].tid = rec->threads[i].tid;
		clean[i].end_pc = rec->threads[i].end_pc;
		memcpy(clean[i].name, rec->threads[i].name,
		       strnlen(rec->threads[i].name, sizeof(clean[i].name) - 1));
	}
	ts_index_put(f, clean, clean ? rec->n_threads : 0, sizeof(*clean));
	free(clean);
	return clean;
}

static void put_warnings(const struct ts_recording *rec, struct ts_index_file *f)
{
	struct ts_warning clean[TS_MAX_WARNINGS] = { 0 };

	for (unsigned i = 0; i < rec->n_warnings; i++) {
		memcpy(clean[i].text, rec->warnings[i].text,
		       strnlen(rec->warnings[i].text, sizeof(clean[i].text) - 1));
		clean[i].count = rec->warnings[i].count;
	}
	ts_index_put(f, clean, rec->n_warnings, sizeof(clean[0]));
}

/* Returns false if memory is exhausted. */
static bool save_head(struct ts_timeline *tl, bool has_segment)
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
			 (end->is_assumed ? END_IS_ASSUMED : 0) | (end->is_absent ? END_IS_ABSENT : 0) |
			 (tl->has_no_reads ? HAS_NO_READS : 0),
	};
	bool done;

	ts_index_section(tl->file, HEAD, 0);
	ts_index_put(tl->file, &head, 1, sizeof(head));
	done = put_threads(rec, tl->file);
	put_warnings(rec, tl->file);
	ts_index_put(tl->file, bd->damage.text, strlen(bd->damage.text) + 1, 1);
	ts_index_put(tl->file, bd->here.data, bd->here.len, 1);
	return done;
}

/* What the record of segment @segment holds, the head left out. */
static unsigned n_sections(const struct ts_timeline *tl)
{
	unsigned n = 0;

	for (unsigned i = 0; tl->sections[i]; i++)
		n += ts_builder_n_owners(tl, i);
	return n;
}

static void save_segment(struct ts_timeline *tl, uint64_t segment)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		const struct ts_section *s = tl->sections[i];

		for (uint32_t owner = 0, n = ts_builder_n_owners(tl, i); owner < n; owner++) {
			ts_builder_save_section(tl, s, segment, owner, tl->file);
		}
	}
}

static void save_world(const struct ts_timeline *tl)
{
	const struct ts_buf *files = &tl->builder->files;

	ts_index_section(tl->file, WRLD, 0);
	ts_world_save(&tl->world, tl->file);
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		if (ts_journal_has_event(kind))
			ts_event_list_save_all(&tl->world.events[kind], tl->file);
	}
	ts_index_put_packed(tl->file, files->data, files->len / sizeof(struct ts_named_file),
			    sizeof(struct ts_named_file));
	if (!ts_buf_ok(files))
		ts_index_fail(tl->file);
}

/* Save the parts that only the last record of a complete recording has. */
static void save_end(const struct ts_timeline *tl)
{
	save_world(tl);
	for (uint32_t owner = 0; owner < ts_builder_n_spaces(tl); owner++) {
		ts_index_section(tl->file, LAYR, owner);
		ts_layers_save(&ts_builder_space(tl, owner)->space->layers, tl->file);
	}
}

bool ts_builder_save(struct ts_timeline *tl, bool is_last, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	size_t record = ts_index_n_records(tl->file);
	bool has_segment = record < bd->n_sealed; /* each record so far has one */
	bool is_whole;

	if (!ts_buf_ok(&bd->journal))
		return ts_no_memory(err, "the data to be written");
	ts_index_use_threads(tl->file, tl->n_jobs);
	ts_index_begin(tl->file, 1 + (has_segment ? n_sections(tl) : 0) + (is_last ? 1 + ts_builder_n_spaces(tl) : 0));
	is_whole = save_head(tl, has_segment);
	if (has_segment)
		save_segment(tl, bd->n_sealed - 1);
	if (is_last)
		save_end(tl);
	if (!is_whole) {
		ts_index_abort(tl->file);
		return ts_no_memory(err, "the data to be written");
	}
	if (!ts_index_commit(tl->file, bd->n_steps, is_last, err))
		return false;
	return !has_segment || ts_builder_map_sections(tl, record) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to map it");
}

/* ------------------------------------------------------------------------------------------------ loading */

/* Are threads, processes and warnings such as a loader can have learned? */
static bool check_learned(const struct ts_recording *rec, const struct ts_learned *l)
{
	uint32_t n_processes = rec->n_processes;

	if (l->n_threads < rec->n_threads)
		return false;
	for (uint32_t i = 0; i < l->n_threads; i++) {
		const struct ts_thread *t = &l->threads[i];

		if (t->process >= l->n_processes || !memchr(t->name, '\0', sizeof(t->name)))
			return false;
		if (t->process >= n_processes)
			n_processes = t->process + 1;
	}
	for (unsigned i = 0; i < l->n_warnings; i++) {
		if (!memchr(l->warnings[i].text, '\0', sizeof(l->warnings[i].text)))
			return false;
	}
	return l->n_processes == n_processes;
}

/* Load the facts that the loader learned when it read the recording for the first time. */
static bool load_recording(struct ts_recording *rec, const struct saved_head *head, struct ts_index_arrays *a)
{
	size_t n_threads, n_warnings;
	struct ts_thread *threads = ts_index_take(a, sizeof(*threads), &n_threads);
	const struct ts_warning *warnings = ts_index_take(a, sizeof(*warnings), &n_warnings);
	struct ts_learned learned = { .threads = threads, .n_processes = head->n_processes };

	if (a->is_bad || n_threads > UINT32_MAX || n_warnings > TS_MAX_WARNINGS)
		return false;
	learned.n_threads = (uint32_t)n_threads;
	learned.n_warnings = (unsigned)n_warnings;
	memcpy(learned.warnings, warnings, n_warnings * sizeof(*warnings));
	return check_learned(rec, &learned) && ts_learned_give(&learned, rec);
}

/*
 * Do the head's numbers go on from those of the record before?  All chunks are full, but the last of the
 * recording, and all segments, but the last.
 */
static bool check_numbers(const struct ts_timeline *tl, const struct saved_head *head, size_t record,
			  bool is_last)
{
	const struct ts_builder *bd = tl->builder;
	uint64_t max_chunks = (record + 1) * (uint64_t)TS_SEGMENT_CHUNKS;

	if (!(head->flags & HAS_SEGMENT))
		return is_last && head->n_steps == bd->n_steps && head->n_chunks == bd->n_chunks;
	if (head->n_steps <= bd->n_steps || head->n_chunks <= bd->n_chunks || head->n_chunks > max_chunks)
		return false;
	if (is_last)
		return head->n_chunks == (head->n_steps - 1) / TS_CHUNK_STEPS + 1;
	return head->n_chunks == max_chunks && head->n_steps == max_chunks * TS_CHUNK_STEPS;
}

static bool load_head(struct ts_timeline *tl, const struct saved_head *head, struct ts_index_arrays *a)
{
	struct ts_builder *bd = tl->builder;
	size_t text_len;
	const char *text;

	if (!load_recording(tl->rec, head, a))
		return false;
	text = ts_index_take(a, 1, &text_len);
	if (!text || !text_len || text[text_len - 1] || head->damage_code > TS_EUSAGE ||
	    (head->damage_code != TS_OK && !text[0]) ||
	    head->n_memory > (tl->rec->n_processes ? tl->rec->n_processes : 1))
		return false;
	bd->n_steps = head->n_steps;
	bd->n_chunks = head->n_chunks;
	bd->fall_through = head->fall_through;
	bd->end = (struct ts_end){
		.pc = head->reader_pc,
		.has_pc = head->flags & END_HAS_PC,
		.has_exit = head->flags & END_HAS_EXIT,
		.is_fault = head->flags & END_IS_FAULT,
		.is_assumed = head->flags & END_IS_ASSUMED,
		.is_absent = head->flags & END_IS_ABSENT,
	};
	tl->end_pc = head->end_pc;
	tl->is_end_assumed = !bd->end.has_pc || bd->end.is_assumed;
	tl->has_exit = head->flags & END_HAS_EXIT;
	tl->is_fault = head->flags & END_IS_FAULT;
	if (head->damage_code != TS_OK)
		ts_fail(&tl->damage, head->damage_code, head->damage_off, "%s", text);
	return true;
}

/* ------------------------------------------------------------------------ what all journals lead to */

/* A file that lies could name any range. */
static bool is_good_file(const struct ts_timeline *tl, const struct ts_named_file *file)
{
	return file->name < tl->world.texts.len &&
	       (!file->map || (file->len && file->addr <= UINT64_MAX - (file->len - 1)));
}

/* The files for the image that steps named.  They are read only if there can be any. */
static bool use_files(struct ts_timeline *tl, struct ts_index_arrays *a)
{
	size_t n;
	const struct ts_named_file *files = ts_index_take_unread(a, sizeof(*files), &n);

	if (!files || !tl->image || !tl->image->sysroot)
		return files;
	if (!ts_index_blocks_use(a->blocks, files, n * sizeof(*files)))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_good_file(tl, &files[i]) ||
		    !ts_builder_use_file(tl, &files[i], ts_world_text(&tl->world, files[i].name)))
			return false;
	}
	return true;
}

/* The world, when all records are loaded. */
static bool load_world(struct ts_timeline *tl, const struct ts_index_file *f)
{
	const struct ts_recording *rec = tl->rec;
	uint64_t n_steps = tl->builder->n_steps;
	struct ts_index_arrays a = ts_index_find(f, ts_index_n_records(f) - 1, WRLD, 0);

	if (!ts_world_use_file(&tl->world, &a, rec->n_threads, rec->n_processes))
		return false;
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		struct ts_event_list *list = &tl->world.events[kind];

		if (!ts_journal_has_event(kind))
			continue;
		ts_event_list_fini(list); /* those of the initial state are in the file, too */
		if (!ts_event_list_load(list, &a, n_steps, rec->n_threads))
			return false;
	}
	return use_files(tl, &a);
}

/* The layers of spaces [@from, @end), before their pages, which are theirs. */
static bool load_layers(struct ts_timeline *tl, const struct ts_index_file *f, uint32_t from, uint32_t end)
{
	size_t last = ts_index_n_records(f) - 1;

	for (uint32_t owner = from; owner < end; owner++) {
		struct ts_index_arrays a = ts_index_find(f, last, LAYR, owner);

		if (!ts_layers_load(&ts_builder_space(tl, owner)->space->layers, &a, ts_index_n_steps(f, last)))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------ one record */

/* The spaces that are there up to the end of the record. */
static bool load_spaces(struct ts_timeline *tl, const struct ts_index_file *f, const struct saved_head *head)
{
	uint32_t from = tl->builder->n_layered;

	if (head->n_memory && !ts_builder_memory(tl, head->n_memory - 1))
		return false;
	if (!tl->builder->has_world)
		return true;
	tl->builder->n_layered = ts_builder_n_spaces(tl);
	return load_layers(tl, f, from, ts_builder_n_spaces(tl));
}

/* *point gets the rest of the head: where the reader goes on. */
static bool load_record(struct ts_timeline *tl, const struct ts_index_file *f, size_t record,
			struct ts_index_arrays *point)
{
	struct ts_index_arrays a = ts_index_find(f, record, HEAD, 0);
	const struct saved_head *head = ts_index_take_n(&a, sizeof(*head), 1);

	bool is_last = record + 1 == ts_index_n_records(f) && ts_index_is_finished(f);

	if (!head || !(head->flags & HAS_NO_READS) != !tl->has_no_reads ||
	    head->n_steps != ts_index_n_steps(f, record) || !check_numbers(tl, head, record, is_last) ||
	    !load_head(tl, head, &a))
		return false;
	*point = a;
	if (!(head->flags & HAS_SEGMENT))
		return true;
	if (!load_spaces(tl, f, head) || !ts_builder_load_sections(tl, f, record))
		return false;
	tl->builder->n_sealed = record + 1;
	return tl->builder->has_world || !ts_turns_are_empty(&tl->world.turns); /* a thread executed the first step */
}

/* ------------------------------------------------------------------------------------------ the whole file */

/* The recording is complete: nothing is read any more but what is asked for. */
static void end_build(struct ts_timeline *tl)
{
	tl->has_end = !tl->builder->end.is_absent;
	ts_builder_free(tl);
	tl->rec->is_read = true;
}

static bool resume(struct ts_timeline *tl, struct ts_index_arrays *point, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	size_t len;
	const uint8_t *p = ts_index_take(point, 1, &len);

	if (!p || !ts_feed_resume(bd->feed, p, len, &bd->end, err)) {
		if (err->code == TS_EIO || err->code == TS_ENOMEM)
			return false; /* that says nothing about the file */
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "it has no decode point to resume from");
	}
	ts_buf_reset(&bd->here);
	ts_buf_put(&bd->here, p, len);
	if (!ts_buf_ok(&bd->here))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to go on");
	ts_space_resume(&bd->regs, bd->n_chunks);
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_resume(bd->memory[i], bd->n_chunks);
	return true;
}

/* Why record @i of the file cannot be used; always false. */
static bool fail_record(const struct ts_timeline *tl, size_t i, struct ts_error *err)
{
	if (errno == ENOMEM || ts_builder_is_failed(tl))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for its record %zu", i);
	if (ts_index_is_damaged(tl->file))
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "its record %zu is damaged", i);
	return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "its record %zu contradicts itself", i);
}

bool ts_timeline_use_file(struct ts_timeline *tl, struct ts_index_file *f, struct ts_error *err)
{
	size_t n = ts_index_n_records(f);
	struct ts_index_arrays point = { .is_bad = true };

	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		if (!ts_event_list_begin(&tl->world.events[kind]))
			return ts_no_memory(err, "events");
	}
	tl->builder->has_world = n && ts_index_is_finished(f) && ts_index_has(f, n - 1, WRLD);
	for (size_t i = 0; i < n; i++) {
		errno = 0; /* of allocations */
		if (!load_record(tl, f, i, &point) || ts_index_is_damaged(f)) {
			tl->file = f;
			return fail_record(tl, i, err);
		}
		ts_index_give_back(f);
		ts_index_let_go(f, i);
	}
	tl->file = f;
	if (!n)
		return true;
	errno = 0;
	if ((tl->builder->n_sealed && !ts_runs_end_load(&tl->builder->runs)) ||
	    (tl->builder->has_world && !load_world(tl, f)) || ts_index_is_damaged(f))
		return fail_record(tl, n - 1, err);
	ts_builder_publish(tl);
	if (!ts_index_is_finished(f))
		return resume(tl, &point, err);
	if (!ts_builder_find_optional(tl, err))
		return false;
	end_build(tl);
	return true;
}
