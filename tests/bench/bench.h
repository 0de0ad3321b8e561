/* SPDX-License-Identifier: MIT */
/*
 * What every benchmark needs: clocks, files that go away, processes of their own, and how a figure is told.
 *
 * Nothing here returns a failure: bench_die() says what went wrong and ends the program.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

_Noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Die with the sentence unless it is done. */
void bench_check(bool done, const struct ts_error *err);

/* Seconds of a clock that does not jump; processor seconds of this process, all threads. */
double bench_now(void);
double bench_cpu(void);

/* The less of the two, where 0 is none yet. */
static inline void bench_keep_least(double *least, double s)
{
	if (*least == 0 || s < *least)
		*least = s;
}

/* Memory that children of this process write for it to read. */
void *bench_shared(size_t len);

/* Call @f in a process of its own and wait for its end. */
void bench_in_child(void (*f)(void *arg), void *arg);

/*
 * A path for a file in the build folder, to be freed; it and what is named after it are removed when the
 * program ends.
 */
char *bench_temp(const char *name);
void bench_remove(const char *path);

/* Remove what is kept of the recording @path beside it. */
void bench_remove_index(const char *path);

/* Path of @name in tests/data (a string that stays until the next call). */
const char *bench_data(const char *name);

/* How many million steps each size has that is asked for (BENCH_SIZES, BENCH_LARGE), at most @max. */
size_t bench_sizes(uint64_t *millions, size_t max);

/* Is @name among the words of the environment variable?  No words stand for all. */
bool bench_is_named(const char *variable, const char *name);

/* Is the format asked for?  The variable is BENCH_FORMATS. */
bool bench_is_wanted(const char *format);

/* What is asked of a figure. */
enum bench_asked {
	BENCH_NOTHING,
	BENCH_AT_LEAST,
	BENCH_AT_MOST,
};

/*
 * Tell a figure of table @table, column @column, as tests/bench/run reads it.  @note says what the limit is
 * made of; NULL if the number says it all.
 */
void bench_figure(const char *table, const char *column, const char *name, double value,
		  enum bench_asked asked, double limit, const char *note);

/* Say what the table is about. */
void bench_about(const char *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
