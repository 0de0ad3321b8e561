/* SPDX-License-Identifier: MIT */
#include "bap_text.h"

#include "asserts.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_words.h"

#define HEADER_LEN 48
#define MAX_LINE   4096

/* ---------------------------------------------------------------------------------- protobuf's encoding */

static void varint(struct ts_buf *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		ts_buf_putc(b, (uint8_t)(n | 0x80));
	ts_buf_putc(b, (uint8_t)n);
}

static void number(struct ts_buf *b, unsigned field, uint64_t n)
{
	varint(b, (uint64_t)field << 3);
	varint(b, n);
}

static void bytes(struct ts_buf *b, unsigned field, const void *data, size_t len)
{
	varint(b, (uint64_t)field << 3 | 2);
	varint(b, len);
	ts_buf_put(b, data, len);
}

/* A message as a field of another; frees it. */
static void message(struct ts_buf *b, unsigned field, struct ts_buf *m)
{
	bytes(b, field, m->data, m->len);
	ts_buf_fini(m);
	*m = (struct ts_buf){ 0 };
}

static void u64(struct ts_buf *b, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		ts_buf_putc(b, (uint8_t)(n >> 8 * i));
}

static void frame(struct ts_buf *file, unsigned kind, struct ts_buf *m)
{
	struct ts_buf f = { 0 };

	message(&f, kind, m);
	u64(file, f.len);
	ts_buf_put(file, f.data, f.len);
	ts_buf_fini(&f);
}

/* ---------------------------------------------------------------------------------------------- operands */

/* Where the operand is, and its value and bits. */
static void place(const char *word, struct ts_buf *specific, struct ts_buf *value, int *bits)
{
	struct ts_buf inner = { 0 };
	char name[80];
	uint64_t n;
	int len, used;

	*bits = 0;
	if (*word == '@') {
		ck_assert_int_eq(sscanf(word, "@%" SCNx64 "=%n", &n, &used), 1);
		number(&inner, 1, n);
		message(specific, 1, &inner);
		text_bytes(value, word + used);
		*bits = (int)value->len * 8;
		return;
	}
	ck_assert_msg(sscanf(word, "%79[^=]=%" SCNx64 "/%d.%d", name, &n, &len, bits) >= 3,
		      "\"%s\" is no operand", word);
	bytes(&inner, 1, name, strlen(name));
	message(specific, 2, &inner);
	for (int i = 0; i < len; i++)
		ts_buf_putc(value, i < 8 ? (uint8_t)(n >> 8 * i) : 0);
}

static void operand(struct ts_buf *list, const char *word, bool is_after)
{
	struct ts_buf op = { 0 }, specific = { 0 }, value = { 0 }, inner = { 0 };
	bool is_written = is_after || strchr(word, '!');
	int bits;

	place(word, &specific, &value, &bits);
	message(&op, 1, &specific);
	number(&op, 2, (uint64_t)bits * 2);
	number(&inner, 1, !is_written);
	number(&inner, 2, is_written);
	number(&inner, 3, 0);
	number(&inner, 4, 0);
	message(&op, 3, &inner);
	number(&inner, 1, 1);
	message(&op, 4, &inner);
	message(&op, 5, &value);
	message(list, 1, &op);
}

/* One of a key frame. */
static void key_value(struct ts_buf *list, const char *word)
{
	struct ts_buf op = { 0 }, specific = { 0 }, value = { 0 };
	int bits;

	place(word, &specific, &value, &bits);
	message(&op, 1, &specific);
	number(&op, 2, (uint64_t)bits * 2);
	message(&op, 4, &value);
	message(list, 1, &op);
}

/* ------------------------------------------------------------------------------------------------- lines */

static char mode[32];

static void step(struct ts_buf *file, char **line, bool has_post)
{
	struct ts_buf m = { 0 }, raw = { 0 }, lists[2] = { { 0 }, { 0 } };
	bool is_after = false;

	number(&m, 1, text_hex(text_word(line)));
	number(&m, 2, text_hex(text_word(line)));
	text_bytes(&raw, text_word(line));
	message(&m, 3, &raw);
	for (const char *word = text_word(line); *word; word = text_word(line)) {
		if (!strcmp(word, ">"))
			is_after = true;
		else
			operand(&lists[is_after], word, is_after);
	}
	message(&m, 4, &lists[0]);
	if (has_post)
		message(&m, 5, &lists[1]);
	if (*mode)
		bytes(&m, 6, mode, strlen(mode));
	frame(file, 1, &m);
}

