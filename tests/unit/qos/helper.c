/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements helper.h. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "helper.h"
#include "lib/base/alloc.h"

struct port_caps caps = { .vl_cap = 4, .high_cap = 8, .low_cap = 8 };
static uint32_t line;

static void add_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid)
{
	uint8_t info[64] = { 0 };

	mad_set_field(info, 0, IB_PORT_VL_CAP_F, caps.vl_cap);
	mad_set_field(info, 0, IB_PORT_VL_ARBITRATION_HIGH_CAP_F, caps.high_cap);
	mad_set_field(info, 0, IB_PORT_VL_ARBITRATION_LOW_CAP_F, caps.low_cap);
	mad_set_field(info, 0, IB_PORT_MTU_CAP_F, caps.mtu ? caps.mtu : 4);
	mad_set_field(info, 0, IB_PORT_CAPMASK_F, caps.no_sl_map ? 0 : IB_CAP_SL_MAP);
	ck_assert(fabric_set_port(f, node, num, guid, info));
}

uint32_t add_node(struct fabric *f, enum ib_node_type type, unsigned nports, uint64_t guid,
		  const char *desc)
{
	bool is_switch = type == IB_NODE_SWITCH_T;
	uint8_t info[40] = { 0 }, switch_info[20] = { 0 };

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field(switch_info, 0, IB_SW_ENHANCED_PORT0_F, caps.enhanced_port0);
	uint32_t node = fabric_add_node(f, info, desc, is_switch ? switch_info : NULL, NULL, 0);

	ck_assert_uint_ne(node, FABRIC_NONE);
	for (unsigned num = is_switch ? 0 : 1; num <= nports; num++)
		add_port(f, node, num, is_switch ? guid : guid + num);
	return node;
}

void add_link(struct fabric *f, uint32_t a, unsigned num_a, uint32_t b, unsigned num_b)
{
	ck_assert(fabric_link(f, a, num_a, b, num_b));
}

void finish(struct fabric *f)
{
	struct buf err = { 0 };

	ck_assert(fabric_finish(f, 0, 1, &err));
	ck_assert_uint_eq(err.n, 0);
	buf_free(&err);
}

uint32_t port_at(const struct fabric *f, uint32_t node, unsigned num)
{
	return f->nodes[node].port0 + num;
}

static struct src_pos next_pos(void)
{
	return (struct src_pos){ ++line, 3 };
}

struct src_pos last_pos(void)
{
	return (struct src_pos){ line, 3 };
}

struct policy *new_policy(void)
{
	struct policy *p = policy_builtin();

	free(p->file);
	p->file = xstrdup("test.yaml");
	line = 0;
	return p;
}

/* Makes room for one more element and returns it, zeroed. */
static void *append(void *array, size_t *n, size_t size)
{
	void **v = array;

	if (!(*n & (*n - 1)))
		*v = xrealloc(*v, *n ? 2 * *n : 1, size);
	return memset((char *)*v + (*n)++ * size, 0, size);
}

struct policy_group *add_group(struct policy *p, const char *name)
{
	struct policy_group *g = append(&p->groups, &p->n_groups, sizeof(*g));

	g->name = xstrdup(name);
	g->pos = next_pos();
	return g;
}

struct policy_rule *add_rule(struct policy *p)
{
	struct policy_rule *r = append(&p->rules, &p->n_rules, sizeof(*r));

	r->pos = next_pos();
	return r;
}

struct policy_partition *add_partition(struct policy *p, const char *name, uint16_t pkey)
{
	struct policy_partition *part;

	p->partitions = xrealloc(p->partitions, p->n_partitions + 1, sizeof(*part));
	part = memset(&p->partitions[p->n_partitions++], 0, sizeof(*part));
	part->name = xstrdup(name);
	part->pkey = pkey;
	part->pos = next_pos();
	return part;
}

void add_member(struct policy_partition *part, const char *group, uint64_t lo, uint64_t hi)
{
	struct policy_member *m;

	part->members = xrealloc(part->members, part->n_members + 1, sizeof(*m));
	m = memset(&part->members[part->n_members++], 0, sizeof(*m));
	m->pos = next_pos();
	m->membership = MEMBER_LIMITED;
	if (group)
		m->group.s = xstrdup(group);
	m->guids = (struct u64_range){ lo, hi, m->pos };
}

void add_range(struct u64_ranges *r, uint64_t lo, uint64_t hi)
{
	*vec_push(r) = (struct u64_range){ lo, hi, next_pos() };
}

void add_word(struct policy_names *names, const char *word)
{
	*vec_push(names) = (struct policy_name){ xstrdup(word), next_pos() };
}

void set_ports(struct port_list *l, const char *numbers)
{
	char *end;

	*l = (struct port_list){ .given = true, .pos = next_pos(), .all = *numbers == '*' };
	if (l->all)
		return;
	for (unsigned long n = strtoul(numbers, &end, 10); end != numbers;
	     numbers = end, n = strtoul(numbers, &end, 10))
		l->bits[n >> 3] |= (uint8_t)(1u << (n & 7));
}

struct policy_sl2vl *add_sl2vl(struct policy *p, enum scope_kind kind, const char *group,
			       const struct sl2vl *table)
{
	struct policy_sl2vl *s = append(&p->sl2vl, &p->n_sl2vl, sizeof(*s));

	p->has_fabric_setup = true;
	s->kind = kind;
	s->group.s = xstrdup(group);
	s->from.all = s->to.all = true;
	s->table = *table;
	s->table_pos = next_pos();
	s->pos = next_pos();
	return s;
}

struct policy_vlarb *add_vlarb(struct policy *p, enum scope_kind kind, const char *group)
{
	struct policy_vlarb *s = append(&p->vlarb, &p->n_vlarb, sizeof(*s));

	p->has_fabric_setup = true;
	s->kind = kind;
	s->group.s = xstrdup(group);
	s->to.all = true;
	s->high_limit = -1;
	s->high_pos = next_pos();
	s->low_pos = next_pos();
	s->pos = next_pos();
	return s;
}

struct policy_class *add_class(struct policy *p, const char *level, uint8_t sl, bool high,
			       int32_t share)
{
	struct policy_class *c = append(&p->classes, &p->n_classes, sizeof(*c));
	uint32_t index = (uint32_t)p->n_levels;

	p->levels = xrealloc(p->levels, index + 1, sizeof(*p->levels));
	p->levels[p->n_levels++] = (struct policy_level){
		.name = xstrdup(level), .sl = sl, .sl_given = true,
		.packet_lifetime = -1, .path_bits = -1, .tclass = -1,
	};
	add_word(&c->level_names, level);
	c->levels = xmemdup(&index, sizeof(index));
	c->high = high;
	c->share = share;
	c->high_limit = -1;
	c->pos = next_pos();
	p->class_of_sl[sl] = (uint8_t)(p->n_classes - 1);
	return c;
}

void set_entries(struct vlarb_entry *e, uint8_t *n, const char *text)
{
	char *end;

	for (*n = 0;; ++*n) {
		unsigned long vl = strtoul(text, &end, 10);

		if (end == text)
			return;
		e[*n] = (struct vlarb_entry){ (uint8_t)vl, (uint8_t)strtoul(end + 1, &end, 10) };
		text = end;
	}
}

const struct finding *find(const struct findings *f, enum severity severity, const char *word,
			   const char *word2)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].severity == severity && strstr(f->v[i].text, word) &&
		    strstr(f->v[i].text, word2))
			return &f->v[i];
	return NULL;
}

size_t but_weights(const struct findings *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += strncmp(all->v[i].text, "entry ", 6) != 0;
	return n;
}
