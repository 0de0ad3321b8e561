/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a user's grammar; one that compiles reads the lines of a trace.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "loaders/grammar/language/grammar.h"
#include "loaders/grammar/language/match.h"
#include "loaders/grammar/language/names.h"

static const char *const lines[] = {
	"0, 0x401000, 0xed31, \"\", store, 0x7f66e75ffe28, rsp -> 0x00007f66e75ffe28                ",
	"core   0: 3 0x0000000000001000 (0x00000297) x5  0x0000000000001000 mem 0x80 0x12                ",
	"[libwalk.so] 0x400144!0x144 str x29, [sp]; fp=0x0 mem_w=0x10 -> fp=0x0                ",
};

static void read_lines(const struct grammar *g, const struct regmap *map, const struct ts_regset *set)
{
	struct grammar_matcher m;
	struct grammar_line line;
	struct ts_steps out;

	ts_steps_init(&out);
	grammar_matcher_init(&m, g, map, set);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ts_steps_reset(&out);
		grammar_match(&m, lines[i], strlen(lines[i]) - REGMAP_MAX_NAME, &line, &out);
	}
	ts_steps_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct grammar *g = malloc(sizeof(*g));
	struct regmap *map = malloc(sizeof(*map));
	struct ts_error err = { 0 };
	struct ts_regset set;

	if (g && map && ts_regset_init(&set, ts_arch_find("aarch64"), 0, &err)) {
		if (grammar_compile(g, (const char *)bytes, len, &err) && grammar_names(map, g, &set, &err))
			read_lines(g, map, &set);
		ts_regset_fini(&set);
	}
	free(g);
	free(map);
	return 0;
}
