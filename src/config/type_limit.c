#include "config/types.h"
#include "limit/rate.h"

/* How much: rates, bursts, costs. */

/* "100" and "100/10": what was meant? */
static void
report_rate(struct load *load, const struct node *node)
{
	struct finding *finding = load_find(load, node, RATE,
	    "'%.*s' is not a rate", LOAD_QUOTE(node));
	const char *text = node->text;
	const size_t n = strspn(text, "0123456789");
	const size_t m = n + (text[n] == '/');
	const size_t end = m + strspn(text + m, "0123456789");

	if (n > 0 && text[n] == '\0')
		findings_help(finding, "write the period: %.*s/s, %.*s/10s, "
		    "%.*s/m or %.*s/h", LOAD_QUOTE(node), LOAD_QUOTE(node),
		    LOAD_QUOTE(node), LOAD_QUOTE(node));
	else if (n > 0 && m > n && end > m && text[end] == '\0')
		findings_help(finding, "write the unit of the period: "
		    "%.*ss or %.*sm", LOAD_QUOTE(node), LOAD_QUOTE(node));
	else
		findings_help(finding, "write N/period: 10/s, 600/m, 5000/h, "
		    "3/10s, 1000000/d; the units are ms, s, m (minutes), h "
		    "and d, months are not served");
}

/* burst: where the burst stands, or NULL. */
static bool
prepare(struct load *load, const struct node *node, const struct node *burst,
    struct rate *rate)
{
	struct rate plain = *rate;

	if (rate_prepare(rate) == ERR_OK)
		return true;
	plain.burst = plain.count;
	if (burst != NULL && rate_prepare(&plain) == ERR_OK) {
		findings_help(load_find(load, burst, RATE_FIT,
		    "a burst of %lld at '%.*s' cannot be counted exactly",
		    (long long)rate->burst, LOAD_QUOTE(node)),
		    "take a smaller burst, or a rate whose number shares "
		    "factors with the period");
		return false;
	}
	findings_help(load_find(load, node, RATE_FIT,
	    "'%.*s' cannot be counted exactly", LOAD_QUOTE(node)),
	    "take a smaller number, or one that shares factors with the "
	    "period");
	return false;
}

/* One more rate of the list. later: a burst follows before it is prepared. */
static void
add_rate(struct load *load, const struct node *node, struct limits *limits,
    const struct node *burst, bool later)
{
	static const struct key burst_key = { .name = "burst",
		.type = &type_integer, SCHEMA_AT(rate, burst), .min = 1,
		.max = INT64_C(1000000000000), .help = "at once" };
	struct rate rate;
	enum err e = rate_parse(yaml_text(node), &rate);

	if (e == ERR_SYNTAX) {
		report_rate(load, node);
		return;
	}
	if (e != ERR_OK) {
		findings_help(load_find(load, node, RANGE,
		    "'%.*s' is out of range", LOAD_QUOTE(node)),
		    "1 to 10^12, in 1ms to 366d");
		return;
	}
	for (unsigned i = 0; i < limits->n; i++)
		if (limits->rate[i].period_us == rate.period_us)
			findings_help(load_find(load, node, RATE_LIST,
			    "two rates of the same period"),
			    "the smaller one is enough");
	if (burst != NULL)
		type_integer.read(load, &burst_key, burst, &rate);
	if (later || prepare(load, node, burst, &rate))
		limits->rate[limits->n++] = rate;
}

/* A rate, or {rate: , burst: }. */
static void
add_item(struct load *load, const struct key *key, const struct node *node,
    struct limits *limits, bool later)
{
	const struct node *rate = yaml_get(node, "rate");

	if (node->kind != NODE_MAP) {
		if (type_scalar(load, key, node) != NULL)
			add_rate(load, node, limits, NULL, later);
		return;
	}
	schema_read(load, key->section, node, NULL);
	if (rate != NULL && rate->kind == NODE_SCALAR && !yaml_is_null(rate))
		add_rate(load, rate, limits, yaml_get(node, "burst"), false);
}

