/* SPDX-License-Identifier: MIT */
#include "warn.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void ts_warner_init(struct ts_warner *w, struct ts_recording *rec)
{
	*w = (struct ts_warner){ .rec = rec };
}

/* A hash of a kind (FNV-1a, 64 bits); collisions are ignored. */
static uint64_t number_of(const char *kind)
{
	uint64_t n = UINT64_C(0xcbf29ce484222325);

	for (; *kind; kind++)
		n = (n ^ (uint8_t)*kind) * UINT64_C(0x100000001b3);
	return n;
}

/*
 * Note a warning of this kind about @place, which is not before w->place.  Returns false if it is a
 * repetition.
 */
static bool is_new(struct ts_warner *w, uint64_t place, const char *kind)
{
	uint64_t number = number_of(kind);

	if (place > w->place)
		w->n_kinds = 0;
	for (unsigned i = 0; i < w->n_kinds; i++) {
		if (w->kinds[i] == number)
			return false;
	}
	if (w->n_kinds == TS_WARNER_KINDS)
		return false;
	w->place = place;
	w->kinds[w->n_kinds++] = number;
	return true;
}

/* Warn about @place, unless that is a repetition; the kind is the text if @kind is NULL. */
static void warn_at(struct ts_warner *w, uint64_t place, const char *kind, const char *fmt, va_list ap)
{
	char text[sizeof(w->rec->warnings[0].text)];

	if (place < w->place || (kind && !is_new(w, place, kind)))
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	if (kind || is_new(w, place, text))
		ts_recording_warn(w->rec, "%s", text);
}

void ts_warn_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_at(w, place, fmt, fmt, ap);
	va_end(ap);
}

void ts_warn_each_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_at(w, place, NULL, fmt, ap);
	va_end(ap);
}
