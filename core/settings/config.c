/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_select.c, tests/core/test_config.c */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/trust.h"
#include "util/text.h"

typedef enum value_source { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_PROGRAM } value_source;

typedef struct value {
    char *text;
    value_source source;
} value;

/* A key with a dot, or a key of libcore that backends also get (`where` is NULL). */
typedef struct origin {
    char *key, *where;
    value_source source;
} origin;

struct config {
    value values[CONFIG_KEY_COUNT];
    char **plugin_settings; /* "key=value", NULL-terminated; the last value of a key is used */
    origin *origins;        /* the source of each plugin setting */
    size_t plugin_setting_count;
};

#define DESCRIPTION(NAME, ...) {__VA_ARGS__},
static const setting settings[CONFIG_KEY_COUNT] = {CONFIG_LIST(DESCRIPTION)};
#undef DESCRIPTION

static const char *const sources[] = {"default", "file", "environment", "program"};

/* Maximum length of a line. */
#define LINE_MAX_BYTES 8192
#define FILE_MAX_BYTES (1 << 20)

/* A path that begins with '+' is put in front of the value of the source with the next lower
 * priority. */
static char *path_added(const char *word, const char *before)
{
    char *path = NULL;
    int more = before[0] == '+';
    return asprintf(&path, "%s%s:%s", more ? "+" : "", word + 1, before + more) < 0 ? NULL : path;
}

static collet_status value_set(config *c, config_key key, const char *word, value_source source,
                               const char *where, collet_error *err)
{
    value *v = &c->values[key];
    char *text = NULL;
    if (key == CONFIG_PLUGIN_PATH && word[0] == '+' && v->text[0]) {
        text = path_added(word, v->text);
        if (!text)
            return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the setting plugin_path");
    } else {
        collet_status status = setting_parse(&settings[key], word, where, &text, err);
        if (status != COLLET_OK)
            return status;
    }
    free(v->text);
    *v = (value){text, source};
    return COLLET_OK;
}

static collet_status plugin_setting_add(config *c, const char *key, const char *word,
                                        value_source source, const char *where, collet_error *err)
{
    size_t count = c->plugin_setting_count;
    char **texts = realloc(c->plugin_settings, (count + 2) * sizeof *texts), *text = NULL;
    c->plugin_settings = texts ? texts : c->plugin_settings;
    origin *origins = realloc(c->origins, (count + 1) * sizeof *origins);
    c->origins = origins ? origins : c->origins;
    origin from = {strdup(key), where ? strdup(where) : NULL, source};
    if (!texts || !origins || !from.key || (where && !from.where) ||
        asprintf(&text, "%s=%s", key, word) < 0) {
        free(from.key);
        free(from.where);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the setting %s", key);
    }
    texts[count] = text;
    origins[count] = from;
    texts[++c->plugin_setting_count] = NULL;
    return COLLET_OK;
}

/* Reports an unknown setting; suggests the nearest setting, with its unit. */
static collet_status unknown_key(const char *key, const setting *list, size_t count,
                                 const char *where, collet_error *err)
{
    const char *nearest = NULL, *help = "";
    for (size_t i = 0; i < count; i++) {
        text_nearest(key, list[i].key, &nearest);
        help = nearest == list[i].key ? list[i].help : help;
    }
    return collet_fail(err, COLLET_INVALID,
                       "%s: unknown setting '%s'%s%s%s%s (backend-info --env lists them all)",
                       where, key, nearest ? "; the nearest is " : "", nearest ? nearest : "",
                       *help ? ": " : "", help);
}

/* The length of the name in "name=value" if it begins with COLLET_ and is not a setting, else 0. Sets
 * *nearest to the nearest setting, or NULL. */
