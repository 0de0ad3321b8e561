/* SPDX-License-Identifier: MIT */
#include "packed.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kept.h"
#include "src/ask/grammar/marks.h"
#include "src/base/cache_dir.h"
#include "src/base/io_full.h"
#include "src/base/log.h"
#include "src/index/keys/trace_keys.h"
#include "src/object/build_id.h"
#include "src/object/object.h"
#include "src/program/cli/cli_commands.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"
#include "src/program/cli/report.h"
#include "src/program/cli/thread_logs.h"
#include "src/query/files/local_files.h"
#include "src/query/files/locate.h"
#include "src/source/pack.h"
#include "src/symbols/debug_file.h"

#define MAX_MARKS (4u << 20)

/*
 * The copies of a packed recording's files have no more bytes than the first number and, for each byte of the
 * packed file, the second: zstd needs less than a byte for 10,000 zeros, and a few bytes must not fill the
 * disk.  Copies of all recordings stay until they have more than the third together.
 */
#define COPIES_LEN     (UINT64_C(1) << 30)
#define COPIES_A_BYTE  64u
#define MAX_COPIES_LEN (UINT64_C(4) << 30)

#define COPY_SUFFIX    ".program"
#define IMAGES         "image/"
#define LIBRARIES      "library/"
#define DEBUG          "debug/"
#define GRAMMAR        "grammar/"
/* -------------------------------------------------------------------------------------------- opening */

