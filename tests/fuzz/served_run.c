/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz_opened.h"
#include "fuzz_served.h"
#include "loaders/loader.h"
#include "protocol/server/listen.h"
#include "protocol/server/server.h"
#include "src/model/model.h"
#include "src/model/part.h"
#include "src/source/unpack.h"
#include "src/symbols/find_symbols.h"

/* So that one input does not take the whole time. */
#define MAX_FILE    ((uint64_t)1 << 20)
#define MAX_TOUCHED ((uint64_t)1 << 20)
#define MAX_STEPS   40000u
#define MAX_MEMORY  ((uint64_t)256 << 20)

/* The folder of one input, and its files. */
struct place {
	char folder[40], trace[80], exec[64], image[64], socket[64];
};

/* One time that it is served. */
struct serving {
	const struct served *s;
	const struct place *place;
	struct ts_source *src;                         /* owned */
	struct ts_source *threads[SERVED_MAX_THREADS]; /* owned */
	const struct ts_loader *loader;
	struct rsp_listener listener;
	struct rsp_server_options opt;
	struct ts_model *m;
	struct ts_query *q;
	struct ts_buf heard; /* by the first client */
};

/* ---------------------------------------------------------------------------------------------- the files */

bool served_take_path(struct served_path *p, const char *name)
{
	struct stat st;

	if (strstr(name, "..") ||
	    snprintf(p->path, sizeof(p->path), "%s/%s", TEST_DATA, name) >= (int)sizeof(p->path) ||
	    stat(p->path, &st) || !S_ISREG(st.st_mode)) {
		p->path[0] = '\0';
		return false;
	}
	return true;
}

static void apply(const struct served_edits *edits, struct ts_buf *file)
{
	for (size_t i = 0; i < edits->n; i++) {
		const struct served_edit *e = &edits->items[i];

		if (e->is_cut && e->off < file->len)
			file->len = e->off;
		else if (!e->is_cut && e->off < file->len)
			memcpy(file->data + e->off, e->bytes,
			       e->len < file->len - e->off ? e->len : file->len - e->off);
	}
}

static void write_file(const char *path, const struct ts_buf *file)
{
	FILE *f = fopen(path, "wb");

	fuzz_require(f && fwrite(file->data, 1, file->len, f) == file->len && !fclose(f));
}

static void change_file(const char *path, const struct served_edits *edits)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_open(path, &err);
	struct ts_buf file;
	size_t n = 0;

	ts_buf_init(&file);
	fuzz_require(src && ts_buf_add(&file, ts_source_len(src) + 1));
	fuzz_require(ts_source_read(src, 0, file.data, ts_source_len(src), &n, &err));
	file.len = n;
	apply(edits, &file);
	write_file(path, &file);
	ts_buf_fini(&file);
	ts_source_close(src);
}

/* A file of tests/data, unpacked and changed. */
static bool copy_file(const struct served_path *from, const struct served_edits *edits, const char *to)
{
	const struct ts_unpack_options opt = { .max_len = MAX_FILE };
	struct ts_error err = { 0 };
	struct ts_source *src = ts_trace_open(from->path, &opt, &err);
	struct ts_buf file;
	size_t n = 0;

	if (!src || ts_source_len(src) > MAX_FILE) {
		ts_source_close(src);
		return false;
	}
	ts_buf_init(&file);
	fuzz_require(ts_buf_add(&file, ts_source_len(src) + 1) != NULL);
	fuzz_require(ts_source_read(src, 0, file.data, ts_source_len(src), &n, &err));
	file.len = n;
	apply(edits, &file);
	write_file(to, &file);
	ts_buf_fini(&file);
	ts_source_close(src);
	return true;
}

static bool copy_beside(const struct served *s, const struct place *p)
{
	static const struct served_edits none;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", p->folder, s->beside_name);
	return !s->beside.path[0] || copy_file(&s->beside, &none, path);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void make_place(struct place *p, const char *name)
{
	strcpy(p->folder, "/tmp/fuzz-served.XXXXXX");
	fuzz_require(mkdtemp(p->folder) != NULL);
	snprintf(p->trace, sizeof(p->trace), "%s/%s", p->folder, name[0] ? name : "t");
	snprintf(p->exec, sizeof(p->exec), "%s/program", p->folder);
	snprintf(p->image, sizeof(p->image), "%s/image", p->folder);
	snprintf(p->socket, sizeof(p->socket), "%s/socket", p->folder);
	setenv("XDG_CACHE_HOME", p->folder, 1);
}

/* ------------------------------------------------------------------------------------------ the recording */

static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *err)
{
	const struct serving *v = user;
	struct ts_source *grammar = v->s->grammar.path[0] ? ts_source_open(v->s->grammar.path, err) : NULL;
	const struct ts_loader_options opt = {
		.grammar = grammar,
		.exec = v->s->exec.path[0] ? v->place->exec : NULL,
		.threads = (const struct ts_source *const *)v->threads,
		.n_threads = v->s->n_threads,
		.max_memory = MAX_MEMORY,
		.like = like,
	};
	struct ts_recording *rec = ts_loader_open(v->loader, v->src, &opt, err);

	ts_source_close(grammar);
	return rec;
}

