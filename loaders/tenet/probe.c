/* SPDX-License-Identifier: MIT */
/*
 * The first lines of a file: is it a Tenet log?  The format has no magic number, but every line is a list of names
 * and hex values, and one of the names is a program counter.
 */
#include "log.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The number of lines that are examined. */
#define MAX_LINES 64u

struct word {
	const char *text;
	size_t len;
};

static bool is(const struct word *w, const char *name)
{
	return strlen(name) == w->len && !strncasecmp(w->text, name, w->len);
}

/* The name before a "=", without the blanks around it; empty if there are other characters. */
static struct word name_of(const char *p, const char *end)
{
	struct word w = { p, 0 };

	while (w.text < end && isblank((unsigned char)*w.text))
		w.text++;
	while (w.text + w.len < end && isalnum((unsigned char)w.text[w.len]))
		w.len++;
	for (p = w.text + w.len; p < end && isblank((unsigned char)*p); p++)
		continue;
	if (p < end)
		w.len = 0;
	return w;
}

/* The first digits of a value: a number without leading zeros. */
static struct word digits_of(const char *p, const char *end)
{
	struct word w;

	while (p < end && isblank((unsigned char)*p))
		p++;
	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	w = (struct word){ p, 0 };
	while (p + w.len < end && isxdigit((unsigned char)p[w.len]))
		w.len++;
	return w;
}

/* The letter and a number up to @last? */
static bool is_numbered(const struct word *w, char letter, unsigned last)
{
	unsigned n = 0;

	if (w->len < 2 || w->len > 3 || (w->text[0] | 0x20) != letter || (w->len == 3 && w->text[1] == '0'))
		return false;
	for (size_t i = 1; i < w->len; i++) {
		if (!isdigit((unsigned char)w->text[i]))
			return false;
		n = 10 * n + (unsigned)(w->text[i] - '0');
	}
	return n <= last;
}

/* Facts that follow from a register's name. */
static void note_name(struct tenet_head *h, const struct word *name, const struct word *value)
{
	static const struct {
		const char *name, *arch;
	} counters[] = { { "rip", "x86_64" }, { "eip", "i386" }, { "pc", NULL }, { "r15", NULL } };
	size_t zeros = 0;

	if (is_numbered(name, 'x', 30))
		h->arch = "aarch64";
	else if (!h->arch && is_numbered(name, 'r', 7)) /* x86-64 has r8 to r15, too */
		h->arch = "arm";
	h->has_high |= is_numbered(name, 'r', 12);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (!is(name, counters[i].name))
			continue;
		if (counters[i].arch)
			h->arch = counters[i].arch;
		while (zeros < value->len && value->text[zeros] == '0')
			zeros++;
		h->is_pc_wide |= value->len - zeros > 8;
		h->has_pc |= i < 3;
		h->has_r15 |= i == 3;
	}
}

/* Is it an item, or empty? */
static bool scan_item(struct tenet_head *h, const char *p, const char *end)
{
	const char *equals = memchr(p, '=', (size_t)(end - p));
	struct word name, value;

	if (!equals) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		return p == end;
	}
	name = name_of(p, equals);
	value = digits_of(equals + 1, end);
	if (!name.len || !value.len)
		return false;
	note_name(h, &name, &value);
	return true;
}

static void scan_line(struct tenet_head *h, const char *p, const char *end)
{
	bool is_list = memchr(p, '=', (size_t)(end - p));

	while (p < end && isspace((unsigned char)*p))
		p++;
	if (p == end || *p == '#')
		return;
	while (p < end && is_list) {
		const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;

		is_list = scan_item(h, p, stop);
		p = comma ? comma + 1 : end;
	}
	h->is_first_list |= is_list && !h->n_others;
	h->n_lists += is_list;
	h->n_others += !is_list;
}

void tenet_head_scan(struct tenet_head *h, const uint8_t *bytes, size_t len)
{
	const char *p = (const char *)bytes, *end = p + len;

	*h = (struct tenet_head){ 0 };
	p += tenet_mark_len(bytes, len);
	h->is_utf16 = len >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) ||
				   (bytes[0] == 0xfe && bytes[1] == 0xff) || !bytes[0] != !bytes[1]);
	for (unsigned i = 0; i < MAX_LINES; i++) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));

		if (!line_end)
			break;
		scan_line(h, p, line_end);
		p = line_end + 1;
	}
	if (h->has_pc && !h->arch)
		h->arch = h->is_pc_wide ? "aarch64" : h->has_high ? "arm" : NULL;
	if (!h->has_pc && h->has_r15 && h->arch && !strcmp(h->arch, "arm"))
		h->has_pc = true;
}

size_t tenet_mark_len(const uint8_t *bytes, size_t len)
{
	return len >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0;
}

bool tenet_head_is_log(const struct tenet_head *h)
{
	return h->has_pc && h->is_first_list && h->n_lists > 4 * h->n_others && !h->is_utf16;
}
