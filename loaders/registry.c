/* SPDX-License-Identifier: MIT */
/*
 * The table of loaders, and how a file finds its loader and is opened.
 */
#include "loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unread.h"

extern const struct ts_loader bap_loader, gdbrecord_loader, grammar_loader, rvnbintrace_loader, tenet_loader, text_loader,
	tfile_loader, usercorn_loader, x64dbg_loader;

extern const struct ts_loader *const grammar_loaders[]; /* the end is NULL */

/* The loaders that are a folder here; those of built-in grammars (grammar/dialects/) follow them. */
static const struct ts_loader *const loaders[] = {
	&bap_loader,
	&gdbrecord_loader,
	&grammar_loader,
	&rvnbintrace_loader,
	&tenet_loader,
	&text_loader,
	&tfile_loader,
	&usercorn_loader,
	&x64dbg_loader,
};

#define N_LOADERS (sizeof(loaders) / sizeof(loaders[0]))

const struct ts_loader *ts_loader_at(size_t i)
{
	return i < N_LOADERS ? loaders[i] : grammar_loaders[i - N_LOADERS];
}

struct ts_recording *ts_loader_open(const struct ts_loader *loader, const struct ts_source *src,
				    const struct ts_loader_options *opt, struct ts_error *err)
{
	struct ts_recording *rec = calloc(1, loader->ops.size);

	if (!rec) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to open the trace");
		return NULL;
	}
	ts_recording_init(rec, &loader->ops, loader->name);
	rec->max_memory = opt ? opt->max_memory : 0;
	if (loader->fill(rec, src, opt, err))
		return rec;
	ts_recording_close(rec);
	return NULL;
}

const struct ts_loader *ts_loader_find(const char *name)
{
	const struct ts_loader *l;

	for (size_t i = 0; (l = ts_loader_at(i)) && strcmp(l->name, name) != 0;)
		i++;
	return l;
}

/* The first bytes of a file as a message shows them: hex, and the characters that can be seen. */
static void show_bytes(const uint8_t *bytes, size_t len, char text[96])
{
	size_t n = len < 8 ? len : 8, at = 0;

	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, 96 - at, "%02x ", bytes[i]);
	at += (size_t)snprintf(text + at, 96 - at, "\"");
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, 96 - at, "%c",
				       bytes[i] >= ' ' && bytes[i] < 0x7f ? bytes[i] : '.');
	snprintf(text + at, 96 - at, "\"");
}

/* How a trace may be compressed that source.h cannot unpack; no format of traces begins like that. */
static const char *find_compressor(const uint8_t *head, size_t len)
{
	static const struct {
		const char *name;
		uint8_t len;
		uint8_t magic[6];
	} compressors[] = {
		{ "bzip2", 3, { 'B', 'Z', 'h' } },
		{ "zip", 4, { 'P', 'K', 3, 4 } },
		{ "lz4", 4, { 0x04, 0x22, 0x4d, 0x18 } },
	};

	for (size_t i = 0; i < sizeof(compressors) / sizeof(compressors[0]); i++) {
		if (len >= compressors[i].len && memcmp(head, compressors[i].magic, compressors[i].len) == 0)
			return compressors[i].name;
	}
	return NULL;
}

static void fail_unknown(const uint8_t *head, size_t len, const char *file, struct ts_error *err)
{
	const char *unread = loaders_unread(head, len, file);
	const char *compressor = find_compressor(head, len);
	char names[400] = "", bytes[96];
	size_t at = 0;

	if (unread) {
		ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "%s", unread);
		return;
	}
	if (compressor) {
		ts_fail(err, TS_EUNSUPPORTED, 0, "the file is compressed with %s: unpack it first",
			compressor);
		return;
	}
	for (size_t i = 0; ts_loader_at(i) && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", ts_loader_at(i)->name);
	show_bytes(head, len, bytes);
	if (!len)
		ts_fail(err, TS_EUNSUPPORTED, 0, "the file is empty; known formats: %s", names);
	else
		ts_fail(err, TS_EUNSUPPORTED, 0,
			"no known trace format, it begins with %s; known formats: %s", bytes, names);
}

const struct ts_loader *ts_loader_probe(const struct ts_source *src, struct ts_error *err)
{
	const struct ts_loader *best = NULL;
	uint8_t head[TS_PROBE_LEN];
	unsigned most = 0;
	size_t len;

	if (!ts_source_read(src, 0, head, sizeof(head), &len, err))
		return NULL;
	for (size_t i = 0; ts_loader_at(i); i++) {
		unsigned bits = ts_loader_at(i)->probe(head, len, ts_source_len(src));

		if (bits > most) {
			most = bits;
			best = ts_loader_at(i);
		}
	}
	if (!best)
		fail_unknown(head, len, ts_source_name(src), err);
	return best;
}
