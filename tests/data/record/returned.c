/* SPDX-License-Identifier: MIT */
/* System calls that write lengths and structs beside their main result; the program reads each byte of them. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static unsigned long sum;

static void read_all(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum += ((const unsigned char *)p)[i];
}

static void ask_sockets(void)
{
	int to = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0), peer;
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	char option[64], text[8];

	bind(to, (struct sockaddr *)&in, sizeof(in));
	listen(to, 1);
	getsockname(to, (struct sockaddr *)&addr, &len);
	read_all(&len, sizeof(len));
	memcpy(&in, &addr, sizeof(in));
	connect(from, (struct sockaddr *)&in, sizeof(in));
	len = sizeof(addr);
	peer = accept(to, (struct sockaddr *)&addr, &len);
	read_all(&len, sizeof(len));
	len = sizeof(addr);
	getpeername(peer, (struct sockaddr *)&addr, &len);
	read_all(&len, sizeof(len));
	send(from, "abc", 3, 0);
	len = sizeof(addr);
	recvfrom(peer, text, sizeof(text), 0, (struct sockaddr *)&addr, &len);
	read_all(&len, sizeof(len));
	len = sizeof(option);
	getsockopt(to, SOL_SOCKET, SO_TYPE, option, &len);
	read_all(&len, sizeof(len));
}

static void ask_messages(void)
{
	char text[2][8];
	struct sockaddr_un name[2];
	struct iovec parts[] = { { text[0], sizeof(text[0]) }, { text[1], sizeof(text[1]) } };
	struct mmsghdr got[2] = { { .msg_hdr = { name, sizeof(*name), parts, 1 } }, { .msg_hdr = { name + 1, sizeof(*name), parts + 1, 1 } } };
	struct msqid_ds state;
	int ends[2], queue;

	socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
	send(ends[0], "one", 3, 0);
	send(ends[0], "two", 3, 0);
	recvmmsg(ends[1], got, 2, 0, NULL);
	read_all(got, sizeof(got));
	queue = msgget(IPC_PRIVATE, 0600);
	memset(&state, 0xee, sizeof(state));
	msgctl(queue, IPC_STAT, &state);
	read_all(&state, sizeof(state));
	msgctl(queue, IPC_RMID, NULL);
}

static void ask_capabilities(void)
{
	struct __user_cap_header_struct head = { 0, 0 };
	struct __user_cap_data_struct data[2];

	memset(data, 0xee, sizeof(data));
	syscall(SYS_capget, &head, NULL); /* the kernel writes the version that it wants */
	read_all(&head, sizeof(head));
	head.version = _LINUX_CAPABILITY_VERSION_3;
	syscall(SYS_capget, &head, data);
	read_all(data, sizeof(data));
}

int main(void)
{
	ask_sockets();
	ask_messages();
	ask_capabilities();
	printf("%lu\n", sum);
	return 0;
}