static size_t unknown_variable(const char *entry, const setting **nearest)
{
    size_t length = strcspn(entry, "=");
    char name[64];
    const char *best = NULL;
    if (strncmp(entry, "COLLET_", 7) || length >= sizeof name)
        return 0;
    memcpy(name, entry, length);
    name[length] = '\0';
    *nearest = NULL;
    if (!strcmp(name, "COLLET_MPI")) /* programs that may run under an MPI launcher read it */
        return 0;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (!strcmp(name, settings[i].environment))
            return 0;
        text_nearest(name + 7, settings[i].environment + 7, &best);
        *nearest = best == settings[i].environment + 7 ? &settings[i] : *nearest;
    }
    return length;
}

void config_check_environment(const message_log *log)
{
    const setting *nearest;
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = unknown_variable(*entry, &nearest);
        if (length)
            log_message(log, COLLET_LOG_WARNING,
                        "the environment variable %.*s is ignored: unknown setting%s%s%s%s "
                        "(backend-info --env lists them all)",
                        (int)length, *entry, nearest ? "; the nearest is " : "",
                        nearest ? nearest->environment : "", nearest ? ": " : "",
                        nearest ? nearest->help : "");
    }
}

/* Applies "key = value", a line of a file or an element of the program's settings. */
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
    while (i < CONFIG_KEY_COUNT && strcmp(key, settings[i].key))
        i++;
    if (i < CONFIG_KEY_COUNT)
        status = value_set(c, (config_key)i, word, source, where, err);
    else if (strchr(key, '.'))
        status = plugin_setting_add(c, key, word, source, where, err);
    else
        status = unknown_key(key, settings, CONFIG_KEY_COUNT, where, err);
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

static char *absolute(const char *path)
{
    char directory[PATH_MAX], *whole = NULL;
    if (path[0] == '/')
        return strdup(path);
    if (!getcwd(directory, sizeof directory))
        directory[0] = '\0';
    return asprintf(&whole, "%s/%s", directory, path) < 0 ? NULL : whole;
}

/* Opens the configuration file. The file can name code that will run, so the same rules as for plugins decide whether
 * the file is trusted. *file is NULL if there is no file and no file is required. */
static collet_status open_file(const config *c, const char *path, int must_exist, FILE **file,
                               collet_error *err)
{
    char *whole = absolute(path);
    refusal why;
    struct stat st;
    int fd = -1;
    *file = NULL;
    int absent = whole && !must_exist && access(whole, R_OK);
    collet_status status = !whole ? COLLET_NO_MEMORY
                           : absent
                               ? COLLET_OK
                               : trust_open(whole, config_text(c, CONFIG_TRUST_GROUP), &fd, &why);
    free(whole);
    if (absent)
        return COLLET_OK;
    if (status == COLLET_NO_MEMORY)
        return collet_fail(err, status, "out of memory for the path %s", path);
    if (status != COLLET_OK)
        return collet_fail(err, status == COLLET_IO ? status : COLLET_INVALID,
                           "the configuration file %s is not used: %s", path, why.text);
    if (fstat(fd, &st) != 0)
        status = collet_fail(err, COLLET_IO, "the configuration file %s cannot be read: %s", path,
                             strerror(errno));
    else if (st.st_size > FILE_MAX_BYTES)
        status =
            collet_fail(err, COLLET_INVALID, "the configuration file %s is larger than %d bytes",
                        path, FILE_MAX_BYTES);
    else if (!(*file = fdopen(fd, "r")))
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for %s", path);
    if (status != COLLET_OK)
        close(fd);
    return status;
}

static collet_status read_file(config *c, const char *path, int must_exist, collet_error *err)
{
    FILE *file;
    collet_status status = open_file(c, path, must_exist, &file, err);
    if (file) {
        status = read_lines(c, file, path, err);
        fclose(file);
    }
    return status;
}

/* $XDG_<kind>_HOME or its default under $HOME, with `tail`; "" without a home directory, because a
 * cache must not create one (accounts of services have /nonexistent); NULL on out of memory. */