/* The contents of a member as text, which the caller frees. */
static char *read_text(const struct ts_pack *p, const struct ts_pack_member *m, struct ts_error *err)
{
	char *text = m->len <= MAX_MARKS ? malloc((size_t)m->len + 1) : NULL;

	if (m->len > MAX_MARKS)
		ts_fail(err, TS_ELIMIT, m->off, "%" PRIu64 " bytes of marks", m->len);
	else if (!text)
		ts_no_memory(err, "packing");
	else if (ts_source_read_all(p->src, m->off, text, (size_t)m->len, err)) {
		text[m->len] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

static bool adopt_marks(const struct ts_pack *p, const char *trace, struct ts_error *err)
{
	const struct ts_pack_member *m = ts_pack_find(p, "marks");
	struct ts_marks *marks = m ? ts_marks_new(trace) : NULL;
	char *text = m ? read_text(p, m, err) : NULL;
	struct ts_error unwritable = { 0 };
	bool done = !m || (text && (marks || ts_no_memory(err, "packing")));

	if (m && done && !ts_marks_adopt(marks, text, &unwritable))
		ts_log(TS_LOG_WARN, "%s: its marks cannot be kept: %s", trace, unwritable.text);
	ts_marks_free(marks);
	free(text);
	return done;
}

/* A name in the cache directory that differs for another program, and for the same one in another recording. */
static bool name_copy(const struct ts_pack *p, const struct ts_pack_member *m, const char *trace, char path[PATH_MAX],
		      struct ts_error *err)
{
	struct ts_trace_keys keys;
	XXH3_state_t *hash = XXH3_createState();
	char folder[PATH_MAX];
	uint8_t bytes[4096];
	XXH128_hash_t h;
	bool done = (hash || ts_no_memory(err, "packing")) &&
		    (ts_cache_dir(folder) || ts_fail(err, TS_EIO, TS_NO_OFF, "there is no cache directory")) &&
		    ts_trace_keys(trace, &keys, err);

	if (done)
		XXH3_128bits_reset(hash);
	for (uint64_t off = 0; done && off < m->len; off += sizeof(bytes)) {
		size_t n = m->len - off < sizeof(bytes) ? (size_t)(m->len - off) : sizeof(bytes);

		done = ts_source_read_all(p->src, m->off + off, bytes, n, err);
		if (done)
			XXH3_128bits_update(hash, bytes, n);
	}
	if (done) {
		h = XXH3_128bits_digest(hash);
		ts_cache_dir_make(folder);
		done = snprintf(path, PATH_MAX, "%s/%s%016" PRIx64 "%016" PRIx64 COPY_SUFFIX, folder, keys.tag,
				h.high64, h.low64) < PATH_MAX ||
		       ts_fail(err, TS_EIO, TS_NO_OFF, "the path of the cache directory is too long");
	}
	XXH3_freeState(hash);
	return done;
}

/* Has the open file the bytes of the member? */
static bool has_bytes(int fd, const struct ts_pack *p, const struct ts_pack_member *m)
{
	uint8_t kept[4096], packed[4096];
	struct ts_error ignored = { 0 };

	for (uint64_t off = 0; off < m->len; off += sizeof(kept)) {
		size_t n = m->len - off < sizeof(kept) ? (size_t)(m->len - off) : sizeof(kept);

		if (ts_read_whole(fd, kept, n, off) != (ssize_t)n ||
		    !ts_source_read_all(p->src, m->off + off, packed, n, &ignored) || memcmp(kept, packed, n) != 0)
			return false;
	}
	return true;
}

/* Is the copy there, and good?  It was used now then. */
static bool is_copied(const struct ts_pack *p, const struct ts_pack_member *m, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	bool is_good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == m->len &&
		       has_bytes(fd, p, m);

	if (is_good)
		futimens(fd, NULL);
	if (fd >= 0)
		close(fd);
	return is_good;
}

static bool write_member(const struct ts_pack *p, const struct ts_pack_member *m, const char *path, struct ts_error *err)
{
	struct ts_atomic_file f;
	bool done = ts_atomic_file_init(&f, path, err) && ts_pack_copy(p, m, &f, err) &&
		    ts_atomic_file_finish(&f, err);

	ts_atomic_file_fini(&f);
	return done;
}

static uint64_t file_len(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) ? (uint64_t)st.st_size : 0;
}

/* Count a copy of the member; false if the copies would be too long. */
static bool count_copy(struct ts_packed_files *files, const struct ts_pack_member *m, const char *trace,
		       struct ts_error *err)
{
	uint64_t max = COPIES_LEN + COPIES_A_BYTE * file_len(trace);

	if (files->len > max || m->len > max - files->len)
		return ts_fail(err, TS_EIO, m->off,
			       "it has %" PRIu64
			       " bytes unpacked, more than a file of that length can contain",
			       m->len);
	files->len += m->len;
	return true;
}

/*
 * *path gets that of the member's copy in the cache directory (owned); NULL, and a warning, if it cannot be
 * written.
 */
static bool copy_member(const struct ts_pack *p, const struct ts_pack_member *m, const char *trace,
			struct ts_packed_files *files, char **path, struct ts_error *err)
{
	char to[PATH_MAX], folder[PATH_MAX];

	*path = NULL;
	if (count_copy(files, m, trace, err) && name_copy(p, m, trace, to, err) &&
	    (is_copied(p, m, to) || write_member(p, m, to, err))) {
		if (ts_cache_dir(folder))
			ts_cache_dir_bound(folder, COPY_SUFFIX,
					   files->len > MAX_COPIES_LEN ? files->len : MAX_COPIES_LEN);
		*path = strdup(to);
		return *path || ts_no_memory(err, "packing");
	}
	if (err->code != TS_EIO)
		return false;
	ts_log(TS_LOG_WARN, "%s: %s in it is not used: %s", trace, m->name, err->text);
	ts_error_reset(err);
	return true;
}

static bool adopt_program(const struct ts_pack *p, struct ts_cli *cli, struct ts_packed_files *files,
			  struct ts_error *err)
{
	const struct ts_pack_member *m = ts_pack_find(p, "program/");

	if (!m || cli->exec.path)
		return true;
	if (!copy_member(p, m, cli->trace, files, &files->exec, err))
		return false;
	if (files->exec)
		cli->exec = (struct ts_file_option){ .path = files->exec,
						     .has_base = p->facts.has_base,
						     .base = p->facts.base };
	return true;
}

/* A trace that was read by its own grammar is read by it again. */
static bool adopt_grammar(const struct ts_pack *p, struct ts_cli *cli, struct ts_packed_files *files,
			  struct ts_error *err)
{
	const struct ts_pack_member *m = ts_pack_find(p, GRAMMAR);

	if (!m || cli->grammar || cli->format)
		return true;
	if (!copy_member(p, m, cli->trace, files, &files->grammar, err))
		return false;
	cli->grammar = files->grammar;
	return true;
}

static bool adopt_images(const struct ts_pack *p, struct ts_cli *cli, struct ts_packed_files *files,
			 struct ts_error *err)
{
	const struct ts_pack_member *m = NULL;

	if (cli->n_images)
		return true;
	while ((m = ts_pack_next(p, m, IMAGES)) && cli->n_images < TS_MAX_IMAGES) {
		const char *base = m->name + strlen(IMAGES);
		struct ts_file_option *image = &cli->images[cli->n_images];
		char *end;

		if (!copy_member(p, m, cli->trace, files, &files->images[files->n_images], err))
			return false;
		if (!files->images[files->n_images])
			continue;
		*image = (struct ts_file_option){ .path = files->images[files->n_images++],
						  .base = strtoull(base, &end, 16) };
		image->has_base = end > base && *end == '/';
		cli->n_images++;
	}
	return true;
}

/* They are looked for by the address of the module. */
static bool adopt_libraries(const struct ts_pack *p, struct ts_cli *cli, struct ts_packed_files *files,
			    struct ts_error *err)
{
	const struct ts_pack_member *m = NULL;

	while ((m = ts_pack_next(p, m, LIBRARIES)) && files->n_libraries < TS_MAX_IMAGES) {
		struct ts_packed_library *library = &files->libraries[files->n_libraries];
		char *copy;

		if (!copy_member(p, m, cli->trace, files, &copy, err))
			return false;
		if (copy)
			*library = (struct ts_packed_library){ copy, strtoull(m->name + strlen(LIBRARIES), NULL, 16) };
		files->n_libraries += copy != NULL;
	}
	cli->libraries = files->libraries;
	cli->n_libraries = files->n_libraries;
	return true;
}

/* They are looked for by the build-id. */
static bool adopt_debug(const struct ts_pack *p, struct ts_cli *cli, struct ts_packed_files *files, struct ts_error *err)
{
	const struct ts_pack_member *m = NULL;

	while ((m = ts_pack_next(p, m, DEBUG)) && files->n_debug < TS_MAX_IMAGES + 1) {
		const char *id = m->name + strlen(DEBUG);
		char *copy;

		if (!copy_member(p, m, cli->trace, files, &copy, err))
			return false;
		if (!copy)
			continue;
		files->debug[files->n_debug++] = (struct ts_packed_debug){ copy, strndup(id, strcspn(id, "/")) };
		if (!files->debug[files->n_debug - 1].id)
			return ts_no_memory(err, "packing");
	}
	cli->debug = files->debug;
	cli->n_debug = files->n_debug;
	return true;
}

bool ts_packed_adopt(struct ts_cli *cli, const struct ts_source *src, struct ts_packed_files *files,
		     struct ts_error *err)
{
	const struct ts_source *archive = ts_source_archive(src);
	struct ts_pack p;
	bool done;

	if (!archive)
		return true;
	done = ts_pack_init(&p, archive, err) && adopt_marks(&p, cli->trace, err) &&
	       adopt_grammar(&p, cli, files, err) && adopt_program(&p, cli, files, err) && adopt_images(&p, cli, files, err) &&
	       adopt_libraries(&p, cli, files, err) && adopt_debug(&p, cli, files, err);
	ts_pack_fini(&p);
	return done;
}

void ts_packed_files_fini(struct ts_packed_files *files)
{
	free(files->exec);
	free(files->grammar);
	while (files->n_images)
		free(files->images[--files->n_images]);
	while (files->n_libraries)
		free((char *)files->libraries[--files->n_libraries].path);
	while (files->n_debug) {
		free((char *)files->debug[--files->n_debug].path);
		free((char *)files->debug[files->n_debug].id);
	}
}

/* -------------------------------------------------------------------------------------------- packing */

static bool add_file(struct ts_pack_writer *w, const char *folder, const char *name, const char *path,
		     struct ts_error *err)
{
	struct ts_source *src = ts_source_open(path, err);
	bool done = src && ts_pack_writer_add(w, folder, name, src, err);

	ts_source_close(src);
	return done || ts_fail_prefix(err, "%s", path);
}

static bool add_marks(struct ts_pack_writer *w, const char *trace, struct ts_error *err)
{
	struct ts_marks *marks = ts_marks_new(trace);
	struct ts_source *src = NULL;
	struct ts_buf text;
	size_t n = 0;
	bool done = (marks || ts_no_memory(err, "marks")) && ts_marks_read(marks, &n, err);

	ts_buf_init(&text);
	if (done && n) {
		ts_marks_put(marks, &text);
		done = ts_buf_ok(&text) || ts_no_memory(err, "packing");
		if (done)
			src = ts_source_from_memory(text.data, text.len, "marks", err);
		done = src && ts_pack_writer_add(w, "marks", NULL, src, err);
	}
	ts_source_close(src);
	ts_buf_fini(&text);
	ts_marks_free(marks);
	return done;
}

/* The index, if it is finished, and the section that one of another version has in a file of its own. */
static bool add_index(struct ts_pack_writer *w, const struct ts_index_facts *index, struct ts_error *err)
{
	return !index->is_finished ||
	       (add_file(w, "index", NULL, index->path, err) &&
		(!index->calls || add_file(w, "index.calls", NULL, index->calls, err)));
}

/* The other files of the recording: its threads', and what its loader opens beside the trace. */
static bool add_others(struct ts_pack_writer *w, const struct ts_cli *cli, struct ts_error *err)
{
	char *images = ts_cli_images_of(cli->trace);
	struct stat st;
	bool done = true;

	for (size_t i = 0; i < cli->n_threads && done; i++)
		done = add_file(w, "thread/", cli->threads[i], cli->threads[i], err);
	if (done && images && !lstat(images, &st) && S_ISREG(st.st_mode))
		done = add_file(w, "beside/", images, images, err);
	free(images);
	return done;
}

static bool add_images(struct ts_pack_writer *w, const struct ts_cli *cli, struct ts_error *err)
{
	for (unsigned i = 0; i < cli->n_images; i++) {
		const struct ts_file_option *image = &cli->images[i];
		char folder[40] = IMAGES;

		if (image->has_base)
			snprintf(folder, sizeof(folder), IMAGES "0x%" PRIx64 "/", image->base);
		if (!add_file(w, folder, image->path, image->path, err))
			return false;
	}
	return true;
}

/* How far packing is, and what was packed. */
struct packing {
	struct ts_meter meter;
	uint64_t n_bytes; /* of all that is packed */
	struct ts_build_id debug[TS_MAX_IMAGES + 1]; /* whose debug files are packed */
	unsigned n_debug;
	unsigned n_libraries, n_left; /* packed; named by the recording, but not here as they were */
};

/* Is the module of ordinal @i the same file at the same place as one before it? */
static bool is_packed_yet(const struct ts_query *q, size_t i, const struct ts_module_info *m)
{
	struct ts_module_info before;

	for (size_t k = 0; k < i && ts_query_module(q, k, &before); k++) {
		if (before.first == m->first && before.file && !strcmp(before.file, m->file))
			return true;
	}
	return false;
}

static bool has_debug(const struct packing *p, const struct ts_build_id *id)
{
	for (unsigned i = 0; i < p->n_debug; i++) {
		if (p->debug[i].len == id->len && !memcmp(p->debug[i].bytes, id->bytes, id->len))
			return true;
	}
	return false;
}

/*
 * The debug file of @src, which was at @recorded (NULL: unknown), if it has one on this machine, and none was packed for the same build-id.  One that is longer
 * than the copies may be is left out.
 */
static bool add_debug(struct ts_pack_writer *w, const struct ts_source *src, const char *recorded, struct packing *p,
		      struct ts_error *err)
{
	char hex[2 * TS_MAX_BUILD_ID + 1], folder[TS_PACK_NAME_LEN];
	struct ts_build_id id;
	struct ts_source *debug;
	bool done = true;

	if (p->n_debug > TS_MAX_IMAGES || !ts_build_id_find(src, &id) || has_debug(p, &id))
		return true;
	debug = ts_debug_file_open(src, recorded, NULL, 0, TS_DEBUG_FOLDER);
	if (debug && ts_source_len(debug) < COPIES_LEN / 2) {
		ts_build_id_text(&id, id.len, hex);
		if (snprintf(folder, sizeof(folder), DEBUG "%s/", hex) < (int)(sizeof(folder) - strlen("debug"))) {
			done = ts_pack_writer_add(w, folder, "debug", debug, err);
			p->debug[p->n_debug++] = id;
		}
	}
	ts_source_close(debug);
	return done;
}

static bool add_debug_of(struct ts_pack_writer *w, const char *path, const char *recorded, struct packing *p,
			 struct ts_error *err)
{
	struct ts_source *src = ts_source_open(path, err);
	bool done = src && add_debug(w, src, recorded, p, err);

	ts_source_close(src);
	return done || ts_fail_prefix(err, "%s", path);
}

/*
 * The libraries that the recording names, where they are on this machine and are what was recorded.  Counts them in @p.
 */
static bool add_libraries(struct ts_pack_writer *w, struct ts_query *q, const struct ts_cli *cli, struct packing *p,
			  struct ts_error *err)
{
	const struct ts_facts *facts = ts_query_facts(q);
	struct ts_local_files local;
	struct ts_module_info m;
	char folder[40], kept[2 * PATH_MAX];
	bool done = true;

	ts_local_files_init(&local, q);
	local.kept = ts_kept_find(cli->trace, kept) ? kept : NULL;
	for (size_t i = 0; done && !cli->sysroot && ts_query_module(q, i, &m); i++) {
		bool is_program = m.file && facts->exec_path && !strcmp(m.file, facts->exec_path);
		const struct ts_source *src = m.file && !is_program && p->n_libraries < TS_MAX_IMAGES ? ts_local_file(&local, m.file)
											  : NULL;

		if (src && !is_packed_yet(q, i, &m)) {
			snprintf(folder, sizeof(folder), LIBRARIES "0x%" PRIx64 "/", m.first);
			done = ts_pack_writer_add(w, folder, m.file, src, err) && add_debug(w, src, m.file, p, err);
			p->n_libraries++;
		}
		p->n_left += m.file && *m.file == '/' && !is_program && !src;
	}
	ts_local_files_fini(&local);
	return done;
}

static bool add_all(struct ts_pack_writer *w, struct packing *p, struct ts_query *q, const struct ts_cli *cli,
		    const struct ts_source *trace, const struct ts_index_facts *index, struct ts_error *err)
{
	return (ts_pack_writer_add(w, "trace/", cli->trace, trace, err) ||
		ts_fail_prefix(err, "%s", cli->trace)) &&
	       add_others(w, cli, err) &&
	       (!cli->grammar || add_file(w, GRAMMAR, cli->grammar, cli->grammar, err)) &&
	       (!cli->exec.path || (add_file(w, "program/", cli->exec.path, cli->exec.path, err) &&
				    add_debug_of(w, cli->exec.path, ts_query_facts(q)->exec_path, p, err))) &&
	       add_images(w, cli, err) && add_libraries(w, q, cli, p, err) &&
	       add_marks(w, cli->trace, err) && add_index(w, index, err);
}

/*
 * The base of a program that lies where the recording names a file of its name: its copy has another name.
 */
static bool find_base(struct ts_query *q, const struct ts_cli *cli, struct ts_pack_facts *facts,
		      struct ts_error *err)
{
	struct ts_source *src = cli->exec.path ? ts_source_open(cli->exec.path, err) : NULL;
	struct ts_located at = { 0 };
	struct ts_error ignored = { 0 };
	struct ts_object object;
	bool done = true;

	if (src && !facts->has_base && ts_object_init(&object, src, &ignored)) {
		done = ts_locate(q, src, &object, 0, NULL, &at, err);
		ts_object_fini(&object);
	}
	ts_source_close(src);
	if (at.by == TS_LOCATED_MODULE) {
		facts->has_base = true;
		facts->base = at.first;
	}
	return done && err->code == TS_OK;
}

/* Print what was packed, and its size. */
static void show(const struct ts_pack_writer *w, const struct packing *p, const struct ts_cli *cli, uint64_t n_steps,
		 bool has_index)
{
	struct ts_buf line;

	if (cli->is_quiet)
		return;
	ts_buf_init(&line);
	ts_buf_printf(&line, "%s: the trace", cli->output);
	if (cli->n_threads)
		ts_buf_printf(&line, " of %zu files", cli->n_threads + 1);
	ts_buf_printf(&line, "%s%s%s%s; %" PRIu64 " bytes", cli->grammar ? ", its grammar" : "",
	       has_index ? ", its index" : "", cli->exec.path ? ", the program" : "", cli->n_images ? ", the files beneath it" : "",
	       w->zstd.n_out);
	if (p->n_libraries)
		ts_buf_printf(&line, ", with %u librar%s", p->n_libraries, p->n_libraries == 1 ? "y" : "ies");
	if (p->n_debug)
		ts_buf_printf(&line, " and %u debug file%s", p->n_debug, p->n_debug == 1 ? "" : "s");
	if (p->n_left)
		ts_buf_printf(&line, ", without %u file%s of it: %s not here as recorded, or no program or library",
			      p->n_left, p->n_left == 1 ? "" : "s", p->n_left == 1 ? "it is" : "they are");
	if (n_steps)
		ts_buf_printf(&line, ", %.3f for each of %" PRIu64 " instructions", (double)w->zstd.n_out / (double)n_steps,
		       n_steps);
	ts_buf_printf(&line, "; %" PRIu64 " bytes unpacked", w->zstd.n_in);
	ts_message(stdout, "%s", ts_buf_ok(&line) ? ts_buf_text(&line) : "packed");
	ts_buf_fini(&line);
}

static void show_packing(void *user, uint64_t n_bytes)
{
	struct packing *p = user;
	double share = p->n_bytes ? (double)n_bytes / (double)p->n_bytes : TS_NO_SHARE;

	ts_meter_show(&p->meter, share < 1 ? share : 1, n_bytes);
}

/* So that the packed recording has the keys with which its index is signed. */
static void keep_origin(const struct ts_cli *cli)
{
	struct ts_error err = { 0 };

	if (!ts_trace_keys_keep_origin(cli->trace, cli->output, &err))
		ts_log(TS_LOG_WARN, "%s: the index in it will not be used: %s", cli->output, err.text);
}

static bool pack(struct ts_model *m, const struct ts_cli *cli, struct ts_error *err)
{
	struct packing packing = { .n_bytes = file_len(cli->trace) + file_len(cli->exec.path) };
	struct ts_index_facts index = ts_model_index(m);
	struct ts_source *trace = ts_source_open(cli->trace, err);
	struct ts_pack_facts facts = { .has_base = cli->exec.has_base, .base = cli->exec.base };
	struct ts_pack_writer w;
	bool done;

	if (!trace)
		return ts_fail_prefix(err, "%s", cli->trace);
	facts.mtime = ts_source_mtime(trace);
	if (index.is_finished)
		packing.n_bytes += file_len(index.path) + file_len(index.calls);
	ts_meter_init(&packing.meter, cli, cli->trace, "packing", "bytes");
	done = find_base(ts_model_query(m), cli, &facts, err);
	done = ts_pack_writer_init(&w, cli->output, &facts, err) && done;
	w.progress = show_packing;
	w.user = &packing;
	done = done && add_all(&w, &packing, ts_model_query(m), cli, trace, &index, err) && ts_pack_writer_finish(&w, err);
	ts_meter_clear(&packing.meter);
	if (done && index.is_finished)
		keep_origin(cli);
	if (done)
		show(&w, &packing, cli, ts_query_end(ts_model_query(m)), index.is_finished);
	ts_pack_writer_fini(&w);
	ts_source_close(trace);
	return done;
}

enum ts_status ts_run_pack(struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_error err = { 0 };

	return pack(m, cli, &err) ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}

/* ------------------------------------------------------------------------------------------ unpacking */

/* The trace's time is restored, so that an index that was made of it is still its index. */
static bool set_time(const char *path, uint64_t mtime, struct ts_error *err)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   { .tv_sec = (time_t)(mtime / 1000000000),
					     .tv_nsec = (long)(mtime % 1000000000) } };
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done =
		(fd >= 0 && !futimens(fd, times)) || ts_fail_errno(err, "%s: its time cannot be set", path);

	if (fd >= 0)
		close(fd);
	return done;
}

