/* SPDX-License-Identifier: MIT */
/*
 * The interface of a loader: its name, the evidence that a file has its format, and the opening of a recording.
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
	const uint64_t *exec_base; /* address of its lowest page, from the user; NULL: unknown; borrowed */
	/*
	 * further files of the recording, a thread each, for loaders that have_thread_files; borrowed until
	 * close
	 */
	const struct ts_source *const *threads;
	size_t n_threads;
	const struct ts_source *grammar; /* of --grammar, NULL for none; borrowed during open */
	uint64_t max_memory; /* of --max-memory, in bytes; 0: any */
	const char *arch; /* the architecture's name, for recordings that do not record it; NULL for none */
	/*
	 * an earlier recording of the same loader, source and options, whose search results may be used again; NULL for
	 * none; borrowed during open
	 */
	const struct ts_recording *like;
};

struct ts_loader {
	const char *name;    /* for --format */
	const char *summary; /* the tool that writes the format, for users */
	bool has_thread_files; /* every thread has a file of its own */

	/*
	 * The bits of evidence that the first @len bytes of a file of @file_len bytes give for this format: 0 if the
	 * file has another format, 32 for a magic number of four bytes.  It has no side effects and allocates nothing.
	 */
	unsigned (*probe)(const uint8_t *head, size_t len, uint64_t file_len);

	struct ts_recording_ops ops;

	/*
	 * Fill the recording, whose members after its base are zero, from @src.  The caller owns @src, which outlives
	 * the recording.
	 *
	 * Returns true on success.  Returns false with @err, which has the offset and a sentence, if nothing can be
	 * served.
	 */
	bool (*fill)(struct ts_recording *rec, const struct ts_source *src,
		     const struct ts_loader_options *opt, struct ts_error *err);
};

/*
 * Open a recording over @src.  The caller owns @src, which must outlive the recording.
 *
 * Returns the recording, which the caller closes with ts_recording_close().
 * Returns NULL with @err, which has the offset and a sentence, if nothing can be served, or if memory is exhausted
 * (TS_ENOMEM).
 */
struct ts_recording *ts_loader_open(const struct ts_loader *loader, const struct ts_source *src,
				    const struct ts_loader_options *opt, struct ts_error *err);

/* Returns loader @i, counted from 0, a constant; NULL if @i is not less than the number of loaders. */
const struct ts_loader *ts_loader_at(size_t i);

/* Returns the loader called @name, a constant; NULL if no loader has this name. */
const struct ts_loader *ts_loader_find(const char *name);

/*
 * The loader with the most evidence for the file.
 *
 * Returns NULL if the file cannot be read (TS_EIO).
 * Returns NULL if its format is unknown (TS_EUNSUPPORTED; the sentence lists the formats).
 */
const struct ts_loader *ts_loader_probe(const struct ts_source *src, struct ts_error *err);

#endif
