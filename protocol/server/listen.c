/* SPDX-License-Identifier: MIT */
#include "listen.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/log.h"

#define BACKLOG 64

/* Is it a decimal port number?  getaddrinfo() would accept other text. */
static bool is_port(const char *text)
{
	size_t len = strlen(text);

	return len && len <= 5 && strspn(text, "0123456789") == len && strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* "HOST:PORT", "[HOST]:PORT", ":PORT": split at the last colon. */
static bool split(const char *comm, char *host, size_t host_len, const char **port)
{
	const char *colon = strrchr(comm, ':');
	size_t n;

	if (!colon || !is_port(colon + 1))
		return false;
	*port = colon + 1;
	n = (size_t)(colon - comm);
	if (n >= 2 && comm[0] == '[' && comm[n - 1] == ']') {
		comm++;
		n -= 2;
	}
	if (n >= host_len)
		return false;
	memcpy(host, comm, n);
	host[n] = '\0';
	return true;
}

static int open_socket(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, ai->ai_protocol),
	    on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool is_loopback(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return addr->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* The address chosen by the system, as HOST:PORT.  Returns whether this machine alone can reach it. */
static bool name_socket(struct rsp_listener *l)
{
	struct sockaddr_storage addr = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(addr);
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";

	if (getsockname(l->fd, (struct sockaddr *)&addr, &len) == 0)
		getnameinfo((struct sockaddr *)&addr, len, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(l->address, sizeof(l->address), strchr(host, ':') ? "[%.255s]:%.8s" : "%.255s:%.8s", host,
		 port);
	return is_loopback(&addr);
}

static bool listen_tcp(struct rsp_listener *l, const char *comm, struct ts_error *err)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list;
	char host[256];
	const char *port;
	int rc;

	if (!split(comm, host, sizeof(host), &port))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%s' is neither HOST:PORT nor :PORT nor a path with '/' nor -", comm);
	rc = getaddrinfo(host[0] ? host : "127.0.0.1", port, &hints, &list);
	if (rc)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "cannot listen at '%s': %s", comm,
			       gai_strerror(rc));
	for (const struct addrinfo *ai = list; ai && l->fd < 0; ai = ai->ai_next)
		l->fd = open_socket(ai);
	if (l->fd < 0)
		ts_fail_errno(err, "cannot listen at '%s'", comm);
	freeaddrinfo(list);
	if (l->fd < 0)
		return false;
	if (!name_socket(l))
		ts_log(TS_LOG_WARN,
		       "%s: other machines can connect, and the protocol has no password", comm);
	return true;
}

/* A socket file on which no process listens was left by a killed server. */
static void remove_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd;

	if (lstat(addr->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 && errno == ECONNREFUSED)
		unlink(addr->sun_path);
	close(fd);
}

/*
 * Is the group the user's own, with no other member?  Debian and Fedora give each user such a group and a
 * umask of 002, so that folders are writable for it.
 */
static bool is_private_group(gid_t gid)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = getgrgid(gid);

	if (!user || !group || user->pw_gid != gid || strcmp(group->gr_name, user->pw_name))
		return false;
	for (char **member = group->gr_mem; *member; member++) {
		if (strcmp(*member, user->pw_name))
			return false;
	}
	return true;
}

static bool others_can_write(const struct stat *folder)
{
	if (folder->st_mode & S_ISVTX)
		return false;
	return folder->st_mode & S_IWOTH || (folder->st_mode & S_IWGRP && !is_private_group(folder->st_gid));
}

/* A user who can remove a socket from its folder can put another one in its place. */
static bool check_folder(const char *path, struct ts_error *err)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path + 1), path);
	if (stat(folder, &st) < 0)
		return ts_fail_errno(err, "cannot listen at '%s'", path);
	if (others_can_write(&st))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%s': other users can write in its folder, and replace the socket", path);
	if (st.st_uid != geteuid() && st.st_uid)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%s': its folder belongs to another user, who can replace the socket", path);
	return true;
}

/* Is the file at the path still this socket?  While the socket is open no other file can have its inode number. */
static bool has_socket(const struct rsp_listener *l)
{
	struct stat st;

	return !lstat(l->unix_path, &st) && st.st_dev == l->dev && st.st_ino == l->ino;
}

static bool remember_socket(struct rsp_listener *l, const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return false;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->unix_path = strdup(path);
	return l->unix_path != NULL;
}

static bool listen_unix(struct rsp_listener *l, const char *path, struct ts_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%s' is longer than the %zu characters that a unix socket may have", path,
			       sizeof(addr.sun_path) - 1);
	if (!check_folder(path, err))
		return false;
	strcpy(addr.sun_path, path);
	remove_stale(&addr);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return ts_fail_errno(err, "cannot create a unix socket");
	mask = umask(0177);
	rc = bind(l->fd, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (rc == 0 && !remember_socket(l, path)) {
		rc = -1;
		unlink(path);
	}
	if (rc < 0 || listen(l->fd, BACKLOG) < 0)
		return ts_fail_errno(err, "cannot listen at '%s'", path);
	snprintf(l->address, sizeof(l->address), "%s", path);
	return true;
}

bool rsp_listen(struct rsp_listener *l, const char *comm, struct ts_error *err)
{
	bool done;

	*l = (struct rsp_listener){ .fd = -1, .is_stdio = !strcmp(comm, "-") };
	if (l->is_stdio) {
		strcpy(l->address, "-");
		return true;
	}
	done = strchr(comm, '/') ? listen_unix(l, comm, err) : listen_tcp(l, comm, err);
	if (!done)
		rsp_listener_fini(l);
	return done;
}

void rsp_listener_fini(struct rsp_listener *l)
{
	if (l->unix_path && has_socket(l))
		unlink(l->unix_path);
	if (l->fd >= 0)
		close(l->fd);
	free(l->unix_path);
	*l = (struct rsp_listener){ .fd = -1 };
}
