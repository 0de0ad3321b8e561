/* SPDX-License-Identifier: MIT */
/*
 * Many clients of one server, each of which moves about in a recording and checks every answer with a naive
 * twin.
 *
 *      soak HOST PORT STATES STEPS CLIENTS SECONDS PID
 *
 * STATES has a line a position: the pc and the whole reply to "g", as the emulator's own oracle has them.
 * STEPS is what `states steps` prints: what each instruction read and wrote.  The twin finds where a run ends
 * by looking at one position after the other, and a byte of memory by the last access to it.
 *
 * Prints answers, wrong ones, median and 99th percentile of the round trips, and by how much the resident
 * memory of the server, the process PID, has grown since a fifth of the time was over.  The status is 1 if an
 * answer was wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_REPLY 65536
#define TICK_US	  10u
#define N_TICKS	  100000u /* up to a second */
#define MAX_WRONG 5u
#define MAX_CHECK 256u

struct access {
	size_t pos;
	uint64_t addr;
	const char *hex; /* ".." is unknown */
	size_t len;
};

/* What the recording was. */
static struct {
	uint64_t *pcs;
	char **states;
	size_t n; /* positions */
	struct access *accesses;
	size_t n_accesses;
} twin;

/* What the next reply must be. */
enum check { CHECK_ANY, CHECK_OK, CHECK_STOP, CHECK_STATE, CHECK_BYTES, CHECK_WHEN };

struct client {
	int fd;
	unsigned random;
	size_t pos;
	enum check check;
	char packet[128], bytes[2 * MAX_CHECK + 1];
	uint64_t breakpoint; /* the one that is set, 0: none */
	bool is_running;     /* after a run: the breakpoint goes */
	char in[MAX_REPLY], console[4096];
	size_t n_in;
	int64_t sent_ns;
};

static uint64_t n_answers, n_wrong, ticks[N_TICKS];
static bool is_warm;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *grown(void *items, size_t n, size_t item_len)
{
	if (n & (n - 1))
		return items;
	items = realloc(items, (n ? 2 * n : 1) * item_len);
	return items ? items : (die("memory"), NULL);
}

/* ----------------------------------------------------------------------------------------------- the twin */

static void read_states(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t cap = 0;
	char *line = NULL;

	if (!file)
		die(path);
	while (getline(&line, &cap, file) > 0) {
		char *state = strchr(line, ' ') + 1;

		state[strcspn(state, "\n")] = '\0';
		twin.pcs = grown(twin.pcs, twin.n, sizeof(*twin.pcs));
		twin.states = grown(twin.states, twin.n, sizeof(*twin.states));
		twin.pcs[twin.n] = strtoull(line, NULL, 16);
		twin.states[twin.n++] = strdup(state);
	}
	free(line);
	fclose(file);
}

/* "KIND:ADDR:HEX" */
static void add_access(size_t pos, const char *word)
{
	char *end;
	uint64_t addr = strtoull(word + 2, &end, 16);

	twin.accesses = grown(twin.accesses, twin.n_accesses, sizeof(*twin.accesses));
	twin.accesses[twin.n_accesses++] = (struct access){ pos, addr, strdup(end + 1), strlen(end + 1) / 2 };
}

static void read_steps(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *rest;
	size_t cap = 0;

	if (!file)
		die(path);
	for (size_t pos = 0; getline(&line, &cap, file) > 0; pos++) {
		strtok_r(line, " \n", &rest);
		for (const char *word; (word = strtok_r(NULL, " \n", &rest));)
			add_access(pos, word);
	}
	free(line);
	fclose(file);
}

