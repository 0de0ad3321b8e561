/* SPDX-License-Identifier: MIT */
/*
 * Writing goes through libxml2's text writer into a buffer.  Reading is one pass of libxml2's SAX parser with
 * callbacks of our own and nothing else: no tree, no DTD, no entities, no files.
 *
 * An element that is unknown at its place is skipped with all that is in it, as gdb does.
 */
#include "tdesc.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlwriter.h>

#define MAX_XML_LEN  (1u << 20)
#define MAX_DEPTH    16
#define MAX_NAME_LEN 128
#define MAX_REGNUM   0xffffff

/* Names of the kinds of types, by enum ts_type_kind. */
static const char *const kind_names[] = { "flags", "struct", "union", "vector", "enum" };

/*
 * Writing
 */

struct out {
	xmlTextWriterPtr w;
	bool is_failed;
};

static void begin(struct out *o, const char *name)
{
	o->is_failed |= xmlTextWriterStartElement(o->w, BAD_CAST name) < 0;
}

static void end(struct out *o)
{
	o->is_failed |= xmlTextWriterEndElement(o->w) < 0;
}

static void attr(struct out *o, const char *name, const char *text)
{
	o->is_failed |= xmlTextWriterWriteAttribute(o->w, BAD_CAST name, BAD_CAST text) < 0;
}

static void attr_num(struct out *o, const char *name, uint32_t num)
{
	o->is_failed |= xmlTextWriterWriteFormatAttribute(o->w, BAD_CAST name, "%u", (unsigned)num) < 0;
}

static void text_element(struct out *o, const char *name, const char *text)
{
	o->is_failed |= xmlTextWriterWriteElement(o->w, BAD_CAST name, BAD_CAST text) < 0;
}

static void write_field(struct out *o, const struct ts_field_def *f, enum ts_type_kind kind)
{
	begin(o, kind == TS_TYPE_ENUM ? "evalue" : "field");
	attr(o, "name", f->name);
	if (kind == TS_TYPE_ENUM) {
		attr_num(o, "value", (uint32_t)f->start);
	} else {
		if (f->start >= 0)
			attr_num(o, "start", (uint32_t)f->start);
		if (f->end >= 0)
			attr_num(o, "end", (uint32_t)f->end);
		if (f->type)
			attr(o, "type", f->type);
	}
	end(o);
}

static void write_type(struct out *o, const struct ts_type_def *t)
{
	begin(o, kind_names[t->kind]);
	attr(o, "id", t->id);
	if (t->elem)
		attr(o, "type", t->elem);
	switch (t->kind) {
	case TS_TYPE_VECTOR: attr_num(o, "count", t->count); break;
	case TS_TYPE_FLAGS:
	case TS_TYPE_ENUM: attr_num(o, "size", t->count); break;
	case TS_TYPE_STRUCT:
		if (t->count)
			attr_num(o, "size", t->count);
		break;
	case TS_TYPE_UNION: break;
	}
	for (unsigned i = 0; i < t->n_fields; i++)
		write_field(o, &t->fields[i], t->kind);
	end(o);
}

/* Returns the number of the register, for the next one. */
static uint32_t write_reg(struct out *o, const struct ts_reg_def *def, uint32_t next)
{
	uint32_t num = def->regnum < 0 ? next : (uint32_t)def->regnum;

	begin(o, "reg");
	attr(o, "name", def->name);
	attr_num(o, "bitsize", def->bits);
	attr_num(o, "regnum", num);
	if (def->type)
		attr(o, "type", def->type);
	if (def->group)
		attr(o, "group", def->group);
	end(o);
	return num;
}

/*
 * gdb as GNU/Linux distributions build it (13.1, gdb-multiarch too) has no handler for Windows: with it, gdb assumes 32 bits
 * for x86 and rejects the description.  Without any system it has what there is to have: no system calls, and modules by
 * address.
 */
static const char *served_osabi(const char *osabi)
{
	return osabi && strcmp(osabi, "Windows") == 0 ? "none" : osabi;
}

