/* SPDX-License-Identifier: MIT */
/* Names of the files of a recording with one file for each thread. */
#ifndef TS_THREAD_LOGS_H
#define TS_THREAD_LOGS_H

#include <stddef.h>

/*
 * The index of NUMBER in @path, the name NAME.NUMBER.log of a thread's log, optionally with the suffix of a
 * compressor.  Returns 0 if it is no such name.
 */
size_t ts_cli_thread_number(const char *path);

/*
 * NAME.log for the thread's log @path, NAME.NUMBER.log: Pin's list of images.  The caller frees it.
 *
 * Returns NULL if @path is no such name.
 * Returns NULL if memory is exhausted.
 */
char *ts_cli_images_of(const char *path);

/*
 * The number of the @n operands after the first that are logs of other threads of the same recording:
 * NAME.NUMBER.log, optionally compressed, with the same NAME.
 */
size_t ts_cli_count_threads(char **operands, size_t n);

#endif
