/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of commands; parses words into calls and turns results into answers. */
#include "sim/ctl/command.h"

#include <stdio.h>
#include <string.h>

#include "lib/format/yaml_value.h"

struct command {
	const char *first, *second;	/* "link", " down"; "" if the name is one word */
	const char *words, *help;
	unsigned words_min, words_max;
	handler *run;
	const char *options[OPTIONS_MAX + 1];	/* "name=" takes a value; NULL-terminated */
};

static handler cmd_help;

/*
 * Name in one or two parts, its arguments, its help, least and greatest number of words, handler,
 * options (those with = take a value).
 */
#define COMMANDS(X) \
	X("status", "", "", \
	  "nodes, ports by state, clients, time, packets", \
	  0, 0, cmd_status, NULL) \
	X("pass", "", " TIME", "let simulated time pass as quickly as the programs can work", \
	  1, 1, cmd_pass, NULL) \
	X("check", "", " [--sl N,...] [--path-sls FILE] [--switches] [--max N]", \
	  "audit all tables; exit status 1 if something is wrong", \
	  0, 0, cmd_check, "--sl=", "--path-sls=", "--switches", "--max=", NULL) \
	X("path", "", " SRC DST [SL [BYTES]]", \
	  "the hops and VLs from one end port to another", \
	  2, 4, cmd_path, NULL) \
	X("show", " nodes", "", "all nodes", 0, 0, cmd_show_nodes, NULL) \
	X("show", " links", " [NODE]", "all cables, or those of a node", 0, 1, cmd_show_links, NULL) \
	X("show", " port", " PORT", "a port and its link", 1, 1, cmd_show_port, NULL) \
	X("show", " end-ports", "", "all ports that can have a LID, and their links", 0, 0, cmd_show_end_ports, NULL) \
	X("show", " portinfo", " PORT", "the fields of a port's PortInfo", 1, 1, cmd_show_portinfo, NULL) \
	X("show", " counters", " PORT", "its counters", 1, 1, cmd_show_counters, NULL) \
	X("show", " lft", " SWITCH", "unicast forwarding table", 1, 1, cmd_show_lft, NULL) \
	X("show", " mft", " SWITCH", "multicast forwarding table", 1, 1, cmd_show_mft, NULL) \
	X("show", " sl2vl", " NODE|PORT [IN OUT]", "SL to VL mapping", 1, 3, cmd_show_sl2vl, NULL) \
	X("show", " module", " PORT", "the transceiver or cable in a port", 1, 1, cmd_show_module, NULL) \
	X("show", " vlarb", " PORT", "VL arbitration", 1, 1, cmd_show_vlarb, NULL) \
	X("show", " pkeys", " PORT", "P_Key table", 1, 1, cmd_show_pkeys, NULL) \
	X("drops", "", " [--last N] [--reason R] [--reset]", \
	  "lost packets by reason, and the last ones", \
	  0, 0, cmd_drops, "--last=", "--reason=", "--reset", NULL) \
	X("stats", "", " [--client] [--reset]", \
	  "MADs sent, by class, method and attribute", \
	  0, 0, cmd_stats, "--client", "--reset", NULL) \
	X("traffic", "", " SRC DST SL[,SL...] [SRC DST SL[,SL...]]... [--packets N] " \
	  "[--size BYTES] [--times N]", \
	  "let hosts send at full load for some packet times, and count packets", \
	  3, WORDS_MAX, cmd_traffic, "--packets=", "--size=", "--times=", NULL) \
	X("link", " down", " PORT|NODE", "unplug a cable, or all cables of a node", \
	  1, 1, cmd_link_plug, NULL) \
	X("link", " up", " PORT|NODE", "plug in a cable again, or all cables of a node", 1, 1, cmd_link_plug, NULL) \
	X("link", " connect", " PORT PORT", \
	  "connect two ports without plugged-in cables", \
	  2, 2, cmd_link_connect, NULL) \
	X("link", " flap", " PORT [--count N] [--interval S]", \
	  "unplug and plug in a cable N times, for S seconds each", \
	  1, 1, cmd_link_flap, "--count=", "--interval=", NULL) \
	X("link", " degrade", " PORT WIDTH|SPEED|full", \
	  "limit a link to 1x, SDR, 4xFDR ...", \
	  2, 2, cmd_link_degrade, NULL) \
	X("node", " off", " NODE", "no power", 1, 1, cmd_node_power, NULL) \
	X("node", " on", " NODE", "power on, with empty tables", 1, 1, cmd_node_power, NULL) \
	X("node", " reboot", " NODE [--for S]", \
	  "power off for S seconds, and lose the tables", \
	  1, 1, cmd_node_reboot, "--for=", NULL) \
	X("node", " silent", " NODE", "forward packets, but answer nothing", 1, 1, cmd_node_silent, NULL) \
	X("node", " hang", " NODE", "answer nothing, and forward no directed-route SMPs", \
	  1, 1, cmd_node_silent, NULL) \
	X("node", " answer", " NODE", "answers again", 1, 1, cmd_node_silent, NULL) \
	X("node", " refuse", " NODE ATTRIBUTE,...|none [--status STATUS] [--times N]", \
	  "refuse Sets, in addition to its profile", \
	  2, 2, cmd_node_refuse, "--status=", "--times=", NULL) \
	X("node", " lie", " NODE LIE,...|none", "give false answers, in addition to its profile", \
	  2, 2, cmd_node_lie, NULL) \
	X("node", " rename", " NODE NAME", "new NodeDescription", 2, 2, cmd_node_rename, NULL) \
	X("module", "", " PORT KIND|VALUE [NUMBER [LANE]]", \
	  "plug in a module of another kind, or change what it measures: C, V, mW, mA", \
	  2, 4, cmd_module, NULL) \
	X("registers", "", " NODE STATUS [--times N]", \
	  "deny requests for registers with a status of the vendor's; 0 ends it", \
	  2, 2, cmd_registers, "--times=", NULL) \
	X("trap", "", " NODE|PORT NUMBER", "make a device send a trap", 2, 2, cmd_trap, NULL) \
	X("count", "", " PORT COUNTER N", "let a port count N more, as show counters names it", \
	  3, 3, cmd_count, NULL) \
	X("adaptive", "", " SWITCH on|locked|off [LID PORT]", \
	  "adaptive routing of another manager; locked: writing linear tables does not end it", \
	  2, 4, cmd_adaptive, NULL) \
	X("private", "", " SWITCH on|off [LID PORT]", \
	  "private linear tables of another manager", \
	  2, 4, cmd_private, NULL) \
	X("mkey", "", " NODE|PORT KEY [--protect N] [--lease S]", \
	  "set an M_Key as another manager would", \
	  2, 2, cmd_mkey, "--protect=", "--lease=", NULL) \
	X("fault", " add", " drop|delay|duplicate|reorder|corrupt|damage [--class C] [--method M] " \
	  "[--attr A] [--at NODE|PORT] [--share P% [--spare NODE] [--pick N]] [--chance P%] " \
	  "[--count N] [--for TIME]", \
	  "drop, delay, ... packets that match", \
	  1, 1, cmd_fault_add, "--class=", "--method=", "--attr=", "--at=", "--share=", \
	  "--spare=", "--pick=", "--chance=", "--count=", "--for=", NULL) \
	X("fault", " falsify", " FALSEHOOD [--at NODE] [--share P% [--spare NODE] [--pick N]] " \
	  "[--chance P%] [--count N]", \
	  "falsify answers of devices", \
	  1, 1, cmd_fault_falsify, "--at=", "--share=", "--spare=", "--pick=", "--chance=", \
	  "--count=", NULL) \
	X("fault", " kinds", "", "the falsehoods, and which answers they change", \
	  0, 0, cmd_fault_kinds, NULL) \
	X("fault", " list", "", "the rules in force", 0, 0, cmd_fault_list, NULL) \
	X("fault", " remove", " ID|all", "remove a rule", 1, 1, cmd_fault_remove, NULL) \
	X("loss", "", " PERCENT", "lose this share of SMPs; 0 ends it", 1, 1, cmd_loss, NULL) \
	X("freeze", "", "", "stop all packets", 0, 0, cmd_freeze, NULL) \
	X("thaw", "", "", "let packets move again", 0, 0, cmd_freeze, NULL) \
	X("lft", "", " SWITCH LID PORT|drop", \
	  "change a forwarding entry behind the manager's back", \
	  3, 3, cmd_lft, NULL) \
	X("mft", "", " SWITCH MLID PORT,...|none", "... a multicast entry", 3, 3, cmd_mft, NULL) \
	X("sl2vl", "", " NODE|PORT IN|all OUT|all VL0,...,VL15", \
	  "... an SL to VL mapping", \
	  4, 4, cmd_sl2vl, NULL) \
	X("vlarb", "", " PORT high|low VL:WEIGHT,...", \
	  "... VL arbitration", \
	  3, 3, cmd_vlarb, NULL) \
	X("pkey", "", " PORT INDEX P_KEY", "... a P_Key", 3, 3, cmd_pkey, NULL) \
	X("portinfo", "", " PORT FIELD VALUE", "... a PortInfo field", 3, 3, cmd_portinfo, NULL) \
	X("help", "", "", "this list", 0, 0, cmd_help, NULL)

