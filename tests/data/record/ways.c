/* SPDX-License-Identifier: MIT */
/*
 * Ways by which memory changes without a store of the program's: each is read afterwards, whole.  It prints what it found, which
 * no recorder changes, and returns 0 if all was as it is to be.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static int n_wrong;

static void check(const char *what, const char *p, size_t n, char wanted)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += p[i] == wanted;
	printf("%s %zu\n", what, same);
	n_wrong += same != n;
}

static void receive(void)
{
	char sent[64], got[2][32];
	struct iovec out = { sent, 64 }, in[] = { { got[0], 32 }, { got[1], 32 } };
	struct msghdr send_it = { .msg_iov = &out, .msg_iovlen = 1 }, take_it = { .msg_iov = in, .msg_iovlen = 2 };
	int ends[2];

	memset(sent, 'm', sizeof(sent));
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	sendmsg(ends[0], &send_it, 0);
	recvmsg(ends[1], &take_it, 0);
	check("recvmsg", got[0], 64, 'm');
	write(ends[0], sent, 64);
	memset(got, 0, sizeof(got));
	readv(ends[1], in, 2);
	check("readv", got[0], 64, 'm');
}

static void move(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q;

	memset(p, 'r', 2 * PAGE);
	q = mremap(p, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	check("mremap", q, 2 * PAGE, 'r');
	check("behind", q + 2 * PAGE, 62 * PAGE, 0);
}

static void change_break(void)
{
	char *p = sbrk(4 * PAGE);

	memset(p, 'b', 4 * PAGE);
	sbrk(-2 * PAGE);
	check("break", p, 2 * PAGE, 'b');
	sbrk(2 * PAGE);
	p = (char *)(((unsigned long)p + 3 * PAGE) & -PAGE);
	check("break again", p, PAGE, 0);
}

/* Another process writes them. */
static void share(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
	char *attached = shmat(id, NULL, 0);
	char *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	shmctl(id, IPC_RMID, NULL);
	if (!fork()) {
		memset(attached, 's', PAGE);
		memset(mapped, 'c', PAGE);
		_exit(0);
	}
	wait(NULL);
	check("shmat", attached, PAGE, 's');
	check("shared", mapped, PAGE, 'c');
}

static void ask_timer(void)
{
	struct itimerspec set = { { 5, 0 }, { 100, 0 } }, got;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(fd, 0, &set, NULL);
	memset(&got, 't', sizeof(got));
	timerfd_gettime(fd, &got);
	n_wrong += got.it_interval.tv_sec != 5 || got.it_interval.tv_nsec || got.it_value.tv_sec < 90 || got.it_value.tv_nsec > 999999999;
}

int main(void)
{
	ask_timer();
	receive();
	move();
	change_break();
	share();
	return n_wrong;
}