static void write_target(struct out *o, const struct ts_regset *set, const char *osabi)
{
	const struct ts_feature_def *f;
	uint32_t next = 0;
	unsigned at = 0;

	begin(o, "target");
	attr(o, "version", "1.0");
	text_element(o, "architecture", set->gdb_name);
	if (osabi)
		text_element(o, "osabi", served_osabi(osabi));
	while ((f = ts_regset_next_feature(set, &at))) {
		begin(o, "feature");
		attr(o, "name", f->name);
		for (unsigned i = 0; i < f->n_types; i++)
			write_type(o, &f->types[i]);
		for (unsigned i = 0; i < f->n_regs; i++)
			next = write_reg(o, &f->regs[i], next) + 1;
		end(o);
	}
	end(o);
}

static int put_bytes(void *to, const char *bytes, int len)
{
	struct ts_buf *b = to;

	ts_buf_put(b, bytes, (size_t)len);
	return ts_buf_ok(b) ? len : -1;
}

/*
 * Without memory libxml2 leaves out a text or the end of an element, says so here, and returns as if it were
 * written.
 */
static void note_failure(void *user, const char *, ...)
{
	struct out *o = user;

	o->is_failed = true;
}

static xmlTextWriterPtr new_writer(struct ts_buf *to)
{
	xmlOutputBufferPtr io = xmlOutputBufferCreateIO(put_bytes, NULL, to, NULL);
	xmlTextWriterPtr w = io ? xmlNewTextWriter(io) : NULL;

	if (io && !w)
		xmlOutputBufferClose(io);
	return w;
}

bool ts_tdesc_write(const struct ts_regset *set, const char *osabi, struct ts_buf *out, struct ts_error *err)
{
	struct out o = { .w = new_writer(out) };

	if (!o.w)
		return ts_no_memory(err, "a target description");
	xmlSetGenericErrorFunc(&o, note_failure);
	o.is_failed |= xmlTextWriterStartDocument(o.w, "1.0", NULL, NULL) < 0;
	o.is_failed |=
		xmlTextWriterWriteDTD(o.w, BAD_CAST "target", NULL, BAD_CAST "gdb-target.dtd", NULL) < 0;
	o.is_failed |= xmlTextWriterWriteRaw(o.w, BAD_CAST "\n") < 0;
	o.is_failed |= xmlTextWriterSetIndent(o.w, 1) < 0;
	o.is_failed |= xmlTextWriterSetIndentString(o.w, BAD_CAST "  ") < 0;
	write_target(&o, set, osabi);
	o.is_failed |= xmlTextWriterEndDocument(o.w) < 0;
	xmlFreeTextWriter(o.w);
	xmlSetGenericErrorFunc(NULL, NULL);
	if (o.is_failed || !ts_buf_ok(out))
		return ts_no_memory(err, "a target description");
	return true;
}

/*
 * Reading
 */

struct element;

struct parse {
	xmlParserCtxtPtr ctxt;
	struct ts_error *err;
	struct ts_arena arena;
	const struct element *open[MAX_DEPTH]; /* the elements around here */
	unsigned depth;                        /* how many they are */
	unsigned n_skipped;                    /* unknown elements open inside those */
	struct ts_buf text;                    /* of the element that is open */
	const char *arch_name, *osabi;
	/* Those of the element that is open; moved into the arena at its end. */
	struct ts_buf features, types, fields, regs;
};

/* libxml2's way of giving attributes: five pointers each. */
struct attrs {
	const xmlChar **list;
	int n;
};

static int line_of(const struct parse *p)
{
	return xmlSAX2GetLineNumber(p->ctxt);
}

/* A copy of an attribute's or element's text; NULL with an error if it is not valid as a name. */
static const char *keep_name(struct parse *p, const char *what, const char *text, size_t len)
{
	const char *copy;

	if (len > MAX_NAME_LEN) {
		ts_fail(p->err, TS_ELIMIT, TS_NO_OFF, "line %d: %s of %zu bytes", line_of(p), what, len);
		return NULL;
	}
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~') {
			ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: byte 0x%02x in a %s", line_of(p),
				(unsigned char)text[i], what);
			return NULL;
		}
	copy = ts_arena_text(&p->arena, text, len);
	return copy ? copy : ts_no_memory(p->err, "a target description");
}

