/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds system types by name.  A file defines a type under several names, none of which need match
 * the file's name: so each directory is scanned once for the names that its files define, and only
 * files that are used are parsed in full.
 *
 * Systems of a single chip with ports P1 to Pn are built in.
 */
#include "fabric/ibdm/ibnl.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"

#define FILES_MAX 4096	/* per directory */

static const struct known {
	const char *names;	/* each surrounded by spaces */
	uint16_t device;
	uint8_t nports;
	bool is_switch;
} known[] = {
	{ " Buffalo MTS800 ", 43132, 8, true },
	{ " Reindeer MTS2400 MTS2400-24 ", 47396, 24, true },
	{ " MTS3600 Shark IS4 F464M ", 48436, 36, true },
	{ " Cheetah MT25204 MHGS18-XT ", 25204, 1, false },
	{ " Cougar MT23108 MTPB23108 MHX-CE128-T MHX-CE256-T MHX-CE512-T MHXL-CF128-T "
	  "MHXL-CF256-T MHXL-CF512-T ", 23108, 2, false },
	{ " Lion MT25208 MTLP25208 MHEL-CF128-T MHEL-CF256-T MHEL-CF512-T ", 25208, 2, false },
	{ " LionMini MT25218 MHEA28-XT ", 25218, 2, false },
	{ " Eagle MT25408 MHEH28 MHGH28 ", 25408, 2, false },
};

struct entry {
	struct ibdm_type type;
	char *path;		/* NULL: built in */
	enum { UNREAD, GOOD, BAD } state;
};

struct ibdm_library {
	struct ibdm_files files;
	struct ibdm_report *report;
	VEC(struct entry *) entries;	/* from files first, then the built-in ones */
	struct entry known[ARRAY_SIZE(known)];
	struct ibdm_names names;
	VEC(struct entry *) entry_of_name;
	struct buf looked_in;		/* directories searched, for a message */
	struct buf unread;		/* the first file that could not be read, and why */
	bool own_done, installed_done;
};

/* --- directories --- */

static void add_name(struct ibdm_library *l, const char *name, struct entry *e)
{
	if (ibdm_add_name(&l->names, name) != MAP64_NONE)	/* the first definition counts */
		*vec_push(&l->entry_of_name) = e;
}

static void found_system(void *arg, const char *name)
{
	struct ibdm_library *l = arg;

	add_name(l, name, l->entries.v[l->entries.n - 1]);
}

static void look_into_file(struct ibdm_library *l, char *path)
{
	struct buf text = { 0 }, why = { 0 };
	struct entry *e = xcalloc(1, sizeof(*e));

	e->path = path;
	*vec_push(&l->entries) = e;
	if (file_read(path, IBNL_BYTES_MAX, &text, &why))
		ibnl_list_systems(&text, found_system, l);
	else if (!l->unread.n)
		buf_printf(&l->unread, "%s: %s", path, why.s);
	buf_free(&text);
	buf_free(&why);
}

static int is_ibnl(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && !strcmp(d->d_name + n - 5, ".ibnl");
}

/* Scans in the order of file names, so that the result is reproducible.  False: no directory. */
static bool look_into(struct ibdm_library *l, const char *dir)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_ibnl, alphasort);

	if (n < 0)
		return false;
	for (int i = 0; i < n; i++) {
		if (i < FILES_MAX)
			look_into_file(l, xasprintf("%s/%s", dir, list[i]->d_name));
		free(list[i]);
	}
	free(list);
	buf_printf(&l->looked_in, "%s%s", l->looked_in.n ? ", " : "", dir);
	return true;
}

static void look_into_own(struct ibdm_library *l)
{
	const char *slash = strrchr(l->files.topo, '/');
	char *dir = slash ? xstrndup(l->files.topo, (size_t)(slash - l->files.topo) + !!(slash ==
		    l->files.topo)) : xstrdup(".");

	if (l->files.ibnl && !look_into(l, l->files.ibnl))
		ibdm_fail(l->report, l->files.ibnl, 0, "%s", strerror(errno));
	look_into(l, dir);
	free(dir);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		l->known[i].state = GOOD;
		l->known[i].type = (struct ibdm_type){
			.device = known[i].device, .nports = known[i].nports,
			.is_switch = known[i].is_switch,
		};
		for (const char *s = known[i].names, *word; *(word = s + strspn(s, " "));
		     s = word + strcspn(word, " ")) {
			char *name = xstrndup(word, strcspn(word, " "));

			add_name(l, name, &l->known[i]);
			free(name);
		}
	}
}

static void look_into_installed(struct ibdm_library *l)
{
	const char *s = l->files.installed;

	while (s && *s) {
		size_t n = strcspn(s, ":");
		char *pattern = xstrndup(s, n);
		glob_t g;

		if (!glob(pattern, 0, NULL, &g))
			for (size_t i = 0; i < g.gl_pathc; i++)
				look_into(l, g.gl_pathv[i]);
		globfree(&g);
		free(pattern);
		s += n + (s[n] == ':');
	}
}

/* --- types --- */

static void read_in_full(struct ibdm_library *l, struct entry *e)
{
	struct buf text = { 0 }, why = { 0 };
	struct ibnl *f = xcalloc(1, sizeof(*f));

	f->path = xstrdup(e->path);
	e->type.ibnl = f;
	e->state = BAD;
	if (!file_read(e->path, IBNL_BYTES_MAX, &text, &why))
		ibdm_fail(l->report, e->path, 0, "%s", why.s);
	else if (ibnl_parse(f, &text, l->report))
		e->state = GOOD;
	buf_free(&text);
	buf_free(&why);
}

static uint32_t find_name(struct ibdm_library *l, const char *name)
{
	uint32_t i;

	if (!l->own_done) {
		l->own_done = true;
		look_into_own(l);
	}
	i = ibdm_find_name(&l->names, name);
	if (i != MAP64_NONE || l->installed_done)
		return i;
	l->installed_done = true;
	look_into_installed(l);
	return ibdm_find_name(&l->names, name);
}

const struct ibdm_type *ibdm_find_type(struct ibdm_library *l, const char *name, uint32_t line)
{
	uint32_t i = find_name(l, name);
	struct entry *e = i == MAP64_NONE ? NULL : l->entry_of_name.v[i];

	if (!e) {
		ibdm_fail(l->report, NULL, line, "no IBNL file defines system type %s; looked in "
			  "%s%s%s%s", name, l->looked_in.n ? l->looked_in.s : "no directory",
			  l->unread.n ? " (" : "", l->unread.n ? l->unread.s : "",
			  l->unread.n ? ")" : "");
		return NULL;
	}
	if (e->state == UNREAD)
		read_in_full(l, e);
	return e->state == GOOD ? &e->type : NULL;
}

struct ibdm_library *ibdm_library_new(const struct ibdm_files *files, struct ibdm_report *report)
{
	struct ibdm_library *l = xcalloc(1, sizeof(*l));

	l->files = *files;
	l->report = report;
	return l;
}

void ibdm_library_free(struct ibdm_library *l)
{
	for (size_t i = 0; i < l->entries.n; i++) {
		if (l->entries.v[i]->type.ibnl)
			ibnl_free(l->entries.v[i]->type.ibnl);
		free(l->entries.v[i]->type.ibnl);
		free(l->entries.v[i]->path);
		free(l->entries.v[i]);
	}
	vec_free(&l->entries);
	vec_free(&l->entry_of_name);
	ibdm_free_names(&l->names);
	buf_free(&l->looked_in);
	buf_free(&l->unread);
	free(l);
}
