/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "log.h"

void grammar_damages_init(struct grammar_damages *d, struct ts_recording *rec, const struct grammar_parts *parts)
{
	*d = (struct grammar_damages){ .parts = parts };
	for (unsigned i = 0; i < GRAMMAR_N_DAMAGES; i++)
		ts_warner_init(&d->warners[i], rec);
}

void grammar_damaged(struct grammar_damages *d, enum grammar_damage kind, uint64_t off)
{
	static const char *const texts[] = {
		[GRAMMAR_NOISE_LINE] = "the line does not belong to this format: it is ignored",
		[GRAMMAR_LOST_STEP] = "the line begins as an instruction does, but cannot be read: it is ignored, and registers are unknown until they are listed again",
		[GRAMMAR_LONG_LINE] = "the line has more than 1 MiB: it is ignored, and registers are unknown until they are listed again",
		[GRAMMAR_OPEN_LINE] = "the last line has no line end: it is ignored",
		[GRAMMAR_BAD_ITEM] = "a value or an access cannot be read: it is unknown",
		[GRAMMAR_UNKNOWN_NAME] = "this processor has no register of this name: its values are ignored",
		[GRAMMAR_LONG_IMAGE] = "the module has more than 64 MiB, or more than --max-memory leaves for it: bytes above that are unknown",
		[GRAMMAR_MANY_NEXT] = "more than 65536 accesses and pieces of code come before one instruction: those above that are ignored",
		[GRAMMAR_SKIPPED_WORD] = "a word is neither a register nor an access: it is ignored",
	};

	uint32_t part;

	if (!d->is_seen[kind]) {
		d->is_seen[kind] = true;
		d->first[kind] = off;
	}
	part = grammar_part_at(d->parts, d->first[kind]);
	ts_warn_at(&d->warners[kind], off + 1, "%s%sfirst at offset 0x%" PRIx64 "%s%s: %s",
		   d->parts->n > 1 ? d->parts->names[part] : "", d->parts->n > 1 ? ": " : "",
		   d->first[kind] - grammar_part_begin(d->parts, part), kind == GRAMMAR_UNKNOWN_NAME ? ", " : "",
		   kind == GRAMMAR_UNKNOWN_NAME ? d->name : "", texts[kind]);
}