static bool write_file(const struct ts_pack *p, const struct ts_pack_member *m, const char *path,
		       struct ts_error *err)
{
	return write_member(p, m, path, err) && set_time(path, m->mtime, err);
}

bool ts_is_folder(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Where a member goes, in the folder. */
struct place {
	const struct ts_pack_member *m;
	bool is_trace;
	char path[PATH_MAX];
};

static bool find_place(struct place *to, const char *folder, struct ts_error *err)
{
	const char *name = ts_pack_file_name(to->m);

	if (!name)
		return ts_fail(err, TS_ECORRUPT, to->m->off, "%s is not the name of a file", to->m->name);
	if (*name == '.') /* a program of the user's might read it: .bashrc, .gdbinit */
		return ts_fail(err, TS_EUSAGE, to->m->off,
			       "a file that is called %s is not written into a directory; -o FILE writes the trace alone",
			       name);
	return snprintf(to->path, sizeof(to->path), "%s/%s", folder, name) < (int)sizeof(to->path) ||
	       ts_fail(err, TS_EIO, TS_NO_OFF, "the path of %s is too long", name);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* Before the first is written: the names are the archive's, and the user has not said which files may go. */
static bool check_place(const struct ts_pack *, const struct place *to, struct ts_error *err)
{
	return !is_there(to->path) ||
	       ts_fail(err, TS_EIO, TS_NO_OFF, "%s exists already, and is not replaced: nothing was unpacked",
		       to->path);
}

static bool write_place(const struct ts_pack *p, const struct place *to, struct ts_error *err)
{
	if (is_there(to->path))
		return ts_fail(err, TS_ECORRUPT, to->m->off, "two of its files have the name %s",
			       ts_pack_file_name(to->m));
	if (!write_file(p, to->m, to->path, err))
		return ts_fail_prefix(err, "%s", to->path);
	return !to->is_trace || adopt_marks(p, to->path, err);
}

static bool for_each_place(const struct ts_pack *p, const char *folder,
			   bool (*act)(const struct ts_pack *, const struct place *, struct ts_error *),
			   struct ts_error *err)
{
	static const char *const kinds[] = { "trace/", "thread/", "beside/", "program/", IMAGES, LIBRARIES };
	struct place to = { .m = NULL };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		to.is_trace = i == 0;
		while ((to.m = ts_pack_next(p, to.m, kinds[i]))) {
			if (!find_place(&to, folder, err) || !act(p, &to, err))
				return false;
		}
	}
	return true;
}

/* All files, each under its own name. */
static bool write_files(const struct ts_pack *p, const char *folder, struct ts_error *err)
{
	return for_each_place(p, folder, check_place, err) && for_each_place(p, folder, write_place, err);
}

static bool write_trace(const struct ts_pack *p, const char *path, struct ts_error *err)
{
	if (ts_pack_find(p, "thread/") || ts_pack_find(p, "beside/"))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "the recording has several files: -o must name a folder that exists");
	return write_file(p, ts_pack_find(p, "trace/"), path, err) && adopt_marks(p, path, err);
}

static bool unpack(const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_source *archive = ts_pack_open_archive(cli->trace, err);
	struct ts_pack p = { 0 };
	bool done = archive && ts_pack_init(&p, archive, err) &&
		    (ts_is_folder(cli->output) ? write_files(&p, cli->output, err)
					       : write_trace(&p, cli->output, err));

	ts_pack_fini(&p);
	ts_source_close(archive);
	return done;
}

enum ts_status ts_run_unpack(const struct ts_cli *cli)
{
	struct ts_error err = { 0 };

	return unpack(cli, &err) ? TS_STATUS_OK : ts_report_failure(cli->trace, &err);
}
