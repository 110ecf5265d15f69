/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See pkeys_qos.h. */
#include "cli/rest/api/pkeys_qos.h"

#include <math.h>

#include "lib/base/alloc.h"

#define SL_MAX 15
#define KIB 1024
#define MTU_MAX 4		/* KiB */
#define RATE_MAX 300		/* Gb/s; there are faster links, but clients know no greater value */

static bool is_among(double v, const double *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return false;
}

/* NAN, which no comparison accepts, if it is no number. */
static double number_of(const json_t *v)
{
	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static bool read_sl(const json_t *v, json_t *own, struct rest_answer *a)
{
	double sl = number_of(v);

	if (!(sl >= 0 && sl <= SL_MAX) || sl != (int)sl)
		return rest_refuse(a, REST_BAD, "service_level must be a number from 0 to %d", SL_MAX);
	json_object_set_new(own, "sl", json_integer((int)sl));
	return true;
}

static bool read_mtu(const json_t *v, json_t *own, struct rest_answer *a)
{
	static const double sizes[] = { 2, MTU_MAX };
	double mtu = number_of(v);

	if (!is_among(mtu, sizes, ARRAY_SIZE(sizes)))
		return rest_refuse(a, REST_BAD, "mtu_limit must be 2 or 4, in KiB");
	json_object_set_new(own, "mtu", json_integer((int)mtu * KIB));
	return true;
}

static bool read_rate(const json_t *v, json_t *own, struct rest_answer *a)
{
	static const double rates[] = { 2.5, 5, 10, 14, 20, 25, 30, 40, 56, 60, 80, 100, 112, 120, 168, 200, RATE_MAX };
	double rate = number_of(v);

	if (!is_among(rate, rates, ARRAY_SIZE(rates)))
		return rest_refuse(a, REST_BAD,
				   "rate_limit must be one of 2.5, 5, 10, 14, 20, 25, 30, 40, 56, 60, 80, 100, "
				   "112, 120, 168, 200 and 300, in Gb/s");
	json_object_set_new(own, "rate", json_real(rate));
	return true;
}

json_t *rest_read_qos(const struct rest_call *c, struct rest_answer *a)
{
	const json_t *sl = json_object_get(c->body, "service_level"), *mtu = json_object_get(c->body, "mtu_limit");
	const json_t *rate = json_object_get(c->body, "rate_limit");
	json_t *own = json_object();

	if ((!sl || read_sl(sl, own, a)) && (!mtu || read_mtu(mtu, own, a)) && (!rate || read_rate(rate, own, a)))
		return own;
	json_decref(own);
	return NULL;
}

/* A whole number is told as one: some clients read nothing else. */
static json_t *json_amount(double v)
{
	return v == (json_int_t)v ? json_integer((json_int_t)v) : json_real(v);
}

json_t *rest_qos_of(const json_t *row)
{
	const json_t *sl = json_object_get(row, "path-sl"), *mtu = json_object_get(row, "path-mtu");
	const json_t *rate = json_object_get(row, "path-rate");

	if (!sl)
		return NULL;
	return json_pack("{s:o, s:I, s:o}",
			 "mtu_limit", json_amount(json_is_number(mtu) ? json_number_value(mtu) / KIB : MTU_MAX),
			 "service_level", json_integer_value(sl),
			 "rate_limit", json_amount(json_is_number(rate) ? json_number_value(rate) : RATE_MAX));
}

static bool is_told(const json_t *own, const char *name, double unit, const json_t *told, const char *told_name)
{
	const json_t *v = json_object_get(own, name);

	return v && json_number_value(v) == json_number_value(json_object_get(told, told_name)) * unit;
}

void rest_drop_told(json_t *own, const json_t *told)
{
	if (!told || !is_told(own, "mtu", KIB, told, "mtu_limit") || !is_told(own, "rate", 1, told, "rate_limit"))
		return;
	json_object_del(own, "mtu");
	json_object_del(own, "rate");
	if (is_told(own, "sl", 1, told, "service_level"))
		json_object_del(own, "sl");
}
