/* SPDX-License-Identifier: MIT */
/*
 * The search backwards for the step that set a flag, or for the last conditional branch.
 *
 * Most flags were set a few steps before: these are looked at one by one.  From there on only runs of
 * instructions that may have set it are (flag_runs.h), however far back they are.
 */
#ifndef TS_ASK_SETTER_H
#define TS_ASK_SETTER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/flag_runs.h"
#include "verb.h"

/* One search after the other; all zero: none has begun. */
struct ts_setter {
	uint64_t pos; /* how far it has come: the step that was found */
	bool is_looking;
	uint64_t first; /* steps from here on are looked at */
	uint32_t n_looked;
	bool is_searching; /* among runs */
	struct ts_flag_search search;
};

/*
 * The last step of @thread before @before that does @does: writes one of these flags, or (TS_FLAG_BRANCH) is
 * a conditional branch.  x86 only.
 *
 * Returns TS_GOT_ROW: it is s->pos; TS_GOT_END: no step does; TS_GOT_PENDING: the budget is used up, ask
 * again for the same; TS_GOT_FAIL.
 */
enum ts_got ts_setter_find(struct ts_setter *s, struct ts_query *q, uint32_t thread, uint64_t before,
			   uint32_t does, struct ts_budget *budget, struct ts_error *err);
void ts_setter_fini(struct ts_setter *s);

#endif
