/* SPDX-License-Identifier: MIT */
/*
 * Round trips a second: a raw client asks tracestub over a recording and, in the same run, real gdbserver
 * over the program that the recording was made from.
 *
 * The client sends a packet, waits for the whole reply, and sends the next: what a debugger does.  Both
 * servers are asked without acknowledgements, over TCP on the loopback address.  They take turns, and the
 * best turn of each counts, so that what else the machine does matters less.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording.h"

#define N_TURNS 5
#define TURN_SECONDS 0.3
#define N_STEPS 1000000
#define REPLY_LEN 65536

/* A server that was started, and the connection to it. */
struct server {
	const char *name;
	pid_t pid;
	int fd;
	char reply[REPLY_LEN]; /* payload of the last one, terminated */
	char text[REPLY_LEN];  /* received and not read yet */
	size_t n_text;
};

/* ------------------------------------------------------------------------------------------------ packets */

static void send_packet(const struct server *sv, const char *payload)
{
	char packet[1024];
	unsigned char sum = 0;
	int len;

	for (const char *p = payload; *p; p++)
		sum = (unsigned char)(sum + (unsigned char)*p);
	len = snprintf(packet, sizeof(packet), "$%s#%02x", payload, sum);
	if (write(sv->fd, packet, (size_t)len) != len)
		bench_die("%s took no packet", sv->name);
}

/* The payload of a packet: "x*!" is x and, as '!' is 29 + 4, four more of it. */
static void expand(struct server *sv, const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end && n < sizeof(sv->reply) - 128; p++) {
		if (*p != '*' || p + 1 == end || p[1] < 29) {
			sv->reply[n++] = *p;
			continue;
		}
		p++;
		memset(sv->reply + n, p[-2], (size_t)(*p - 29));
		n += (size_t)(*p - 29);
	}
	sv->reply[n] = '\0';
}

/* Take one packet out of what was received.  Returns false if there is no whole one yet. */
static bool take_packet(struct server *sv)
{
	char *start = memchr(sv->text, '$', sv->n_text), *end;

	end = start ? memchr(start, '#', sv->n_text - (size_t)(start - sv->text)) : NULL;
	if (!end || sv->n_text - (size_t)(end - sv->text) < 3)
		return false;
	expand(sv, start + 1, end);
	sv->n_text -= (size_t)(end + 3 - sv->text);
	memmove(sv->text, end + 3, sv->n_text);
	return true;
}

static void ask(struct server *sv, const char *payload)
{
	send_packet(sv, payload);
	while (!take_packet(sv)) {
		ssize_t n = read(sv->fd, sv->text + sv->n_text, sizeof(sv->text) - sv->n_text);

		if (n <= 0)
			bench_die("%s hung up on %s", sv->name, payload);
		sv->n_text += (size_t)n;
	}
}

/* ------------------------------------------------------------------------------------------------ servers */

