/* SPDX-License-Identifier: MIT */
#include "sanitizer.h"

#include <string.h>

#include "src/trace/source.h"
#include "src/trace/symtab.h"

static const char *const entries[] = { "__asan_init", "__tsan_init", "__msan_init", "__hwasan_init" };
static const char *const names[] = { "AddressSanitizer", "ThreadSanitizer", "MemorySanitizer", "HWAddressSanitizer" };
#define N_SANITIZERS (sizeof(names) / sizeof(names[0]))

const char *ts_sanitizer_of(const char *path)
{
	struct ts_error err;
	struct ts_source *src;
	const char *found;

	ts_error_reset(&err);
	src = ts_source_open(path, &err);
	if (!src)
		return NULL;
	found = ts_symtab_mentions(src, entries, N_SANITIZERS);
	ts_source_close(src);
	for (size_t i = 0; found && i < N_SANITIZERS; i++) {
		if (!strcmp(found, entries[i]))
			return names[i];
	}
	return NULL;
}