static char *user_path(const char *variable, const char *under_home, const char *tail)
{
    const char *base = secure_getenv(variable), *home = secure_getenv("HOME");
    char *path = NULL;
    if (base && base[0] == '/')
        return asprintf(&path, "%s/%s", base, tail) < 0 ? NULL : path;
    if (home && home[0] == '/' && !access(home, F_OK))
        return asprintf(&path, "%s/%s/%s", home, under_home, tail) < 0 ? NULL : path;
    return strdup("");
}

static char *default_value(config_key key)
{
    if (key == CONFIG_CACHE_DIR)
        return user_path("XDG_CACHE_HOME", ".cache", "collet");
    if (key == CONFIG_CONFIG)
        return user_path("XDG_CONFIG_HOME", ".config", "collet/collet.conf");
    return strdup(settings[key].fallback);
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

static collet_status from_variable(config *c, config_key key, collet_error *err)
{
    const char *name = settings[key].environment, *word = secure_getenv(name);
    return word && *word ? value_set(c, key, word, FROM_ENVIRONMENT, name, err) : COLLET_OK;
}

static collet_status from_environment(config *c, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (size_t i = 0; status == COLLET_OK && i < CONFIG_KEY_COUNT; i++)
        status = from_variable(c, (config_key)i, err);
    return status;
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
    for (size_t i = 0; status == COLLET_OK && o->defaults && o->defaults[i]; i++)
        status = assignment(c, o->defaults[i], FROM_DEFAULT, "defaults of the program", err);
    return status;
}

/* trust_group also decides whether the file is trusted, so its value from the program and the
 * environment is read before the file. */
static collet_status trust_group_read(config *c, const collet_runtime_options *o, collet_error *err)
{
    const char *key = settings[CONFIG_TRUST_GROUP].key;
    collet_status status = from_variable(c, CONFIG_TRUST_GROUP, err);
    for (size_t i = 0; status == COLLET_OK && o->settings && o->settings[i]; i++)
        if (!strncmp(o->settings[i], key, strlen(key)))
            status = assignment(c, o->settings[i], FROM_PROGRAM, "settings of the program", err);
    return status;
}

/* The environment overrides the file, but also names it, so the name is read first. */
static collet_status read_all(config *c, const collet_runtime_options *options, collet_error *err)
{
    const char *named = options->config_file;
    int must_exist = 1;
    if (!named || !*named)
        named = secure_getenv(settings[CONFIG_CONFIG].environment);
    if (!named || !*named) {
        named = c->values[CONFIG_CONFIG].text;
        must_exist = 0;
    }
    collet_status status = trust_group_read(c, options, err);
    if (status == COLLET_OK && *named)
        status = read_file(c, named, must_exist, err);
    if (status == COLLET_OK)
        status = from_environment(c, err);
    if (status == COLLET_OK && options->config_file && *options->config_file)
        status = value_set(c, CONFIG_CONFIG, options->config_file, FROM_PROGRAM, "options", err);
    if (status == COLLET_OK)
        status = from_program(c, options, err);
    return status;
}

collet_status config_create(config **out, const collet_runtime_options *options, collet_error *err)
{
    static const config_key shared[] = {CONFIG_ISA, CONFIG_NUM_THREADS, CONFIG_MEASURE};
    config *c = calloc(1, sizeof *c);
    if (!c)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the settings");
    collet_status status = defaults(c, err);
    if (status == COLLET_OK)
        status = program_defaults(c, options, err);
    if (status == COLLET_OK)
        status = read_all(c, options, err);
    for (size_t i = 0; i < sizeof shared / sizeof *shared && status == COLLET_OK; i++)
        status = plugin_setting_add(c, settings[shared[i]].key, config_text(c, shared[i]),
                                    c->values[shared[i]].source, NULL, err);
    if (status != COLLET_OK) {
        config_destroy(c);
        return status;
    }
    *out = c;
    return COLLET_OK;
}

/* ---- Keys of backends -------------------------------------------------------------------- */

static const char *plugin_value(const config *c, size_t i)
{
    return c->plugin_settings[i] + strlen(c->origins[i].key) + 1;
}

/* The first plugin with that name whose manifest was accepted, else any plugin with that name.
 * NULL: there is none, and *nearest is a similar name. */
static const loader_plugin *plugin_of(const char *key, const loader_plugin *const *found,
                                      size_t count, const char **nearest)
{
    const loader_plugin *best = NULL;
    char name[COLLET_MAX_NAME] = "";
    size_t length = strcspn(key, ".");
    if (length < sizeof name)
        memcpy(name, key, length);
    for (size_t i = 0; i < count; i++) {
        const loader_plugin *p = found[i];
        if (!strcmp(p->name, name) && (!best || (p->usable && !best->usable)))
            best = p;
        else if (p->usable)
            text_nearest(name, p->name, nearest);
    }
    return best;
}

/* Converts the value to the form that backends read; "key =" leaves the key unset. */
static collet_status plugin_value_check(config *c, size_t i, const manifest *m, collet_error *err)
{
    const char *key = c->origins[i].key, *where = c->origins[i].where;
    const setting *s = manifest_setting(m, key);
    char *word = NULL, *text = NULL;
    if (!s && m->setting_count == 0)
        return collet_fail(err, COLLET_INVALID, "%s: unknown setting '%s': %s has no settings (%s)",
                           where, key, m->name, m->description);
    if (!s)
        return unknown_key(key, m->settings, m->setting_count, where, err);
    if (!*plugin_value(c, i))
        return COLLET_OK;
    collet_status status = setting_parse(s, plugin_value(c, i), where, &word, err);
    if (status == COLLET_OK && asprintf(&text, "%s=%s", key, word) < 0) {
        text = NULL;
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory for the setting %s", key);
    }
    free(word);
    if (status != COLLET_OK)
        return status;
    free(c->plugin_settings[i]);
    c->plugin_settings[i] = text;
    return COLLET_OK;
}

collet_status config_check_plugins(config *c, const loader_plugin *const *found, size_t count,
                                   const message_log *log, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (size_t i = 0; status == COLLET_OK && i < c->plugin_setting_count; i++) {
        const origin *from = &c->origins[i];
        const char *nearest = NULL;
        if (!from->where)
            continue;
        const loader_plugin *p = plugin_of(from->key, found, count, &nearest);
        if (!p && from->source == FROM_DEFAULT)
            continue; /* a program's default is for machines that have the backend */
        if (!p)
            log_message(log, COLLET_LOG_WARNING,
                        "%s: the setting '%s' is ignored: no backend of that name was found%s%s "
                        "(backend-info lists them all)",
                        from->where, from->key, nearest ? "; the nearest is " : "",
                        nearest ? nearest : "");
        else if (p->usable)
            status = plugin_value_check(c, i, &p->manifest, err);
    }
    return status;
}

/* ---- Values ------------------------------------------------------------------------------ */

void config_destroy(config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        free(c->values[i].text);
    for (size_t i = 0; i < c->plugin_setting_count; i++) {
        free(c->plugin_settings[i]);
        free(c->origins[i].key);
        free(c->origins[i].where);
    }
    free(c->plugin_settings);
    free(c->origins);
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
    return !strcmp(c->values[key].text, "on");
}

const char *config_find(const config *c, const char *key, const char **source)
{
    size_t i = 0, k = c->plugin_setting_count;
    while (i < CONFIG_KEY_COUNT && strcmp(key, settings[i].key))
        i++;
    while (k && strcmp(key, c->origins[k - 1].key))
        k--;
    if (source && (i < CONFIG_KEY_COUNT || k))
        *source = sources[i < CONFIG_KEY_COUNT ? c->values[i].source : c->origins[k - 1].source];
    if (i < CONFIG_KEY_COUNT)
        return c->values[i].text;
    return k && *plugin_value(c, k - 1) ? plugin_value(c, k - 1) : NULL;
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

const setting *config_setting(size_t index)
{
    return &settings[index];
}
