/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace, for the fuzz targets of the loaders.
 */
#ifndef TS_TESTS_FUZZ_READER_H
#define TS_TESTS_FUZZ_READER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Open the bytes with the loader of @format, whatever they look like, read all steps, and one more time from
 * a decode point on the way, which must give the same step.
 */
void fuzz_reader(const char *format, const uint8_t *bytes, size_t len);

#endif
