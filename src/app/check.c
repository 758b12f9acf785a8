#include <stdio.h>

#include "app/commands.h"
#include "app/options.h"

static const char check_usage[] =
    "usage: weir check [-c FILE] [--strict] [--format text|json] [-q]\n"
    "Validate the configuration. Exit 0: valid, 78: not (with --strict, also\n"
    "for warnings).\n";
static const char dump_usage[] =
    "usage: weir dump [-c FILE] [--format yaml|json]\n"
    "Print the effective configuration: defaults shown, secrets masked.\n";

struct config *
command_load(const char *path, bool quiet)
{
	struct findings found = { 0 };
	struct config *config = NULL;
	struct text out = { 0 };

	if (config_load(path, &found, &config) != ERR_OK)
		config = NULL;
	if (found.n > 0 && (config == NULL || !quiet)) {
		findings_print_text(&found, &out);
		fputs(text_cstr(&out), stderr);
	}
	text_fini(&out);
	findings_fini(&found);
	return config;
}

int
command_check(int argc, char **argv)
{
	struct options o;
	struct findings found = { 0 };
	struct config *config = NULL;
	struct text out = { 0 };
	int code = options_read(argc, argv, "csfq", check_usage, &o);

	if (code == -1)
		code = options_no_more(&o);
	if (code != -1)
		return code;
	code = config_load(o.config, &found, &config) == ERR_OK ?
	    EXIT_FINE : EXIT_CONFIG_;
	if (o.strict && found.warnings > 0)
		code = EXIT_CONFIG_;
	if (o.json) {
		findings_print_json(&found, &out);
		fputs(text_cstr(&out), stdout);
	} else if (found.n > 0 && !(o.quiet && code == EXIT_FINE)) {
		findings_print_text(&found, &out);
		fputs(text_cstr(&out), stderr);
	}
	if (!o.json && !o.quiet && code == EXIT_FINE)
		printf("%s: valid\n", o.config);
	text_fini(&out);
	findings_fini(&found);
	config_unref(config);
	return code;
}

int
command_dump(int argc, char **argv)
{
	struct options o;
	struct config *config;
	struct text out = { 0 };
	int code = options_read(argc, argv, "cy", dump_usage, &o);

	if (code == -1)
		code = options_no_more(&o);
	if (code != -1)
		return code;
	config = command_load(o.config, true);
	if (config == NULL)
		return EXIT_CONFIG_;
	config_dump(config, o.json, &out);
	fputs(text_cstr(&out), stdout);
	text_fini(&out);
	config_unref(config);
	return EXIT_FINE;
}
