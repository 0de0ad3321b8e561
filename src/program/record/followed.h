/* SPDX-License-Identifier: MIT */
/*
 * The recorder of one process of `record --follow`, which is a process of its own.
 */
#ifndef TS_FOLLOWED_H
#define TS_FOLLOWED_H

#include <stdint.h>

#include "recorder.h"
#include "src/record/log.h"

/*
 * Record the process of @announced, which is the @number-th program and has executed @image programs before, into
 * @folder, with the options of @first, and add it to the manifest.  SIGUSR2 reports that it executed another program.
 *
 * Returns the status to exit with.
 */
int ts_followed_run(const struct ts_recorder *first, const char *folder, const struct ts_log_process *announced,
		    uint32_t number, uint32_t image);

#endif