#define ROW(first, second, words, help, min, max, run, ...) \
	{ first, second, words, help, min, max, run, { __VA_ARGS__ } },
static const struct command commands[] = { COMMANDS(ROW) };

#define HELP(first, second, words, help, ...) "  " first second words "\n      " help "\n"
const char ctl_help[] = COMMANDS(HELP);

static bool cmd_help(struct call *c)
{
	c->result = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		json_array_append_new(c->result, json_pack(
			"{s:s+, s:s++, s:s}", "command", commands[i].first, commands[i].second,
			"usage", commands[i].first, commands[i].second, commands[i].words,
			"help", commands[i].help));
	buf_puts(&c->text, ctl_help);
	return true;
}

/* --- finding the command --- */

static bool no_such_command(struct call *c, const char *word)
{
	const char *names[ARRAY_SIZE(commands)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].first;
	near = value_nearest(word, names, ARRAY_SIZE(names));
	buf_printf(&c->err, "no such command: '%s'", word);
	if (near)
		buf_printf(&c->err, ": did you mean '%s'?", near);
	return false;
}

/*
 * Refuses argv[0], which begins commands of two words, because the word after it is missing or
 * wrong.
 */
static bool no_such_second(struct call *c, int argc, char **argv)
{
	buf_printf(&c->err, "%s: ", argv[0]);
	if (argc > 1)
		buf_printf(&c->err, "'%s' is not one of", argv[1]);
	else
		buf_puts(&c->err, "expected one of");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].first, argv[0]) == 0)
			buf_puts(&c->err, commands[i].second);
	return false;
}

