/* SPDX-License-Identifier: MIT */
#include "rsp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define N_TURNS      3
#define TURN_SECONDS 0.2
#define N_RUNS_BACK  5
#define REPLY_LEN    65536
#define REGNUM_SP    7 /* of x86-64 */

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

static const char *tracestub(void)
{
	const char *path = getenv("TRACESTUB");

	return path ? path : "./tracestub";
}

/* @index is the value of --index, NULL for none on the command line. */
static void start_tracestub(struct server *sv, const char *recording, const char *index)
{
	const char *const argv[] = { tracestub(), "serve",   ":0",
				     recording,   "--quiet", index ? "--index" : NULL,
				     index,       NULL };

	start(sv, "tracestub", (char *const *)argv);
}

static void start_gdbserver(struct server *sv, const char *program)
{
	const char *const argv[] = { "gdbserver", "--once", "localhost:0", program, NULL };

	start(sv, "gdbserver", (char *const *)argv);
}

/* -------------------------------------------------------------------------------------------- one request */

static const struct {
	const char *packet, *what;
} requests[N_REQUESTS] = {
	[REQUEST_STEP] = { "s", "s" },
	[REQUEST_BACK] = { "bs", "bs" },
	[REQUEST_CONTINUE] = { "c", "c to a breakpoint" },
	[REQUEST_REGISTERS] = { "g", "g" },
	[REQUEST_MEMORY] = { NULL, "m of 64 bytes of stack" },
};

const char *bench_request_name(enum bench_request request)
{
	return requests[request].what;
}

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
		if (!sv->reply[0])
			bench_die("%s does not know %s", sv->name, packet);
		n++;
		if (n % 16 == 0)
			now = bench_now();
	} while (now - begin < TURN_SECONDS);
	return (double)n / (bench_now() - begin);
}

/* A turn of a server that stands at the beginning; @usual is the packet, where it needs no address. */
static double turn(struct server *sv, enum bench_request request, const char *usual, uint64_t hot)
{
	char packet[64];

	switch (request) {
	case REQUEST_CONTINUE:
		snprintf(packet, sizeof(packet), "Z0,%" PRIx64 ",1", hot);
		ask(sv, packet);
		break;
	case REQUEST_BACK: ask(sv, "c"); break;
	case REQUEST_MEMORY:
		ask(sv, "?");
		snprintf(packet, sizeof(packet), "m%" PRIx64 ",40", stop_register(sv, REGNUM_SP));
		return rate(sv, packet);
	case REQUEST_STEP:
	case REQUEST_REGISTERS:
	case N_REQUESTS: break;
	}
	return rate(sv, usual);
}

static void keep_greatest(double *greatest, double value)
{
	if (value > *greatest)
		*greatest = value;
}

/* -------------------------------------------------------------------------------------------- a recording */

/* Seconds from the start of a server to the answer to its first question. */
static double first_answer(const char *recording, const char *index)
{
	double begin = bench_now(), s;
	struct server sv;

	start_tracestub(&sv, recording, index);
	s = bench_now() - begin;
	stop(&sv);
	return s;
}

static void index_trace(const char *recording)
{
	char command[4096];

	snprintf(command, sizeof(command), "'%s' index --quiet '%s' >/dev/null", tracestub(), recording);
	if (system(command))
		bench_die("%s fails", command);
}

/* Seconds of running backwards from the end to the only write to @mark; the least of some runs. */
static double run_back(const char *recording, uint64_t mark)
{
	struct server sv;
	double best = 0;
	char packet[64];

	start_tracestub(&sv, recording, NULL);
	for (unsigned i = 0; i < N_RUNS_BACK; i++) {
		double begin, s;

		ask(&sv, "c");
		snprintf(packet, sizeof(packet), "Z2,%" PRIx64 ",8", mark);
		ask(&sv, packet);
		begin = bench_now();
		ask(&sv, "bc");
		s = bench_now() - begin;
		if (!strstr(sv.reply, "watch:"))
			bench_die("tracestub answers bc with '%s'", sv.reply);
		if (!i || s < best)
			best = s;
		packet[0] = 'z';
		ask(&sv, packet);
	}
	stop(&sv);
	return best;
}

/* The program of a bundled recording, in a place where it can be run. */
static char *copy_program(const char *program)
{
	char *copy = bench_temp("program"), buf[65536];
	FILE *in = fopen(program, "rb"), *out = fopen(copy, "wb");
	size_t n;

	if (!in || !out)
		bench_die("%s cannot be copied", program);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	fclose(in);
	if (fclose(out) || chmod(copy, 0700))
		bench_die("%s cannot be copied", program);
	return copy;
}

/* One turn of each; to gdbserver a bare "s" is no step of one thread. */
static void take_turns(enum bench_request request, const struct bench_served *recording, const char *program,
		       uint64_t program_hot, struct bench_round_trips *stub, struct bench_round_trips *live)
{
	const char *packet = requests[request].packet;
	struct server sv;

	start_tracestub(&sv, recording->path, NULL);
	keep_greatest(&stub->rates[request], turn(&sv, request, packet, recording->hot));
	stop(&sv);
	if (!program || request == REQUEST_BACK)
		return;
	start_gdbserver(&sv, program);
	keep_greatest(&live->rates[request],
		      turn(&sv, request, request == REQUEST_STEP ? "vCont;s" : packet, program_hot));
	stop(&sv);
}

void bench_round_trips(const struct bench_served *recording, const struct bench_served *program,
		       struct bench_round_trips *stub, struct bench_round_trips *live)
{
	char *copy = program ? copy_program(program->path) : NULL;

	*stub = (struct bench_round_trips){ .first_s = first_answer(recording->path, "none") };
	*live = (struct bench_round_trips){ 0 };
	if (recording->has_index)
		index_trace(recording->path);
	stub->again_s = first_answer(recording->path, NULL);
	for (enum bench_request request = 0; request < N_REQUESTS; request++)
		for (unsigned i = 0; i < N_TURNS; i++)
			take_turns(request, recording, copy, program ? program->hot : 0, stub, live);
	if (recording->mark)
		stub->back_s = run_back(recording->path, recording->mark);
	if (copy)
		bench_remove(copy);
	free(copy);
}

bool bench_has_gdbserver(void)
{
	return system("command -v gdbserver >/dev/null") == 0;
}
