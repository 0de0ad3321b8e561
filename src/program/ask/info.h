/* SPDX-License-Identifier: MIT */
/*
 * `tracestub info`: the contents of a recording, as text for users or as JSON.
 *
 * The facts are gathered once (info.c) and printed by one of two printers (info_text.c, info_json.c).
 */
#ifndef TS_INFO_H
#define TS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/symbols/names.h"
#include "src/base/error.h"
#include "src/query/query.h"

enum ts_info_known {
	TS_KNOWN_NEVER, /* neither at position 0 nor at N */
	TS_KNOWN_FIRST, /* at position 0 */
	TS_KNOWN_LATER, /* at N only */
};

/* The facts that must be gathered before printing; the others are queried during printing. */
struct ts_info {
	const char *path;                 /* borrowed; the trace as the user named it */
	const struct ts_query *q;         /* borrowed */
	const struct ts_facts *facts;     /* borrowed; of q */
	struct ts_ending ending;
	char exit_text[48];               /* how the last process ended, "by SIGSEGV"; "": it exited itself */
	bool is_killed;                   /* by a signal */
	struct ts_index_stats stats;
	uint64_t pc_first, pc_last;       /* at positions 0 and N */
	bool has_pc_first, has_pc_last;
	enum ts_info_known *known;        /* owned; by register, in the thread that runs there */
	uint64_t *thread_steps;           /* owned; by thread */
	struct ts_names names;            /* owned; of threads, as every client sees them */
	struct ts_region_info *regions;   /* owned; at position 0, of all processes, by process and address */
	size_t n_regions;
};

/*
 * Gather the facts about the recording of @q, whose trace is called @path.  Both must outlive @info.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, ...) or memory is exhausted; @info then needs
 * no fini.
 */
bool ts_info_init(struct ts_info *info, struct ts_query *q, const char *path, struct ts_error *err);
void ts_info_fini(struct ts_info *info);

/*
 * Returns how the recording ends, a literal: "exit", "signal" (it killed the program), "fault", "damage", "unread" (the rest was
 * not read: memory was exhausted, or the file could not be read) or "none" (no end was recorded).
 */
const char *ts_info_end(const struct ts_info *info);

/* Is the trace truncated or damaged? */
bool ts_info_is_damaged(const struct ts_info *info);

/* Bytes of the index in memory. */
static inline uint64_t ts_info_index_len(const struct ts_info *info)
{
	return info->stats.points_len + info->stats.regs_len + info->stats.memory_len + info->stats.runs_len;
}

/* Writes enum ts_prot bits as "rwx" to the caller's @text.  Returns @text. */
static inline const char *ts_info_prot(uint32_t prot, char text[4])
{
	text[0] = prot & TS_PROT_READ ? 'r' : '-';
	text[1] = prot & TS_PROT_WRITE ? 'w' : '-';
	text[2] = prot & TS_PROT_EXEC ? 'x' : '-';
	text[3] = '\0';
	return text;
}

/*
 * Print to stdout; the caller checks stdout for errors.
 *
 * ts_info_json() returns false and prints nothing if memory is exhausted (TS_ENOMEM).
 */
void ts_info_text(const struct ts_info *info);
bool ts_info_json(const struct ts_info *info, struct ts_error *err);

#endif
