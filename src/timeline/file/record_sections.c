/* SPDX-License-Identifier: MIT */
/*
 * The sections of a record by the table (section.h); optional ones may be absent, or in files of their own.
 */
#include <string.h>

#include "src/timeline/builder.h"
#include "section.h"
#include "src/base/log.h"
#include "src/index/index_place.h"
#include "src/index/index_write.h"

/* What an optional section begins with: it is good as long as the sources that decide what it holds. */
#define VERSION_LEN 64

void ts_builder_save_section(struct ts_timeline *tl, const struct ts_section *s, uint64_t segment,
			     uint32_t owner, struct ts_index_file *f)
{
	ts_index_section(f, s->kind, owner);
	if (ts_section_is_optional(s))
		ts_index_put(f, ts_index_optional_sources, strnlen(ts_index_optional_sources, VERSION_LEN),
			     1);
	s->save(&(struct ts_section_at){ .tl = tl, .segment = segment, .owner = owner }, f);
}

bool ts_builder_find_section(const struct ts_index_file *f, size_t record, const struct ts_section *s,
			     uint32_t owner, struct ts_index_arrays *a)
{
	size_t len = strnlen(ts_index_optional_sources, VERSION_LEN);
	const char *version;

	*a = ts_index_find(f, record, s->kind, owner);
	if (!ts_section_is_optional(s))
		return true;
	version = ts_index_take_n(a, 1, len);
	return version && !memcmp(version, ts_index_optional_sources, len);
}

uint32_t ts_builder_n_owners(const struct ts_timeline *tl, unsigned ordinal)
{
	const struct ts_section *s = tl->sections[ordinal];

	if (tl->lacks >> ordinal & 1)
		return 0;
	return s->n_owners ? s->n_owners(tl) : 1;
}

bool ts_timeline_has(const struct ts_timeline *tl, const struct ts_section *s)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->sections[i] == s)
			return !(tl->lacks >> i & 1);
	}
	return false;
}

void ts_timeline_give_up(struct ts_timeline *tl, const struct ts_section *s)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->sections[i] != s)
			continue;
		tl->lacks |= UINT32_C(1) << i;
		ts_index_close(tl->siblings[i]);
		tl->siblings[i] = NULL;
	}
}

bool ts_timeline_is_damaged(const struct ts_timeline *tl)
{
	bool is_damaged = tl->is_foreign || (tl->file && ts_index_is_damaged(tl->file));

	for (unsigned i = 0; i < tl->n_siblings; i++)
		is_damaged |= tl->siblings[i] && ts_index_is_damaged(tl->siblings[i]);
	return is_damaged;
}

void ts_timeline_set_sibling(struct ts_timeline *tl, unsigned ordinal, struct ts_index_file *file)
{
	tl->siblings[ordinal] = file;
	if (ordinal >= tl->n_siblings)
		tl->n_siblings = ordinal + 1;
}

void ts_timeline_give_back(const struct ts_timeline *tl)
{
	if (tl->file)
		ts_index_give_back(tl->file);
	for (unsigned i = 0; i < tl->n_siblings; i++) {
		if (tl->siblings[i])
			ts_index_give_back(tl->siblings[i]);
	}
}

/* Load a section from a record.  An optional one of another version is as good as none. */
static bool load_section(struct ts_timeline *tl, const struct ts_index_file *f, size_t record,
			 unsigned ordinal, bool is_in_memory)
{
	const struct ts_section *s = tl->sections[ordinal];

	for (uint32_t owner = 0, n = ts_builder_n_owners(tl, ordinal); owner < n; owner++) {
		const struct ts_section_at at = { tl, record, owner, is_in_memory };
		struct ts_index_arrays a;

		if (!ts_builder_find_section(f, record, s, owner, &a)) {
			if (is_in_memory)
				return false;
			tl->lacks |= UINT32_C(1) << ordinal;
			return true;
		}
		if (!s->load(&at, &a))
			return false;
	}
	return true;
}

bool ts_builder_map_sections(struct ts_timeline *tl, size_t record)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (!tl->sections[i]->stays_in_memory && !load_section(tl, tl->file, record, i, true))
			return false;
	}
	return true;
}

bool ts_builder_load_sections(struct ts_timeline *tl, const struct ts_index_file *f, size_t record)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (ts_section_is_optional(tl->sections[i]) &&
		    !ts_index_has(f, record, tl->sections[i]->kind))
			tl->lacks |= UINT32_C(1) << i;
		if (!load_section(tl, f, record, i, false))
			return false;
	}
	return true;
}

/* ----------------------------------------------------------------------------------- files of one section */

/* Load the optional section from a file of its own. */
static bool load_all(struct ts_timeline *tl, struct ts_index_file *f, unsigned ordinal)
{
	if (ts_index_n_records(f) != tl->builder->n_sealed)
		return false;
	for (size_t i = 0; i < ts_index_n_records(f); i++) {
		if (!load_section(tl, f, i, ordinal, false))
			return false;
	}
	return !ts_index_is_damaged(f);
}

/*
 * Look for the optional section, which the index file lacks, in a file of its own.  Returns false if there is
 * one that contradicts the index, and the timeline is of no use.
 */
static bool find_optional(struct ts_timeline *tl, unsigned ordinal, struct ts_error *err)
{
	const char *name = tl->sections[ordinal]->name;
	struct ts_index_file *f = ts_index_open_sibling(tl->file, name, err);

	if (!f) {
		if (err->code != TS_OK)
			ts_log(TS_LOG_WARN, "%s.%s: %s; ignored", ts_index_path(tl->file), name, err->text);
		ts_error_reset(err);
		return true;
	}
	ts_timeline_set_sibling(tl, ordinal, f);
	tl->lacks &= ~(UINT32_C(1) << ordinal);
	if (load_all(tl, f, ordinal)) {
		if (tl->lacks >> ordinal & 1) {
			ts_index_close(f); /* of another version */
			tl->siblings[ordinal] = NULL;
		}
		return true;
	}
	ts_index_remove(f);
	return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "its file of %s contradicts it", name);
}

bool ts_builder_find_optional(struct ts_timeline *tl, struct ts_error *err)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->lacks >> i & 1 && !find_optional(tl, i, err))
			return false;
	}
	return true;
}
