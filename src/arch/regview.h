/* SPDX-License-Identifier: MIT */
/*
 * The registers of a recording as another width of the same processor has them: 32-bit code in a 64-bit
 * processor is shown eax, which is the lower half of rax.
 */
#ifndef TS_REGVIEW_H
#define TS_REGVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "src/base/error.h"

struct ts_regview {
	struct ts_regset set; /* owned; what is shown */
	/* owned; for each of its registers where it lies in the recording's layout, TS_NO_REG: not there */
	uint32_t *from;
};

#define TS_NO_REG UINT32_MAX

/*
 * Show the registers @all as those of @arch: its mandatory features, and the optional ones that are there as
 * a whole.
 *
 * Returns false if the program counter of @arch is not among them (TS_EUNSUPPORTED), or if memory is
 * exhausted (TS_ENOMEM); @v then needs no fini.
 */
bool ts_regview_init(struct ts_regview *v, const struct ts_regset *all, const struct ts_arch *arch,
		     struct ts_error *err);

/* A view that is all zero bytes may be given. */
void ts_regview_fini(struct ts_regview *v);

/*
 * From the recording's layout, values and known flags, to that of the view; no more bytes than there are in
 * the recording's.
 */
void ts_regview_see(const struct ts_regview *v, const uint8_t *data, const uint8_t *known, uint8_t *seen_data,
		    uint8_t *seen_known);

#endif
