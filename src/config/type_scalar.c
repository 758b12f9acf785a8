#include <strings.h>

#include "base/mem.h"
#include "config/nearest.h"
#include "config/types.h"
#include "http/octet.h"

const char *
type_scalar(struct load *load, const struct key *key, const struct node *node)
{
	if (node->kind != NODE_SCALAR) {
		findings_help(load_find(load, node, KIND,
		    "a %s where '%s' takes a value",
		    node->kind == NODE_LIST ? "list" : "mapping", key->name),
		    "%s: %s", key->name, key->help);
		return NULL;
	}
	if (node->text[0] == '\0') {
		load_find(load, node, EMPTY, "'%s' is an empty text",
		    key->name);
		return NULL;
	}
	return node->text;
}

bool
type_is_token(struct span text)
{
	return text.len > 0 && http_octet_skip(text.ptr, text.ptr + text.len,
	    OCTET_TOKEN) == text.ptr + text.len;
}

/* ---- booleans ---- */

static void
read_bool(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	static const char *const yes[] = { "yes", "on", "y", "1" };
	const char *text = type_scalar(load, key, node);
	struct finding *finding;
	bool meant = false;

	if (text == NULL)
		return;
	if (yaml_is(node, "true") || yaml_is(node, "false")) {
		schema_store(key, base, yaml_is(node, "true"));
		return;
	}
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		meant |= strcasecmp(text, yes[i]) == 0;
	meant |= strcasecmp(text, "true") == 0;
	finding = load_find(load, node, BOOLEAN,
	    "'%s' is true or false, not '%.*s'", key->name,
	    LOAD_QUOTE(node));
	findings_help(finding, "write %s", meant ? "true" : "false");
}

static void
print_bool(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)config;
	emit_key(emit, key->name);
	emit_plain(emit, schema_fetch(key, base) ? "true" : "false");
}

const struct type type_bool = { "boolean", read_bool, NULL, print_bool,
	"true|false" };

/* ---- words ---- */

static unsigned
count_words(const char *const *words)
{
	unsigned n = 0;

	while (words != NULL && words[n] != NULL)
		n++;
	return n;
}

static bool
is_one_of(const char *text, const char *const *words)
{
	const unsigned n = count_words(words);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return false;
}

static void
report_word(struct load *load, const struct key *key,
    const struct node *node)
{
	const unsigned n = count_words(key->words);
	const char *near = nearest_word(yaml_text(node), key->words, n);
	struct finding *finding = load_find(load, node, WORD,
	    "'%.*s' is not a value of '%s'", LOAD_QUOTE(node), key->name);
	struct text help = { 0 };

	if (near != NULL)
		text_printf(&help, "did you mean '%s'? ", near);
	text_append_str(&help, "one of:");
	for (unsigned i = 0; i < n; i++)
		text_printf(&help, "%s %s", i > 0 ? "," : "", key->words[i]);
	findings_help(finding, "%s", text_cstr(&help));
	text_fini(&help);
}

static void
read_word(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	const char *text = type_scalar(load, key, node);

	if (text == NULL)
		return;
	for (unsigned i = 0; key->words[i] != NULL; i++) {
		if (strcmp(key->words[i], text) == 0) {
			schema_store(key, base, (int64_t)i);
			return;
		}
	}
	if (is_one_of(text, key->later))
		findings_help(load_find(load, node, LATER,
		    "'%s: %s' is not supported yet", key->name, text),
		    "leave it out for now");
	else
		report_word(load, key, node);
}

static void
print_word(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)config;
	emit_key(emit, key->name);
	emit_text(emit, span_str(key->words[schema_fetch(key, base)]));
}

const struct type type_word = { "word", read_word, NULL, print_word, NULL };

static void
read_none(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	(void)base;
	if (!yaml_is(node, "none"))
		findings_help(load_find(load, node, LATER,
		    "'%s' other than none is not supported yet", key->name),
		    "write %s: none, or leave it out", key->name);
}

static void
print_none(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)config;
	(void)base;
	emit_key(emit, key->name);
	emit_text(emit, SPAN("none"));
}

