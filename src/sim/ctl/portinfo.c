/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shows and sets PortInfo fields by libibmad's names. */
#include "sim/ctl/command.h"

#include <infiniband/mad.h>
#include <string.h>
#include <strings.h>

#include "sim/net/fields.h"

#define VALUE_MAX	1024	/* mad_dump_val() ignores the size when it lists all CapabilityMask bits */

/* The n-th field; IB_NO_FIELD after the last. */
static enum MAD_FIELDS nth_field(unsigned n)
{
	const unsigned old = IB_PORT_LAST_F - IB_PORT_FIRST_F;
	const unsigned added = IB_PORT_LINK_SPEED_EXT_LAST_F - IB_PORT_CAPMASK2_F;

	if (n < old)
		return (enum MAD_FIELDS)(IB_PORT_FIRST_F + n);
	if (n < old + added)
		return (enum MAD_FIELDS)(IB_PORT_CAPMASK2_F + n - old);
	return IB_NO_FIELD;
}

static bool is_wide(enum MAD_FIELDS field)
{
	return field == IB_PORT_MKEY_F || field == IB_PORT_GID_PREFIX_F;
}

static uint64_t get_value(uint8_t *info, enum MAD_FIELDS field)
{
	return is_wide(field) ? mad_get_field64(info, 0, field) : mad_get_field(info, 0, field);
}

static void set_value(uint8_t *info, enum MAD_FIELDS field, uint64_t value)
{
	if (is_wide(field))
		mad_set_field64(info, 0, field, value);
	else
		mad_set_field(info, 0, field, (uint32_t)value);
}

static bool get_field(struct call *c, const char *text, enum MAD_FIELDS *field)
{
	struct words known = { 0 };

	for (unsigned i = 0; (*field = nth_field(i)) != IB_NO_FIELD; i++)
		if (strcasecmp(mad_field_name(*field), text) == 0)
			return true;
	for (unsigned i = 0; (*field = nth_field(i)) != IB_NO_FIELD; i++)
		*vec_push(&known) = mad_field_name(*field);
	return refuse_word(c, "field of PortInfo", text, &known);
}

/* Whether the agent's CapabilityMask says that the device supports extended speeds. */
static bool is_extended(const struct sim_fabric *f, uint32_t port)
{
	return get_be32(f->ports[sma_port(f, port)].info + PI_CAPMASK) & CAP_EXT_SPEEDS;
}

/*
 * Reads PortInfo and writes it back with one field changed.  The states, where a Set would mean a
 * change, are written as "no change" (14.2.5.6).
 */
bool cmd_portinfo(struct call *c)
{
	enum MAD_FIELDS field;
	uint8_t info[64];
	uint64_t value;
	uint32_t num = c->f->ports[c->port].num;

	if (!get_field(c, c->word[1], &field) ||
	    !get_number(c, "VALUE", c->word[2], 0, UINT64_MAX, &value))
		return false;
	if (is_extended(c->f, c->port))
		num |= PI_MOD_EXT_SPEEDS;
	if (!run_smp(c, c->port, METHOD_GET, ATTR_PORT_INFO, num, info))
		return false;
	mad_set_field(info, 0, IB_PORT_STATE_F, SIM_PORT_NOP);
	mad_set_field(info, 0, IB_PORT_PHYS_STATE_F, SIM_PHYS_NOP);
	set_value(info, field, value);
	if (get_value(info, field) != value)
		return refuse(c, "%s does not fit into %s", c->word[2], mad_field_name(field));
	return run_smp(c, c->port, METHOD_SET, ATTR_PORT_INFO, num, info);
}

/* libibmad prints each bit of a mask on a line of its own: joins the lines. */
static void make_one_line(char *text)
{
	char *to = text;

	for (const char *from = text; *from; ) {
		size_t blank = strspn(from, "\n\t ");

		from += blank;
		if (blank && *from)
			*to++ = ' ';
		if (*from)
			*to++ = *from++;
	}
	*to = '\0';
}

bool cmd_show_portinfo(struct call *c)
{
	enum MAD_FIELDS field;
	uint8_t *info = c->f->ports[c->port].info;
	char text[VALUE_MAX];

	c->result = json_array();
	for (unsigned i = 0; (field = nth_field(i)) != IB_NO_FIELD; i++) {
		uint64_t value = get_value(info, field);
		uint32_t narrow = (uint32_t)value;

		mad_dump_val(field, text, sizeof(text),
			     is_wide(field) ? (void *)&value : (void *)&narrow);
		make_one_line(text);
		json_array_append_new(c->result, json_pack(
			"{s:s, s:o, s:s}", "field", mad_field_name(field), "raw",
			json_sprintf("0x%llx", (unsigned long long)value), "value", text));
	}
	return true;
}
