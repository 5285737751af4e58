/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

typedef enum value_source { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_PROGRAM } value_source;

typedef struct value {
    char *text;
    value_source source;
} value;

struct config {
    value values[CONFIG_KEY_COUNT];
    char **plugin_settings; /* "key=value", NULL-terminated; the last of a key is in force */
    size_t plugin_setting_count;
};

typedef struct description {
    const char *key, *environment, *type, *fallback, *help;
} description;

#define DESCRIPTION(NAME, key, environment, type, fallback, help)                                  \
    {key, environment, type, fallback, help},
static const description descriptions[CONFIG_KEY_COUNT] = {CONFIG_LIST(DESCRIPTION)};
#undef DESCRIPTION

/* Longer lines are refused. */
#define LINE_MAX_BYTES 8192

static int boolean_parse(const char *word, int *out)
{
    static const char *const yes[] = {"on", "yes", "true", "1"};
    static const char *const no[] = {"off", "no", "false", "0"};
    for (size_t i = 0; i < 4; i++) {
        if (!strcmp(word, yes[i]) || !strcmp(word, no[i])) {
            *out = !strcmp(word, yes[i]);
            return 1;
        }
    }
    return 0;
}

static int is_level(const char *word)
{
    static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "v2",
                                         "v3",        "v4",        "armv8",     "baseline"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (!strcmp(word, levels[i]))
            return 1;
    return 0;
}

static collet_status value_check(config_key key, const char *word, const char *where,
                                 collet_error *err)
{
    const description *d = &descriptions[key];
    int truth;
    if (!strcmp(word, d->fallback))
        return COLLET_OK;
    if (!strcmp(d->type, "boolean") && !boolean_parse(word, &truth))
        return collet_fail(err, COLLET_INVALID, "%s: %s is on or off, not '%s'", where, d->key,
                           word);
    if (!strcmp(d->type, "integer")) {
        char *end;
        errno = 0;
        long long number = strtoll(word, &end, 10);
        if (errno || *end || end == word || number < 0 || number > INT32_MAX)
            return collet_fail(err, COLLET_INVALID, "%s: %s is a whole number >= 0, not '%s'",
                               where, d->key, word);
    }
    if (key == CONFIG_ISA && !is_level(word))
        return collet_fail(
            err, COLLET_INVALID,
            "%s: isa is auto, x86-64-v2, x86-64-v3, x86-64-v4, armv8 or baseline, not "
            "'%s'",
            where, word);
    if (key == CONFIG_LOG && strcmp(word, "off") && !log_level_parse(word))
        return collet_fail(err, COLLET_INVALID,
                           "%s: log is error, warning, info, debug or off, not '%s'", where, word);
    return COLLET_OK;
}

/* A path that begins with '+' is put before the value of the source below. */
static char *path_added(const char *word, const char *before)
{
    char *path = NULL;
    if (word[0] != '+' || !*before)
        return strdup(word);
    int more = before[0] == '+';
    return asprintf(&path, "%s%s:%s", more ? "+" : "", word + 1, before + more) < 0 ? NULL : path;
}

static collet_status value_set(config *c, config_key key, const char *word, value_source source,
                               const char *where, collet_error *err)
{
    collet_status status = value_check(key, word, where, err);
    if (status != COLLET_OK)
        return status;
    char *copy = key == CONFIG_PLUGIN_PATH ? path_added(word, c->values[key].text) : strdup(word);
    if (!copy)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the setting %s",
                           descriptions[key].key);
    free(c->values[key].text);
    c->values[key] = (value){copy, source};
    return COLLET_OK;
}