const struct type type_none = { "word", read_none, NULL, print_none, "none" };

static void
read_later(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	(void)base;
	findings_help(load_find(load,
	    node->key != NULL ? node->key : node, LATER,
	    "'%s' is not supported yet", key->name),
	    "leave it out for now");
}

const struct type type_later = { "not supported yet", read_later, NULL, NULL,
	NULL };

/* ---- texts ---- */

static void
set_text(const struct key *key, void *base, char *text)
{
	char **at = schema_at(key, base);

	mem_free(*at);
	*at = text;
}

static void
read_text(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	const char *text = type_scalar(load, key, node);

	if (text == NULL)
		return;
	if (key->max > 0 && strlen(text) > (size_t)key->max)
		findings_help(load_find(load, node, TEXT,
		    "'%s' is longer than %lld octets", key->name,
		    (long long)key->max), "take a shorter one");
	else
		set_text(key, base, mem_strdup(text));
}

static void
print_text(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	char *const *at = schema_peek(key, base);

	(void)config;
	if (*at == NULL)
		return;
	emit_key(emit, key->name);
	emit_text(emit, span_str(*at));
}

const struct type type_text = { "text", read_text, NULL, print_text, "" };

/* A file, or the key's word. */
static void
read_path(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	const char *text = type_scalar(load, key, node);

	if (text != NULL)
		set_text(key, base, key->word != NULL &&
		    strcmp(text, key->word) == 0 ? mem_strdup(text) :
		    load_path(load, node, text));
}

const struct type type_path = { "path", read_path, NULL, print_text,
	"a file" };

static bool
is_name(const char *s)
{
	const size_t n = strlen(s);

	return n >= 1 && n <= 63 && strchr("_.-", s[0]) == NULL &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == n;
}

static void
read_name(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	if (type_scalar(load, key, node) == NULL)
		return;
	if (is_name(node->text))
		set_text(key, base, mem_strdup(node->text));
	else
		findings_help(load_find(load, node, NAME,
		    "'%.*s' is not a name", LOAD_QUOTE(node)),
		    "lower case letters, digits and \"_.-\", beginning with a "
		    "letter or digit, at most 63");
}

const struct type type_name = { "name", read_name, NULL, print_text,
	"[a-z0-9][a-z0-9_.-]{0,62}" };

/* ---- cors.allow_origins ---- */

/* "*", or scheme://host[:port] as browsers send it. */
static bool
is_origin(const char *s)
{
	const char *host = strstr(s, "://");

	if (strcmp(s, "*") == 0)
		return true;
	return host != NULL && host > s && host[3] != '\0' &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+.-") ==
	    (size_t)(host - s) &&
	    strcspn(host + 3, "/?#@ABCDEFGHIJKLMNOPQRSTUVWXYZ \",") ==
	    strlen(host + 3);
}

static void
read_origins(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const unsigned n = schema_items(load, key, node);
	char ***at = schema_at(key, base);

	*at = mem_zalloc((n + 1) * sizeof(**at));
	for (unsigned i = 0; i < n; i++) {
		const struct node *item = schema_item(node, i);
		const char *text = type_scalar(load, key, item);

		if (text == NULL)
			continue;
		if (is_origin(text))
			(*at)[(*schema_count(key, base))++] =
			    mem_strdup(text);
		else
			findings_help(load_find(load, item, URL,
			    "'%.*s' is not an origin", LOAD_QUOTE(item)),
			    "scheme and host in lower case, a port if it is "
			    "not the usual one, no path: https://app.example"
			    ".com; or \"*\"");
	}
}

static void
print_origins(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const unsigned n = schema_length(key, base);
	char *const *const *at = schema_peek(key, base);

	(void)config;
	emit_key(emit, key->name);
	if (n == 0) {
		emit_plain(emit, "[]");
		return;
	}
	emit_list(emit);
	for (unsigned i = 0; i < n; i++)
		emit_text(emit, span_str((*at)[i]));
	emit_end(emit);
}

const struct type type_origins = { "list of origins", read_origins, NULL,
	print_origins, "scheme://host[:port] or *" };
