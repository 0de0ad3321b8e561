/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The offset of the next line's first character. */
static size_t next_line(const struct grammar_scan *s, size_t at)
{
	const char *end = memchr(s->text + at, '\n', s->len - at);

	return end ? (size_t)(end - s->text) + 1 : s->len;
}

bool grammar_scan_statement(struct grammar_scan *s)
{
	s->at = s->end;
	while (s->at < s->len && (s->text[s->at] == '#' || is_blank(s->text[s->at])))
		s->at = next_line(s, s->at);
	s->end = s->at;
	while (s->end < s->len && (s->end == s->at || s->text[s->end] == ' ' || s->text[s->end] == '\t'))
		s->end = next_line(s, s->end);
	return s->at < s->len;
}

bool grammar_scan_blanks(struct grammar_scan *s)
{
	while (s->at < s->end && is_blank(s->text[s->at]))
		s->at++;
	return s->at < s->end;
}

struct grammar_word grammar_scan_word(struct grammar_scan *s, const char *stop)
{
	struct grammar_word w;

	grammar_scan_blanks(s);
	w = (struct grammar_word){ s->text + s->at, 0 };
	while (s->at < s->end && !is_blank(s->text[s->at]) && !strchr(stop, s->text[s->at])) {
		s->at++;
		w.len++;
	}
	return w;
}

struct grammar_word grammar_scan_rest(struct grammar_scan *s)
{
	struct grammar_word w;

	grammar_scan_blanks(s);
	w = (struct grammar_word){ s->text + s->at, s->end - s->at };
	while (w.len && is_blank(w.text[w.len - 1]))
		w.len--;
	s->at = s->end;
	return w;
}

bool grammar_word_is(struct grammar_word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.text, text, w.len);
}

unsigned grammar_scan_line(const struct grammar_scan *s, size_t at)
{
	const char *p = s->text, *end = p + (at < s->len ? at : s->len);
	unsigned line = 1;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		line++;
		p++;
	}
	return line;
}

void grammar_scan_place(const struct grammar_scan *s, size_t at, uint16_t *line, uint16_t *column)
{
	size_t start = at;

	while (start > 0 && s->text[start - 1] != '\n')
		start--;
	*line = (uint16_t)grammar_scan_line(s, at);
	*column = (uint16_t)(at - start + 1);
}

bool grammar_scan_fail(struct grammar_scan *s, size_t at, const char *fmt, ...)
{
	uint16_t line, column;
	char text[256];
	va_list ap;

	grammar_scan_place(s, at, &line, &column);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ts_fail(s->err, TS_EUSAGE, TS_NO_OFF, "line %u, column %u: %s", line, column, text);
}
