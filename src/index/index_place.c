/* SPDX-License-Identifier: MIT */
#include "index_place.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/atomic_file.h"
#include "src/base/cache_dir.h"
#include "src/base/log.h"
#include "src/base/text/suffix.h"
#include "src/source/pack.h"
#include "src/index/keys/trace_keys.h"

#define SUFFIX ".tsindex"

/* Its member in a packed recording; optional sections are PACKED.NAME. */
#define PACKED "index"

/* Of a trace; the names of its index are longer: those of other options, of parts, of optional sections. */
#define MAX_NAME (NAME_MAX - 24)

static bool add_place(struct ts_index_places *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool add_place(struct ts_index_places *p, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(path))
		return true; /* no place */
	p->paths[p->n] = strdup(path);
	return p->paths[p->n] && ++p->n;
}

static bool add_cached(struct ts_index_places *p, const char *trace)
{
	char path[PATH_MAX];

	return !ts_cache_dir_name(trace, true, path) || add_place(p, "%s" SUFFIX, path);
}

bool ts_index_places_init(struct ts_index_places *p, const char *trace, const char *wanted)
{
	*p = (struct ts_index_places){ .is_too_long = !wanted && strlen(ts_last_name(trace)) > MAX_NAME };
	if (p->is_too_long)
		return true;
	if (wanted ? add_place(p, "%s", wanted) : add_place(p, "%s" SUFFIX, trace) && add_cached(p, trace))
		return true;
	ts_index_places_fini(p);
	return false;
}

void ts_index_places_fini(struct ts_index_places *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->paths[i]);
	p->n = 0;
}

bool ts_index_places_have_any(const struct ts_index_places *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		if (access(p->paths[i], F_OK) == 0)
			return true;
	}
	return false;
}

bool ts_index_signer(struct ts_signer *s, const char *trace, struct ts_error *err)
{
	struct ts_trace_keys keys;

	if (!ts_trace_keys(trace, &keys, err))
		return false;
	*s = keys.signer;
	return true;
}

/* Does an index of other options, finished or not, have this name? */
static bool is_taken(const char *path, const struct ts_index_key *key)
{
	char part[PATH_MAX];

	return ts_index_has_other_meaning(path, key) ||
	       (snprintf(part, sizeof(part), "%s.part", path) < (int)sizeof(part) &&
		ts_index_has_other_meaning(part, key));
}

/* The name for the index of @key where another combination of options has the plain one. */
static void avoid_others(char **path, const struct ts_index_key *key)
{
	char *other;

	if (!is_taken(*path, key) || asprintf(&other, "%s-%08" PRIx32, *path, (uint32_t)key->meaning) < 0)
		return;
	ts_log(TS_LOG_INFO,
	       "%s: made with other options (--exec, --arch, --format or --index-reads); using %s", *path,
	       other);
	free(*path);
	*path = other;
}

/* The file at place @i is found: its siblings may go to the place after it. */
static void give_refuge(struct ts_index_file *f, struct ts_index_places *p, unsigned i,
			const struct ts_index_key *key)
{
	if (i + 1 == p->n)
		return;
	avoid_others(&p->paths[i + 1], key);
	ts_index_set_fallback(f, p->paths[i + 1]); /* if memory is exhausted, the file has no refuge */
}

/* Is all of @trace what the hash says?  Returns false with the reason if not, or if it cannot be read. */
static bool has_hash(const struct ts_index_trace *trace, const struct ts_index_key *key, struct ts_error *why)
{
	struct ts_trace_hash *h = ts_trace_hash_new(trace->src, &key->signer, why);
	uint8_t hash[TS_TRACE_HASH_LEN];
	bool done = h && ts_trace_hash_grow(h, UINT64_MAX, UINT64_MAX, why) == TS_END;

	if (done)
		ts_trace_hash_value(h, hash);
	ts_trace_hash_free(h);
	return done && (!memcmp(hash, trace->hash, sizeof(hash)) ||
			ts_fail(why, TS_ECORRUPT, TS_NO_OFF, "the trace has changed since it was made"));
}

/* Was @f made from these bytes, as far as it is compared now? */
static bool is_of(const struct ts_index_file *f, struct ts_index_trace *trace, struct ts_error *why)
{
	enum ts_index_fit fit = ts_index_fit(f, trace->src, trace->hash);

	trace->is_left = fit == TS_INDEX_MAY_FIT && ts_source_len(trace->src) > trace->max_len;
	if (fit == TS_INDEX_FITS || trace->is_left)
		return true;
	if (fit == TS_INDEX_IS_OTHER)
		return ts_fail(why, TS_ECORRUPT, TS_NO_OFF,
			       "the trace is another file, or was changed, before the index was complete");
	if (!has_hash(trace, ts_index_file_key(f), why))
		return false;
	ts_index_note_file(f, trace->src, trace->hash);
	return true;
}

