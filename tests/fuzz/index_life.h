/* SPDX-License-Identifier: MIT */
/*
 * What the target fuzz_index_life does to a recording that is made up (script.h), to the file that it says it comes from, and to
 * the index files beside it.
 */
#ifndef TS_TESTS_INDEX_LIFE_H
#define TS_TESTS_INDEX_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIFE_MAX_STEPS 400u
#define LIFE_MAX_TRACE ((uint64_t)5 << 20)
#define LIFE_MAX_NAME  48u

/* What fails during the next time that the recording is read; UINT64_MAX: nothing. */
struct life_faults {
	uint64_t allocation, n_allocations; /* the first one that fails, and how many do */
	uint64_t call, then;                /* of the operating system */
	int error, then_error;
};

struct life_options {
	char index[LIFE_MAX_NAME]; /* empty: where it belongs */
	bool has_no_reads, is_served, is_compared, is_whole;
	bool wants_values, wants_calls;
	bool has_odd_steps, is_damaged; /* what the recording is */
	bool has_sysroot;               /* the file that it maps is there */
	unsigned n_jobs;
};

struct life {
	uint64_t seed, n_steps, trace_len;
	uint8_t n_changes; /* of the trace: values are others after each */
	bool is_forged;  /* who has the key lied: answers may be wrong from now on */
	bool is_touched; /* files may be other ones than were written */
	struct life_faults faults;
	struct life_options opt;
};

/* In a folder of its own, with a key that is the same always.  Until life_end() the next one may find the same trace there. */
void life_begin(struct life *l);
void life_end(void);

/* The trace becomes another one. */
void life_set_trace(struct life *l, uint64_t seed, uint64_t n_steps, uint64_t len);

/* The same bytes in another file. */
void life_copy_trace(void);

/* A byte in the middle of the file, which keeps its time; the recording becomes another one, too. */
void life_change_trace(struct life *l, uint64_t off);

/* The trace is packed with the index that it has, and is read from there from now on. */
void life_pack(void);

/*
 * Read up to @n_steps steps, or all, in place of them the parts if @is_merged; ask, if all are there.  What was told is what the
 * recording is, or an error with a sentence.
 */
void life_read(struct life *l, uint64_t n_steps, bool is_merged);

/* Decode part @i of @n. */
void life_decode_part(struct life *l, uint32_t i, uint32_t n);

/*
 * Files beside the trace by their names; one that begins with "~" is in the cache directory.  Nothing is done if there is no such
 * file.
 */
void life_write(struct life *l, const char *name, uint64_t off, const uint8_t *bytes, size_t len);
void life_cut(struct life *l, const char *name, uint64_t len);
void life_remove(const char *name);
void life_make_folder(const char *name);
void life_rename(const char *name, const char *to);
void life_link(const char *name, const char *to);
void life_set_mode(const char *name, unsigned mode);

/* The secret in a file that is shared. */
void life_read_secret(const char *name);

/* Numbers in an index file are changed and it is signed again (forge.h). */
void life_forge(struct life *l, const char *name, const uint8_t *edits, size_t n);

/* The sections of @kind of a record are gone from an index file. */
void life_hide(struct life *l, const char *name, int record, const char kind[4]);

/* What is packed in an index file is stored as it is (forge_store.h), unless a file was changed before. */
void life_store(struct life *l, const char *name);

#endif
