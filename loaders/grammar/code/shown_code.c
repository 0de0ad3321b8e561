/* SPDX-License-Identifier: MIT */
#include "shown_code.h"

#include <string.h>

#include "src/trace/point.h"
#include "src/base/text/hex.h"

static void drop(struct grammar_shown_code *s, unsigned i)
{
	memmove(&s->modules[i], &s->modules[i + 1], (s->n - i - 1) * sizeof(s->modules[0]));
	s->n--;
}

void grammar_shown_unload(struct grammar_shown_code *s, uint64_t base, uint64_t len)
{
	for (unsigned i = s->n; i-- > 0;) {
		if (s->modules[i].base - base < len || base - s->modules[i].base < s->modules[i].len)
			drop(s, i);
	}
	memset(s->kept, 0, sizeof(s->kept));
}

void grammar_shown_load(struct grammar_shown_code *s, uint64_t base, uint64_t len, uint64_t off)
{
	grammar_shown_unload(s, base, len);
	if (s->n == GRAMMAR_MAX_SHOWN)
		drop(s, 0);
	s->modules[s->n].base = base;
	s->modules[s->n].len = len;
	s->modules[s->n++].off = off;
}

/* Bytes from pairs of digits.  Zeros alone are what a writer shows that could not read the page. */
static uint8_t read_pairs(const char *text, size_t len, uint8_t code[GRAMMAR_MAX_CODE])
{
	uint8_t n = (uint8_t)ts_hex_bytes(text, len, code, GRAMMAR_MAX_CODE), all = 0;

	for (uint8_t i = 0; i < n; i++)
		all |= code[i];
	return all ? n : 0;
}

bool grammar_shown_read(struct grammar_shown_code *s, const struct ts_source *src, uint64_t pc, struct ts_error *err)
{
	const size_t k = grammar_shown_place(pc);
	char text[2 * GRAMMAR_MAX_CODE];

	for (unsigned i = 0; i < s->n && s->kept[k].pc != pc; i++) {
		uint64_t at = pc - s->modules[i].base;
		size_t got;

		if (at >= s->modules[i].len)
			continue;
		if (!ts_source_read(src, s->modules[i].off + 2 * at, text, sizeof(text), &got, err))
			return false;
		s->kept[k].pc = pc;
		s->kept[k].n = read_pairs(text, got, s->kept[k].code);
		if (s->kept[k].n > s->modules[i].len - at)
			s->kept[k].n = (uint8_t)(s->modules[i].len - at);
	}
	return true;
}

void grammar_shown_point(struct grammar_shown_code *s, struct ts_point *p)
{
	if (!p->to)
		memset(s->kept, 0, sizeof(s->kept));
	TS_POINT(p, s->n, GRAMMAR_MAX_SHOWN);
	for (unsigned i = 0; i < s->n; i++) {
		TS_POINT(p, s->modules[i].base, UINT64_MAX);
		TS_POINT(p, s->modules[i].len, UINT64_MAX);
		TS_POINT(p, s->modules[i].off, UINT64_MAX / 4);
	}
}
