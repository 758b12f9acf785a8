#ifndef WEIR_LIMIT_SCRIPTS_H
#define WEIR_LIMIT_SCRIPTS_H

/* Lua, as lua/embed.sh joins it out of the parts that lua/scripts lists. */
extern const char script_bucket[];
extern const char script_decide[];

#endif
