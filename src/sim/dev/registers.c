/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers requests for the vendor's registers, of devices whose profile has `registers`.
 *
 * The layouts are those of the vendor's public mstflint (packets_layout.c, register_access_table.adb), whose library
 * is also the judge: it reads the same devices.  A request is an SMP, AccessRegister, with at most 44 bytes of a
 * register.
 * Only registers about ports and modules are here, and only for reading.  The library also wants to know which chip a
 * device is, by its address space (ConfigSpaceAccess, as an SMP and in the vendor's class 0x0a).
 */
#include "sim/dev/dev_internal.h"
#include "sim/dev/gs.h"
#include "sim/dev/module.h"

#define ATTR_CONFIG_SPACE_GMP	0x50	/* of class 0x0a */
#define VENDOR_DATA		32	/* after the VS_Key */

#define TLVS		20
#define ROOM		(SMP_DATA_SIZE - TLVS)
#define REGISTER_MAX	256

/* status in the operation TLV */
enum { TLV_GOOD = 0, TLV_BAD_TLV = 3, TLV_NO_REGISTER = 4, TLV_BAD_METHOD = 6, TLV_BAD_PARAMETER = 7 };

#define LEGACY_DEVICE_ID 0xf0014	/* address of the chip's number */

/* The first words of registers about a port have its local port. */
static unsigned local_port_of(const uint8_t *reg)
{
	uint32_t word = get_be32(reg);

	return (word >> 16 & 0xff) | (word >> 12 & 3) << 8;
}

/*
 * The number of a port by its local port, and the other way round.  In switches the two differ, as in some real ones:
 * neighbours have changed places.
 */
static unsigned exchange(const struct sim_node *n, unsigned number)
{
	unsigned other = ((number - 1) ^ 1) + 1;

	return is_switch(n) && other <= n->nports ? other : number;
}

/* The port that the register is about; SIM_NONE if there is none. */
static uint32_t port_of(const struct sim *s, uint32_t agent, const uint8_t *reg)
{
	const struct sim_node *n = node_of(s->f, agent);
	unsigned local = local_port_of(reg);

	if (!local || local > n->nports)
		return SIM_NONE;
	return n->port0 + exchange(n, local);
}

static unsigned plib(struct sim *s, uint32_t agent, uint8_t *reg)
{
	uint32_t port = port_of(s, agent, reg);

	if (port == SIM_NONE)
		return TLV_BAD_PARAMETER;
	put_be32(reg, (get_be32(reg) & ~0x3ffu) | s->f->ports[port].num);
	return TLV_GOOD;
}

/* Modules are counted from 0, in the order of local ports. */
static unsigned pmlp(struct sim *s, uint32_t agent, uint8_t *reg)
{
	uint32_t port = port_of(s, agent, reg);
	unsigned width;

	if (port == SIM_NONE)
		return TLV_BAD_PARAMETER;
	width = module_in(s, port) == MODULE_NONE ? 4 : module_lanes(module_in(s, port));
	reg[3] = (uint8_t)width;
	for (unsigned i = 0; i < width; i++)
		put_be32(reg + 4 + 4 * (size_t)i, i << 16 | i << 24 | (local_port_of(reg) - 1));
	return TLV_GOOD;
}

enum { MODULE_STATUS_NOT_CONNECTED = 0x03, MODULE_STATUS_NO_PAGE = 0x11 };

static unsigned mcia(struct sim *s, uint32_t agent, uint8_t *reg)
{
	const struct sim_node *n = node_of(s->f, agent);
	unsigned module = reg[1], page = reg[5], offset = get_be16(reg + 6), size = get_be16(reg + 10);
	uint32_t port = n->port0 + exchange(n, module + 1);

	if (module >= n->nports || size > 128 || offset > 255)
		return TLV_BAD_PARAMETER;
	if (module_in(s, port) == MODULE_NONE)
		reg[3] = MODULE_STATUS_NOT_CONNECTED;
	else if (!module_read(s, port, page, offset, size, reg + 16))
		reg[3] = MODULE_STATUS_NO_PAGE;
	return TLV_GOOD;
}

static const struct {
	uint16_t id;
	unsigned (*read)(struct sim *s, uint32_t agent, uint8_t *reg);
} registers[] = {
	{ 0x5002, pmlp }, { 0x500a, plib }, { 0x9014, mcia },
};

static unsigned read_register(struct sim *s, uint32_t agent, uint16_t id, uint8_t reg[REGISTER_MAX])
{
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (registers[i].id == id)
			return registers[i].read(s, agent, reg);
	return TLV_NO_REGISTER;
}

/* The next requests get this status, as a command says. */
static bool takes_denial(struct sim *s, uint32_t agent, unsigned *status)
{
	struct sim_node *n = node_of(s->f, agent);

	*status = n->register_status;
	return n->register_denials && n->register_denials--;
}

/* Performs the request of two TLVs in place. */
static void perform(struct sim *s, uint32_t agent, uint8_t data[SMP_DATA_SIZE])
{
	uint32_t head = get_be32(data), of = get_be32(data + 16);
	size_t n = ((of >> 16 & 0x7ff) - 1u) * 4;
	uint8_t reg[REGISTER_MAX] = { 0 };
	unsigned status;

	if (head >> 27 != 1 || of >> 27 != 3 || n > ROOM || n < 4 || data[7] != 1)
		status = TLV_BAD_TLV;
	else if ((data[6] & 0x7f) != 1)
		status = TLV_BAD_METHOD;
	else if (!takes_denial(s, agent, &status)) {
		memcpy(reg, data + TLVS, n);
		status = read_register(s, agent, get_be16(data + 4), reg);
		memcpy(data + TLVS, reg, n);
	}
	data[2] = (uint8_t)status;
	data[6] |= 0x80;
}

unsigned sma_access_register(struct smp *q)
{
	if (!q->set)
		return STATUS_BAD_METHOD_ATTR;
	if (q->mod)
		return STATUS_BAD_VALUE;
	q->changed = true;	/* whatever the method says */
	perform(q->s, q->port, q->data);
	return STATUS_OK;
}

/* --- the chip --- */

static uint32_t chip_of(const struct sim_node *n)
{
	static const struct { uint16_t device, chip; } chips[] = {
		{ 0x1011, 0x1ff }, { 0x1013, 0x209 }, { 0x1017, 0x20d }, { 0x101b, 0x20f }, { 0x1021, 0x218 },
		{ 0x1023, 0x21e }, { 0xcb20, 0x247 }, { 0xcf08, 0x24b }, { 0xd2f0, 0x24d }, { 0xd2f2, 0x257 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(chips); i++)
		if (chips[i].device == n->device_id)
			return chips[i].chip;
	return 0;
}

/* data: the words, one for each address from that of the modifier on; only the chip's number can be read. */
static unsigned config_space(const struct sim *s, uint32_t agent, uint32_t mod, uint8_t *data)
{
	uint32_t address = (mod & 0xffff) | mod >> 24 << 16, n = mod >> 16 & 0x3f;

	if (address != LEGACY_DEVICE_ID || n != 1 || !chip_of(node_of(s->f, agent)))
		return STATUS_BAD_VALUE;
	put_be32(data, chip_of(node_of(s->f, agent)));
	return STATUS_OK;
}

unsigned sma_config_space(struct smp *q)
{
	return q->set ? STATUS_BAD_METHOD_ATTR : config_space(q->s, q->port, q->mod, q->data + 8);
}

bool registers_receive(struct sim *s, uint32_t port, struct packet *p)
{
	uint8_t *mad = p->mad;

	if (!node_of(s->f, port)->profile->registers || !gs_is_request(p, CLASS_VENDOR_A))
		return false;
	if (mad[MAD_CLASS_VERSION] != 1)
		wire_answer(s, port, p, STATUS_BAD_VERSION);
	else if (mad[MAD_METHOD] != METHOD_GET || get_be16(mad + MAD_ATTR) != ATTR_CONFIG_SPACE_GMP)
		wire_answer(s, port, p, STATUS_BAD_METHOD_ATTR);
	else
		wire_answer(s, port, p, config_space(s, port, get_be32(mad + MAD_MOD), mad + VENDOR_DATA));
	return true;
}