static bool open_sources(struct serving *v)
{
	const struct ts_unpack_options opt = { .max_len = MAX_FILE };
	struct ts_error err = { 0 };

	v->src = ts_source_open(v->place->trace, &err);
	if (v->src)
		v->loader = v->s->grammar.path[0] ? ts_loader_find("grammar") : ts_loader_probe(v->src, &err);
	for (unsigned i = 0; i < v->s->n_threads; i++) {
		v->threads[i] = ts_trace_open(v->s->threads[i].path, &opt, &err);
		if (!v->threads[i])
			return false;
	}
	return v->loader && (!v->s->n_threads || v->loader->has_thread_files);
}

static void close_sources(struct serving *v)
{
	for (unsigned i = 0; i < v->s->n_threads; i++)
		ts_source_close(v->threads[i]);
	ts_source_close(v->src);
}

/* A few bytes of a trace may claim gigabytes, each page of which the index lists: such traces are left out.
 */
static bool is_small(struct serving *v)
{
	struct ts_error err = { 0 };
	struct ts_recording *rec = load(v, NULL, &err);
	struct ts_reader *reader = rec && !rec->frames ? rec->ops->reader(rec, &err) : NULL;
	uint64_t touched = 0;
	struct ts_steps steps;
	unsigned n = 0;
	bool is_small;

	ts_steps_init(&steps);
	for (; reader && touched <= MAX_TOUCHED && n < MAX_STEPS; n++) {
		ts_steps_reset(&steps);
		if (ts_reader_next(reader, &steps, &err) != TS_ITEM)
			break;
		for (uint32_t i = 0; i < steps.n_effects && touched <= MAX_TOUCHED; i++)
			touched += steps.effects[i].kind == TS_FX_READ || steps.effects[i].kind == TS_FX_WRITE
					   ? steps.effects[i].len
					   : 0;
	}
	is_small = rec && touched <= MAX_TOUCHED && n < MAX_STEPS;
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	ts_recording_close(rec);
	return is_small;
}

static struct ts_model_options model_options(struct serving *v)
{
	return (struct ts_model_options){
		.trace = v->place->trace,
		.load = load,
		.user = v,
		.index = { .is_wanted = true, .is_merged = v->s->n_parts > 0 },
		.max_memory = MAX_MEMORY,
		.n_jobs = 1,
		.is_served = true,
	};
}

static void decode_parts(struct serving *v)
{
	struct ts_model_options opt = model_options(v);

	opt.index.is_merged = false;
	for (uint32_t i = 1; i <= v->s->n_parts; i++) {
		const struct ts_part_number number = { i, v->s->n_parts };
		struct ts_error err = { 0 };
		struct ts_part *part = ts_part_new(&opt, v->src, &number, &err);
		enum ts_next next = TS_ITEM;

		while (part && next == TS_ITEM)
			next = ts_part_run(part, &err);
		fuzz_require((part && next == TS_END) || err.text[0]);
		ts_part_free(part);
	}
}

/* Returns NULL if the recording cannot be read; one that is left in the middle leaves an index that is not
 * finished. */
static struct ts_model *open_model(struct serving *v, uint64_t n_steps)
{
	const struct ts_model_options opt = model_options(v);
	struct ts_error err = { 0 };
	struct ts_model *m = ts_model_new(&opt, &err);
	enum ts_next next = TS_ITEM;

	fuzz_require(m != NULL);
	if (v->s->image.path[0])
		ts_model_add_file(m, v->place->image, &v->s->image_addr, &err);
	ts_error_reset(&err);
	if (ts_model_open(m, v->src, &err)) {
		while (next == TS_ITEM && ts_model_n_read(m) < n_steps)
			next = ts_model_grow(m, n_steps < 100 ? n_steps : 100, &err);
	}
	if (err.code == TS_OK && ts_model_query(m))
		return m;
	fuzz_require(err.text[0] || n_steps != UINT64_MAX);
	ts_model_free(m);
	return NULL;
}

/* The files that an earlier time has left: of the index, of parts, of what is noted beside them. */
static void damage(struct serving *v)
{
	struct dirent **entries;
	int n = v->s->of_index.n ? scandir(v->place->folder, &entries, NULL, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", v->place->folder, entries[i]->d_name);
		if (strchr(entries[i]->d_name, '.') && !lstat(path, &st) && S_ISREG(st.st_mode))
			change_file(path, &v->s->of_index);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* ----------------------------------------------------------------------------------------------- serving */

/*
 * The end of a packet that was begun, and the packet that ends a session.  A client that closed its end would
 * have its questions interrupted.
 */
#define FAREWELL "#00$k#6b"

static int dial(const struct served *s, const char *socket_path, unsigned client)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, socket_path);
	fuzz_require(fd >= 0 && !connect(fd, (struct sockaddr *)&addr, sizeof(addr)));
	if (s->said[client].len)
		fuzz_require(send(fd, s->said[client].data, s->said[client].len, MSG_NOSIGNAL) >= 0);
	if (client)
		shutdown(fd, SHUT_WR);
	else
		fuzz_require(send(fd, FAREWELL, sizeof(FAREWELL) - 1, MSG_NOSIGNAL) >= 0);
	return fd;
}