static collet_status plugin_setting_add(config *c, const char *key, const char *word,
                                        collet_error *err)
{
    size_t count = c->plugin_setting_count;
    char **grown = realloc(c->plugin_settings, (count + 2) * sizeof *grown);
    if (grown)
        c->plugin_settings = grown;
    if (!grown || asprintf(&grown[count], "%s=%s", key, word) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the setting %s", key);
    grown[++c->plugin_setting_count] = NULL;
    return COLLET_OK;
}

static collet_status unknown_key(const char *key, const char *where, collet_error *err)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        text_nearest(key, descriptions[i].key, &nearest);
    return collet_fail(err, COLLET_INVALID,
                       "%s: unknown setting '%s'%s%s (backend-info --env lists them all)", where,
                       key, nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

/* The length of the name in "name=value" if it begins with COLLET_ and is not a setting, else 0. */
static size_t unknown_variable(const char *entry, const char **nearest)
{
    size_t length = strcspn(entry, "=");
    char name[64];
    if (strncmp(entry, "COLLET_", 7) || length >= sizeof name)
        return 0;
    memcpy(name, entry, length);
    name[length] = '\0';
    *nearest = NULL;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (!strcmp(name, descriptions[i].environment))
            return 0;
        text_nearest(name + 7, descriptions[i].environment + 7, nearest);
    }
    return length;
}

void config_check_environment(const message_log *log)
{
    const char *nearest;
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = unknown_variable(*entry, &nearest);
        if (length)
            log_message(log, COLLET_LOG_WARNING,
                        "the environment variable %.*s is ignored: unknown setting%s%s "
                        "(backend-info --env lists them all)",
                        (int)length, *entry, nearest ? "; the nearest is COLLET_" : "",
                        nearest ? nearest : "");
    }
}

/* Sets "key = value" from a line of a file or of the program's settings. */
static collet_status assignment(config *c, const char *line, value_source source, const char *where,
                                collet_error *err)
{
    const char *equals = strchr(line, '=');
    if (!equals)
        return collet_fail(err, COLLET_FORMAT, "%s: '%s' is not of the form key = value", where,
                           line);
    char *key = text_trimmed(line, equals);
    char *word = text_trimmed(equals + 1, equals + 1 + strlen(equals + 1));
    collet_status status;
    size_t i = 0;
    if (!key || !word) {
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: out of memory", where);
        goto done;
    }
    while (i < CONFIG_KEY_COUNT && strcmp(key, descriptions[i].key))
        i++;
    if (i < CONFIG_KEY_COUNT)
        status = value_set(c, (config_key)i, word, source, where, err);
    else if (strchr(key, '.'))
        status = plugin_setting_add(c, key, word, err);
    else
        status = unknown_key(key, where, err);
done:
    free(key);
    free(word);
    return status;
}

static collet_status read_lines(config *c, FILE *file, const char *path, collet_error *err)
{
    char line[LINE_MAX_BYTES], where[COLLET_ERROR_TEXT / 2];
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        snprintf(where, sizeof where, "%s:%d", path, number);
        size_t length = strlen(line);
        if (length == sizeof line - 1 && line[length - 1] != '\n')
            return collet_fail(err, COLLET_FORMAT, "%s: the line is longer than %d bytes", where,
                               LINE_MAX_BYTES - 2);
        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        collet_status status = assignment(c, line, FROM_FILE, where, err);
        if (status != COLLET_OK)
            return status;
    }
    if (ferror(file))
        return collet_fail(err, COLLET_IO, "cannot read %s: %s", path, strerror(errno));
    return COLLET_OK;
}

static collet_status read_file(config *c, const char *path, int must_exist, collet_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        if (!must_exist && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
            return COLLET_OK;
        return collet_fail(err, COLLET_IO, "cannot open the configuration file %s: %s", path,
                           strerror(errno));
    }
    collet_status status = read_lines(c, file, path, err);
    fclose(file);
    return status;
}

/* $XDG_<kind>_HOME or its default under $HOME, with `tail`; "" without a home directory; NULL on
 * out of memory. */
static char *user_path(const char *variable, const char *under_home, const char *tail)
{
    const char *base = secure_getenv(variable), *home = secure_getenv("HOME");
    char *path = NULL;
    if (base && base[0] == '/')
        return asprintf(&path, "%s/%s", base, tail) < 0 ? NULL : path;
    if (home && home[0] == '/')
        return asprintf(&path, "%s/%s/%s", home, under_home, tail) < 0 ? NULL : path;
    return strdup("");
}

static char *default_value(config_key key)
{
    if (key == CONFIG_CACHE_DIR)
        return user_path("XDG_CACHE_HOME", ".cache", "collet");
    if (key == CONFIG_CONFIG)
        return user_path("XDG_CONFIG_HOME", ".config", "collet/collet.conf");
    return strdup(descriptions[key].fallback);
}

static collet_status defaults(config *c, collet_error *err)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        char *word = default_value((config_key)i);
        if (!word)
            return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the settings");
        c->values[i] = (value){word, FROM_DEFAULT};
    }
    return COLLET_OK;
}

static collet_status from_environment(config *c, collet_error *err)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        const char *word = secure_getenv(descriptions[i].environment);
        if (!word || !*word)
            continue;
        collet_status status =
            value_set(c, (config_key)i, word, FROM_ENVIRONMENT, descriptions[i].environment, err);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

