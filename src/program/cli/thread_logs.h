/* SPDX-License-Identifier: MIT */
/* Names of files that have one thread of a recording each. */
#ifndef TS_THREAD_LOGS_H
#define TS_THREAD_LOGS_H

#include <stddef.h>

/*
 * Where NUMBER begins in @path, the name NAME.NUMBER.log of a thread's log, which may have a suffix of a
 * compressor. Returns 0 if it is not such a name.
 */
size_t ts_cli_thread_number(const char *path);

/*
 * NAME.log beside the thread's log @path, NAME.NUMBER.log: Pin's list of images; to be freed.  Returns NULL if
 * @path is not such a name, or memory is exhausted.
 */
char *ts_cli_images_of(const char *path);

/*
 * How many of the @n operands after the first name logs of other threads of the same recording:
 * NAME.NUMBER.log, perhaps compressed, with the same NAME.
 */
size_t ts_cli_count_threads(char **operands, size_t n);

#endif
