/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric.h"

#include <stdlib.h>

#include "lib/base/bytes.h"
#include "lib/base/log.h"

struct sim *sim;
char *said;
unsigned last_trap, traps;

static struct buf out;
static json_t *answer;

static void host(struct sim *s, uint32_t port, struct packet *p)
{
	(void)s;
	if (p->mad[MAD_METHOD] != METHOD_TRAP || port != port_named("node1"))
		return;
	last_trap = get_be16(p->mad + SMP_DATA + 4);
	traps++;
}

/* --- building --- */

static uint32_t add(struct sim_fabric *f, uint8_t type, uint8_t ports, uint64_t guid,
		    const char *desc)
{
	struct sim_node_spec spec = { .type = type, .nports = ports, .guid = guid,
				      .sysimg_guid = guid, .desc = desc, .id = desc };
	struct buf err = { 0 };
	uint32_t node = simfab_add_node(f, &spec, &err);

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	return node;
}

static void cable(struct sim_fabric *f, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
	struct buf err = { 0 };

	ck_assert_msg(simfab_connect(f, f->nodes[a].port0 + port_a, f->nodes[b].port0 + port_b,
				     &err), "%s", err.s);
}

static struct sim_fabric *build(void)
{
	struct sim_fabric *f = simfab_new();
	struct findings found = { 0 };
	struct profile_set *ps = profiles_load(NULL, NULL, 0, &found);
	uint32_t leaf1 = add(f, SIM_SWITCH, 8, 0x100, "leaf1");
	uint32_t leaf2 = add(f, SIM_SWITCH, 40, 0x200, "leaf2");
	uint32_t node1 = add(f, SIM_CA, 1, 0x1100, "node1");
	uint32_t node2 = add(f, SIM_CA, 1, 0x1200, "node2");
	uint32_t node3 = add(f, SIM_CA, 2, 0x1300, "node3");

	cable(f, leaf1, 1, node1, 1);
	cable(f, leaf1, 2, node2, 1);
	cable(f, leaf2, 1, node3, 1);
	cable(f, leaf2, 2, node3, 2);
	cable(f, leaf1, 7, leaf2, 7);
	cable(f, leaf1, 8, leaf2, 8);
	ck_assert_ptr_nonnull(ps);
	profiles_apply(ps, f);
	profiles_free(ps);
	return f;
}

/* --- bringing up, by the commands themselves --- */

static void set_lid(const char *port, const char *lid)
{
	GOOD("portinfo", port, "Lid", lid);
	GOOD("portinfo", port, "SMLid", "11");
}

static void route(const char *leaf, const char *const ports[6])
{
	static const char *const lids[6] = { "1", "2", "11", "12", "31", "32" };

	for (int i = 0; i < 6; i++)
		GOOD("lft", leaf, lids[i], ports[i]);
}

static void set_tops(void)
{
	uint8_t data[64];

	for (int i = 0; i < 2; i++) {
		uint32_t port0 = sim->f->nodes[sim->f->switches[i].node].port0;

		memset(data, 0, sizeof(data));
		ck_assert_int_eq(device_smp(sim, port0, METHOD_GET, 0x12, 0, data), 0);
		put_be16(data + 6, 40);		/* LinearFDBTop */
		ck_assert_int_eq(device_smp(sim, port0, METHOD_SET, 0x12, 0, data), 0);
	}
}

/* All ports with a link: four data VLs, and one state after the other. */
static void bring_up(void)
{
	static const char *const steps[][2] = {
		{ "OperVLs", "3" }, { "LinkState", "3" }, { "LinkState", "4" },
	};
	char name[SIM_NAME_MAX];

	for (size_t step = 0; step < ARRAY_SIZE(steps); step++)
		for (uint32_t p = 0; p < sim->f->n_ports; p++)
			if (link_is_up(sim->f, p))
				GOOD("portinfo", sim_port_name(sim->f, p, name, sizeof(name)),
				     steps[step][0], steps[step][1]);
}