/* How many accesses happened before position @pos. */
static size_t accesses_before(size_t pos)
{
	size_t lo = 0, hi = twin.n_accesses;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (twin.accesses[mid].pos < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Two digits of the byte as the last of the first @n accesses to it has it; false if none has it, or it is
 * unknown.
 */
static bool byte_after(size_t n, uint64_t addr, char digits[2])
{
	while (n--) {
		const struct access *a = &twin.accesses[n];

		if (addr < a->addr || addr - a->addr >= a->len)
			continue;
		memcpy(digits, a->hex + 2 * (addr - a->addr), 2);
		return *digits != '.';
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------ packets */

static unsigned chance(struct client *c, size_t n)
{
	return (unsigned)rand_r(&c->random) % (unsigned)n;
}

static void send_packet(struct client *c, enum check check, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void send_packet(struct client *c, enum check check, const char *fmt, ...)
{
	char framed[sizeof(c->packet) + 8];
	uint8_t sum = 0;
	va_list ap;
	int len;

	va_start(ap, fmt);
	vsnprintf(c->packet, sizeof(c->packet), fmt, ap);
	va_end(ap);
	for (const char *p = c->packet; *p; p++)
		sum = (uint8_t)(sum + (uint8_t)*p);
	len = snprintf(framed, sizeof(framed), "$%s#%02x", c->packet, sum);
	c->check = check;
	*c->console = '\0';
	c->sent_ns = now_ns();
	if (write(c->fd, framed, (size_t)len) != len)
		die("the server has gone");
}

static void send_monitor(struct client *c, enum check check, const char *text)
{
	char hex[100];

	for (size_t i = 0; text[i]; i++)
		sprintf(hex + 2 * i, "%02x", (uint8_t)text[i]);
	send_packet(c, check, "qRcmd,%s", hex);
}

static void send_goto(struct client *c)
{
	char text[40];

	c->pos = 1 + chance(c, twin.n - 2);
	snprintf(text, sizeof(text), "goto %zu", c->pos);
	send_monitor(c, CHECK_OK, text);
}

/* Memory that was accessed lately; what the twin does not know is not asked. */
static void send_memory(struct client *c)
{
	size_t before = accesses_before(c->pos), n = 0;
	const struct access *a;

	if (!before) {
		send_packet(c, CHECK_STATE, "g");
		return;
	}
	a = &twin.accesses[before - 1 - chance(c, before < 500 ? before : 500)];
	while (n < MAX_CHECK / 4 && byte_after(before, a->addr + n, c->bytes + 2 * n))
		n++;
	c->bytes[2 * n] = '\0';
	if (n)
		send_packet(c, CHECK_BYTES, "m%" PRIx64 ",%zx", a->addr, n);
	else
		send_packet(c, CHECK_STATE, "g");
}

static void send_step(struct client *c)
{
	bool is_back = chance(c, 2);

	if (c->pos <= 1 || c->pos >= twin.n - 2) {
		send_goto(c);
		return;
	}
	c->pos = is_back ? c->pos - 1 : c->pos + 1;
	send_packet(c, CHECK_STOP, "%s", is_back ? "bs" : chance(c, 2) ? "s" : "vCont;s");
}

/* Until the pc is out of the range; at least one step. */
static void send_range_step(struct client *c)
{
	uint64_t from = twin.pcs[c->pos] & ~UINT64_C(63), to = from + 64;
	size_t k = c->pos;

	do
		k++;
	while (k < twin.n - 1 && twin.pcs[k] >= from && twin.pcs[k] < to);
	if (k >= twin.n - 2) {
		send_goto(c);
		return;
	}
	c->pos = k;
	send_packet(c, CHECK_STOP, "vCont;r%" PRIx64 ",%" PRIx64, from, to);
}

/* A breakpoint where the program was, or will be. */
static void send_breakpoint(struct client *c)
{
	c->breakpoint = twin.pcs[1 + chance(c, twin.n - 3)];
	send_packet(c, CHECK_OK, "Z0,%" PRIx64 ",1", c->breakpoint);
}

/* To the breakpoint in the direction in which it is. */
static void send_run(struct client *c)
{
	size_t k = c->pos + 1, back = c->pos;

	c->is_running = true;
	while (k < twin.n - 1 && twin.pcs[k] != c->breakpoint)
		k++;
	while (back-- > 1 && twin.pcs[back] != c->breakpoint)
		continue;
	if (k < twin.n - 1 && (chance(c, 2) || back < 1 || twin.pcs[back] != c->breakpoint)) {
		c->pos = k;
		send_packet(c, CHECK_STOP, chance(c, 2) ? "c" : "vCont;c");
	} else if (back >= 1 && back < c->pos && twin.pcs[back] == c->breakpoint) {
		c->pos = back;
		send_packet(c, CHECK_STOP, "bc");
	} else {
		send_packet(c, CHECK_STATE, "g");
	}
}

static void send_next(struct client *c)
{
	if (c->breakpoint && c->is_running) {
		uint64_t at = c->breakpoint;

		c->breakpoint = 0;
		c->is_running = false;
		send_packet(c, CHECK_OK, "z0,%" PRIx64 ",1", at);
	} else if (c->breakpoint) {
		send_run(c);
	} else {
		switch (chance(c, 16)) {
		case 0:
			send_goto(c);
			break;
		case 1:
			send_monitor(c, CHECK_WHEN, "when");
			break;
		case 2:
			send_range_step(c);
			break;
		case 3:
		case 4:
			send_breakpoint(c);
			break;
		case 5:
		case 6:
		case 7:
			send_memory(c);
			break;
		case 8:
		case 9:
		case 10:
			send_packet(c, CHECK_STATE, "g");
			break;
		default:
			send_step(c);
		}
	}
}

/* ------------------------------------------------------------------------------------------------ replies */

/* "x*!" is x and as many more of it as '!' is above 28 */
static void expand(const char *from, size_t len, char to[MAX_REPLY])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < MAX_REPLY - 130; i++) {
		if (from[i] == '*' && i && i + 1 < len) {
			size_t more = (size_t)(from[++i] - 29);

			memset(to + n, to[n - 1], more);
			n += more;
		} else {
			to[n++] = from[i];
		}
	}
	to[n] = '\0';
}

/* Text that comes before the reply, in hexadecimal. */
static void add_console(struct client *c, const char *hex)
{
	size_t n = strlen(c->console);
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1 && n < sizeof(c->console) - 1; hex += 2)
		c->console[n++] = (char)byte;
	c->console[n] = '\0';
}

static bool is_right(const struct client *c, const char *reply)
{
	char when[40];

	switch (c->check) {
	case CHECK_ANY:
		return true;
	case CHECK_OK:
		return !strcmp(reply, "OK");
	case CHECK_STOP:
		return !strncmp(reply, "T05", 3) && !strstr(reply, "replaylog");
	case CHECK_STATE:
		return !strcmp(reply, twin.states[c->pos]);
	case CHECK_BYTES:
		return !strcmp(reply, c->bytes);
	case CHECK_WHEN:
		snprintf(when, sizeof(when), "position %zu of %zu ", c->pos, twin.n - 1);
		return !strcmp(reply, "OK") && strstr(c->console, when);
	}
	return false;
}

static void note_time(const struct client *c)
{
	uint64_t tick = (uint64_t)(now_ns() - c->sent_ns) / 1000 / TICK_US;

	if (is_warm)
		ticks[tick < N_TICKS ? tick : N_TICKS - 1]++;
}

static void take_reply(struct client *c, const char *payload, size_t len)
{
	char reply[MAX_REPLY];

	expand(payload, len, reply);
	if (*reply == 'O' && strcmp(reply, "OK")) {
		add_console(c, reply + 1);
		return;
	}
	note_time(c);
	n_answers++;
	if (!is_right(c, reply) && ++n_wrong <= MAX_WRONG)
		fprintf(stderr, "soak: at position %zu, %s: %.400s %.80s, not %.400s\n", c->pos, c->packet,
			reply, c->console,
			c->check == CHECK_STATE   ? twin.states[c->pos]
			: c->check == CHECK_BYTES ? c->bytes
						  : "that");
	send_next(c);
}

static void take(struct client *c)
{
	ssize_t n = read(c->fd, c->in + c->n_in, sizeof(c->in) - c->n_in);
	const char *start, *end;

	if (n <= 0)
		die("the server has hung up");
	c->n_in += (size_t)n;
	while ((start = memchr(c->in, '$', c->n_in)) &&
	       (end = memchr(start, '#', c->n_in - (size_t)(start - c->in))) && end + 3 <= c->in + c->n_in) {
		take_reply(c, start + 1, (size_t)(end - start) - 1);
		c->n_in -= (size_t)(end + 3 - c->in);
		memmove(c->in, end + 3, c->n_in);
	}
}

/* --------------------------------------------------------------------------------------------------- main */

static int connect_to(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int fd, one = 1;

	if (getaddrinfo(host, port, &hints, &found))
		die(host);
	fd = socket(found->ai_family, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen))
		die("cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	freeaddrinfo(found);
	return fd;
}

/* Acknowledgements end; then the client goes somewhere. */
static void begin(struct client *c, unsigned seed, const char *host, const char *port)
{
	static const char hello[] = "+$QStartNoAckMode#b0";
	char reply[16];
	size_t n = 0;
	ssize_t got;

	c->fd = connect_to(host, port);
	c->random = seed;
	if (write(c->fd, hello, sizeof(hello) - 1) < 0)
		die("hello");
	while (n < 7 && (got = read(c->fd, reply + n, sizeof(reply) - n)) > 0) /* "+$OK#9a" */
		n += (size_t)got;
	if (n != 7 || write(c->fd, "+", 1) != 1)
		die("the server does not begin");
	send_goto(c);
}

static long resident(const char *pid)
{
	char path[64];
	long pages = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/statm", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		die(path);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Milliseconds that this share of the round trips did not exceed. */
static double percentile(double share)
{
	uint64_t sum = 0, all = 0;
	unsigned i = 0;

	for (unsigned k = 0; k < N_TICKS; k++)
		all += ticks[k];
	while (i < N_TICKS && (double)(sum += ticks[i]) < share * (double)all)
		i++;
	return (i + 1) * TICK_US / 1000.0;
}

static void run(struct client *clients, size_t n, double seconds, const char *pid)
{
	struct pollfd *fds = calloc(n, sizeof(*fds));
	int64_t start = now_ns(), warm = start + (int64_t)(seconds * 2e8),
		end = start + (int64_t)(seconds * 1e9);
	long before = 0;

	if (!fds)
		die("memory");
	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = clients[i].fd, .events = POLLIN };
	for (int64_t now = start; now < end; now = now_ns()) {
		if (!is_warm && now >= warm) {
			is_warm = true;
			before = resident(pid);
		}
		if (poll(fds, n, 1000) < 0)
			die("poll");
		for (size_t i = 0; i < n; i++) {
			if (fds[i].revents)
				take(&clients[i]);
		}
	}
	printf("%zu clients, %.0f s: %" PRIu64 " answers, %" PRIu64
	       " wrong, median %.2f ms, p99 %.2f ms, growth %ld bytes\n",
	       n, seconds, n_answers, n_wrong, percentile(0.5), percentile(0.99), resident(pid) - before);
	free(fds);
}

int main(int argc, char **argv)
{
	size_t n_clients = argc == 8 ? strtoul(argv[5], NULL, 10) : 0;
	struct client *clients = calloc(n_clients, sizeof(*clients));

	if (!n_clients || !clients) {
		fputs("soak HOST PORT STATES STEPS CLIENTS SECONDS PID\n", stderr);
		return 2;
	}
	read_states(argv[3]);
	read_steps(argv[4]);
	for (size_t i = 0; i < n_clients; i++)
		begin(&clients[i], (unsigned)i + 1, argv[1], argv[2]);
	run(clients, n_clients, strtod(argv[6], NULL), argv[7]);
	for (size_t i = 0; i < n_clients; i++)
		close(clients[i].fd);
	free(clients);
	return n_wrong != 0;
}