/* The members of an item are read by add_item; this checks their kind. */
static void
read_member(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	(void)base;
	type_scalar(load, key, node);
}

static const struct type type_rate_member = { "rate", read_member, NULL,
	NULL, "N/period" };
static const struct type type_burst_member = { "integer", read_member, NULL,
	NULL, "1..1000000000000" };
static const struct key rate_keys[] = {
	{ .name = "rate", .type = &type_rate_member, .required = true,
	    .help = "N/period" },
	{ .name = "burst", .type = &type_burst_member,
	    .help = "token_bucket: as many at once; default: N" },
};
const struct section type_plan_rates = { "plans.NAME.limit[]", rate_keys, 2,
	0, NULL, NULL };
const struct section type_policy_rates = { "policies[].limit[]", rate_keys,
	2, 0, NULL, NULL };

static void
read_list(struct load *load, const struct key *key, const struct node *node,
    struct limits *limits)
{
	const bool later = node->kind != NODE_LIST &&
	    yaml_get(load->map, "burst") != NULL;
	unsigned n = schema_items(load, key, node);

	if (n > RATES_MAX) {
		findings_help(load_find(load, node->pairs[RATES_MAX].value,
		    RATE_LIST, "more than %d rates", RATES_MAX),
		    "put the others into a policy of their own");
		n = RATES_MAX;
	}
	for (unsigned i = 0; i < n; i++)
		add_item(load, key, schema_item(node, i), limits, later);
}

static void
read_limits(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	if (!yaml_is(node, "none"))
		read_list(load, key, node, schema_at(key, base));
}

static void
read_policy_limit(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct policy *policy = base;

	policy->limit_is_plan = yaml_is(node, "plan");
	if (!policy->limit_is_plan)
		read_limits(load, key, node, base);
}

/* ---- printing ---- */

static void
print_rate(struct emit *emit, const struct rate *rate, bool with_burst)
{
	struct text text = { 0 };

	rate_print(rate, &text);
	if (with_burst && rate->burst != rate->count) {
		emit_map(emit);
		emit_key(emit, "rate");
		emit_text(emit, text_span(&text));
		emit_key(emit, "burst");
		emit_number(emit, rate->burst);
		emit_end(emit);
	} else {
		emit_text(emit, text_span(&text));
	}
	text_fini(&text);
}

static void
print_list(struct emit *emit, const struct limits *limits)
{
	emit_list(emit);
	for (unsigned i = 0; i < limits->n; i++)
		print_rate(emit, &limits->rate[i], true);
	emit_end(emit);
}

static void
print_limits(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct limits *limits = schema_peek(key, base);

	(void)config;
	emit_key(emit, key->name);
	if (limits->n == 0)
		emit_text(emit, SPAN("none"));
	else
		print_list(emit, limits);
}

/* A single rate has its burst in a key of its own. */
static void
print_policy_limit(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct policy *policy = base;

	if (!policy->limit_is_plan && policy->limits.n != 1) {
		print_limits(config, emit, key, base);
		return;
	}
	emit_key(emit, key->name);
	if (policy->limit_is_plan)
		emit_text(emit, SPAN("plan"));
	else
		print_rate(emit, &policy->limits.rate[0], false);
}

const struct type type_limits = { "rate, or a list", read_limits, NULL,
	print_limits, "N/period, {rate, burst}, none" };
const struct type type_policy_limit = { "rate, or a list", read_policy_limit,
	NULL, print_policy_limit, "N/period, {rate, burst}, plan, none" };

/* ---- burst ---- */

