/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The signal that was recorded; 0: none was. */
static volatile sig_atomic_t recorded;

static bool watches_output;

static void on_interrupt(int signal)
{
	recorded = signal;
}

static void catch(int signal, int flags)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = flags | SA_RESTART };

	sigaction(signal, &action, NULL);
}

void ts_interrupt_catch(void)
{
	recorded = 0;
	catch(SIGINT, (int)SA_RESETHAND);
	catch(SIGTERM, (int)SA_RESETHAND);
}

void ts_interrupt_catch_all(void)
{
	recorded = 0;
	catch(SIGINT, 0);
}

void ts_interrupt_release(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

void ts_interrupt_watch_output(void)
{
	watches_output = true;
}

/* Questions, a slice each, after which the output is examined. */
#define CALLS_A_LOOK 16u

/* A pipe or socket without a reader.  A file has none either, and never says so. */
static bool has_no_reader(void)
{
	static unsigned n;
	struct pollfd fd = { .fd = STDOUT_FILENO };

	return watches_output && n++ % CALLS_A_LOOK == 0 && poll(&fd, 1, 0) == 1 && fd.revents & (POLLERR | POLLHUP);
}

bool ts_is_interrupted(void)
{
	if (!recorded && has_no_reader())
		recorded = SIGPIPE;
	return recorded;
}

bool ts_has_lost_reader(void)
{
	return recorded == SIGPIPE;
}

const char *ts_interrupt_text(void)
{
	switch (recorded) {
	case SIGPIPE: return "the reader of the answer has closed it";
	case SIGTERM: return "ended by a signal (SIGTERM)";
	default: return "interrupted";
	}
}

_Noreturn void ts_interrupt_end(void)
{
	int number = recorded ? recorded : SIGINT;
	sigset_t one;

	if (number != SIGPIPE)
		(void)fflush(stdout);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(number);
	_Exit(128 + number);
}