/* The attribute's text, NULL where it is absent. */
static const char *opt_text(struct parse *p, struct attrs a, const char *name)
{
	for (int i = 0; i < a.n; i++) {
		const xmlChar **at = a.list + 5 * i;

		if (strcmp((const char *)at[0], name) == 0)
			return keep_name(p, name, (const char *)at[3], (size_t)(at[4] - at[3]));
	}
	return NULL;
}

static const char *need_text(struct parse *p, struct attrs a, const char *name)
{
	const char *text = opt_text(p, a, name);

	if (!text)
		ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: %s is missing", line_of(p), name);
	return text;
}

/* The attribute's number in C's notation, as gdb takes it.  Returns @absent if it has none. */
static int32_t opt_num(struct parse *p, struct attrs a, const char *name, uint32_t max, int32_t absent)
{
	const char *text = opt_text(p, a, name);
	unsigned long long num;
	char *rest;

	if (!text)
		return absent;
	errno = 0;
	num = strtoull(text, &rest, 0);
	if (!isdigit((unsigned char)text[0]) || *rest) {
		ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: %s is not a number: %s", line_of(p), name,
			text);
		return absent;
	}
	if (errno || num > max) {
		ts_fail(p->err, TS_ELIMIT, TS_NO_OFF, "line %d: %s %s, more than %u", line_of(p), name, text,
			(unsigned)max);
		return absent;
	}
	return (int32_t)num;
}

static int32_t need_num(struct parse *p, struct attrs a, const char *name, uint32_t max)
{
	int32_t num = opt_num(p, a, name, max, -1);

	if (num < 0)
		ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: %s is missing", line_of(p), name);
	return num;
}

static void start_text(struct parse *p, struct attrs)
{
	ts_buf_reset(&p->text);
}

/* The text of the element that ends, without the white space around it. */
static const char *end_text(struct parse *p, const char *what)
{
	const char *text = ts_buf_text(&p->text);
	size_t len = p->text.len;

	while (len && isspace((unsigned char)text[0])) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return keep_name(p, what, text, len);
}

static void end_architecture(struct parse *p)
{
	p->arch_name = end_text(p, "architecture");
}

static void end_osabi(struct parse *p)
{
	p->osabi = end_text(p, "osabi");
}

/* Move the elements collected in @list to the arena. */
static const void *keep_list(struct parse *p, struct ts_buf *list, size_t item_len, unsigned *n)
{
	void *items = ts_arena_alloc(&p->arena, list->len);

	if (!items)
		return ts_no_memory(p->err, "a target description");
	if (list->len)
		memcpy(items, list->data, list->len);
	*n = (unsigned)(list->len / item_len);
	ts_buf_reset(list);
	return items;
}

static void start_feature(struct parse *p, struct attrs a)
{
	struct ts_feature_def f = { .name = need_text(p, a, "name") };

	ts_buf_put(&p->features, &f, sizeof(f));
}

static void end_feature(struct parse *p)
{
	struct ts_feature_def *f = (void *)(p->features.data + p->features.len - sizeof(*f));

	f->regs = keep_list(p, &p->regs, sizeof(*f->regs), &f->n_regs);
	f->types = keep_list(p, &p->types, sizeof(*f->types), &f->n_types);
}

static void start_reg(struct parse *p, struct attrs a)
{
	struct ts_reg_def def = {
		.name = need_text(p, a, "name"),
		.bits = (uint16_t)need_num(p, a, "bitsize", UINT16_MAX),
		.regnum = opt_num(p, a, "regnum", MAX_REGNUM, -1),
		.type = opt_text(p, a, "type"),
		.group = opt_text(p, a, "group"),
	};

	if (def.bits == 0)
		ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: a register of 0 bits", line_of(p));
	ts_buf_put(&p->regs, &def, sizeof(def));
}

static void start_type(struct parse *p, struct attrs a, enum ts_type_kind kind, int32_t count)
{
	struct ts_type_def def = { .id = need_text(p, a, "id"), .kind = kind, .count = (uint32_t)count };

	if (kind == TS_TYPE_VECTOR)
		def.elem = need_text(p, a, "type");
	ts_buf_put(&p->types, &def, sizeof(def));
}