static bool
burst_fits(struct load *load, const struct node *node,
    const struct policy *policy)
{
	const struct node *limit = yaml_get(load->map, "limit");

	if (policy->algorithm != ALGO_TOKEN_BUCKET) {
		findings_help(load_find(load, node, BURST,
		    "'burst' is for token_bucket, this policy has %s",
		    algo_get(policy->algorithm)->name),
		    "leave it out, or take token_bucket");
		return false;
	}
	if (limit == NULL || (limit->kind == NODE_SCALAR &&
	    !policy->limit_is_plan && !yaml_is(limit, "none")))
		return policy->limits.n == 1;
	findings_help(load_find(load, node, BURST,
	    "'burst' needs a single rate"), "in a list, and in a plan, write "
	    "{rate: 10/s, burst: 30}");
	return false;
}

static void
read_burst(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	struct policy *policy = base;
	const unsigned errors = load->found->errors;

	if (!burst_fits(load, node, policy))
		return;
	type_integer.read(load, key, node, base);
	if (load->found->errors == errors)
		prepare(load, yaml_get(load->map, "limit"), node,
		    &policy->limits.rate[0]);
}

static void
print_burst(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct policy *policy = base;

	if (policy->algorithm == ALGO_TOKEN_BUCKET &&
	    !policy->limit_is_plan && policy->limits.n == 1)
		type_integer.print(config, emit, key, base);
}

const struct type type_burst = { "integer", read_burst, NULL, print_burst,
	NULL };

/* ---- cost ---- */

static void
read_cost(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	if (node->kind == NODE_MAP)
		findings_help(load_find(load,
		    node->key != NULL ? node->key : node, LATER,
		    "'cost: {reserve, settle}' is not supported yet"),
		    "use a whole number for now");
	else
		type_integer.read(load, key, node, base);
}

static void
print_cost(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	if (schema_fetch(key, base) > 0)
		type_integer.print(config, emit, key, base);
}

const struct type type_cost = { "integer", read_cost, NULL, print_cost,
	NULL };

/* ---- what a policy as a whole must hold ---- */

static bool
has_bursts(const struct limits *limits)
{
	for (unsigned i = 0; i < limits->n; i++)
		if (limits->rate[i].burst != limits->rate[i].count)
			return true;
	return false;
}

static bool
is_long(const struct limits *limits)
{
	for (unsigned i = 0; i < limits->n; i++)
		if (limits->rate[i].count > ALGO_LOG_MAX)
			return true;
	return false;
}

/* of: "" for the policy's own limit, else the plan's name. */
static void
check_limits(struct load *load, const struct policy *policy,
    const struct limits *limits, const char *of)
{
	const struct node *node = yaml_get(load->map, "limit");
	const char *in = of[0] != '\0' ? " in plan " : "";

	if (node == NULL)
		return;
	if (policy->algorithm != ALGO_TOKEN_BUCKET && has_bursts(limits))
		findings_help(load_find(load, node, BURST,
		    "a burst%s%s, but this policy has %s", in, of,
		    algo_get(policy->algorithm)->name),
		    "leave it out, or take token_bucket");
	if (policy->algorithm == ALGO_SLIDING_LOG && is_long(limits))
		findings_help(load_find(load, node, LOG_LIMIT,
		    "sliding_log counts to %d at most, a limit%s%s is above",
		    ALGO_LOG_MAX, in, of),
		    "take algorithm: sliding_window, which never lets more "
		    "pass either");
}

void
type_policy_end(struct load *load, const struct node *node, void *base)
{
	const struct policy *policy = base;
	const struct rules *rules = &load->config->rules;

	if (node == NULL || node->kind != NODE_MAP)
		return;
	check_limits(load, policy, &policy->limits, "");
	for (unsigned i = 0; policy->limit_is_plan && i < rules->nplans; i++)
		if (rules->plans[i].name != NULL)
			check_limits(load, policy, &rules->plans[i].limits,
			    rules->plans[i].name);
	if (yaml_get(node, "align") != NULL &&
	    policy->algorithm != ALGO_FIXED_WINDOW)
		findings_help(load_find(load, yaml_get(node, "align"),
		    COMBINE, "'align' is for fixed_window, this policy has %s",
		    algo_get(policy->algorithm)->name),
		    "leave it out, or take algorithm: fixed_window");
}
