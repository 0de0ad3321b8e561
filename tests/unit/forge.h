/* SPDX-License-Identifier: MIT */
/*
 * Index files that lie: numbers inside of one are changed and it is signed again, as somebody with the key
 * could do; then whatever it says is asked for.  Nothing may crash; answers may be wrong or errors.
 */
#ifndef TS_TESTS_FORGE_H
#define TS_TESTS_FORGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/index/index_file.h"
#include "src/query/query.h"

/* The key of all files here, with the signer that is all zeros. */
extern const struct ts_index_key forge_key;

/* How long the made-up recordings are: 700 steps, unless a program sets it before it makes the first one. */
extern uint64_t forge_n_steps;

/* Ask about every forge_share-th place, beginning with number forge_turn.  The default is every place. */
extern unsigned forge_share, forge_turn;

/*
 * A change: in an array (all of a file's are counted, then the heads and tables of its records, then its
 * directory), where in it, what.
 */
#define FORGE_EDIT_LEN 8

/*
 * How many files are forged at random of one.  Those of a build without sanitizers are the first ones of those that a
 * build with them forges.
 */
#ifdef __SANITIZE_ADDRESS__
#define FORGE_N_FILES 400
#else
#define FORGE_N_FILES 200
#endif

/* Change a finished file by up to @n edits of FORGE_EDIT_LEN bytes each, and sign it again. */
void forge(uint8_t *file, size_t len, const uint8_t *edits, size_t n);

/* Is the file of the form that forge() needs?  One that was built is. */
bool forge_can(const uint8_t *file, size_t len);

/* The same as forge() of a file of another key, which @signer signs. */
void forge_as(const struct ts_signer *signer, uint8_t *file, size_t len, const uint8_t *edits, size_t n);

/* An array of a file: what the tables of its record say about it (index_record.h), and its bytes. */
struct forge_array {
	uint8_t *entry; /* NULL: there is no such array */
	uint8_t *bytes;
	size_t len; /* packed, if it is packed */
};

/*
 * Array @ordinal of a section of record @record, counted from the end if it is negative, of a file that is as it was
 * built.
 */
struct forge_array forge_find(uint8_t *file, size_t len, int record, uint32_t kind, uint32_t owner, int ordinal);

/* The sections of this kind of that record get another kind, which nobody knows. */
void forge_hide(uint8_t *file, size_t len, int record, uint32_t kind);

/* Section @i of that record keeps its first @n arrays.  Returns false if it is not there, or has no more. */
bool forge_shorten(uint8_t *file, size_t len, int record, uint64_t i, uint32_t n);

/* How many records a file that is as it was built has. */
size_t forge_n_records(const uint8_t *file, size_t len);

/*
 * An index file of the made-up recording (script.h) @seed, at @path.
 *
 * Returns its bytes, owned by the caller, and their number.
 */
uint8_t *forge_original(const char *path, uint64_t seed, size_t *len);

/* What became of a forged file. */
enum forged {
	FORGED_REFUSED, /* when it was opened */
	FORGED_NOTICED, /* when it was asked */
	FORGED_BELIEVED,
};

/* Write @file to @path, open it over the recording @seed, and ask questions of every kind. */
enum forged forge_ask(const char *path, const uint8_t *file, size_t len, uint64_t seed);

/*
 * The same of the sketches beside it (PATH.find): forge_find_original() also leaves the good index at @path.
 */
uint8_t *forge_find_original(const char *path, uint64_t seed, size_t *len);
enum forged forge_find_ask(const char *path, const uint8_t *file, size_t len, uint64_t seed);

#endif
