/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

void bench_check(bool done, const struct ts_error *err)
{
	if (!done)
		bench_die("%s", err->text);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
	return seconds(CLOCK_MONOTONIC);
}

double bench_cpu(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

void *bench_shared(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bench_die("no memory");
	return p;
}

void bench_in_child(void (*f)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		f(arg);
		fflush(NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bench_die("a part of it did not succeed");
}

/* -------------------------------------------------------------------------------------------------- files */

#define MAX_TEMPS 256

static char *temps[MAX_TEMPS];
static unsigned n_temps;

static void remove_temps(void)
{
	for (unsigned i = 0; i < n_temps; i++)
		bench_remove(temps[i]);
}

char *bench_temp(const char *name)
{
	const char *folder = getenv("TEST_BUILDDIR");
	char *path;

	if (n_temps == MAX_TEMPS ||
	    asprintf(&path, "%s/tests/bench/%s.%d", folder ? folder : ".", name, (int)getpid()) < 0)
		bench_die("no memory");
	if (!n_temps)
		atexit(remove_temps);
	temps[n_temps++] = strdup(path);
	return path;
}

void bench_remove_index(const char *path)
{
	static const char *const suffixes[] = { ".tsindex", ".tsindex.part", ".tsindex.find", ".tsindex.layout" };
	char name[4096];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

void bench_remove(const char *path)
{
	bench_remove_index(path);
	unlink(path);
}

const char *bench_data(const char *name)
{
	static char path[4096];
	const char *folder = getenv("TEST_SRCDIR");

	snprintf(path, sizeof(path), "%s/tests/data/%s", folder ? folder : ".", name);
	return path;
}

/* ----------------------------------------------------------------------------------------- what is wanted */

size_t bench_sizes(uint64_t *millions, size_t max)
{
	const char *sizes = getenv("BENCH_SIZES"), *large = getenv("BENCH_LARGE");
	char text[256], *at = text, *end;
	size_t n = 0;

	snprintf(text, sizeof(text), "%s%s", sizes ? sizes : "1 10", large && *large == '1' ? " 1000" : "");
	for (uint64_t m; n < max && (m = strtoull(at, &end, 10)); at = end)
		millions[n++] = m;
	return n;
}

bool bench_is_named(const char *variable, const char *name)
{
	const char *names = getenv(variable);
	size_t len = strlen(name);

	if (!names || !*names)
		return true;
	for (const char *p = names; (p = strstr(p, name)); p += len)
		if ((p == names || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	return false;
}

bool bench_is_wanted(const char *format)
{
	return bench_is_named("BENCH_FORMATS", format);
}

/* ------------------------------------------------------------------------------------------------ figures */

void bench_figure(const char *table, const char *column, const char *name, double value,
		  enum bench_asked asked, double limit, const char *note)
{
	static const char *const signs[] = { [BENCH_AT_LEAST] = ">=", [BENCH_AT_MOST] = "<=" };

	printf("figure\t%s\t%s\t%s\t%.6g\t", table, column, name, value);
	if (asked != BENCH_NOTHING)
		printf("%s%.6g\t%s", signs[asked], limit, note ? note : "");
	else
		putchar('\t');
	putchar('\n');
	fflush(stdout);
}

void bench_about(const char *table, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("about\t%s\t", table);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	fflush(stdout);
}
