#include <stdio.h>

#include "base/mem.h"
#include "config/types.h"
#include "config/url.h"

/* Addresses: where weir listens, whom it asks, whom it believes. */

static void
report_address(struct load *load, const struct node *node, enum err e)
{
	findings_help(load_find(load, node, ADDRESS,
	    e == ERR_RANGE ? "'%.*s': port or path out of range" :
	    "'%.*s' is not an address to listen on", LOAD_QUOTE(node)),
	    "write 127.0.0.1:8080, 0.0.0.0:80, [::1]:8080 or "
	    "unix:/run/weir/http.sock");
}

/* ---- listen ---- */

static void
refuse_twice(struct load *load, const struct node *node)
{
	struct config *c = load->config;
	const struct endpoint *e = &c->listens[c->nlistens - 1].endpoint;

	for (unsigned i = 0; i + 1 < c->nlistens; i++)
		if (endpoint_equal(&c->listens[i].endpoint, e))
			load_find(load, node, LISTEN,
			    "'%.*s' is listened on already",
			    LOAD_QUOTE(node));
}

static void
read_address(struct load *load, const struct key *key,
    const struct node *node)
{
	struct config *c = load->config;
	const char *text = type_scalar(load, key, node);
	struct endpoint endpoint;
	enum err e;

	if (text == NULL)
		return;
	if (span_starts(span_str(text), SPAN("fd:"))) {
		findings_help(load_find(load, node, LATER,
		    "'fd:' (socket activation) is not supported yet"),
		    "use host:port or unix:/path for now");
		return;
	}
	e = endpoint_parse(span_str(text), &endpoint);
	if (e != ERR_OK) {
		report_address(load, node, e);
		return;
	}
	if (endpoint.ss.ss_family != AF_UNIX && endpoint_port(&endpoint) == 0) {
		report_address(load, node, ERR_RANGE);
		return;
	}
	c->listens[c->nlistens++] = (struct listen_conf){ endpoint,
		mem_strdup(text) };
	refuse_twice(load, node);
}

static void
read_listen_address(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	(void)base;
	read_address(load, key, node);
}

/* The keys of one listener, read into nothing but config->listens. */
const struct type type_listen_address = { "address", read_listen_address,
	NULL, NULL, "host:port, [::1]:port or unix:/path" };

static void
read_listens(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const unsigned n = schema_items(load, key, node);

	load->config->listens = mem_zalloc((n + 1) *
	    sizeof(struct listen_conf));
	for (unsigned i = 0; i < n; i++) {
		const struct node *item = schema_item(node, i);

		if (item->kind == NODE_MAP)
			schema_read(load, key->section, item, base);
		else if (yaml_is_null(item))
			load_find(load, item, NULL, "'listen' has no value");
		else
			read_address(load, key, item);
	}
}

static void
print_listens(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)base;
	emit_key(emit, key->name);
	emit_list(emit);
	for (unsigned i = 0; i < config->nlistens; i++) {
		emit_map(emit);
		emit_key(emit, "address");
		emit_text(emit, span_str(config->listens[i].text));
		emit_key(emit, "proxy_protocol");
		emit_text(emit, SPAN("none"));
		emit_end(emit);
	}
	emit_end(emit);
}

const struct type type_listens = { "address, or a list", read_listens, NULL,
	print_listens, "host:port, [::1]:port or unix:/path" };

/* ---- servers of an upstream ---- */

/* A name is looked up now, once; an address never is. */
static bool
resolve(struct load *load, const struct node *node, struct server_conf *s)
{
	const char *why = "";
	enum err e;

	if (s->host == NULL)
		return true;
	e = load->env->resolve(s->host, &s->endpoint, &why);
	if (e != ERR_OK) {
		findings_help(load_find(load, node, RESOLVE,
		    "no address for '%.60s': %s", s->host, why),
		    "names are looked up when the file is loaded; an address "
		    "needs no lookup");
		return false;
	}
	endpoint_set_port(&s->endpoint, s->port);
	mem_free(s->host);
	s->host = NULL;
	return true;
}

static void
report_url(struct load *load, const struct node *node, enum err e,
    const char *why)
{
	if (e == ERR_UNSUPPORTED)
		findings_help(load_find(load, node, LATER,
		    "%s is not supported yet", why),
		    "use http:// for now");
	else
		findings_help(load_find(load, node, URL,
		    "not the URL of a server: %s", why),
		    "write http://127.0.0.1:9000, http://[::1]:9000, "
		    "http://name:9000 or unix:/path");
}

