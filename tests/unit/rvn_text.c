/* SPDX-License-Identifier: MIT */
#include "rvn_text.h"

#include "asserts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_words.h"

static uint16_t decimal(const char *word)
{
	return (uint16_t)strtoul(word, NULL, 10);
}

struct reg {
	uint16_t id, len;
};

/* The register @name, by the parts' own list: u16 id, u16 length, the name after its length. */
static struct reg find(const struct rvn_parts *p, const char *name)
{
	const uint8_t *b = p->regs.bytes.data;

	for (uint32_t i = 0; i < p->regs.n; i++, b += 5 + b[4]) {
		if (b[4] == strlen(name) && !memcmp(b + 5, name, b[4]))
			return (struct reg){ (uint16_t)(b[0] | b[1] << 8), (uint16_t)(b[2] | b[3] << 8) };
	}
	ck_abort_msg("\"%s\" is no register", name);
}

/* Append a number, or bytes after a colon, as @len bytes. */
static void value(struct ts_buf *b, const char *word, unsigned len)
{
	if (*word == ':')
		text_bytes(b, word + 1);
	else
		rvn_number(b, text_hex(word), len);
	ck_assert_uint_le(b->len, len);
	while (b->len < len)
		ts_buf_putc(b, 0);
}

/* Part a word at @mark; what is after it. */
static char *split(char *word, char mark)
{
	char *at = strchr(word, mark);

	ck_assert_msg(at != NULL, "\"%s\" has no %c", word, mark);
	*at = '\0';
	return at + 1;
}

static void add_region(struct rvn_parts *p, char *rest)
{
	uint64_t start = text_hex(text_word(&rest));
	const char *memory = text_word(&rest);
	size_t before = p->memory.len;

	if (*memory == '+')
		rvn_number(&p->memory, 0, decimal(memory + 1));
	else
		text_bytes(&p->memory, memory);
	rvn_region(p, start, p->memory.len - before);
}

static void add_register(struct rvn_parts *p, char *rest)
{
	uint16_t id = decimal(text_word(&rest));
	char *name = text_word(&rest), *initial = split(name, '=');
	uint16_t len = decimal(split(name, '/'));
	struct ts_buf bytes = { 0 };

	value(&bytes, initial, len);
	rvn_register(p, id, len, name);
	rvn_initial(p, id, bytes.data, len);
	ts_buf_fini(&bytes);
}

static void add_operation(struct rvn_parts *p, char *rest)
{
	static const char kinds[] = "=+&|";
	uint8_t id = (uint8_t)decimal(text_word(&rest));
	struct reg reg = find(p, text_word(&rest));
	const char *kind = text_word(&rest);
	struct ts_buf operand = { 0 };

	ck_assert_msg(*kind && strchr(kinds, *kind), "\"%s\" is no operation", kind);
	value(&operand, text_word(&rest), reg.len);
	rvn_operation(p, id, reg.id, (uint8_t)(strchr(kinds, *kind) - kinds), operand.data, reg.len);
	ts_buf_fini(&operand);
}

static void add_static(struct rvn_parts *p, char *rest)
{
	const char *name = text_word(&rest);
	struct ts_buf bytes = { 0 };

	text_bytes(&bytes, text_word(&rest));
	rvn_static(p, name, bytes.data, (uint8_t)bytes.len);
	ts_buf_fini(&bytes);
}

/* What an event did to memory or to a register. */
static void add_entry(struct rvn_event *ev, const struct rvn_parts *p, char *word)
{
	static const struct rvn_form form;
	struct ts_buf bytes = { 0 };

	if (*word == '*') {
		rvn_event_register(ev, &form, decimal(word + 1), "", 0);
	} else if (*word == '@') {
		text_bytes(&bytes, split(word, '='));
		rvn_event_memory(ev, p, &form, text_hex(word + 1), bytes.data, bytes.len);
	} else {
		const char *after = split(word, '=');
		struct reg reg = find(p, word);

		value(&bytes, after, reg.len);
		rvn_event_register(ev, &form, reg.id, bytes.data, reg.len);
	}
	ts_buf_fini(&bytes);
}

static void add_event(struct rvn_parts *p, char *rest, const char *other)
{
	static const struct rvn_form form;
	struct rvn_event ev;

	rvn_event_init(&ev);
	for (char *word = text_word(&rest); *word; word = text_word(&rest))
		add_entry(&ev, p, word);
	rvn_event_end(&ev, p, &form, other);
	rvn_event_fini(&ev);
}

static void add_interrupt(struct rvn_parts *p, char *rest)
{
	char *name = text_word(&rest);

	for (char *c = name; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	add_event(p, rest, strcmp(name, "-") ? name : "");
}

static void put_line(void *arg, char *line)
{
	struct rvn_parts *p = arg;
	char *rest = line, *word = strtok_r(line, " ", &rest);

	if (!word)
		return;
	if (!strcmp(word, "arch"))
		memcpy(p->arch, text_word(&rest), 4);
	else if (!strcmp(word, "region"))
		add_region(p, rest);
	else if (!strcmp(word, "register"))
		add_register(p, rest);
	else if (!strcmp(word, "operation"))
		add_operation(p, rest);
	else if (!strcmp(word, "static"))
		add_static(p, rest);
	else if (!strcmp(word, "event"))
		add_event(p, rest, NULL);
	else if (!strcmp(word, "interrupt"))
		add_interrupt(p, rest);
	else
		ck_abort_msg("\"%s\" is no line of a trace", word);
}

void rvn_add(struct rvn_parts *p, const char *text)
{
	text_lines(text, put_line, p);
}
