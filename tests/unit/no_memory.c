/* SPDX-License-Identifier: MIT */
#include "no_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_armed;      /* count, and fail */
static bool is_held;       /* for a moment neither */
static uint64_t n_calls;   /* allocations since armed */
static uint64_t fail_from; /* ordinals of those that fail */
static uint64_t fail_until;
static int64_t n_live; /* allocations that were made while armed, less those freed */

void *__real_malloc(size_t len);
void *__real_calloc(size_t n, size_t len);
void *__real_realloc(void *p, size_t len);
void __real_free(void *p);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t n, size_t len);
void *__wrap_realloc(void *p, size_t len);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);

static bool is_refused(void)
{
	uint64_t call = n_calls;

	if (!is_armed || is_held)
		return false;
	n_calls++;
	if (call < fail_from || call >= fail_until)
		return false;
	errno = ENOMEM; /* as the C library does */
	return true;
}

static void *count(void *p)
{
	n_live += is_armed && p;
	return p;
}

void *__wrap_malloc(size_t len)
{
	return is_refused() ? NULL : count(__real_malloc(len));
}

void *__wrap_calloc(size_t n, size_t len)
{
	return is_refused() ? NULL : count(__real_calloc(n, len));
}

void *__wrap_realloc(void *p, size_t len)
{
	if (is_refused())
		return NULL;
	return p ? __real_realloc(p, len) : count(__real_malloc(len));
}

/* That of the C library would not come here. */
char *__wrap_strdup(const char *s)
{
	size_t len = strlen(s) + 1;
	char *p = __wrap_malloc(len);

	return p ? memcpy(p, s, len) : NULL;
}

void __wrap_free(void *p)
{
	n_live -= is_armed && p;
	__real_free(p);
}

void no_memory_start(uint64_t from, uint64_t until)
{
	fail_from = from;
	fail_until = until;
	n_calls = 0;
	n_live = 0;
	is_armed = true;
}

void no_memory_hold(bool held)
{
	is_held = held;
}

uint64_t no_memory_end(int64_t *n_lost)
{
	is_armed = false;
	*n_lost = n_live;
	return n_calls;
}