/* False when an error was found; s is empty then. */
static bool
read_server_url(struct load *load, const struct key *key,
    const struct node *node, struct server_conf *s)
{
	const char *text = type_scalar(load, key, node), *why = "";
	struct url url = { 0 };
	enum err e;

	if (text == NULL)
		return false;
	e = url_parse_server(span_str(text), &url, &why);
	if (e != ERR_OK) {
		report_url(load, node, e, why);
		return false;
	}
	*s = (struct server_conf){ .text = mem_strdup(text),
		.host = url.host, .endpoint = url.endpoint,
		.port = url.port, .weight = 1, .authority = url.authority };
	url.host = url.authority = NULL;
	url_fini(&url);
	if (resolve(load, node, s))
		return true;
	mem_free(s->text);
	mem_free(s->host);
	mem_free(s->authority);
	*s = (struct server_conf){ 0 };
	return false;
}

static void
read_server_member(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	read_server_url(load, key, node, base);
}

const struct type type_server_url = { "URL", read_server_member, NULL, NULL,
	"http://host[:port] or unix:/path" };

static void
read_servers(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const unsigned n = schema_items(load, key, node);
	struct server_conf **at = schema_at(key, base);
	unsigned *count = schema_count(key, base);

	*at = mem_zalloc((n + 1) * sizeof(**at));
	for (unsigned i = 0; i < n; i++) {
		const struct node *item = schema_item(node, i);
		struct server_conf *s = &(*at)[*count];

		if (item->kind != NODE_MAP) {
			*count += read_server_url(load, key, item, s);
			continue;
		}
		schema_read(load, key->section, item, s);
		*count += s->text != NULL;
	}
}

static void
print_servers(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	struct server_conf *const *at = schema_peek(key, base);
	const unsigned n = schema_length(key, base);

	(void)config;
	emit_key(emit, key->name);
	emit_list(emit);
	for (unsigned i = 0; i < n; i++) {
		emit_map(emit);
		emit_key(emit, "url");
		emit_text(emit, span_str((*at)[i].text));
		emit_key(emit, "weight");
		emit_number(emit, (*at)[i].weight);
		emit_end(emit);
	}
	emit_end(emit);
}

const struct type type_servers = { "URL, or a list", read_servers, NULL,
	print_servers, "http://host[:port], unix:/path, {url, weight}" };

/* ---- references to upstreams ---- */

