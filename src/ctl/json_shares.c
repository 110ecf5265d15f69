/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports the shares of a link as JSON; see plan/port_shares.h. */
#include "ctl/commands/cmd_explain.h"
#include "plan/feasible/feasible.h"

void json_add_models(json_t *o, double iba, double measured)
{
	json_object_set_new(o, "share-iba", iba >= 0 ? json_real(iba) : json_null());
	json_object_set_new(o, "share-measured", measured >= 0 ? json_real(measured) : json_null());
	json_object_set_new(o, "models-differ", iba >= 0 && measured >= 0 ?
			    json_boolean(arbiter_shares_differ(iba, measured)) : json_null());
}

const char *arb_model_name(enum arb_model model)
{
	return model == ARB_MODEL_MEASURED ? "measured" : "iba";
}

void json_add_share(json_t *o, const struct port_shares *p, unsigned vl)
{
	double idle = p->known ? vl_share_idle(p, vl) : -1;
	double share = vl_share(p, vl), wait = vl_wait_us(p, vl);

	json_object_set_new(o, "share", p->known ? json_real(share) : json_null());
	json_object_set_new(o, "share-idle", idle >= 0 ? json_real(idle) : json_null());
	json_add_models(o, p->known ? vl_share_by(p, vl, ARB_MODEL_IBA) : -1,
			p->known ? vl_share_by(p, vl, ARB_MODEL_MEASURED) : -1);
	json_object_set_new(o, "gbps", p->known ? json_real(share * p->gbps) : json_null());
	json_object_set_new(o, "high", p->arb && vl < ARB_VLS ?
			    json_boolean(p->high >> vl & 1) : json_null());
	json_object_set_new(o, "starved", p->known ? json_boolean(share == 0) : json_null());
	json_object_set_new(o, "wait-us", wait >= 0 ? json_real(wait) : json_null());
}

json_t *json_sl_link(const struct sl_link *l)
{
	bool known = l->vl != IB_VL_DROP && !l->unknown;
	json_t *o = json_pack("{s:o, s:b, s:b, s:b, s:o}", "vl",
			      l->vl == IB_VL_DROP ? json_null() : json_integer(l->vl),
			      "high", l->high, "served", l->served, "starved", l->starved,
			      "share", known ? json_real(l->share) : json_null());

	json_add_models(o, known ? l->share_iba : -1, known ? l->share_measured : -1);
	return o;
}