static void start_flags(struct parse *p, struct attrs a)
{
	start_type(p, a, TS_TYPE_FLAGS, need_num(p, a, "size", UINT16_MAX));
}

static void start_struct(struct parse *p, struct attrs a)
{
	start_type(p, a, TS_TYPE_STRUCT, opt_num(p, a, "size", UINT16_MAX, 0));
}

static void start_union(struct parse *p, struct attrs a)
{
	start_type(p, a, TS_TYPE_UNION, 0);
}

static void start_vector(struct parse *p, struct attrs a)
{
	start_type(p, a, TS_TYPE_VECTOR, need_num(p, a, "count", UINT16_MAX));
}

static void start_enum(struct parse *p, struct attrs a)
{
	start_type(p, a, TS_TYPE_ENUM, need_num(p, a, "size", UINT16_MAX));
}

static void end_type(struct parse *p)
{
	struct ts_type_def *t = (void *)(p->types.data + p->types.len - sizeof(*t));

	t->fields = keep_list(p, &p->fields, sizeof(*t->fields), &t->n_fields);
}

static void start_field(struct parse *p, struct attrs a)
{
	struct ts_field_def f = {
		.name = need_text(p, a, "name"),
		.type = opt_text(p, a, "type"),
		.start = opt_num(p, a, "start", UINT16_MAX, -1),
		.end = opt_num(p, a, "end", UINT16_MAX, -1),
	};

	ts_buf_put(&p->fields, &f, sizeof(f));
}

static void start_evalue(struct parse *p, struct attrs a)
{
	struct ts_field_def f = {
		.name = need_text(p, a, "name"),
		.start = need_num(p, a, "value", INT32_MAX),
		.end = -1,
	};

	ts_buf_put(&p->fields, &f, sizeof(f));
}

static void start_target(struct parse *p, struct attrs a)
{
	const char *version = opt_text(p, a, "version");

	if (version && strcmp(version, "1.0") != 0)
		ts_fail(p->err, TS_EUNSUPPORTED, TS_NO_OFF, "a target description of version %s", version);
}

/* The kind of an element, which its children depend on. */
enum kind {
	K_ROOT, /* nothing: the document */
	K_TARGET,
	K_WORD, /* <architecture>, <osabi>: its text counts */
	K_FEATURE,
	K_FIELDS, /* a type made of fields */
	K_ENUM,
	K_LEAF,
};

static const struct element {
	const char *name;
	enum kind inside;
	enum kind kind;
	void (*start)(struct parse *p, struct attrs a);
	void (*end)(struct parse *p); /* NULL: nothing to do */
} elements[] = {
	{ "target", K_ROOT, K_TARGET, start_target, NULL },
	{ "architecture", K_TARGET, K_WORD, start_text, end_architecture },
	{ "osabi", K_TARGET, K_WORD, start_text, end_osabi },
	{ "feature", K_TARGET, K_FEATURE, start_feature, end_feature },
	{ "reg", K_FEATURE, K_LEAF, start_reg, NULL },
	{ "vector", K_FEATURE, K_LEAF, start_vector, NULL },
	{ "flags", K_FEATURE, K_FIELDS, start_flags, end_type },
	{ "struct", K_FEATURE, K_FIELDS, start_struct, end_type },
	{ "union", K_FEATURE, K_FIELDS, start_union, end_type },
	{ "enum", K_FEATURE, K_ENUM, start_enum, end_type },
	{ "field", K_FIELDS, K_LEAF, start_field, NULL },
	{ "evalue", K_ENUM, K_LEAF, start_evalue, NULL },
};

static const struct element *find_element(const char *name, enum kind inside)
{
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (elements[i].inside == inside && strcmp(elements[i].name, name) == 0)
			return &elements[i];
	return NULL;
}