static void call(struct ts_buf *file, char **line)
{
	struct ts_buf m = { 0 }, args = { 0 };

	for (unsigned field = 1; field <= 3; field++)
		number(&m, field, text_hex(text_word(line)));
	for (const char *word = text_word(line); *word; word = text_word(line))
		number(&args, 1, text_hex(word) * 2);
	message(&m, 4, &args);
	frame(file, 2, &m);
}

static void key(struct ts_buf *file, char **line)
{
	struct ts_buf m = { 0 }, lists = { 0 }, tagged = { 0 }, tag = { 0 }, list = { 0 };

	number(&tag, 2, text_hex(text_word(line)));
	message(&tagged, 1, &tag);
	for (const char *word = text_word(line); *word; word = text_word(line))
		key_value(&list, word);
	message(&tagged, 2, &list);
	message(&lists, 1, &tagged);
	message(&m, 1, &lists);
	frame(file, 6, &m);
}

static void module(struct ts_buf *file, char **line)
{
	struct ts_buf m = { 0 };
	const char *name = text_word(line);

	bytes(&m, 1, name, strlen(name));
	number(&m, 2, text_hex(text_word(line)));
	number(&m, 3, text_hex(text_word(line)));
	frame(file, 5, &m);
}

static void exception(struct ts_buf *file, char **line)
{
	struct ts_buf m = { 0 };

	number(&m, 1, text_hex(text_word(line)));
	number(&m, 3, text_hex(text_word(line)));
	frame(file, 3, &m);
}

static void set_u64(struct ts_buf *file, size_t off, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		file->data[off + i] = (uint8_t)(n >> 8 * i);
}

static uint64_t get_u64(const struct ts_buf *file, size_t off)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 8; i++)
		n |= (uint64_t)file->data[off + i] << 8 * i;
	return n;
}

/* Close the trace: how many frames, where the index is, and it. */
static void close_trace(struct ts_buf *file, uint64_t each)
{
	size_t end = file->len, off = HEADER_LEN;
	uint64_t n = 0;

	u64(file, each);
	if (file->data[8] > 1)
		off += 8 + get_u64(file, off);
	for (; off < end; off += 8 + get_u64(file, off), n++)
		if (n && n % each == 0)
			u64(file, off);
	set_u64(file, 32, n);
	set_u64(file, 40, end);
}

static void header(struct ts_buf *file, const char *line)
{
	struct ts_buf m = { 0 }, inner = { 0 };
	char tracer[32] = "", version[32] = "";
	unsigned format;
	uint64_t arch, machine;

	ck_assert_int_ge(sscanf(line, "%u %" SCNu64 ":%" SCNu64 " %31[^/]/%31s", &format, &arch, &machine,
				tracer, version),
			 3);
	ts_buf_put(file, "\x25\x60\xaf\x8a\x82\x28\x7c\x67", 8);
	u64(file, format);
	u64(file, arch);
	u64(file, machine);
	u64(file, 0);
	u64(file, 0);
	*mode = '\0';
	if (format == 1)
		return;
	bytes(&inner, 1, tracer, strlen(tracer));
	bytes(&inner, 4, version, strlen(version));
	message(&m, 1, &inner);
	bytes(&inner, 1, "/bin/prog", 9);
	bytes(&inner, 4, "0123456789abcdef", 16);
	message(&m, 2, &inner);
	u64(file, m.len);
	ts_buf_put(file, m.data, m.len);
	ts_buf_fini(&m);
}

static void put_line(void *arg, char *line)
{
	struct ts_buf *file = arg;
	char *rest, *word;

	if (!file->len) {
		header(file, line);
		return;
	}
	word = strtok_r(line, " ", &rest);
	if (!word)
		return;
	if (!strcmp(word, "step") || !strcmp(word, "old"))
		step(file, &rest, *word == 's');
	else if (!strcmp(word, "call"))
		call(file, &rest);
	else if (!strcmp(word, "key"))
		key(file, &rest);
	else if (!strcmp(word, "module"))
		module(file, &rest);
	else if (!strcmp(word, "exception"))
		exception(file, &rest);
	else if (!strcmp(word, "mode"))
		snprintf(mode, sizeof(mode), "%s", text_word(&rest));
	else if (!strcmp(word, "damage"))
		ts_buf_put(file, "\3\0\0\0\0\0\0\0\xff\xff\xff", 11);
	else if (!strcmp(word, "index"))
		close_trace(file, strtoull(text_word(&rest), NULL, 10));
	else
		ck_abort_msg("\"%s\" is no line of a trace", word);
}

void bap_text(struct ts_buf *file, const char *text)
{
	text_lines(text, put_line, file);
}

void bap_text_line(struct ts_buf *file, const char *fmt, ...)
{
	char line[MAX_LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	put_line(file, line);
}
