/* SPDX-License-Identifier: MIT */
/*
 * The parts of an index file, for the two files that share them: index_file.c opens, creates and publishes an index
 * file, and index_write.c writes its records.
 */
#ifndef TS_INDEX_FILE_PARTS_H
#define TS_INDEX_FILE_PARTS_H

#include "index_blocks.h"
#include "index_key.h"
#include "index_record.h"
#include "index_summary.h"
#include "src/base/buf.h"
#include "src/base/error.h"

/* Of the record that is being written. */
struct ts_index_new_section {
	uint32_t kind, owner;
	uint32_t first, n; /* arrays */
};

struct ts_index_new_array {
	uint64_t off, len;
	uint32_t packed_len, item_len; /* 0: it is not packed */
	bool is_apart;                 /* its offset is that in struct ts_index_file's @apart */
};

struct ts_index_file {
	struct ts_index_key key;
	int fd;       /* -1: it was published */
	char *path;   /* owned; where it is, or will be, when it is finished */
	char *part;   /* owned; where it is until then, NULL for a finished one */
	char *refuge; /* owned; where it goes on if the disk becomes full, NULL: nowhere */
	struct ts_index_record *records; /* owned */
	size_t n_records, cap_records;
	struct ts_index_summary summary; /* by which the records were opened */
	uint64_t end; /* of the last record, aligned; in a finished file the summary and the directory follow */
	bool is_finished; /* its last record is there */
	struct ts_index_pool *pool; /* owned */
	bool is_removed;            /* because it is damaged */

	/* the record that is being written */
	uint64_t n_steps; /* of the recording, up to its end */
	struct ts_index_new_section *sections; /* owned */
	unsigned n_sections, max_sections;
	struct ts_index_new_array *arrays; /* owned */
	uint32_t n_arrays;
	size_t cap_arrays;
	unsigned n_threads;             /* that may pack */
	struct ts_index_packer *packer; /* owned; NULL before the first record */
	struct ts_buf packed;  /* an array */
	struct ts_buf apart;   /* arrays that grow with the recording; they follow the others */
	struct ts_buf pending; /* bytes that follow what is in the file at @at */
	uint64_t at;
	uint32_t small_end;    /* where the arrays that were kept apart begin */
	int failure;           /* errno of the first write that failed */
};

/* A file without records, at @path when it is finished.  Returns NULL if memory is exhausted. */
struct ts_index_file *ts_index_file_new(const char *path, const struct ts_index_key *key,
					struct ts_error *err);

/* Its length, if it is a regular file.  Returns false if it is not, or cannot be looked at. */
bool ts_index_file_look_at(int fd, uint64_t *len, struct ts_error *why);

/*
 * Open and lock the unfinished file.  Returns false if the system refuses (TS_EIO), or another process is
 * building it (TS_ELIMIT).
 */
bool ts_index_file_lock(struct ts_index_file *f, struct ts_error *err);

/*
 * Add the record at the file's end, of @file_len bytes; @is_whole: all of it is checked.  Returns false if
 * there is no good one.
 */
bool ts_index_file_read_record(struct ts_index_file *f, uint64_t file_len, bool is_whole);

/* Add the record of @len bytes at the file's end, mapped.  Returns false and errno if it cannot be mapped. */
bool ts_index_file_map_record(struct ts_index_file *f, uint64_t len);

/*
 * Write to the unfinished file; on a full disk to its refuge, to which it is copied first.
 *
 * Returns false and @failure if that fails.
 */
bool ts_index_file_write(struct ts_index_file *f, const void *data, size_t len, uint64_t off);

/* The summary and the directory, with which a complete file ends.  Returns false and @failure if it cannot be written. */
bool ts_index_file_write_directory(struct ts_index_file *f);

/* Is it the errno of a full disk? */
bool ts_index_is_disk_full(int error);

#endif
