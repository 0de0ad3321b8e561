/* SPDX-License-Identifier: MIT */
/*
 * What a loader is: a name, how sure it is of a file, and how it opens one.
 */
#ifndef LOADERS_LOADER_H
#define LOADERS_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

/* Maximal number of bytes of the file that a probe sees. */
#define TS_PROBE_LEN 8192

struct ts_loader_options {
	/* path of the program's file as the user gave it, NULL for none; borrowed during open */
	const char *exec;
	const uint64_t *exec_base; /* where its lowest page lies, as the user said; NULL: not said; borrowed */
	/*
	 * further files of the recording, a thread each, for loaders that have_thread_files; borrowed until
	 * close
	 */
	const struct ts_source *const *threads;
	size_t n_threads;
	const struct ts_source *grammar; /* of --grammar, NULL for none; borrowed during open */
	uint64_t max_memory; /* of --max-memory, in bytes; 0: any */
	const char *arch; /* the architecture's name, for recordings that do not say it; NULL for none */
	/*
	 * an earlier recording of the same loader, source and options, whose search results may be used again; NULL for
	 * none; borrowed during open
	 */
	const struct ts_recording *like;
};

struct ts_loader {
	const char *name;    /* for --format */
	const char *summary; /* the tool, for people */
	bool has_thread_files; /* every thread has a file of its own */

	/*
	 * How many bits of evidence the first @len bytes of a file of @file_len bytes give for this format: 0
	 * = it isn't, 32 = a four-byte magic.  Looks at bytes only: no side effects, no allocation.
	 */
	unsigned (*probe)(const uint8_t *head, size_t len, uint64_t file_len);

	struct ts_recording_ops ops;

	/*
	 * Fill the recording, zeros but for its base, from @src, which stays the caller's and outlives it.
	 *
	 * Returns true on success. Returns false and fills @err with offset and sentence if there is nothing
	 * to serve.
	 */
	bool (*fill)(struct ts_recording *rec, const struct ts_source *src,
		     const struct ts_loader_options *opt, struct ts_error *err);
};

/*
 * Open a recording over @src, which stays the caller's and must outlive it.
 *
 * Returns the recording, to be closed with ts_recording_close(). Returns NULL and fills @err with offset and
 * sentence if there is nothing to serve, or memory is exhausted (TS_ENOMEM).
 */
struct ts_recording *ts_loader_open(const struct ts_loader *loader, const struct ts_source *src,
				    const struct ts_loader_options *opt, struct ts_error *err);

/* The loader with number @i, counted from 0.  Returns NULL if @i is not less than the number of loaders. */
const struct ts_loader *ts_loader_at(size_t i);

/* The loader called @name, NULL if there is none. */
const struct ts_loader *ts_loader_find(const char *name);

/*
 * The loader with the most evidence for the file.
 *
 * Returns NULL if the file cannot be read (TS_EIO) or no loader knows it (TS_EUNSUPPORTED; the sentence lists
 * the formats).
 */
const struct ts_loader *ts_loader_probe(const struct ts_source *src, struct ts_error *err);

#endif
