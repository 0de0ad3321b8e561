/* SPDX-License-Identifier: MIT */
/*
 * Keyframes: the whole state of a process, which only its first one gives.
 */
#ifndef LOADERS_USERCORN_KEYFRAME_H
#define LOADERS_USERCORN_KEYFRAME_H

#include "group.h"

/*
 * The use of a keyframe's state: as that of position 0; as a change after a step that no instruction made; or
 * the same inside a step.  The position before that step may be the process's first, so its registers must
 * hold there too.
 */
enum ucir_role {
	UCIR_AT_START,
	UCIR_BEHIND_STEP,
	UCIR_IN_STEP,
};

/*
 * A keyframe at @op, whose ops are read: the first of its process gives its state to @to (NULL: nowhere), any
 * later one is only checked, since it sums up what follows.
 *
 * Returns false if it cannot be read or contradicts itself.
 */
bool ucir_keyframe(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *to, enum ucir_role role,
		   struct ts_error *err);

/* The same while a group may be open: its effects come before those of the group. */
bool ucir_keyframe_in_group(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			    struct ts_error *err);

#endif
