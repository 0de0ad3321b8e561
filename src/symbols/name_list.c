/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses from files of other tools: lines of text in one of these forms.
 *
 *     ADDR NAME, ADDR TYPE NAME         TYPE is a letter as nm prints it; NAME may have blanks then (nm -C)
 *     a table of Ghidra as CSV          a line of headings, with Name and Location (or Address, Entry Point)
 *     SEGMENT:OFFSET NAME [ADDR ...]    of linkers' and IDA's .map files, below "Publics by Value"
 *
 * Numbers are hexadecimal.
 */
#include "find_symbols.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (UINT64_C(64) << 20)

/* Words of a line that are examined, and columns of a table. */
#define MAX_WORDS 64u

/* The maximum length in bytes of a name without an end. */
#define MAX_ROOM (UINT64_C(1) << 20)

/* Not terminated. */
struct word {
	const char *text;
	size_t len;
};

struct list {
	struct ts_symbols *s;
	uint64_t moved;
	struct word words[MAX_WORDS];
	unsigned n;
	/* columns of a table, 1 more than the ordinal; 0: it has none */
	unsigned name, address, type;
	bool is_table;
	size_t n_names;
	bool is_failed; /* memory is exhausted */
};

static bool is(const struct word *w, const char *text)
{
	return w->len == strlen(text) && !strncasecmp(w->text, text, w->len);
}

/* A hexadecimal number; what is before a colon (the address space) is passed over. */
static bool read_address(struct word w, uint64_t *value)
{
	const char *colon = memchr(w.text, ':', w.len);

	if (colon) {
		w.len -= (size_t)(colon + 1 - w.text);
		w.text = colon + 1;
	}
	if (w.len > 2 && w.text[0] == '0' && (w.text[1] | 32) == 'x') {
		w.text += 2;
		w.len -= 2;
	}
	*value = 0;
	for (size_t i = 0; i < w.len; i++) {
		char c = (char)tolower((unsigned char)w.text[i]);

		if (!isxdigit((unsigned char)c))
			return false;
		*value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return w.len && w.len <= 16;
}

static void add(struct list *l, uint64_t addr, struct word name, bool is_function)
{
	char text[1024];

	if (!name.len || name.len >= sizeof(text) || memchr(name.text, 0, name.len))
		return;
	memcpy(text, name.text, name.len);
	text[name.len] = '\0';
	l->is_failed |= !ts_symbols_add(l->s, addr + l->moved, 0, MAX_ROOM, text, is_function);
	l->n_names++;
}

/* --------------------------------------------------------------------------------------------------- tables */

/* The fields of a line: with quotation marks they may have commas. */
static void split_fields(struct list *l, const char *p, const char *end)
{
	for (l->n = 0; p < end && l->n < MAX_WORDS; p++) {
		bool is_quoted = *p == '"';
		const char *first = p + is_quoted;
		const char *stop = memchr(first, is_quoted ? '"' : ',', (size_t)(end - first));

		stop = stop ? stop : end;
		l->words[l->n++] = (struct word){ first, (size_t)(stop - first) };
		p = memchr(stop, ',', (size_t)(end - stop));
		if (!p)
			break;
	}
}

/* Is the line the headings of a table? */
static bool is_heading(struct list *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct word *w = &l->words[i];

		if (is(w, "Name") || is(w, "Label"))
			l->name = i + 1;
		else if (is(w, "Location") || is(w, "Address") || is(w, "Entry Point"))
			l->address = i + 1;
		else if (is(w, "Symbol Type") || is(w, "Type"))
			l->type = i + 1;
	}
	return l->name && l->address;
}

static void take_fields(struct list *l)
{
	static const char external[] = "EXTERNAL:";
	const struct word *at;
	bool is_data;
	uint64_t addr;

	if (l->n < l->name || l->n < l->address)
		return;
	at = &l->words[l->address - 1];
	is_data = l->type && l->n >= l->type && !is(&l->words[l->type - 1], "Function") &&
		  !is(&l->words[l->type - 1], "Thunk Function");
	if ((at->len > strlen(external) && !strncasecmp(at->text, external, strlen(external))) || !read_address(*at, &addr))
		return;
	add(l, addr, l->words[l->name - 1], !is_data);
}

/* ---------------------------------------------------------------------------------------------------- lines */

static void split_words(struct list *l, const char *p, const char *end)
{
	for (l->n = 0; p < end && l->n < MAX_WORDS;) {
		const char *first;

		while (p < end && isspace((unsigned char)*p))
			p++;
		first = p;
		while (p < end && !isspace((unsigned char)*p))
			p++;
		if (p > first)
			l->words[l->n++] = (struct word){ first, (size_t)(p - first) };
	}
}

/* SEGMENT:OFFSET NAME [ADDR]: an address that follows counts. */
static void take_public(struct list *l, uint64_t segment)
{
	uint64_t addr;

	if (l->n >= 3 && l->words[2].len >= 8 && read_address(l->words[2], &addr))
		add(l, addr, l->words[1], true);
	else if (segment == 1 && l->n == 2 && read_address(l->words[0], &addr))
		add(l, addr, l->words[1], true);
}

/* The text from @p on without the blanks at its end: a demangled name may have some within. */
static struct word rest_of(const char *p, const char *end)
{
	while (end > p && isspace((unsigned char)end[-1]))
		end--;
	return (struct word){ p, (size_t)(end - p) };
}

/* The line has ended at @end. */
static void take_words(struct list *l, const char *end)
{
	const struct word *w = l->words;
	const char *colon = l->n ? memchr(w->text, ':', w->len) : NULL;
	uint64_t addr;

	if (l->n < 2)
		return;
	if (colon && colon - w->text == 4 && read_address((struct word){ w->text, 4 }, &addr))
		take_public(l, addr);
	else if (colon || !read_address(w[0], &addr))
		return;
	else if (l->n >= 3 && w[1].len == 1 && isalpha((unsigned char)*w[1].text))
		add(l, addr, rest_of(w[2].text, end), strchr("tTwWiI", *w[1].text) != NULL);
	else if (l->n == 2)
		add(l, addr, w[1], true);
}

static void take_line(struct list *l, const char *p, const char *end)
{
	if (end > p && end[-1] == '\r')
		end--;
	if (memchr(p, ',', (size_t)(end - p)) && (l->is_table || !l->n_names)) {
		split_fields(l, p, end);
		if (l->is_table)
			take_fields(l);
		else
			l->is_table = is_heading(l);
		if (l->is_table)
			return;
	}
	split_words(l, p, end);
	take_words(l, end);
}

bool ts_name_list_read(struct ts_symbols *s, const struct ts_source *src, uint64_t moved, struct ts_error *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of byte order */
	struct list l = { .s = s, .moved = moved };
	uint64_t len = ts_source_len(src);
	const char *p, *end;
	char *text;

	if (len > MAX_FILE)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a list of names of more than 64 MiB is not read");
	text = malloc((size_t)len + 1);
	if (!text)
		return ts_no_memory(err, "symbols");
	if (!ts_source_read_all(src, 0, text, (size_t)len, err)) {
		free(text);
		return false;
	}
	end = text + len;
	for (p = text + (len >= 3 && !memcmp(text, mark, 3) ? 3 : 0); p < end && !l.is_failed; p++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		take_line(&l, p, stop);
		p = stop;
	}
	free(text);
	if (l.is_failed)
		return ts_no_memory(err, "symbols");
	return l.n_names || ts_fail(err, TS_EUSAGE, TS_NO_OFF,
				    "it has no names: lines are ADDR NAME, a table of Ghidra (CSV), or a .map file");
}
