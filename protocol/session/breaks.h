/* SPDX-License-Identifier: MIT */
/*
 * The breakpoints and watchpoints of a session, with their conditions.
 */
#ifndef RSP_BREAKS_H
#define RSP_BREAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/query/search/search.h"

struct rsp_frame_budget;
struct ts_ax;

/* Z0 and Z1 differ only for the client: neither changes the recording. */
enum rsp_break_kind {
	RSP_BREAK_SOFT,
	RSP_BREAK_HARD,
};

struct rsp_break {
	struct ts_break at;
	enum rsp_break_kind kind;
	struct ts_ax **conditions; /* owned; stops if any is true, without conditions always */
	size_t n_conditions;
	struct ts_ax **commands;   /* owned; run at a hit, which then does not stop */
	size_t n_commands;
	uint64_t mem;              /* bytes used by its expressions */
	uint32_t next;             /* 1 + ordinal of the next breakpoint with the same hash; 0: none */
};

/* Limits on the breakpoints and watchpoints of a client, and on all the bytes that it watches. */
#define RSP_MAX_BREAKS  65536u
#define RSP_MAX_WATCHES 256u
#define RSP_MAX_WATCHED (UINT64_C(4) << 20)

/* Limit on the memory of the expressions of a client's breakpoints, in bytes. */
#define RSP_MAX_CODE (UINT64_C(16) << 20)

struct rsp_breaks {
	struct rsp_break *items; /* owned */
	struct ts_break *places; /* owned; items[i].at, in the form that the search takes */
	size_t n_items, cap_items;
	uint32_t *heads;         /* owned; cap_items of them: by hash, 1 + ordinal of the first one; 0: none */
	uint64_t mem;            /* bytes used by all expressions */
	struct rsp_frame_budget *budget; /* borrowed; also charged with them; NULL: none */
	struct ts_watch *watches; /* owned */
	size_t n_watches, cap_watches;
	uint64_t watched_len;
};

void rsp_breaks_init(struct rsp_breaks *b);
void rsp_breaks_fini(struct rsp_breaks *b);

/*
 * Insert a breakpoint without commands; one of the same kind at the same place is replaced.  Takes ownership
 * of @conditions, on failure too.
 *
 * Returns false if memory is exhausted.
 * Returns false if there are RSP_MAX_BREAKS already.
 * Returns false if all expressions together exceed their memory limit.
 */
bool rsp_breaks_insert(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at,
		       struct ts_ax **conditions, size_t n_conditions);

/*
 * Set the commands of an inserted breakpoint; takes ownership of them.
 *
 * Returns false if all expressions together exceed their memory limit: the breakpoint then has no commands.
 */
bool rsp_breaks_set_commands(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at,
			     struct ts_ax **commands, size_t n_commands);

/* Remove a breakpoint if it exists. */
void rsp_breaks_remove(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at);

/*
 * Insert or remove a watchpoint; inserting one twice has no effect.  Returns false if memory is exhausted or
 * there are too many.
 */
bool rsp_breaks_watch(struct rsp_breaks *b, const struct ts_watch *w);
void rsp_breaks_unwatch(struct rsp_breaks *b, const struct ts_watch *w);

/* Returns the breakpoint of a kind at a place, borrowed until the next change; NULL if none is set there. */
const struct rsp_break *rsp_breaks_at(const struct rsp_breaks *b, enum rsp_break_kind kind,
				      struct ts_break at);

/* Breakpoints and watchpoints as the stops of a search; borrowed until the next change. */
void rsp_breaks_stops(const struct rsp_breaks *b, struct ts_stops *stops);

#endif
