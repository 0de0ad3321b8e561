/* SPDX-License-Identifier: MIT */
/*
 * A place at which a recording begins or ends, in the form of the command line: FUNC[:N], FILE:LINE[:N],
 * ADDRESS[:N] or SIGUSR1.
 */
#include "cli.h"

#include <ctype.h>
#include <string.h>

#include "src/ask/grammar/number.h"

/* A whole number that is not 0. */
static bool parse_number(const char *text, size_t len, uint64_t *n)
{
	bool is_large;

	return ts_number_parse(text, len, TS_COMMAS_END, n, &is_large) && !is_large && *n;
}

/*
 * The number after the last colon of the first *len characters; they end before the colon then.  Returns false if
 * none is found.
 */
static bool cut_number(const char *text, size_t *len, uint64_t *n)
{
	size_t at = *len;

	while (at && isdigit((unsigned char)text[at - 1]))
		at--;
	if (at < 2 || at == *len || text[at - 1] != ':' || text[at - 2] == ':' || !parse_number(text + at, *len - at, n))
		return false;
	*len = at - 1;
	return true;
}

static bool is_file(const char *text, size_t len)
{
	return memchr(text, '.', len) || memchr(text, '/', len);
}

/* Colons come in pairs in the name of a function. */
static bool has_lone_colon(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == ':' && (i + 1 == len || text[++i] != ':'))
			return true;
	}
	return false;
}

/* FILE:LINE:N, FILE:LINE, FUNC:N or FUNC. */
static bool parse_name(struct ts_record_place *p, const char *text)
{
	size_t len = strlen(text), shorter;
	uint64_t first, second;

	p->kind = TS_AT_FUNCTION;
	if (cut_number(text, &len, &first)) {
		shorter = len;
		if (is_file(text, len)) {
			p->kind = TS_AT_LINE;
			p->line = first;
		} else {
			p->count = first;
		}
		if (p->kind == TS_AT_LINE && cut_number(text, &shorter, &second)) {
			p->line = second;
			p->count = first;
			len = shorter;
		}
	}
	p->name = text;
	p->n_name = (int)len;
	return len && len < 4096 && p->line <= UINT32_MAX && (!isdigit((unsigned char)*text) || p->kind == TS_AT_LINE) &&
	       !has_lone_colon(text, len);
}

static bool parse_address(struct ts_record_place *p, const char *text)
{
	size_t len = strlen(text);

	p->kind = TS_AT_ADDRESS;
	return (!strchr(text, ':') || cut_number(text, &len, &p->count)) && parse_number(text, len, &p->addr);
}

bool ts_record_place_parse(struct ts_record_place *place, const char *text)
{
	*place = (struct ts_record_place){ .text = text, .count = 1 };
	if (!strcmp(text, "SIGUSR1")) {
		place->kind = TS_AT_SIGNAL;
		return true;
	}
	return !strncmp(text, "0x", 2) ? parse_address(place, text) : parse_name(place, text);
}
