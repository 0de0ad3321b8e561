/* SPDX-License-Identifier: MIT */
#include "x64dbg_text.h"

#include "asserts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_words.h"
#include "x64dbg_writer.h"

#define USUAL_TID 0x64

struct scan {
	struct ts_buf *file; /* borrowed */
	bool is_64;
};

static unsigned slot_of(const char *name, bool is_64)
{
	static const char *const low[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };

	for (unsigned i = 0; i < 8; i++) {
		if (!strcmp(name, low[i]))
			return i;
	}
	if (!strcmp(name, "flags"))
		return is_64 ? 17 : 9;
	ck_assert_msg(*name == '#' || (is_64 && *name == 'r'), "\"%s\" is no register", name);
	return (unsigned)strtoul(name + 1, NULL, 10);
}

/* One of a block's registers, memory slots, or its thread id. */
static void part(struct xw_block *b, char *word, bool is_64)
{
	char *value = strchr(word, '='), *now;

	ck_assert_msg(value != NULL, "\"%s\" is no part of a block", word);
	*value++ = '\0';
	if (*word == '@') {
		now = strchr(value, '>');
		if (now)
			*now++ = '\0';
		xw_mem(b, text_hex(word + 1), text_hex(value), text_hex(now ? now : value));
	} else if (!strncmp(word, "tid", 3)) {
		b->has_tid = true;
		b->is_flagged = word[3] != '?';
		b->tid = (uint32_t)text_hex(value);
	} else {
		xw_reg(b, slot_of(word, is_64), text_hex(value));
	}
}

static void block(const struct scan *s, char *rest, bool is_full)
{
	uint64_t pc = text_hex(text_word(&rest));
	struct ts_buf bytes = { 0 };
	struct xw_block b;

	text_bytes(&bytes, text_word(&rest));
	ck_assert_uint_le(bytes.len, sizeof(b.opcode));
	b = xw_insn(s->is_64, pc, bytes.data, (unsigned)bytes.len);
	ts_buf_fini(&bytes);
	for (char *word = text_word(&rest); *word; word = text_word(&rest))
		part(&b, word, s->is_64);
	if (is_full)
		b = xw_full(s->is_64, &b, b.has_tid ? b.tid : USUAL_TID);
	xw_put_block(s->file, s->is_64, &b);
}

static void put_line(void *arg, char *line)
{
	struct scan *s = arg;
	char *rest = line, *word = strtok_r(line, " ", &rest);

	if (!word)
		return;
	if (!strcmp(word, "x64") || !strcmp(word, "x86")) {
		s->is_64 = word[1] == '6';
		xw_head(s->file, s->is_64, NULL);
	} else if (!strcmp(word, "full") || !strcmp(word, "step")) {
		block(s, rest, *word == 'f');
	} else if (!strcmp(word, "user")) {
		uint8_t type = (uint8_t)text_hex(text_word(&rest));

		xw_user_block(s->file, type, rest, (uint32_t)strlen(rest));
	} else if (!strcmp(word, "damage")) {
		ts_buf_putc(s->file, 0x7f);
	} else {
		ck_abort_msg("\"%s\" is no line of a trace", word);
	}
}

void x64dbg_text(struct ts_buf *file, const char *text)
{
	struct scan s = { .file = file, .is_64 = true };

	text_lines(text, put_line, &s);
}