static int
find_upstream(const struct config *c, const char *name)
{
	for (unsigned i = 0; i < c->nupstreams; i++)
		if (c->upstreams[i].name != NULL &&
		    strcmp(c->upstreams[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void
read_upstream_name(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const char *text = type_scalar(load, key, node);
	int i;

	if (text == NULL)
		return;
	i = find_upstream(load->config, text);
	if (i >= 0)
		schema_store(key, base, i);
	else
		findings_help(load_find(load, node, REFERENCE,
		    "no upstream '%.*s'", LOAD_QUOTE(node)),
		    "define it under upstreams, with its servers");
}

static void
absent_upstream(struct load *load, const struct key *key, void *base)
{
	(void)load;
	schema_store(key, base, -1);
}

static void
print_upstream(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const int i = (int)schema_fetch(key, base);

	if (i < 0)
		return;
	emit_key(emit, key->name);
	emit_text(emit, span_str(config->upstreams[i].name));
}

const struct type type_upstream_name = { "name of an upstream",
	read_upstream_name, absent_upstream, print_upstream, "" };

#define URL_UPSTREAM "default"	/* its name when only a URL is given */

/* "upstream: URL" is short for an upstream of that name. */
static void
add_upstream(struct load *load, const struct key *key,
    const struct node *node)
{
	struct config *c = load->config;
	struct upstream_conf *u;

	if (find_upstream(c, URL_UPSTREAM) >= 0) {
		findings_help(load_find(load, node, NAME_TAKEN,
		    "this URL and upstreams." URL_UPSTREAM
		    " claim the same name"),
		    "write upstream: " URL_UPSTREAM ", or rename that one");
		return;
	}
	c->upstreams = mem_realloc(c->upstreams,
	    (c->nupstreams + 1) * sizeof(*c->upstreams));
	u = &c->upstreams[c->nupstreams];
	*u = (struct upstream_conf){ .name = mem_strdup(URL_UPSTREAM) };
	schema_read(load, &keys_upstream, NULL, u);
	u->servers = mem_zalloc(sizeof(*u->servers));
	u->nservers = read_server_url(load, key, node, u->servers);
	c->default_upstream = (int)c->nupstreams++;
}

static void
read_upstream(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const char *text = type_scalar(load, key, node);

	absent_upstream(load, key, base);
	if (text == NULL)
		return;
	if (strchr(text, ':') != NULL || strchr(text, '/') != NULL)
		add_upstream(load, key, node);
	else
		read_upstream_name(load, key, node, base);
}

const struct type type_upstream = { "URL, or a name", read_upstream,
	absent_upstream, print_upstream,
	"http://host[:port], unix:/path, or a name out of upstreams" };

/* ---- client_ip ---- */

static const struct {
	const char *word;
	enum http_client_source from;
} sources[] = {
	{ "peer", HTTP_CLIENT_PEER },
	{ "x-forwarded-for", HTTP_CLIENT_XFF },
	{ "forwarded", HTTP_CLIENT_FORWARDED },
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static void
set_client_header(struct http_client_rule *rule, struct span name)
{
	char *copy = mem_strndup(name.ptr, name.len);

	for (char *p = copy; *p != '\0'; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + ('a' - 'A'));
	rule->from = HTTP_CLIENT_HEADER;
	rule->header = span_str(copy);
}

static void
read_client_source(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct http_client_rule *rule = schema_at(key, base);
	const char *text = type_scalar(load, key, node);

	if (text == NULL)
		return;
	for (size_t i = 0; i < SOURCES; i++) {
		if (strcmp(text, sources[i].word) == 0) {
			rule->from = sources[i].from;
			return;
		}
	}
	if (span_starts(span_str(text), SPAN("header:")) &&
	    type_is_token(span_str(text + 7)))
		set_client_header(rule, span_str(text + 7));
	else
		findings_help(load_find(load, node, WORD,
		    "'%.*s' is not where an address can come from",
		    LOAD_QUOTE(node)), "one of: peer, x-forwarded-for, "
		    "forwarded, header:NAME");
}

static void
print_client_source(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct http_client_rule *rule = schema_peek(key, base);
	struct text text = { 0 };

	(void)config;
	emit_key(emit, key->name);
	if (rule->from == HTTP_CLIENT_HEADER)
		text_printf(&text, "header:%.*s", SPAN_ARG(rule->header));
	else
		text_append_str(&text, sources[rule->from].word);
	emit_text(emit, text_span(&text));
	text_fini(&text);
}

const struct type type_client_source = { "word", read_client_source, NULL,
	print_client_source,
	"peer|x-forwarded-for|forwarded|header:NAME" };

static void
read_networks(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const unsigned n = schema_items(load, key, node);
	struct http_client_rule *rule = schema_at(key, base);
	struct cidr *set = mem_zalloc((n + 1) * sizeof(*set));

	rule->trusted = set;
	for (unsigned i = 0; i < n; i++)
		rule->ntrusted += type_network(load, key,
		    schema_item(node, i), &set[rule->ntrusted]);
}

bool
type_network(struct load *load, const struct key *key,
    const struct node *node, struct cidr *ret)
{
	const char *text = type_scalar(load, key, node);
	struct finding *finding;
	enum err e;

	if (text == NULL)
		return false;
	e = cidr_parse(span_str(text), ret);
	if (e == ERR_OK)
		return true;
	finding = load_find(load, node, ADDRESS, e == ERR_RANGE ?
	    "'%.*s' has bits beyond its prefix" :
	    "'%.*s' is not an address or network", LOAD_QUOTE(node));
	findings_help(finding, "an address, or a network with its host bits "
	    "zero: 10.0.0.0/8, 2001:db8::/32");
	return false;
}

void
type_print_network(struct emit *emit, const struct cidr *cidr)
{
	char buf[ADDR_TEXT_MAX + 8];
	const size_t n = addr_print(&cidr->addr, buf);

	snprintf(buf + n, sizeof(buf) - n, "/%u", cidr->bits);
	emit_text(emit, span_str(buf));
}

static void
print_networks(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct http_client_rule *rule = schema_peek(key, base);

	(void)config;
	if (rule->ntrusted == 0)
		return;
	emit_key(emit, key->name);
	emit_list(emit);
	for (size_t i = 0; i < rule->ntrusted; i++)
		type_print_network(emit, &rule->trusted[i]);
	emit_end(emit);
}

const struct type type_networks = { "network, or a list", read_networks,
	NULL, print_networks, "address or CIDR" };