/* Finds the command; *used is the number of words in its name. */
static bool find_command(struct call *c, int argc, char **argv, int *used)
{
	bool begins = false;

	if (argc == 0) {
		buf_puts(&c->err, "no command; 'help' lists them");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *second = commands[i].second;

		if (strcmp(commands[i].first, argv[0]) != 0)
			continue;
		begins = true;
		if (*second && (argc < 2 || strcmp(argv[1], second + 1) != 0))
			continue;
		c->cmd = &commands[i];
		*used = *second ? 2 : 1;
		return true;
	}
	return begins ? no_such_second(c, argc, argv) : no_such_command(c, argv[0]);
}

/* --- words and options --- */

bool refuse(struct call *c, const char *fmt, ...)
{
	va_list ap;

	buf_printf(&c->err, "%s%s: ", c->cmd->first, c->cmd->second);
	va_start(ap, fmt);
	buf_vprintf(&c->err, fmt, ap);
	va_end(ap);
	return false;
}

bool is_named(const struct call *c, const char *word)
{
	const char *second = c->cmd->second;

	return strcmp(*second ? second + 1 : c->cmd->first, word) == 0;
}

/* Index of an option in the table, by the n bytes of its name; OPTIONS_MAX if it is not there. */
static unsigned option_place(const struct command *cmd, const char *name, size_t n)
{
	unsigned i;

	for (i = 0; i < OPTIONS_MAX && cmd->options[i]; i++)
		if (strcspn(cmd->options[i], "=") == n && memcmp(cmd->options[i], name, n) == 0)
			return i;
	return OPTIONS_MAX;
}

const char *option(const struct call *c, const char *name)
{
	return c->opt[option_place(c->cmd, name, strlen(name))];
}