static collet_status from_program(config *c, const collet_runtime_options *o, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (o->plugin_path)
        status = value_set(c, CONFIG_PLUGIN_PATH, o->plugin_path, FROM_PROGRAM, "options", err);
    if (status == COLLET_OK && o->backend && *o->backend)
        status = value_set(c, CONFIG_BACKEND, o->backend, FROM_PROGRAM, "options", err);
    for (size_t i = 0; status == COLLET_OK && o->settings && o->settings[i]; i++)
        status = assignment(c, o->settings[i], FROM_PROGRAM, "settings of the program", err);
    return status;
}

/* Defaults of the program, which its user may override. */
static collet_status program_defaults(config *c, const collet_runtime_options *o, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (size_t i = 0; status == COLLET_OK && o && o->defaults && o->defaults[i]; i++)
        status = assignment(c, o->defaults[i], FROM_DEFAULT, "defaults of the program", err);
    return status;
}

/* The environment overrides the file, but also names it, so the name is read first. */
static collet_status read_all(config *c, const collet_runtime_options *options, collet_error *err)
{
    const char *named = options ? options->config_file : NULL;
    int must_exist = 1;
    if (!named || !*named)
        named = secure_getenv(descriptions[CONFIG_CONFIG].environment);
    if (!named || !*named) {
        named = c->values[CONFIG_CONFIG].text;
        must_exist = 0;
    }
    collet_status status = COLLET_OK;
    if (*named)
        status = read_file(c, named, must_exist, err);
    if (status == COLLET_OK)
        status = from_environment(c, err);
    if (status == COLLET_OK && options && options->config_file && *options->config_file)
        status = value_set(c, CONFIG_CONFIG, options->config_file, FROM_PROGRAM, "options", err);
    if (status == COLLET_OK && options)
        status = from_program(c, options, err);
    return status;
}

collet_status config_create(config **out, const collet_runtime_options *options, collet_error *err)
{
    static const config_key shared[] = {CONFIG_ISA, CONFIG_NUM_THREADS};
    config *c = calloc(1, sizeof *c);
    if (!c)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the settings");
    collet_status status = defaults(c, err);
    if (status == COLLET_OK)
        status = program_defaults(c, options, err);
    if (status == COLLET_OK)
        status = read_all(c, options, err);
    for (size_t i = 0; i < sizeof shared / sizeof *shared && status == COLLET_OK; i++)
        status = plugin_setting_add(c, descriptions[shared[i]].key, config_text(c, shared[i]), err);
    if (status != COLLET_OK) {
        config_destroy(c);
        return status;
    }
    *out = c;
    return COLLET_OK;
}

void config_destroy(config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        free(c->values[i].text);
    for (size_t i = 0; i < c->plugin_setting_count; i++)
        free(c->plugin_settings[i]);
    free(c->plugin_settings);
    free(c);
}

const char *config_text(const config *c, config_key key)
{
    return c->values[key].text;
}

int64_t config_integer(const config *c, config_key key)
{
    return strtoll(c->values[key].text, NULL, 10);
}

int config_boolean(const config *c, config_key key)
{
    int truth = 0;
    boolean_parse(c->values[key].text, &truth);
    return truth;
}

const char *config_find(const config *c, const char *key)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        if (!strcmp(key, descriptions[i].key))
            return c->values[i].text;
    size_t length = strlen(key);
    for (size_t i = c->plugin_setting_count; i-- > 0;)
        if (!strncmp(c->plugin_settings[i], key, length) && c->plugin_settings[i][length] == '=')
            return c->plugin_settings[i] + length + 1;
    return NULL;
}

const char *const *config_plugin_settings(const config *c)
{
    return (const char *const *)c->plugin_settings;
}

int config_from_program(const config *c, config_key key)
{
    return c->values[key].source == FROM_PROGRAM;
}

size_t config_count(void)
{
    return CONFIG_KEY_COUNT;
}

void config_setting(const config *c, size_t index, collet_setting *setting)
{
    static const char *const sources[] = {"default", "file", "environment", "program"};
    const description *d = &descriptions[index];
    *setting = (collet_setting){.struct_size = sizeof *setting,
                                .key = d->key,
                                .environment = d->environment,
                                .type = d->type,
                                .fallback = d->fallback,
                                .value = c->values[index].text,
                                .source = sources[c->values[index].source],
                                .help = d->help};
}
