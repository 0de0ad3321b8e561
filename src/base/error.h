/* SPDX-License-Identifier: MIT */
/*
 * A description of an error in one sentence, with a file offset.
 *
 * An error is a value of fixed size that its caller owns; nothing is allocated.  The function that detects the
 * error fills it in, callers that know more prefix it, and the caller that handles it prints it.  No function
 * both prints and returns it.
 */
#ifndef TS_ERROR_H
#define TS_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* The class of an error. */
enum ts_code {
	TS_OK,
	TS_EIO,          /* a system call failed */
	TS_ETRUNC,       /* the file is truncated */
	TS_ECORRUPT,     /* the file contradicts its format */
	TS_EUNSUPPORTED, /* valid, but not supported by tracestub */
	TS_ELIMIT,       /* larger than tracestub handles */
	TS_ENOMEM,
	TS_EUSAGE,       /* the user's request makes no sense */
};

#define TS_NO_OFF UINT64_MAX

struct ts_error {
	enum ts_code code;
	uint64_t off;   /* byte offset in the file that the sentence is about, or TS_NO_OFF */
	char text[480]; /* the sentence, without file name and offset; always terminated */
};

/* Reset @err to TS_OK. */
void ts_error_reset(struct ts_error *err);

/*
 * Set *err to @code, @off and a sentence, unless it has an error already: the first failure is kept.
 *
 * @code is not TS_OK.  @off is a file offset or TS_NO_OFF.  A sentence that is too long is truncated.
 *
 * Returns false, so that a function can end with "return ts_fail(...)".
 */
bool ts_fail(struct ts_error *err, enum ts_code code, uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Fill @err with TS_ENOMEM: "no memory for WHAT".  Returns NULL, which no caller frees, so that a function that returns a
 * pointer, or a bool, can end with "return ts_no_memory(...)".
 */
void *ts_no_memory(struct ts_error *err, const char *what);

/*
 * Put "WHAT: " before the sentence of *err, whose code (TS_EIO, ...) does not change.  If both are too long, WHAT is
 * truncated or omitted.
 *
 * Returns false, like ts_fail().
 */
bool ts_fail_prefix(struct ts_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Set *err from errno to "WHAT: No such file or directory", unless it has an error already.  The code is
 * TS_ENOMEM for ENOMEM, else TS_EIO.
 *
 * Returns false, like ts_fail().
 */
bool ts_fail_errno(struct ts_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write "FILE:0xOFF: sentence" (or "FILE: sentence") into @text of @len bytes, truncated if necessary.  @file
 * may be NULL.
 */
void ts_error_format(const struct ts_error *err, const char *file, char *text, unsigned len);

#endif