static bool is_good(struct parse *p)
{
	if (p->err->code == TS_OK && !(ts_buf_ok(&p->text) && ts_buf_ok(&p->features) &&
				       ts_buf_ok(&p->types) && ts_buf_ok(&p->fields) && ts_buf_ok(&p->regs)))
		ts_no_memory(p->err, "a target description");
	return p->err->code == TS_OK;
}

static void stop_unless_good(struct parse *p)
{
	if (!is_good(p))
		xmlStopParser(p->ctxt);
}

/* An element that is not in the table for its place. */
static void start_unknown(struct parse *p, const char *name)
{
	if (p->depth == 0)
		ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "not a target description: it begins with <%.*s>",
			MAX_NAME_LEN, name);
	else if (strcmp(name, "include") == 0)
		ts_fail(p->err, TS_EUNSUPPORTED, TS_NO_OFF,
			"line %d: a part of the target description is in another file", line_of(p));
	p->n_skipped = 1;
}

static void on_start(void *to, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
		     int n_namespaces, const xmlChar **namespaces, int n_attrs, int n_defaulted,
		     const xmlChar **list)
{
	struct parse *p = to;
	const struct element *el;

	(void)prefix, (void)uri, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
	if (!is_good(p))
		return;
	if (p->depth + p->n_skipped == MAX_DEPTH) {
		ts_fail(p->err, TS_ELIMIT, TS_NO_OFF, "line %d: more than %d elements nested", line_of(p),
			MAX_DEPTH);
	} else if (p->n_skipped) {
		p->n_skipped++;
	} else {
		el = find_element((const char *)name, p->depth ? p->open[p->depth - 1]->kind : K_ROOT);
		if (el) {
			el->start(p, (struct attrs){ list, n_attrs });
			p->open[p->depth++] = el;
		} else {
			start_unknown(p, (const char *)name);
		}
	}
	stop_unless_good(p);
}

static void on_end(void *to, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct parse *p = to;
	const struct element *el;

	(void)name, (void)prefix, (void)uri;
	if (!is_good(p))
		return;
	if (p->n_skipped) {
		p->n_skipped--;
		return;
	}
	el = p->open[--p->depth];
	if (el->end)
		el->end(p);
	stop_unless_good(p);
}

static void on_text(void *to, const xmlChar *text, int len)
{
	struct parse *p = to;

	if (is_good(p) && p->depth && !p->n_skipped && p->open[p->depth - 1]->kind == K_WORD)
		ts_buf_put(&p->text, text, (size_t)len);
	stop_unless_good(p);
}

/* Descriptions have no use for entities, and hostile files have bad ones. */
static void refuse_entity(struct parse *p, const xmlChar *name)
{
	ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: an entity: %.*s", line_of(p), MAX_NAME_LEN,
		(const char *)name);
	xmlStopParser(p->ctxt);
}

static void on_entity_decl(void *to, const xmlChar *name, int type, const xmlChar *public_id,
			   const xmlChar *system_id, xmlChar *content)
{
	(void)type, (void)public_id, (void)system_id, (void)content;
	refuse_entity(to, name);
}

static void on_unparsed_entity_decl(void *to, const xmlChar *name, const xmlChar *public_id,
				    const xmlChar *system_id, const xmlChar *notation)
{
	(void)public_id, (void)system_id, (void)notation;
	refuse_entity(to, name);
}

static xmlEntityPtr on_entity(void *to, const xmlChar *name)
{
	refuse_entity(to, name);
	return NULL;
}

/* libxml2 2.12 made the error of a handler const. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *reported_error;
#else
typedef xmlErrorPtr reported_error;
#endif

/* The parser's own complaints: the first fatal one becomes ours. */
static void on_error(void *to, reported_error e)
{
	struct parse *p = to;
	char text[160];
	size_t len = 0;

	if (e->level < XML_ERR_FATAL)
		return;
	for (const char *from = e->message; from && *from && *from != '\n' && len < sizeof(text) - 1; from++)
		text[len++] = (char)(*from < ' ' || *from > '~' ? '?' : *from);
	text[len] = '\0';
	ts_fail(p->err, e->code == XML_ERR_NO_MEMORY ? TS_ENOMEM : TS_ECORRUPT, TS_NO_OFF, "line %d: %s",
		e->line, text);
}