static bool no_such_option(struct call *c, const char *word)
{
	struct words known = { 0 };

	for (unsigned i = 0; c->cmd->options[i]; i++)
		*vec_push(&known) = c->cmd->options[i];
	return refuse_word(c, "option", word, &known);
}

/* Parses "--name", "--name=value" or "--name value"; leaves *i at its last word. */
static bool parse_option(struct call *c, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	size_t n = strcspn(word, "=");
	unsigned place = option_place(c->cmd, word, n);

	if (place == OPTIONS_MAX)
		return no_such_option(c, word);
	if (c->opt[place])
		return refuse(c, "%.*s is given twice", (int)n, word);
	if (!strchr(c->cmd->options[place], '=')) {
		c->opt[place] = "";
		return !word[n] || refuse(c, "%.*s takes no value", (int)n, word);
	}
	c->opt[place] = word[n] ? word + n + 1 : argv[*i + 1];
	if (!word[n] && ++*i == argc)
		return refuse(c, "%s needs a value", word);
	return true;
}

static bool usage(struct call *c, const char *what)
{
	return refuse(c, "%s; usage: %s%s%s", what, c->cmd->first, c->cmd->second, c->cmd->words);
}

bool call_parse(struct call *c, int argc, char **argv)
{
	int i = 0;

	if (!find_command(c, argc, argv, &i))
		return false;
	for (; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) == 0) {
			if (!parse_option(c, argc, argv, &i))
				return false;
		} else if (c->n == c->cmd->words_max) {
			return usage(c, "too many words");
		} else {
			c->word[c->n++] = argv[i];
		}
	}
	if (c->n < c->cmd->words_min)
		return usage(c, "an argument is missing");
	return true;
}

/* Finds what the first word names, if the command's usage begins with one of these. */
static bool get_subject(struct call *c)
{
	const char *usage = c->cmd->words;
	size_t n = strcspn(usage + (*usage != 0), " ") + 1;

	c->port = c->node = SIM_NONE;
	if (!strncmp(usage, " PORT", n) || !strncmp(usage, " NODE|PORT", n)) {
		if (!get_port(c, c->word[0], &c->port))
			return false;
		c->node = c->f->ports[c->port].node;
	} else if (!strncmp(usage, " NODE", n)) {
		return get_node(c, c->word[0], &c->node);
	} else if (!strncmp(usage, " SWITCH", n)) {
		return get_node(c, c->word[0], &c->node) && (is_switch(&c->f->nodes[c->node]) ||
		       refuse(c, "'%s' is not a switch", c->word[0]));
	}
	return true;
}

/* Runs a parsed call; false with the reason in err. */
static bool call_run(struct call *c, struct sim *s)
{
	c->s = s;
	c->f = s->f;
	return get_subject(c) && c->cmd->run(c);
}

void call_free(struct call *c)
{
	json_decref(c->result);
	buf_free(&c->text);
	buf_free(&c->err);
}

/* --- answers --- */

static int append(const char *data, size_t n, void *out)
{
	buf_add(out, data, n);
	return 0;
}

static void put_json(const json_t *value, struct buf *out)
{
	json_dump_callback(value, append, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	buf_puts(out, "\n");
}

static void put_error(const struct call *c, bool json, struct buf *out)
{
	if (json) {
		json_t *answer = json_pack("{s:o}", "error", json_text(c->err.s));

		put_json(answer, out);
		json_decref(answer);
	} else {
		text_clean(c->err.s, out);
		buf_puts(out, "\n");
	}
}

static void put_result(struct call *c, bool json, struct buf *out)
{
	if (json) {
		if (!c->result)
			c->result = json_object();
		put_json(c->result, out);
	} else if (c->text.n) {
		text_clean(c->text.s, out);
	} else if (c->result) {
		text_view(c->result, out);
	}
}

int ctl_run(struct sim *s, int argc, char **argv, bool json, struct buf *out)
{
	struct call c = { 0 };
	bool done = call_parse(&c, argc, argv) && call_run(&c, s);

	if (done)
		put_result(&c, json, out);
	else
		put_error(&c, json, out);
	call_free(&c);
	return done && !c.found ? 0 : 1;
}