static int connect_to(const char *name, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		bench_die("%s does not listen on port %d", name, port);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* Read what the server says until the line about its port, which ends with it. */
static int read_port(const char *name, FILE *says)
{
	char line[1024];

	while (fgets(line, sizeof(line), says)) {
		const char *digits = line + strcspn(line, "\n");

		while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		if (strstr(line, "istening on") && *digits != '\n')
			return atoi(digits);
	}
	bench_die("%s has not started", name);
}

/* Start a program that says on stderr where it listens.  It dies with this one. */
static void start(struct server *sv, const char *name, char *const *argv)
{
	int says[2], null = open("/dev/null", O_RDWR);
	FILE *f;

	*sv = (struct server){ .name = name };
	if (pipe(says) || null < 0)
		bench_die("no pipe");
	sv->pid = fork();
	if (!sv->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(null, 1);
		dup2(says[1], 2);
		close(says[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(says[1]);
	close(null);
	f = fdopen(says[0], "r");
	sv->fd = connect_to(name, read_port(name, f));
	fclose(f);
	ask(sv, "QStartNoAckMode");
	if (write(sv->fd, "+", 1) != 1 || strcmp(sv->reply, "OK"))
		bench_die("%s wants acknowledgements", name);
	ask(sv, "?");
}

static void stop(struct server *sv)
{
	close(sv->fd);
	kill(sv->pid, SIGKILL);
	waitpid(sv->pid, NULL, 0);
}

static void start_tracestub(struct server *sv, char *recording)
{
	const char *path = getenv("TRACESTUB");
	char *const argv[] = {
		(char *)(path ? path : "./tracestub"), "serve", ":0", recording, "--quiet", NULL
	};

	start(sv, "tracestub", argv);
}

static void start_gdbserver(struct server *sv, char *program)
{
	char *const argv[] = { "gdbserver", "--once", "localhost:0", program, NULL };

	start(sv, "gdbserver", argv);
}

static bool has_gdbserver(void)
{
	return system("command -v gdbserver >/dev/null") == 0;
}

/* --------------------------------------------------------------------------------------- what is measured */

enum request {
	STEP,
	VCONT_STEP,
	REVERSE_STEP,
	CONTINUE,
	REGISTERS,
	MEMORY,
	N_REQUESTS
};

static const struct {
	const char *packet, *what;
} requests[N_REQUESTS] = {
	[STEP] = { "s", "s (gdbserver: vCont;s)" },
	[VCONT_STEP] = { "vCont;s", "vCont;s" },
	[REVERSE_STEP] = { "bs", "bs" },
	[CONTINUE] = { "c", "c to a breakpoint that is hit often" },
	[REGISTERS] = { "g", "g" },
	[MEMORY] = { NULL, "m of 64 bytes of stack" },
};

/* A register out of a stop reply, by gdb's number; 0 if it is not there. */
static uint64_t stop_register(const struct server *sv, unsigned regnum)
{
	char key[8];
	const char *p;
	uint64_t v = 0;

	snprintf(key, sizeof(key), "%02x:", regnum);
	for (p = sv->reply + 3; p && strncmp(p, key, strlen(key));
	     p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
		;
	for (unsigned i = 0; p && i < 8; i++) {
		unsigned byte;

		if (sscanf(p + strlen(key) + 2 * i, "%2x", &byte) == 1)
			v |= (uint64_t)byte << 8 * i;
	}
	return v;
}

#define REGNUM_SP 7

static bool is_over(const struct server *sv)
{
	return sv->reply[0] == 'W' || sv->reply[0] == 'X' || strstr(sv->reply, "replaylog");
}

/* Round trips a second, until the time is over or the program is. */
static double rate(struct server *sv, const char *packet)
{
	double begin = bench_now(), now = begin;
	uint64_t n = 0;

	do {
		ask(sv, packet);
		if (is_over(sv))
			break;
		if (sv->reply[0] == 'E' || !sv->reply[0])
			bench_die("%s answers %s with '%s'", sv->name, packet, sv->reply);
		n++;
		if (n % 16 == 0)
			now = bench_now();
	} while (now - begin < TURN_SECONDS);
	return (double)n / (bench_now() - begin);
}

/* A turn of a server that stands at the beginning. */
static double turn(struct server *sv, enum request request, uint64_t hot)
{
	char packet[64];

	switch (request) {
	case CONTINUE:
		snprintf(packet, sizeof(packet), "Z0,%" PRIx64 ",1", hot);
		ask(sv, packet);
		break;
	case REVERSE_STEP:
		ask(sv, "c");
		break;
	case MEMORY:
		ask(sv, "?");
		snprintf(packet, sizeof(packet), "m%" PRIx64 ",40", stop_register(sv, REGNUM_SP));
		return rate(sv, packet);
	case STEP:
	case VCONT_STEP:
	case REGISTERS:
	case N_REQUESTS:
		break;
	}
	return rate(sv, requests[request].packet);
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/*
 * Both servers start anew for each turn: the program is short.  To gdbserver a bare "s" is no step of one
 * thread.
 */
static void measure(enum request request, char *recording, char *program, uint64_t hot, double *stub,
		    double *live)
{
	struct server sv;

	for (unsigned i = 0; i < N_TURNS; i++) {
		start_tracestub(&sv, recording);
		*stub = greater(*stub, turn(&sv, request, hot));
		stop(&sv);
		if (!program || request == REVERSE_STEP)
			continue;
		start_gdbserver(&sv, program);
		*live = greater(*live, turn(&sv, request == STEP ? VCONT_STEP : request, hot));
		stop(&sv);
	}
}

/* The program of the bundled recording, in a place where it can be run. */
static char *copy_program(const char *source)
{
	char *copy = bench_temp("program"), buf[65536], path[4096];
	FILE *in, *out;
	size_t n;

	snprintf(path, sizeof(path), "%.*s.elf", (int)strlen(source) - 5, source);
	in = fopen(path, "rb");
	out = fopen(copy, "wb");
	if (!in || !out)
		bench_die("%s cannot be copied", path);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	fclose(in);
	if (fclose(out) || chmod(copy, 0700))
		bench_die("%s cannot be copied", path);
	return copy;
}

static void print(const char *name, const double *stub, const double *live, bool is_live)
{
	printf("rsp: round trips a second of a raw client over TCP, best of %d turns; \"%s\", its frames "
	       "repeated to %d steps, "
	       "beside %s\n",
	       N_TURNS, name, N_STEPS,
	       is_live ? "gdbserver on the same program" : "nothing: there is no gdbserver here");
	printf("  %-38s%12s%12s%12s\n", "", "tracestub", "gdbserver", "ratio");
	for (enum request i = 0; i < N_REQUESTS; i++) {
		printf("  %-38s%12.0f", requests[i].what, stub[i]);
		if (live[i] > 0)
			printf("%12.0f%12.1f", live[i], stub[i] / live[i]);
		putchar('\n');
	}
}

int main(void)
{
	double stub[N_REQUESTS] = { 0 }, live[N_REQUESTS] = { 0 };
	char *recording = bench_temp("rsp"), *program = NULL;
	const char *name, *source = bench_source(&name);
	struct bench_recording rec;

	bench_record(source, recording, BENCH_FRAMED, N_STEPS, &rec);
	if (has_gdbserver())
		program = copy_program(source);
	for (enum request i = 0; i < N_REQUESTS; i++)
		measure(i, recording, program, rec.hot, &stub[i], &live[i]);
	print(name, stub, live, program != NULL);
	free(program);
	free(recording);
	return 0;
}
