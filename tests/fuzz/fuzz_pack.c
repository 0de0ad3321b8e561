/* SPDX-License-Identifier: MIT */
/*
 * A packed recording as somebody else may have made it, opened as a command opens it: its trace is unpacked,
 * its marks, its program, its files and its index are taken over, and it is read.  Whatever the names in it
 * are, files are made in the cache folder only, and beside the packed recording those of its index and its
 * marks.
 *
 * Lines of the input:
 *
 *      text NAME TEXT      a member with this text; "\n" stands for the end of a line, a path is that of a
 * file in file NAME PATH      tests/data index NAME          the index of the trace of the last line "file",
 * made here base ADDRESS        the fact edit OFFSET BYTES   of the packed file
 */
#include "fuzz.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz_opened.h"
#include "loaders/loader.h"
#include "src/base/text/hex.h"
#include "src/base/log.h"
#include "src/index/keys/trace_keys.h"
#include "src/model/model.h"
#include "src/program/cli/cli.h"
#include "src/program/open/packed.h"
#include "src/source/pack.h"
#include "src/source/unpack.h"

#define MAX_FILE   ((uint64_t)1 << 20)
#define MAX_LINES  40u
#define MAX_MEMORY ((uint64_t)128 << 20)
#define MAX_STEPS  20000u

/* Folders and files of one input. */
static char folder[40], cache[80], pack[80], plain[80];

struct line {
	char word[8], name[128], rest[1024];
};

/* ------------------------------------------------------------------------------------------- the packed file
 */

static struct ts_source *open_data(const char *name, struct ts_error *err)
{
	const struct ts_unpack_options opt = { .max_len = MAX_FILE };
	char path[256];
	struct stat st;

	if (strstr(name, "..") ||
	    snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name) >= (int)sizeof(path) || stat(path, &st) ||
	    !S_ISREG(st.st_mode))
		return NULL;
	return ts_trace_open(path, &opt, err);
}

static struct ts_source *text_source(char *text, struct ts_error *err)
{
	size_t n = 0;

	for (const char *p = text; *p; p++, n++) {
		bool is_end = p[0] == '\\' && p[1] == 'n';

		text[n] = is_end ? '\n' : *p;
		p += is_end;
	}
	return ts_source_from_memory(text, n, "text", err);
}

struct opened {
	struct ts_source *src;
	const struct ts_loader *loader;
	struct ts_cli *cli;
};

static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *err)
{
	const struct opened *o = user;
	struct ts_source *grammar = o->cli->grammar ? ts_source_open(o->cli->grammar, err) : NULL;
	const struct ts_loader_options opt = { .grammar = grammar,
					       .exec = o->cli->exec.path,
					       .exec_base = o->cli->exec.has_base ? &o->cli->exec.base : NULL,
					       .max_memory = MAX_MEMORY,
					       .like = like };
	struct ts_recording *rec = ts_loader_open(o->loader, o->src, &opt, err);

	ts_source_close(grammar);
	return rec;
}

/* Read it, with an index beside it. */
static void read_model(struct opened *o, const char *path)
{
	const struct ts_model_options opt = { .trace = path,
					      .load = load,
					      .user = o,
					      .index = { .is_wanted = true },
					      .max_memory = MAX_MEMORY,
					      .n_jobs = 1 };
	struct ts_error err = { 0 };
	struct ts_model *m = ts_model_new(&opt, &err);
	enum ts_next next = TS_ITEM;

	fuzz_require(m != NULL);
	for (unsigned i = 0; i < o->cli->n_images && err.code == TS_OK; i++)
		ts_model_add_file(m, o->cli->images[i].path,
				  o->cli->images[i].has_base ? &o->cli->images[i].base : NULL, &err);
	if (err.code == TS_OK && ts_model_open(m, o->src, &err)) {
		while (next == TS_ITEM && ts_model_n_read(m) < MAX_STEPS)
			next = ts_model_grow(m, 1000, &err);
	}
	ts_model_free(m);
}

