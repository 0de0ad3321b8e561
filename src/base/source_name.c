/* SPDX-License-Identifier: MIT */
#include "source_name.h"

#include <stddef.h>
#include <string.h>

bool ts_is_source_name(const char *path)
{
	static const char *const suffixes[] = { "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "ipp", "tcc", "C", "H", "S",
						"s", "asm", "inc", "m", "mm", "rs", "go", "d", "zig", "nim", "swift", "f", "f90",
						"adb", "ads", "pas", "ml", "hs", "v", "cu", "y", "l" };
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	}
	return false;
}
