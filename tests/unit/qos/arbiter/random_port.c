/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "lib/base/alloc.h"
#include "random_port.h"

uint32_t rng_below(struct rng *r, uint32_t below)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) % below);
}

static uint8_t random_length(struct rng *r)
{
	static const uint32_t most[] = { 2, 4, 4, 8, 16, 64 };

	return (uint8_t)rng_range(r, rng_below(r, 20) ? 1 : 0,
				  most[rng_below(r, ARRAY_SIZE(most))]);
}

static void random_entries(struct rng *r, struct vlarb_entry *entries, unsigned n)
{
	static const uint32_t greatest[] = { 1, 4, 32, 255 };
	uint32_t weights = greatest[rng_below(r, ARRAY_SIZE(greatest))];
	uint32_t vls = rng_range(r, 1, 15);

	for (unsigned i = 0; i < n; i++) {
		entries[i].vl = (uint8_t)(rng_below(r, 30) ? rng_below(r, vls) :
					  rng_range(r, 15, 255));
		entries[i].weight = (uint8_t)rng_range(r, rng_below(r, 8) ? 1 : 0, weights);
	}
}

static uint8_t random_limit(struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		return 0;
	case 1:
		return (uint8_t)rng_range(r, 1, 8);
	case 2:
		return (uint8_t)rng_below(r, 256);
	default:
		return rng_below(r, 4) ? (uint8_t)rng_range(r, 1, 40) : 255;
	}
}

static void random_packets(struct rng *r, struct arb_load *load)
{
	static const uint16_t usual[] = { 64, 256, 288, 1024, 2048, 2080, 4096 };
	unsigned kind = rng_below(r, 8);

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		load->packet[vl] = usual[rng_below(r, ARRAY_SIZE(usual))];
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		if (kind == 0)
			load->packet[vl] = load->packet[0];
		else if (kind == 1)
			load->packet[vl] = (uint16_t)rng_range(r, 26, 4200);
	}
	/* sizes far from any that a link carries */
	if (kind == 2) {
		load->packet[rng_below(r, ARB_VLS)] = (uint16_t)rng_range(r, 1, 8);
		load->packet[rng_below(r, ARB_VLS)] = 65535;
	}
}

void random_port(struct rng *r, struct vlarb *arb, struct arb_load *load)
{
	memset(arb, 0, sizeof(*arb));
	arb->n_high = random_length(r);
	arb->n_low = random_length(r);
	arb->high_limit = random_limit(r);
	random_entries(r, arb->high, arb->n_high);
	random_entries(r, arb->low, arb->n_low);
	load->active = (uint16_t)(rng_below(r, 4) ? 0x7fff : rng_below(r, 0x8000));
	random_packets(r, load);
}

void random_small_port(struct rng *r, struct vlarb *arb, struct arb_load *load)
{
	random_port(r, arb, load);
	arb->n_high = (uint8_t)rng_range(r, 1, 5);
	arb->n_low = (uint8_t)rng_range(r, 1, 5);
	arb->high_limit = (uint8_t)rng_below(r, 4);
	for (unsigned i = 0; i < 5; i++) {
		arb->high[i] = (struct vlarb_entry){ (uint8_t)rng_below(r, 6),
						     (uint8_t)rng_below(r, 64) };
		arb->low[i] = (struct vlarb_entry){ (uint8_t)rng_below(r, 6),
						    (uint8_t)rng_below(r, 64) };
	}
}

void random_plain_port(struct rng *r, struct vlarb *arb, struct arb_load *load)
{
	uint16_t mtu = (uint16_t)(256u << rng_below(r, 5));
	uint32_t most = 255u * 64 / mtu;
	unsigned n = rng_range(r, 4, ARB_VLS), n_high = rng_range(r, 2, n - 2);

	memset(arb, 0, sizeof(*arb));
	for (unsigned vl = 0; vl < n; vl++) {
		uint32_t packets = rng_range(r, 1, most < 4 ? most : 4);
		struct vlarb_entry e = { (uint8_t)vl, (uint8_t)(packets * mtu / 64) };

		if (vl < n_high)
			arb->high[arb->n_high++] = e;
		else
			arb->low[arb->n_low++] = e;
	}
	arb->high_limit = (uint8_t)rng_below(r, 5);
	*load = arbiter_load((uint16_t)((1u << n) - 1), mtu);
}
