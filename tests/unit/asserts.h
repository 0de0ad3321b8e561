/* SPDX-License-Identifier: MIT */
/*
 * check's assertions, cheap enough for loops.  libcheck writes the place of each assertion that holds into a file, so that it can
 * say where a test was last if a signal ends it: for millions of assertions that took half of a test's time.  Here the place is
 * written when it is another than that of the assertion before.
 */
#ifndef TS_TESTS_ASSERTS_H
#define TS_TESTS_ASSERTS_H

#include <check.h>

static inline void unit_mark_point(const char *path, int line)
{
	static int last;

	if (line == last)
		return;
	last = line;
	_mark_point(path, line);
}

#define _mark_point(file, line) unit_mark_point(file, line)

#endif