static bool read_on(void *user)
{
	struct serving *v = user;

	return ts_model_grow_for(v->m, 100000) == TS_ITEM;
}

static void *run_server(void *user)
{
	struct serving *v = user;
	struct ts_error err = { 0 };
	bool done = rsp_server_run(v->q, &v->opt, &err);

	fuzz_require(done || err.text[0]);
	rsp_listener_fini(&v->listener); /* those who wait to be accepted are told */
	return NULL;
}

/* What the server says, to its end, without acknowledgements: when they come depends on how the bytes came.
 */
static void hear(int fd, struct ts_buf *heard)
{
	uint8_t bytes[4096];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] != '+')
				ts_buf_putc(heard, bytes[i]);
		}
	}
	close(fd);
}

static void *hear_second(void *user)
{
	struct ts_buf heard;

	ts_buf_init(&heard);
	hear(*(int *)user, &heard);
	ts_buf_fini(&heard);
	return NULL;
}

static void serve(struct serving *v)
{
	const struct ts_symbols_file image = { v->place->image, &v->s->image_addr };
	struct ts_error err = { 0 };
	pthread_t server, other;
	int first, second;

	fuzz_require(rsp_listen(&v->listener, v->place->socket, &err));
	v->opt = (struct rsp_server_options){
		.listener = &v->listener,
		.exec = v->s->exec.path[0] ? v->place->exec : NULL,
		.images = &image,
		.n_images = v->s->image.path[0] != '\0',
		.has_local_files = true,
		.arch = v->s->arch,
		.trace = v->place->trace,
		.export_dir = v->place->folder,
		.max_memory = MAX_MEMORY,
		.grow = v->s->is_live ? read_on : NULL,
		.grow_user = v,
		.is_client_local = v->s->exec.path[0] != '\0',
	};
	first = dial(v->s, v->place->socket, 0);
	second = dial(v->s, v->place->socket, 1);
	fuzz_require(!pthread_create(&server, NULL, run_server, v));
	fuzz_require(!pthread_create(&other, NULL, hear_second, &second));
	hear(first, &v->heard);
	pthread_join(other, NULL);
	kill(getpid(), SIGTERM);
	pthread_join(server, NULL);
}

static bool serve_once(const struct served *s, const struct place *place, struct ts_buf *heard)
{
	struct serving v = { .s = s, .place = place };
	struct ts_model *m = NULL;

	ts_buf_init(&v.heard);
	if (open_sources(&v) && is_small(&v)) {
		if (s->n_parts)
			decode_parts(&v);
		if (s->n_steps)
			ts_model_free(open_model(&v, s->n_steps));
		damage(&v);
		m = open_model(&v, s->is_live ? 1 : UINT64_MAX);
	}
	if (m) {
		v.m = m;
		v.q = ts_model_query(m);
		serve(&v);
	}
	*heard = v.heard;
	ts_model_free(m);
	close_sources(&v);
	return m != NULL;
}

static bool is_same(const struct ts_buf *a, const struct ts_buf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));
}

/* An address that no other machine reaches, and that needs no look-up. */
static void try_address(const char *comm)
{
	struct ts_error err = { 0 };
	struct rsp_listener l;

	if (strchr(comm, '/') || (comm[0] != ':' && strncmp(comm, "127.", 4) && comm[0] != '['))
		return;
	if (rsp_listen(&l, comm, &err))
		rsp_listener_fini(&l);
	else
		fuzz_require(err.text[0]);
}

void served_run(const struct served *s)
{
	static const struct served_edits none;
	struct ts_buf heard[2] = { 0 };
	struct place place;

	try_address(s->comm);
	if (!s->trace.path[0])
		return;
	make_place(&place, s->name);
	if (copy_file(&s->trace, &s->of_trace, place.trace) &&
	    (!s->exec.path[0] || copy_file(&s->exec, &s->of_exec, place.exec)) &&
	    (!s->image.path[0] || copy_file(&s->image, &none, place.image)) && copy_beside(s, &place) &&
	    serve_once(s, &place, &heard[0])) {
		fuzz_require(serve_once(s, &place, &heard[1]) || s->is_live);
		fuzz_require(s->has_asked || s->is_live || s->said[1].len || s->of_index.n ||
			     is_same(&heard[0], &heard[1]));
	}
	ts_buf_fini(&heard[0]);
	ts_buf_fini(&heard[1]);
	nftw(place.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
