/* SPDX-License-Identifier: MIT */
/*
 * Runs a program and records it as x64dbg's recorders do it.
 *
 *      x64dbg_record PROGRAM TRACE 64|32 [MAX_STOPS]
 *
 * Ends with status 77 if the program cannot be run or traced here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/x64dbg_live.h"

int main(int argc, char **argv)
{
	static const struct xw_era era = { .has_hidden = true, .has_flag = true };
	struct xl_run run;
	bool done;
	FILE *f;

	if (argc < 4)
		return 2;
	if (!xl_run(&run, argv[1], NULL, strcmp(argv[3], "64") == 0, era,
		    argc > 4 ? strtoul(argv[4], NULL, 0) : 20000))
		return 77;
	if (run.n_stops < 10) {
		xl_fini(&run);
		return 77;
	}
	f = fopen(argv[2], "wb");
	done = f && fwrite(run.w.file.data, 1, run.w.file.len, f) == run.w.file.len && fclose(f) == 0;
	xl_fini(&run);
	return !done;
}
