/* SPDX-License-Identifier: MIT */
/*
 * Memory that system calls change where no argument says so: mappings of a file that is written or cut by its path or by
 * another call, memory behind an error, words of numbers that failed or asked, locks of a thread that has gone.  The program
 * reads each byte.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define FILE_LEN (4 * PAGE)

static unsigned long sum;
static pthread_mutex_t lock;

static void read_all(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + ((const unsigned char *)p)[i];
}

static void change_files(void)
{
	char path[] = "beside.XXXXXX", page[FILE_LEN], bytes[64];
	int fd = mkstemp(path), again;
	const char *shared, *constant;
	struct iovec part = { "pwritev2", 8 };

	memset(page, 'f', sizeof(page));
	write(fd, page, sizeof(page));
	shared = mmap(NULL, FILE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	constant = mmap(NULL, FILE_LEN, PROT_READ, MAP_PRIVATE, fd, 0);
	read_all(constant, FILE_LEN);
	read_all(shared, FILE_LEN);
	syscall(SYS_pwritev2, fd, &part, 1, 100, 0, 0);
	read_all(constant, FILE_LEN);
	truncate(path, PAGE);
	truncate(path, FILE_LEN);
	read_all(constant, FILE_LEN);
	pwrite(fd, "xxxx", 4, 2 * PAGE);
	again = open(path, O_RDWR | O_TRUNC);
	ftruncate(again, FILE_LEN);
	read_all(constant, FILE_LEN);
	memset(bytes, 'b', sizeof(bytes));
	again = open("/proc/self/mem", O_RDWR);
	pwrite(again, "by address", 10, (off_t)(unsigned long)bytes);
	lseek(again, (off_t)(unsigned long)(bytes + 20), SEEK_SET);
	write(again, "by place", 8);
	read_all(bytes, sizeof(bytes));
	unlink(path);
}

static void change_memory(void)
{
	unsigned char *page = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *top;
	struct iovec from = { "another way", 11 }, to[] = { { page + 3, 4 }, { page + 50, 7 } };
	int number = 7;

	memset(page, 'a', 4 * PAGE);
	munmap(page + 3 * PAGE, PAGE);
	madvise(page + PAGE, 3 * PAGE, MADV_DONTNEED); /* ENOMEM, and two pages are dropped */
	read_all(page, 3 * PAGE);
	process_vm_writev(getpid(), &from, 1, to, 2, 0);
	read_all(page, PAGE);
	sbrk(2 * PAGE);
	top = (unsigned char *)sbrk(0) - 1000;
	memset(top, 't', 1000);
	sbrk(-500);
	sbrk(500);
	read_all(top, 1000);
	fcntl(0, F_SETOWN, -1L);
	prctl(PR_GET_CHILD_SUBREAPER, &number);
	read_all(&number, sizeof(number));
	memset(page, 'w', 256);
	syscall(SYS_waitid, P_ALL, 0, page, WEXITED, page + 128); /* ECHILD */
	read_all(page, 256);
	memset(page, 1, 256);
	syscall(SYS_futex, page, FUTEX_WAKE_OP, 1, 1L, page + 64, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5));
	read_all(page, 256);
}

static void *leave_locked(void *none)
{
	pthread_mutex_lock(&lock);
	return none;
}

static void change_lock(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock, &attr);
	pthread_create(&thread, NULL, leave_locked, NULL);
	pthread_join(thread, NULL);
	read_all(&lock, sizeof(lock));
}

/* Last, since the child is one to wait for. */
static void change_by_child(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, 0600 | IPC_CREAT);
	unsigned char *written = shmat(id, NULL, 0), *constant = shmat(id, NULL, SHM_RDONLY);

	shmctl(id, IPC_RMID, NULL);
	read_all(constant, PAGE);
	if (fork() == 0) {
		written[9] = 'c';
		_exit(0);
	}
	wait(NULL);
	read_all(constant, PAGE);
}

int main(void)
{
	change_files();
	change_memory();
	change_lock();
	change_by_child();
	printf("%lu\n", sum);
	return 0;
}