static void copy_source(const struct ts_source *src, const char *path)
{
	uint8_t *bytes = malloc(ts_source_len(src) + 1);
	FILE *f = fopen(path, "wb");
	struct ts_error err = { 0 };
	size_t n = 0;

	fuzz_require(bytes && f && ts_source_read(src, 0, bytes, ts_source_len(src), &n, &err));
	fuzz_require(fwrite(bytes, 1, n, f) == n && !fclose(f));
	free(bytes);
}

/* The index of the trace that is packed, made beside a plain copy, whose keys the packed one is to have. */
static void add_index(struct ts_pack_writer *w, const char *name, const char *trace, struct ts_error *err)
{
	struct ts_source *data = open_data(trace, err), *index;
	struct ts_cli cli = { 0 };
	struct opened o = { .cli = &cli };
	char path[96];

	if (!data)
		return;
	copy_source(data, plain);
	ts_source_close(data);
	o.src = ts_source_open(plain, err);
	o.loader = o.src ? ts_loader_probe(o.src, err) : NULL;
	if (o.loader)
		read_model(&o, plain);
	ts_source_close(o.src);
	snprintf(path, sizeof(path), "%s.tsindex", plain);
	ts_error_reset(err);
	index = ts_source_open(path, err);
	if (index)
		ts_pack_writer_add(w, name, NULL, index, err);
	ts_source_close(index);
	unlink(path);
	ts_error_reset(err);
}

static void add_member(struct ts_pack_writer *w, struct line *l, struct ts_error *err)
{
	bool is_file = !strcmp(l->word, "file");
	struct ts_source *src = is_file ? open_data(l->rest, err) : text_source(l->rest, err);
	const char *slash = strrchr(l->name, '/');
	char name[128];

	snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash + 1 - l->name) : 127, l->name);
	if (src)
		ts_pack_writer_add(w, name, slash ? slash + 1 : NULL, src, err);
	ts_source_close(src);
	ts_error_reset(err);
}

static void write_pack(struct line *lines, size_t n)
{
	struct ts_pack_facts facts = { .mtime = 1 };
	struct ts_error err = { 0 };
	struct ts_pack_writer w;
	const char *trace = "";

	for (size_t i = 0; i < n; i++) {
		facts.has_base |= !strcmp(lines[i].word, "base");
		facts.base = !strcmp(lines[i].word, "base") ? strtoull(lines[i].name, NULL, 16) : facts.base;
	}
	fuzz_require(ts_pack_writer_init(&w, pack, &facts, &err));
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(lines[i].word, "index"))
			add_index(&w, lines[i].name, trace, &err);
		else if (!strcmp(lines[i].word, "text") || !strcmp(lines[i].word, "file"))
			add_member(&w, &lines[i], &err);
		trace = !strcmp(lines[i].word, "file") && !strncmp(lines[i].name, "trace/", 6) ? lines[i].rest
											       : trace;
	}
	fuzz_require(ts_pack_writer_finish(&w, &err));
	ts_pack_writer_fini(&w);
	if (!access(plain, F_OK))
		fuzz_require(ts_trace_keys_keep_origin(plain, pack, &err) || err.text[0]);
}

static void edit_pack(const struct line *lines, size_t n)
{
	FILE *f = fopen(pack, "r+b");

	fuzz_require(f != NULL);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(lines[i].word, "edit") ||
		    fseek(f, (long)(strtoul(lines[i].name, NULL, 16) & 0xffffff), SEEK_SET))
			continue;
		for (const char *p = lines[i].rest;
		     ts_hex_digit((uint8_t)p[0]) >= 0 && ts_hex_digit((uint8_t)p[1]) >= 0; p += 2)
			fputc(ts_hex_digit((uint8_t)p[0]) << 4 | ts_hex_digit((uint8_t)p[1]), f);
	}
	fclose(f);
}

/* ------------------------------------------------------------------------------------------------- opening
 */

