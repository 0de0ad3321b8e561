/* SPDX-License-Identifier: MIT */
#include "warn.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void ts_warner_init(struct ts_warner *w, struct ts_recording *rec)
{
	*w = (struct ts_warner){ .rec = rec };
}

/* Note a warning of this kind about @place.  Returns false if it is a repetition. */
static bool is_new(struct ts_warner *w, uint64_t place, const char *kind)
{
	if (place > w->place)
		w->n_kinds = 0;
	else if (place < w->place || w->n_kinds == TS_WARNER_KINDS)
		return false;
	for (unsigned i = 0; i < w->n_kinds; i++) {
		if (strcmp(w->kinds[i], kind) == 0)
			return false;
	}
	w->place = place;
	w->kinds[w->n_kinds++] = kind;
	return true;
}

void ts_warn_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
{
	char text[sizeof(w->rec->warnings[0].text)];
	va_list ap;

	if (!is_new(w, place, fmt))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ts_recording_warn(w->rec, "%s", text);
}
