/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <stddef.h>
#include <string.h>

/*
 * Linux's numbers below 32, by gdb's.  Most processors have the usual ones; MIPS and SPARC keep those of the
 * systems that ran there before Linux.
 */
static const struct {
	const char *name;
	uint8_t usual, mips, sparc;
} signals[] = {
	[1] = { "SIGHUP", 1, 1, 1 },       [2] = { "SIGINT", 2, 2, 2 },       [3] = { "SIGQUIT", 3, 3, 3 },
	[4] = { "SIGILL", 4, 4, 4 },       [5] = { "SIGTRAP", 5, 5, 5 },      [6] = { "SIGABRT", 6, 6, 6 },
	[7] = { "SIGEMT", 0, 7, 7 },       [8] = { "SIGFPE", 8, 8, 8 },       [9] = { "SIGKILL", 9, 9, 9 },
	[10] = { "SIGBUS", 7, 10, 10 },    [11] = { "SIGSEGV", 11, 11, 11 },  [12] = { "SIGSYS", 31, 12, 12 },
	[13] = { "SIGPIPE", 13, 13, 13 },  [14] = { "SIGALRM", 14, 14, 14 },  [15] = { "SIGTERM", 15, 15, 15 },
	[16] = { "SIGURG", 23, 21, 16 },   [17] = { "SIGSTOP", 19, 23, 17 },  [18] = { "SIGTSTP", 20, 24, 18 },
	[19] = { "SIGCONT", 18, 25, 19 },  [20] = { "SIGCHLD", 17, 18, 20 },  [21] = { "SIGTTIN", 21, 26, 21 },
	[22] = { "SIGTTOU", 22, 27, 22 },  [23] = { "SIGIO", 29, 22, 23 },    [24] = { "SIGXCPU", 24, 30, 24 },
	[25] = { "SIGXFSZ", 25, 31, 25 },  [26] = { "SIGVTALRM", 26, 28, 26 }, [27] = { "SIGPROF", 27, 29, 27 },
	[28] = { "SIGWINCH", 28, 20, 28 }, [29] = { "SIGLOST", 0, 0, 0 },     [30] = { "SIGUSR1", 10, 16, 30 },
	[31] = { "SIGUSR2", 12, 17, 31 },  [32] = { "SIGPWR", 30, 19, 29 },
};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* gdb's numbers of real-time signals: 33..63 follow each other, so do 64..127. */
#define REALTIME_32 77u
#define REALTIME_33 45u
#define REALTIME_64 78u
#define LAST_REALTIME 127u

/* Real-time signals by Linux's number, from 32 on. */
static const char realtime[][8] = {
#define R(n) "SIG" #n
	R(32),  R(33),  R(34),  R(35),  R(36),  R(37),  R(38),  R(39),  R(40),  R(41),  R(42),  R(43),
	R(44),  R(45),  R(46),  R(47),  R(48),  R(49),  R(50),  R(51),  R(52),  R(53),  R(54),  R(55),
	R(56),  R(57),  R(58),  R(59),  R(60),  R(61),  R(62),  R(63),  R(64),  R(65),  R(66),  R(67),
	R(68),  R(69),  R(70),  R(71),  R(72),  R(73),  R(74),  R(75),  R(76),  R(77),  R(78),  R(79),
	R(80),  R(81),  R(82),  R(83),  R(84),  R(85),  R(86),  R(87),  R(88),  R(89),  R(90),  R(91),
	R(92),  R(93),  R(94),  R(95),  R(96),  R(97),  R(98),  R(99),  R(100), R(101), R(102), R(103),
	R(104), R(105), R(106), R(107), R(108), R(109), R(110), R(111), R(112), R(113), R(114), R(115),
	R(116), R(117), R(118), R(119), R(120), R(121), R(122), R(123), R(124), R(125), R(126), R(127),
#undef R
};

static uint32_t linux_number(const struct ts_arch *arch, size_t gdb)
{
	if (strncmp(arch->name, "mips", 4) == 0)
		return signals[gdb].mips;
	return strncmp(arch->name, "sparc", 5) == 0 ? signals[gdb].sparc : signals[gdb].usual;
}

uint32_t ts_signal_from_linux(const struct ts_arch *arch, uint32_t number)
{
	if (number == 32)
		return REALTIME_32;
	if (number > 32 && number < 64)
		return REALTIME_33 + (number - 33);
	if (number >= 64 && number <= LAST_REALTIME)
		return REALTIME_64 + (number - 64);
	for (uint32_t i = 1; i < N_SIGNALS && number; i++)
		if (linux_number(arch, i) == number)
			return i;
	return TS_SIGNAL_UNKNOWN;
}

/* Linux's number of gdb's real-time signal @number, the same on each processor; 0 if it is another signal. */
static uint32_t realtime_number(uint64_t number)
{
	if (number == REALTIME_32)
		return 32;
	if (number >= REALTIME_33 && number < REALTIME_33 + 31)
		return 33 + (uint32_t)(number - REALTIME_33);
	if (number >= REALTIME_64 && number <= REALTIME_64 + (LAST_REALTIME - 64))
		return 64 + (uint32_t)(number - REALTIME_64);
	return 0;
}

uint32_t ts_signal_to_linux(const struct ts_arch *arch, uint32_t number)
{
	return number && number < N_SIGNALS ? linux_number(arch, number) : realtime_number(number);
}

const char *ts_signal_name(uint64_t number)
{
	const uint32_t n = realtime_number(number);

	if (n)
		return realtime[n - 32];
	return number < N_SIGNALS ? signals[number].name : NULL;
}
