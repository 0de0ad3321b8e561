/* SPDX-License-Identifier: MIT */
/*
 * Reads a file through io_uring, without a library: the kernel writes the parameters, the rings that both share, and the
 * buffer.  Prints where the buffer is and its bytes; ends with 77 where there is no io_uring.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEN 20

static char buf[64];

static char *map(int fd, size_t len, long where)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, where);
}

int main(int argc, char **argv)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 8, &p);
	char *sq, *cq;
	struct io_uring_sqe *e;
	struct io_uring_cqe *done;
	unsigned *tail, at;

	if (fd < 0 || argc < 2)
		return 77;
	sq = map(fd, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = map(fd, p.cq_off.cqes + p.cq_entries * sizeof(*done), IORING_OFF_CQ_RING);
	e = (void *)map(fd, p.sq_entries * sizeof(*e), IORING_OFF_SQES);
	*e = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = open(argv[1], O_RDONLY), .addr = (unsigned long)buf, .len = LEN,
				    .user_data = 77 };
	tail = (unsigned *)(sq + p.sq_off.tail);
	at = *tail & *(unsigned *)(sq + p.sq_off.ring_mask);
	((unsigned *)(sq + p.sq_off.array))[at] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return 77;
	done = (void *)(cq + p.cq_off.cqes);
	printf("%p %d %llu %.*s\n", (void *)buf, done->res, done->user_data, LEN, buf);
	return 0;
}