/* A copy is a file in the cache folder. */
static void check_copy(const char *path)
{
	size_t len = strlen(cache);
	struct stat st;

	fuzz_require(!strncmp(path, cache, len) && path[len] == '/' && !strchr(path + len + 1, '/'));
	fuzz_require(!lstat(path, &st) && S_ISREG(st.st_mode) &&
		     !(st.st_mode & (S_ISUID | S_ISGID | S_IWGRP | S_IWOTH)));
}

static void check_copies(const struct ts_cli *cli)
{
	if (cli->exec.path)
		check_copy(cli->exec.path);
	if (cli->grammar)
		check_copy(cli->grammar);
	for (unsigned i = 0; i < cli->n_images; i++)
		check_copy(cli->images[i].path);
	for (size_t i = 0; i < cli->n_libraries; i++)
		check_copy(cli->libraries[i].path);
	for (size_t i = 0; i < cli->n_debug; i++)
		check_copy(cli->debug[i].path);
}

/* Beside the packed recording are those that belong to it. */
static void check_folder(void)
{
	static const char *const known[] = {
		".",
		"..",
		"cache",
		"p.tspack",
		"p.tspack.tsindex",
		"p.tspack.tsindex.calls",
		"p.tspack.tsindex.part",
		"p.tspack.tsmarks",
		"p.tspack.tsmarks.lock",
	};
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, NULL);

	fuzz_require(n >= 0);
	for (int i = 0; i < n; i++) {
		bool is_known = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			is_known |= !strcmp(entries[i]->d_name, known[k]);
		fuzz_require(is_known);
		free(entries[i]);
	}
	free(entries);
}

static void open_pack(void)
{
	struct ts_packed_files files = { 0 };
	struct ts_cli cli = { .trace = pack };
	struct ts_error err = { 0 };
	struct ts_trace_keys keys;
	const struct ts_unpack_options opt = { .max_len = 4 * MAX_FILE,
					       .dir = cache,
					       .tag = ts_trace_keys(pack, &keys, &err) ? keys.tag : NULL };
	struct opened o = { .cli = &cli };

	ts_error_reset(&err);
	o.src = ts_trace_open(pack, &opt, &err);
	fuzz_require(o.src || err.text[0]);
	if (o.src && ts_packed_adopt(&cli, o.src, &files, &err)) {
		check_copies(&cli);
		o.loader = cli.grammar ? ts_loader_find("grammar") : ts_loader_probe(o.src, &err);
		if (o.loader)
			read_model(&o, pack);
	} else {
		fuzz_require(err.text[0]);
	}
	ts_packed_files_fini(&files);
	ts_source_close(o.src);
	check_folder();
}

/* --------------------------------------------------------------------------------------------------- the
 * input */

static size_t take_lines(struct line lines[MAX_LINES], const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;
	size_t n = 0;

	for (; bytes < end && n < MAX_LINES; n++) {
		const uint8_t *next = memchr(bytes, '\n', (size_t)(end - bytes));
		char text[1200];

		next = next ? next : end;
		snprintf(text, sizeof(text), "%.*s", (int)(next - bytes), (const char *)bytes);
		lines[n] = (struct line){ .word = "" };
		sscanf(text, "%7s %127s %1023[^\n]", lines[n].word, lines[n].name, lines[n].rest);
		bytes = next + 1;
	}
	return n;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct line *lines = calloc(MAX_LINES, sizeof(*lines));
	size_t n;

	fuzz_require(lines != NULL);
	ts_log_set_level(TS_LOG_ERROR);
	n = take_lines(lines, bytes, len);
	strcpy(folder, "/tmp/fuzz-pack.XXXXXX");
	fuzz_require(mkdtemp(folder) != NULL);
	snprintf(cache, sizeof(cache), "%s/cache/tracestub", folder);
	snprintf(pack, sizeof(pack), "%s/p.tspack", folder);
	snprintf(plain, sizeof(plain), "%s/cache/t", folder);
	mkdir(strcat(strcpy(plain, folder), "/cache"), 0700);
	setenv("XDG_CACHE_HOME", plain, 1);
	strcat(plain, "/t");
	write_pack(lines, n);
	edit_pack(lines, n);
	open_pack();
	free(lines);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}