/* The index @path, if it can be used. */
static struct ts_index_file *open_place(const char *path, const struct ts_index_key *key, struct ts_index_trace *trace,
					struct ts_error *why)
{
	struct ts_index_file *f = ts_index_open_any(path, key, why);

	if (!f || !trace || is_of(f, trace, why))
		return f;
	ts_index_close(f);
	return NULL;
}

struct ts_index_file *ts_index_places_open(struct ts_index_places *p, const struct ts_index_key *key,
					   struct ts_index_trace *trace)
{
	for (unsigned i = 0; i < p->n; i++) {
		struct ts_error why;
		struct ts_index_file *f;

		ts_error_reset(&why);
		avoid_others(&p->paths[i], key);
		f = open_place(p->paths[i], key, trace, &why);
		if (f) {
			give_refuge(f, p, i, key);
			return f;
		}
		if (why.code == TS_ENOMEM || why.code == TS_EIO) {
			ts_log(TS_LOG_WARN, "%s: %s", p->paths[i], why.text);
			ts_index_places_fini(p); /* it may be good: nothing takes its place */
			return NULL;
		}
		/* what is not a file at all is not replaced either: making one says so */
		if (why.code != TS_OK && why.code != TS_EUSAGE)
			ts_log(TS_LOG_WARN, "%s: %s; ignored; rebuilding the index", p->paths[i], why.text);
	}
	return NULL;
}

/* Make the cache directory if @path is in it. */
static void make_folder(const char *path)
{
	char folder[PATH_MAX];

	if (ts_cache_dir(folder) && !strncmp(path, folder, strlen(folder)))
		ts_cache_dir_make(folder);
}

/* Copy the member @m to the file @path.  Optional sections have their names after it. */
static bool adopt_member(const struct ts_pack *pack, const struct ts_pack_member *m, const char *path,
			 struct ts_error *err)
{
	struct ts_atomic_file f;
	char to[PATH_MAX];
	bool done;

	if (snprintf(to, sizeof(to), "%s%s", path, m->name + strlen(PACKED)) >= (int)sizeof(to))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "the path is too long");
	done = ts_atomic_file_init(&f, to, err) && ts_pack_copy(pack, m, &f, err) &&
	       ts_atomic_file_finish(&f, err);
	ts_atomic_file_fini(&f);
	return done;
}

/* The members that pack.h lists: another name would become that of a file beside the trace. */
static bool is_of_index(const char *name)
{
	return !strcmp(name, PACKED) || !strcmp(name, PACKED ".calls");
}

static bool adopt_all(const struct ts_pack *pack, const char *path, struct ts_error *err)
{
	for (size_t i = 0; i < pack->n; i++) {
		if (!is_of_index(pack->members[i].name))
			continue;
		if (!adopt_member(pack, &pack->members[i], path, err))
			return false;
	}
	return true;
}

void ts_index_places_adopt(const struct ts_index_places *p, const struct ts_source *src)
{
	const struct ts_source *archive = ts_source_archive(src);
	struct ts_error err;
	struct ts_pack pack;
	bool done = false;

	if (!archive || ts_index_places_have_any(p))
		return;
	ts_error_reset(&err);
	if (ts_pack_init(&pack, archive, &err) && ts_pack_find(&pack, PACKED)) {
		for (unsigned i = 0; i < p->n && !done; i++) {
			ts_error_reset(&err);
			if (i)
				make_folder(p->paths[i]);
			done = adopt_all(&pack, p->paths[i], &err);
		}
	}
	if (err.code != TS_OK)
		ts_log(TS_LOG_INFO, "the index in the packed recording is not used: %s", err.text);
	ts_pack_fini(&pack);
}

struct ts_index_file *ts_index_places_create(const struct ts_index_places *p, const struct ts_index_key *key,
					     struct ts_error *err)
{
	struct ts_index_file *f = NULL;

	if (!p->n && p->is_too_long)
		ts_fail(err, TS_EIO, TS_NO_OFF, "the name of its index would be too long: no index is stored; give a path with --index FILE");
	else if (!p->n)
		ts_fail(err, TS_EIO, TS_NO_OFF, "an index file is there and cannot be read");
	for (unsigned i = 0; i < p->n && !f; i++) {
		ts_error_reset(err);
		if (!ts_atomic_file_may_replace(p->paths[i], err))
			continue;
		if (i)
			make_folder(p->paths[i]);
		f = ts_index_create(p->paths[i], key, err);
		if (f && i + 1 < p->n)
			ts_index_set_fallback(f, p->paths[i + 1]); /* if memory is exhausted, the file has no refuge */
		if (!f)
			ts_fail_prefix(err, "%s", p->paths[i]);
		if (err->code == TS_ELIMIT)
			break; /* another process is building it: a second one elsewhere is of no use */
	}
	if (f)
		ts_error_reset(err);
	return f;
}
