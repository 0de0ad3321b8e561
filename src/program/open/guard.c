/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/program/cli/cli.h"

/* What the signal handler says. */
static char missing_page[4400];

static void on_missing_page(int signal)
{
	ssize_t ignored = write(STDERR_FILENO, missing_page, strlen(missing_page));

	(void)signal;
	(void)ignored;
	_exit(TS_STATUS_FAILED);
}

void ts_guard_index(const char *path)
{
	const struct sigaction action = { .sa_handler = on_missing_page };

	snprintf(missing_page, sizeof(missing_page),
		 "tracestub: %s: truncated or unreadable while in use; the next run rebuilds it\n", path);
	sigaction(SIGBUS, &action, NULL);
}
