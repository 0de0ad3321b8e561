/* SPDX-License-Identifier: MIT */
/*
 * A symbol's name, as a program's table may have it: what people see of it is a text that ends, and is shorter than the bound.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *name = calloc(1, len + 1), text[TS_MAX_DEMANGLED], whole[TS_MAX_DEMANGLED];
	bool has_text, has_whole;

	assert(name);
	if (len)
		memcpy(name, bytes, len);
	has_text = ts_demangle(name, text);
	has_whole = ts_demangle_whole(name, whole);
	assert(!has_text || (ts_is_mangled(name) && memchr(text, 0, sizeof(text)) && *text));
	assert(!has_whole || (ts_is_mangled(name) && memchr(whole, 0, sizeof(whole)) && *whole));
	free(name);
	return 0;
}
