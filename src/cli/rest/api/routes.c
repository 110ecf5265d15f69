/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of all routes of the REST interface, and how a path is looked up in it. */
#include "cli/rest/api/rest_api.h"

#include <stdarg.h>
#include <string.h>

#include "lib/base/alloc.h"

static const struct rest_route routes[] = {
	{ "GET", "app/ufm_version", REST_READ, false, "", rest_version },
	{ "GET", "app/smconf", REST_READ, false, "", rest_smconf },
	{ "GET", "resources/pkeys", REST_READ, false, "guids_data qos_conf", rest_pkeys_list },
	{ "POST", "resources/pkeys", REST_PARTITIONS, true, "", rest_pkeys_add },
	{ "PUT", "resources/pkeys", REST_PARTITIONS, true, "", rest_pkeys_set },
	{ "POST", "resources/pkeys/add", REST_PARTITIONS, true, "", rest_pkeys_new },
	{ "POST", "resources/pkeys/hosts", REST_PARTITIONS, true, "", rest_pkeys_hosts },
	{ "PUT", "resources/pkeys/qos_conf", REST_PARTITIONS, true, "", rest_pkeys_qos },
	{ "POST", "resources/pkeys/qos_conf", REST_PARTITIONS, true, "", rest_pkeys_qos },	/* of one client */
	{ "GET", "resources/pkeys/{}", REST_READ, false, "guids_data qos_conf", rest_pkeys_one },
	{ "DELETE", "resources/pkeys/{}", REST_PARTITIONS, false, "", rest_pkeys_delete },
	{ "DELETE", "resources/pkeys/{}/guids/{}", REST_PARTITIONS, false, "", rest_pkeys_delete_guids },
	{ "DELETE", "resources/pkeys/{}/hosts/{}", REST_PARTITIONS, false, "", rest_pkeys_delete_hosts },
	{ "POST", "actions/remove_guids_from_pkey", REST_PARTITIONS, true, "", rest_pkeys_remove_guids },
	{ "GET", "resources/ports", REST_READ, false, "system guid sys_type active", rest_ports },
	{ "GET", "resources/systems", REST_READ, false, "type name", rest_systems },
	{ "GET", "resources/links", REST_READ, false, "system", rest_links },
	{ "GET", "resources/unhealthy_ports", REST_READ, false, "", rest_unhealthy },
	{ "GET", "resources/unhealthy_ports/{}", REST_READ, false, "", rest_unhealthy_one },
	{ "PUT", "resources/unhealthy_ports", REST_ALL, true, "force_set", rest_unhealthy_set },
	/* the same by the name that the vendor's manual has */
	{ "GET", "app/unhealthy_ports", REST_READ, false, "", rest_unhealthy },
	{ "GET", "app/unhealthy_ports/{}", REST_READ, false, "", rest_unhealthy_one },
	{ "PUT", "app/unhealthy_ports", REST_ALL, true, "force_set", rest_unhealthy_set },
};

bool rest_refuse(struct rest_answer *a, unsigned status, const char *fmt, ...)
{
	va_list ap;

	a->status = status;
	json_decref(a->body);
	a->body = NULL;
	buf_free(&a->text);
	va_start(ap, fmt);
	buf_vprintf(&a->text, fmt, ap);
	va_end(ap);
	return false;
}

void rest_answer_free(struct rest_answer *a)
{
	json_decref(a->body);
	buf_free(&a->text);
}

/* Whether a path is that of a pattern; words where the pattern has {} are kept in parts. */
static bool matches(const char *pattern, const char *path, const char *words[2], size_t lengths[2])
{
	unsigned n = 0;

	for (;;) {
		size_t p = strcspn(pattern, "/"), w = strcspn(path, "/");

		if (p == 2 && !memcmp(pattern, "{}", 2) && w) {
			words[n] = path;
			lengths[n++] = w;
		} else if (p != w || memcmp(pattern, path, p)) {
			return false;
		}
		pattern += p;
		path += w;
		if (!*pattern)
			return !*path || !strcmp(path, "/");
		if (!*path)
			return false;
		pattern++;
		path++;
	}
}

const struct rest_route *rest_find_route(const char *method, const char *path, char *parts[2],
					 struct rest_answer *a)
{
	const char *words[2] = { NULL };
	size_t lengths[2];
	bool there = false;

	parts[0] = parts[1] = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		words[0] = words[1] = NULL;
		if (!matches(routes[i].path, path, words, lengths))
			continue;
		there = true;
		if (strcmp(routes[i].method, method))
			continue;
		for (unsigned k = 0; k < 2; k++)
			parts[k] = words[k] ? xstrndup(words[k], lengths[k]) : NULL;
		return &routes[i];
	}
	if (there)
		rest_refuse(a, REST_BAD_METHOD, "%s is not possible here", method);
	else
		rest_refuse(a, REST_NOT_FOUND, "there is no such resource");
	return NULL;
}

const char *rest_split_base(const char *url, enum rest_base *base)
{
	static const char *const bases[] = {
		[REST_BASE_PASSWORD] = "/ufmRest/", [REST_BASE_CERTIFICATE] = "/ufmRestV2/",
		[REST_BASE_TOKEN] = "/ufmRestV3/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		size_t n = strlen(bases[i]);

		if (!strncmp(url, bases[i], n)) {
			*base = (enum rest_base)i;
			return url + n;
		}
	}
	return NULL;
}