static void fill_vlarb(void)
{
	char name[SIM_NAME_MAX];

	for (uint32_t p = 0; p < sim->f->n_ports; p++) {
		sim_port_name(sim->f, p, name, sizeof(name));
		if (!link_is_up(sim->f, p))
			continue;
		GOOD("vlarb", name, "high", "3:64");
		GOOD("vlarb", name, "low", "0:10,1:10,2:10");
	}
}

static void fill_sl2vl(void)
{
	static const char vls[] = "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3";
	static const char *const cas[] = { "node1", "node2", "node3/P1", "node3/P2" };

	GOOD("sl2vl", "leaf1", "all", "all", vls);
	GOOD("sl2vl", "leaf2", "all", "all", vls);
	for (size_t i = 0; i < ARRAY_SIZE(cas); i++)
		GOOD("sl2vl", cas[i], "all", "all", vls);
}

void fabric_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	sim = sim_new(build(), 1);
	sim->hooks.arrive = devices_receive;
	sim->hooks.host = host;
	sim->hooks.falsify = device_falsify;
	devices_start(sim, false);
	after(1000000);
	set_lid("leaf1/P0", "1");
	set_lid("leaf2/P0", "2");
	set_lid("node1", "11");
	set_lid("node2", "12");
	set_lid("node3/P1", "31");
	set_lid("node3/P2", "32");
	set_tops();
	route("leaf1", (const char *const[]){ "0", "7", "1", "2", "7", "7" });
	route("leaf2", (const char *const[]){ "7", "0", "7", "7", "1", "2" });
	bring_up();
	fill_sl2vl();
	fill_vlarb();
	after(1000000);
	last_trap = traps = 0;
}

void fabric_down(void)
{
	devices_stop(sim);
	sim_free(sim);
	buf_free(&out);
	json_decref(answer);
	said = NULL;
	answer = NULL;
}

void after(int64_t us)
{
	sim_run(sim, sim_now(sim) + us);
}

/* --- commands --- */

static int run(const char *const *words, bool json)
{
	char *argv[24];
	int argc = 0, status;

	for (; words[argc]; argc++)
		argv[argc] = xstrdup(words[argc]);
	buf_free(&out);
	status = ctl_run(sim, argc, argv, json, &out);
	if (!out.s)
		buf_puts(&out, "");
	said = out.s;
	while (argc > 0)
		free(argv[--argc]);
	return status;
}

int run_words(const char *const *words)
{
	return run(words, false);
}

json_t *ask_words(const char *const *words)
{
	json_error_t error;
	int status = run(words, true);

	ck_assert_msg(status == 0, "%s", said);
	json_decref(answer);
	answer = json_loads(said, 0, &error);
	ck_assert_msg(answer != NULL, "%s: %s", error.text, said);
	return answer;
}

void refused(const char *text, const char *const *words)
{
	json_t *o;

	ck_assert_int_eq(run(words, false), 1);
	ck_assert_msg(strncmp(said, text, strlen(text)) == 0 &&
		      strcmp(said + strlen(text), "\n") == 0, "said '%s', not '%s'", said, text);
	ck_assert_int_eq(run(words, true), 1);
	o = json_loads(said, 0, NULL);
	ck_assert_str_eq(str(o, "error"), text);
	json_decref(o);
}

/* --- looking --- */

uint32_t port_named(const char *name)
{
	struct buf err = { 0 };
	uint32_t port = find_port_by_text(sim->f, name, &err);

	ck_assert_msg(port != SIM_NONE, "%s", err.s);
	return port;
}

struct sim_port *port_at(const char *name)
{
	return &sim->f->ports[port_named(name)];
}

struct sim_node *node_named(const char *name)
{
	return node_of(sim->f, port_named(name));
}

long long num(const json_t *o, const char *key)
{
	ck_assert_msg(json_is_number(json_object_get(o, key)), "no number %s", key);
	return (long long)json_number_value(json_object_get(o, key));
}

const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	ck_assert_msg(s != NULL, "no text %s", key);
	return s;
}

json_t *row_with(const json_t *rows, const char *key, const char *value)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		const char *s = json_string_value(json_object_get(row, key));

		if (s && strcmp(s, value) == 0)
			return row;
	}
	return NULL;
}