static const xmlSAXHandler handler = {
	.initialized = XML_SAX2_MAGIC,
	.startElementNs = on_start,
	.endElementNs = on_end,
	.characters = on_text,
	.cdataBlock = on_text,
	.entityDecl = on_entity_decl,
	.unparsedEntityDecl = on_unparsed_entity_decl,
	.getEntity = on_entity,
	.getParameterEntity = on_entity,
	.serror = on_error,
};

/* Run libxml2 over the text; afterwards p has all that the description says. */
static bool run_parser(struct parse *p, const uint8_t *xml, size_t len)
{
	p->ctxt = xmlCreateMemoryParserCtxt((const char *)xml, (int)len);
	if (!p->ctxt)
		return ts_no_memory(p->err, "a target description");
	*p->ctxt->sax = handler;
	p->ctxt->userData = p;
	xmlCtxtUseOptions(p->ctxt, XML_PARSE_NONET);
	xmlParseDocument(p->ctxt);
	if (is_good(p) && !p->ctxt->wellFormed)
		ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "line %d: not well-formed", line_of(p));
	xmlFreeDoc(p->ctxt->myDoc);
	xmlFreeParserCtxt(p->ctxt);
	return is_good(p);
}

/* Has one of the features a program counter as @arch has it? */
static bool has_pc_of(const struct ts_arch *arch, const struct ts_feature_def *features, unsigned n)
{
	const struct ts_reg_def *pc = ts_arch_pc(arch);

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < features[i].n_regs; j++)
			if (strcasecmp(features[i].regs[j].name, pc->name) == 0)
				return features[i].regs[j].bits == pc->bits;
	return false;
}

/*
 * The architecture of a description: gdb's name is of its family ("mips:isa32r2" of "mips", "armv7" of
 * "arm"), the program counter fits; then, if there is a choice, the byte order asked for.
 */
static const struct ts_arch *choose_arch(const char *name, const struct ts_feature_def *features, unsigned n,
					 bool is_big_endian)
{
	const struct ts_arch *found = NULL;
	unsigned n_all;
	const struct ts_arch *const *all = ts_arch_all(&n_all);

	for (unsigned i = 0; i < n_all; i++) {
		size_t family_len = strcspn(all[i]->gdb_name, ":");

		if (strncmp(name, all[i]->gdb_name, family_len) != 0 || !has_pc_of(all[i], features, n))
			continue;
		if (!found || all[i]->is_big_endian == is_big_endian)
			found = all[i];
	}
	return found;
}

static bool make_set(struct parse *p, bool is_big_endian, struct ts_regset *set)
{
	unsigned n;
	const struct ts_feature_def *features = keep_list(p, &p->features, sizeof(*features), &n);
	const struct ts_arch *arch;

	if (!features)
		return false;
	if (!p->arch_name)
		return ts_fail(p->err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "the target description names no architecture");
	arch = choose_arch(p->arch_name, features, n, is_big_endian);
	if (!arch)
		return ts_fail(p->err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "architecture \"%s\" with these registers is not supported",
			       p->arch_name);
	return ts_regset_init_own(set, arch, p->arch_name, p->osabi, features, n, &p->arena, p->err);
}

bool ts_tdesc_parse(const uint8_t *xml, size_t len, bool is_big_endian, struct ts_regset *set,
		    struct ts_error *err)
{
	struct parse p = { .err = err };
	bool is_done;

	*set = (struct ts_regset){ 0 };
	/* gdb saves an empty line first; before an XML declaration that would be a fault. */
	while (len && isspace(*xml)) {
		xml++;
		len--;
	}
	if (len == 0)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "the target description is empty");
	if (len > MAX_XML_LEN)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a target description of %zu bytes", len);
	is_done = run_parser(&p, xml, len) && make_set(&p, is_big_endian, set);
	ts_arena_fini(&p.arena);
	ts_buf_fini(&p.text);
	ts_buf_fini(&p.features);
	ts_buf_fini(&p.types);
	ts_buf_fini(&p.fields);
	ts_buf_fini(&p.regs);
	return is_done;
}
