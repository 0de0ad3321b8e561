/* SPDX-License-Identifier: MIT */
/*
 * Linux's and gdb's numbers of signals.  The numbers of this machine come from <signal.h>; those of MIPS and
 * SPARC are from signal(7), "Signal numbering for standard signals"; gdb's from its manual ("info signals" in
 * that order).
 */
#include "src/arch/signals.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

static const struct ts_arch *arch(const char *name)
{
	const struct ts_arch *a = ts_arch_find(name);

	ck_assert_ptr_nonnull(a);
	return a;
}

START_TEST(names_are_those_of_the_systems_own_header)
{
	static const struct {
		int number;
		const char *name;
	} host[] = { { SIGHUP, "SIGHUP" },   { SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },
		     { SIGUSR1, "SIGUSR1" }, { SIGSEGV, "SIGSEGV" }, { SIGUSR2, "SIGUSR2" }, { SIGPIPE, "SIGPIPE" },
		     { SIGCHLD, "SIGCHLD" }, { SIGCONT, "SIGCONT" }, { SIGSTOP, "SIGSTOP" }, { SIGTSTP, "SIGTSTP" },
		     { SIGURG, "SIGURG" },   { SIGXCPU, "SIGXCPU" }, { SIGIO, "SIGIO" },     { SIGPWR, "SIGPWR" },
		     { SIGSYS, "SIGSYS" },   { SIGPROF, "SIGPROF" }, { SIGWINCH, "SIGWINCH" } };

	for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++)
		ck_assert_str_eq(ts_signal_name(
					 ts_signal_from_linux(arch("x86_64"), (uint32_t)host[i].number)),
				 host[i].name);
	for (int n = 32; n <= 127; n++) { /* gdb calls them "SIG" and Linux's number */
		char name[8];

		snprintf(name, sizeof(name), "SIG%d", n);
		ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("mips"), (uint32_t)n)), name);
	}
	ck_assert_ptr_null(ts_signal_name(TS_SIGNAL_UNKNOWN));
	ck_assert_ptr_null(ts_signal_name(0));
	ck_assert_ptr_null(ts_signal_name(UINT64_MAX));
}
END_TEST

START_TEST(processors_number_some_signals_in_their_own_way)
{
	ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("mips"), 10)), "SIGBUS");
	ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("mips64el"), 16)), "SIGUSR1");
	ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("mips"), 18)), "SIGCHLD");
	ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("sparc"), 30)), "SIGUSR1");
	ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("aarch64"), 10)), "SIGUSR1");
	ck_assert_str_eq(ts_signal_name(ts_signal_from_linux(arch("riscv64"), 7)), "SIGBUS");
	ck_assert_uint_eq(ts_signal_to_linux(arch("mips"), 10), 10); /* gdb's SIGBUS */
	ck_assert_uint_eq(ts_signal_to_linux(arch("ppc64"), 10), 7);
}
END_TEST

START_TEST(what_gdb_has_no_number_for_is_unknown)
{
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 0), TS_SIGNAL_UNKNOWN);
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 16), TS_SIGNAL_UNKNOWN); /* SIGSTKFLT */
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 128), TS_SIGNAL_UNKNOWN);
	ck_assert_uint_eq(ts_signal_to_linux(arch("x86_64"), 29), 0); /* SIGLOST */
	ck_assert_uint_eq(ts_signal_to_linux(arch("x86_64"), 200), 0);
	/* gdb 13: SIG32 is 77, SIG33..SIG63 are 45..75, SIG64 is 78 */
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 32), 77);
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 34), 46);
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 63), 75);
	ck_assert_uint_eq(ts_signal_from_linux(arch("x86_64"), 64), 78);
}
END_TEST

START_TEST(there_and_back_is_the_same_signal)
{
	static const char *const names[] = { "x86_64", "arm", "mips", "sparc", "s390x" };

	for (size_t a = 0; a < sizeof(names) / sizeof(names[0]); a++) {
		for (uint32_t n = 1; n <= 127; n++) {
			uint32_t gdb = ts_signal_from_linux(arch(names[a]), n);

			if (gdb != TS_SIGNAL_UNKNOWN)
				ck_assert_uint_eq(ts_signal_to_linux(arch(names[a]), gdb), n);
			else
				ck_assert_uint_eq(n, 16); /* SIGSTKFLT alone */
		}
	}
}
END_TEST

UNIT_SUITE("signals", names_are_those_of_the_systems_own_header,
	   processors_number_some_signals_in_their_own_way, what_gdb_has_no_number_for_is_unknown,
	   there_and_back_is_the_same_signal)
