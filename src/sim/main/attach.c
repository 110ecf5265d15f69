/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets the environment of programs on the fabric, and implements `qosd-sim attach`. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "program.h"

#define LIBRARY "libqosd-sim.so"
#define CLOCK_LIBRARY "libqosd-sim-clock.so"

/*
 * Looks beside this program, as in the build tree; in the installation directory; and in the same
 * place relative to this program, in case the installed tree was moved.
 */
static char *find_library(const char *name)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *places[3], *found = NULL;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	places[0] = xasprintf("%s/%s", self, name);
	places[1] = xasprintf("%s/%s", QOSD_LIBDIR "/qosd", name);
	places[2] = xasprintf("%s/../lib/qosd/%s", self, name);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!found && access(places[i], R_OK) == 0)
			found = places[i];
		else
			free(places[i]);
	}
	if (!found)
		fprintf(stderr, "qosd-sim: %s is neither next to qosd-sim nor in %s\n", name, QOSD_LIBDIR "/qosd");
	return found;
}

static bool preload(const char *name)
{
	const char *others = getenv("LD_PRELOAD");
	char *library = find_library(name), *all;

	if (!library)
		return false;
	if (strpbrk(library, " :")) {
		fprintf(stderr, "qosd-sim: %s: libraries cannot be preloaded from such a path\n", library);
		free(library);
		return false;
	}
	/* last, because sanitizers and libraries that count calls must come first */
	if (others && strstr(others, library))
		all = xstrdup(others);
	else
		all = others && *others ? xasprintf("%s:%s", others, library) : xstrdup(library);
	setenv("LD_PRELOAD", all, 1);
	free(all);
	free(library);
	return true;
}

bool set_environment(const char *socket, const char *nodes, bool simulated_time)
{
	if ((simulated_time && !preload(CLOCK_LIBRARY)) || !preload(LIBRARY))
		return false;
	setenv(SIM_SOCKET_VAR, socket, 1);
	setenv(SIM_NODE_VAR, nodes, 1);
	return true;
}

int become(char **command)
{
	execvp(command[0], command);
	fprintf(stderr, "qosd-sim: %s: %s\n", command[0], strerror(errno));
	return errno == ENOENT ? EXIT_NO_COMMAND : EXIT_CANNOT_START;
}

int attach(const struct options *o)
{
	char *path = socket_path(o);
	int fd = dial(path, SIM_CONTROL, o->nodes, -1);
	bool ok = fd >= 0 && set_environment(path, o->nodes, o->stands);

	if (fd >= 0)
		close(fd);
	free(path);
	return ok ? become(o->words) : EXIT_FAILED;
}
