/* SPDX-License-Identifier: MIT */
/*
 * Register names of BAP's frames, in the spelling of the recorders.
 */
#ifndef LOADERS_BAP_NAMES_H
#define LOADERS_BAP_NAMES_H

#include "loaders/kit/regmap.h"

/*
 * Add all names of registers for a set; @is_snapshot: the recorder's program counter and x86 flags are stale.
 */
void bap_names_init(struct regmap *t, const struct ts_regset *set, bool is_snapshot);

#endif
