/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

static void catch(int flags)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = flags | SA_RESTART };

	is_interrupted = 0;
	sigaction(SIGINT, &action, NULL);
}

void ts_interrupt_catch(void)
{
	catch((int)SA_RESETHAND);
}

void ts_interrupt_catch_all(void)
{
	catch(0);
}

void ts_interrupt_release(void)
{
	signal(SIGINT, SIG_DFL);
}

bool ts_is_interrupted(void)
{
	return is_interrupted;
}

_Noreturn void ts_interrupt_end(void)
{
	sigset_t one;

	(void)fflush(stdout);
	signal(SIGINT, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, SIGINT);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(SIGINT);
	_Exit(128 + SIGINT);
}
