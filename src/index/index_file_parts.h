/* SPDX-License-Identifier: MIT */
/*
 * The internals of an index file, private to index_file.c, which opens, creates and publishes an index
 * file, and index_write.c, which writes its records.
 */
#ifndef TS_INDEX_FILE_PARTS_H
#define TS_INDEX_FILE_PARTS_H

#include "index_blocks.h"
#include "src/index/keys/index_key.h"
#include "index_record.h"
#include "index_summary.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

/* A section of the record that is being written. */
struct ts_index_new_section {
	uint32_t kind, owner;
	uint32_t first, n; /* arrays */
};

struct ts_index_new_array {
	uint64_t off, len;
	uint32_t packed_len, item_len; /* 0: it is not packed */
	bool is_apart;                 /* its offset is in @apart of struct ts_index_file */
};

struct ts_index_file {
	struct ts_index_key key;
	int fd;       /* -1: it was published */
	char *path;   /* owned; the path of the finished file */
	char *part;   /* owned; the path of the unfinished file, NULL for a finished one */
	char *refuge; /* owned; the path to which it is moved if the disk becomes full, NULL: none */
	struct ts_index_record *records; /* owned */
	size_t n_records, cap_records;
	struct ts_index_summary summary; /* from which the records were opened */
	uint64_t end; /* of the last record, aligned; in a finished file the summary and the directory follow */
	bool is_finished; /* its last record was written */
	struct ts_index_pool *pool; /* owned */
	bool is_removed;            /* because it is damaged */

	/* the record that is being written */
	uint64_t n_steps; /* of the recording, up to its end */
	struct ts_index_new_section *sections; /* owned */
	unsigned n_sections, max_sections;
	struct ts_index_new_array *arrays; /* owned */
	uint32_t n_arrays;
	size_t cap_arrays;
	unsigned n_threads;             /* the number of threads that may pack */
	struct ts_index_packer *packer; /* owned; NULL before the first record */
	struct ts_buf packed;  /* an array */
	struct ts_buf apart;   /* arrays that grow with the recording; they follow the others */
	struct ts_buf pending; /* bytes to be written at offset @at */
	uint64_t at;
	uint32_t small_end;    /* the offset of the arrays in @apart */
	int failure;           /* errno of the first write that failed */
};

/* Add the record of @len bytes at the file's end, mapped.  Returns false and errno if it cannot be mapped. */
bool ts_index_file_map_record(struct ts_index_file *f, uint64_t len);

/*
 * Write to the unfinished file; if the disk is full, to its refuge, to which it is copied first.
 *
 * Returns false with f->failure set to an errno if that fails.
 */
bool ts_index_file_write(struct ts_index_file *f, const void *data, size_t len, uint64_t off);

/* Write the summary and the directory at the end of a complete file.  Returns false with f->failure set if that fails. */
bool ts_index_file_write_directory(struct ts_index_file *f);

/* Is it the errno of a full disk? */
bool ts_index_is_disk_full(int error);

#endif
