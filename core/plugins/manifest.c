/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_manifest.c */
#include "manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>
#include <collet/plugin.h>

#include "elf_note.h"
#include "util/json.h"
#include "util/text.h"

#define GNU_BUILD_ID 3
#define MAX_BUILD_ID 64 /* bytes */

/* The contents of the notes of one file; `json` is a copy. */
typedef struct notes {
    char *json;
    size_t length;
    char sanitizer[sizeof(((manifest *)0)->sanitizer)];
    char build_id[2 * MAX_BUILD_ID + 1];
} notes;

void manifest_init(manifest *m)
{
    *m = (manifest){.name = "", .version = "", .description = "", .sanitizer = "none"};
}

void manifest_clear(manifest *m)
{
    free(m->kernels);
    free(m->depends);
    free(m->settings);
    cJSON_Delete(m->owner);
    manifest_init(m);
}

static int word_valid(const char *word, const char *more)
{
    size_t length = strspn(word, more);
    return length >= 1 && length < COLLET_MAX_NAME && !word[length];
}

int manifest_name_valid(const char *name)
{
    return word_valid(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

/* ---- Notes ------------------------------------------------------------------------------- */

static collet_status take_manifest(notes *n, const unsigned char *content, size_t bytes,
                                   refusal *why)
{
    if (n->json)
        return REFUSE("manifest-repeated", "the file has more than one manifest");
    while (bytes && !content[bytes - 1])
        bytes--;
    if (bytes > MANIFEST_MAX_BYTES)
        return REFUSE("manifest-too-large", "the manifest has %zu bytes; at most %d are allowed",
                      bytes, MANIFEST_MAX_BYTES);
    n->json = malloc(bytes + 1);
    if (!n->json)
        return REFUSE_NO_MEMORY("out of memory for a manifest");
    memcpy(n->json, content, bytes);
    n->json[bytes] = '\0';
    n->length = bytes;
    return COLLET_OK;
}

static collet_status take_sanitizer(notes *n, const unsigned char *content, size_t bytes,
                                    refusal *why)
{
    char word[sizeof n->sanitizer] = "";
    if (bytes < sizeof word)
        memcpy(word, content, bytes);
    if (strspn(word, "abcdefghijklmnopqrstuvwxyz") != strlen(word) || !word[0])
        return REFUSE("malformed-elf", "the sanitizer note is not a word");
    memcpy(n->sanitizer, word, sizeof word);
    return COLLET_OK;
}

static collet_status take_note(void *user, const char *owner, uint32_t type,
                               const unsigned char *content, size_t bytes, refusal *why)
{
    notes *n = user;
    if (!strcmp(owner, COLLET_NOTE_OWNER) && type == COLLET_NOTE_MANIFEST)
        return take_manifest(n, content, bytes, why);
    if (!strcmp(owner, COLLET_NOTE_OWNER) && type == COLLET_NOTE_SANITIZER)
        return take_sanitizer(n, content, bytes, why);
    if (!strcmp(owner, "GNU") && type == GNU_BUILD_ID && bytes <= MAX_BUILD_ID)
        for (size_t i = 0; i < bytes; i++)
            snprintf(n->build_id + 2 * i, 3, "%02x", content[i]);
    return COLLET_OK;
}

/* ---- Members ----------------------------------------------------------------------------- */

static collet_status bad_member(refusal *why, const char *member, const char *expected)
{
    return REFUSE("manifest-content", "the manifest's \"%s\" must be %s", member, expected);
}

static int text_valid(const char *text, size_t longest)
{
    size_t length = strlen(text), at = 0, bytes;
    while (at < length && (bytes = text_character(text + at, length - at)))
        at += bytes;
    return at == length && length <= longest;
}

/* 1 for a valid name of an op: "add" or "vendor.op". */
static int op_name_valid(const char *name)
{
    return word_valid(name, "abcdefghijklmnopqrstuvwxyz0123456789_.");
}

static int depend_valid(const char *name)
{
    return text_valid(name, 255) && name[0] && !strchr(name, '=');
}

/* Reads an array of distinct strings for which `valid` returns 1. The strings belong to the tree. */
static collet_status read_names(const cJSON *root, const char *member, size_t most,
                                int (*valid)(const char *), const char ***names, size_t *count,
                                refusal *why)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(root, member);
    if (!cJSON_IsArray(array))
        return bad_member(why, member, "a list of names");
    size_t length = (size_t)cJSON_GetArraySize(array);
    if (length > most)
        return REFUSE("manifest-content", "\"%s\" has %zu names; at most %zu are allowed", member,
                      length, most);
    *names = calloc(length + 1, sizeof **names);
    if (!*names)
        return REFUSE_NO_MEMORY("out of memory for the manifest's \"%s\"", member);
    for (const cJSON *item = array->child; item; item = item->next) {
        if (!cJSON_IsString(item) || !valid(item->valuestring))
            return bad_member(why, member, "a list of names");
        for (size_t i = 0; i < *count; i++)
            if (!strcmp((*names)[i], item->valuestring))
                return REFUSE("manifest-content", "\"%s\" has '%s' twice", member,
                              item->valuestring);
        (*names)[(*count)++] = item->valuestring;
    }
    return COLLET_OK;
}

/* ---- Settings ---------------------------------------------------------------------------- */

const setting *manifest_setting(const manifest *m, const char *key)
{
    for (size_t i = 0; i < m->setting_count; i++)
        if (!strcmp(m->settings[i].key, key))
            return &m->settings[i];
    return NULL;
}

static const char *text_or_empty(const cJSON *item, const char *member)
{
    const char *text = json_string(item, member);
    return text || cJSON_GetObjectItemCaseSensitive(item, member) ? text : "";
}

static int key_valid(const manifest *m, const char *key)
{
    size_t length = strlen(m->name);
    return !strncmp(key, m->name, length) && key[length] == '.' &&
           manifest_name_valid(key + length + 1);
}

/* The default must have the form in which plugins read values: "65536", not "64K". */
static collet_status check_default(const setting *s, refusal *why)
{
    collet_error wrong = {COLLET_OK, ""};
    char *value = NULL;
    collet_status status =
        *s->fallback ? setting_parse(s, s->fallback, "manifest", &value, &wrong) : COLLET_OK;
    if (status == COLLET_OK && value && strcmp(value, s->fallback) != 0)
        status = collet_fail(&wrong, COLLET_FORMAT,
                             "manifest: the default of %s must be written %s", s->key, value);
    free(value);
    if (status == COLLET_NO_MEMORY)
        return REFUSE_NO_MEMORY("%s", wrong.text);
    return status == COLLET_OK ? COLLET_OK : REFUSE("manifest-content", "%s", wrong.text);
}

static collet_status read_setting(manifest *m, const cJSON *item, refusal *why)
{
    setting s = {.key = json_string(item, "key"),
                 .environment = "",
                 .type = json_string(item, "type"),
                 .values = text_or_empty(item, "values"),
                 .fallback = text_or_empty(item, "default"),
                 .help = json_string(item, "help")};
    if (!s.key || !key_valid(m, s.key))
        return REFUSE("manifest-content", "a \"key\" of \"settings\" must be %s.word", m->name);
    if (manifest_setting(m, s.key))
        return REFUSE("manifest-content", "\"settings\" has '%s' twice", s.key);
    if (!s.values || !text_valid(s.values, 1024) || !s.fallback || !text_valid(s.fallback, 1024) ||
        !s.help || !s.help[0] || !text_valid(s.help, 1024))
        return REFUSE("manifest-content",
                      "\"values\", \"default\" and \"help\" of %s must be texts of at most 1024 "
                      "bytes",
                      s.key);
    if (!s.type || !setting_type_valid(&s))
        return REFUSE(
            "manifest-content",
            "the \"type\" of %s must be one of the types in plugin.h, with its \"values\"", s.key);
    m->settings[m->setting_count++] = s;
    return check_default(&s, why);
}

static collet_status read_settings(manifest *m, const cJSON *root, refusal *why)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(root, "settings"), *item;
    int count = cJSON_GetArraySize(array);
    if (!cJSON_IsArray(array) || count > MANIFEST_MAX_SETTINGS)
        return bad_member(why, "settings", "a list of at most 64 objects");
    m->settings = calloc((size_t)count + 1, sizeof *m->settings);
    if (!m->settings)
        return REFUSE_NO_MEMORY("out of memory for the manifest's settings");
    collet_status status = COLLET_OK;
    for (item = array->child; item && status == COLLET_OK; item = item->next)
        status = read_setting(m, item, why);
    return status;
}

/* ---- The whole --------------------------------------------------------------------------- */

static collet_status read_abi(manifest *m, const cJSON *root, refusal *why)
{
    const cJSON *abi = cJSON_GetObjectItemCaseSensitive(root, "abi");
    int64_t major, minor;
    if (!cJSON_IsArray(abi) || cJSON_GetArraySize(abi) != 2 ||
        !json_is_integer(cJSON_GetArrayItem(abi, 0), 0, 65535, &major) ||
        !json_is_integer(cJSON_GetArrayItem(abi, 1), 0, 65535, &minor))
        return bad_member(why, "abi", "[major, minor]");
    m->abi = (uint32_t)major << 16 | (uint32_t)minor;
    int newer = m->abi > COLLET_ABI;
    if (major == COLLET_ABI_MAJOR && !newer)
        return COLLET_OK;
    return refuse_with(why, COLLET_ABI_MISMATCH, newer ? "abi-too-new" : "abi-too-old",
                       "%s plugin interface %d.%d, but this libcore has %d.%d: %s",
                       newer ? "needs" : "built for", (int)major, (int)minor, COLLET_ABI_MAJOR,
                       COLLET_ABI_MINOR, newer ? "update libcore" : "rebuild the plugin");
}

static collet_status read_features(manifest *m, const cJSON *root, refusal *why)
{
    const cJSON *features = cJSON_GetObjectItemCaseSensitive(root, "features");
    if (!cJSON_IsObject(features) || !json_boolean(features, "jit", &m->jit) ||
        !json_boolean(features, "parallel", &m->parallel) ||
        !json_boolean(features, "gpu", &m->gpu))
        return bad_member(why, "features", "an object with booleans jit, parallel and gpu");
    return COLLET_OK;
}

/* Reads the members that only a backend has. */
static collet_status read_backend(manifest *m, const cJSON *root, refusal *why)
{
    int64_t priority;
    if (!json_integer(root, "priority", -1000000, 1000000, &priority))
        return bad_member(why, "priority", "an integer from -1000000 to 1000000");
    m->priority = (int32_t)priority;
    if (cJSON_GetObjectItemCaseSensitive(root, "named_devices") &&
        !json_boolean(root, "named_devices", &m->named_devices))
        return bad_member(why, "named_devices", "true or false");
    collet_status status = read_features(m, root, why);
    return status == COLLET_OK ? read_names(root, "kernels", MANIFEST_MAX_KERNELS, op_name_valid,
                                            &m->kernels, &m->kernel_count, why)
                               : status;
}

static collet_status read_members(manifest *m, const cJSON *root, refusal *why)
{
    if (!cJSON_IsObject(root))
        return REFUSE("manifest-content", "the manifest is not an object");
    const char *name = json_string(root, "name");
    if (!name || !manifest_name_valid(name) ||
        !strcmp(name, "auto")) /* reserved for the choice "auto" */
        return bad_member(why, "name", "1 to 63 of a-z, 0-9 and _, not auto");
    m->name = name;
    /* The version comes first: in another version the other members may have another meaning. */
    collet_status status = read_abi(m, root, why);
    if (status != COLLET_OK)
        return status;
    const char *version = json_string(root, "version");
    if (!version || !version[0] || !text_valid(version, COLLET_MAX_NAME - 1))
        return bad_member(why, "version", "a text of 1 to 63 bytes");
    m->version = version;
    const cJSON *description = cJSON_GetObjectItemCaseSensitive(root, "description");
    if (description &&
        (!cJSON_IsString(description) || !text_valid(description->valuestring, 1024)))
        return bad_member(why, "description", "a text of at most 1024 bytes");
    m->description = description ? description->valuestring : "";
    if (cJSON_GetObjectItemCaseSensitive(root, "layer") && !json_boolean(root, "layer", &m->layer))
        return bad_member(why, "layer", "true or false");
    if (!m->layer)
        status = read_backend(m, root, why);
    if (status == COLLET_OK && cJSON_GetObjectItemCaseSensitive(root, "depends"))
        status = read_names(root, "depends", MANIFEST_MAX_DEPENDS, depend_valid, &m->depends,
                            &m->depends_count, why);
    if (status == COLLET_OK && cJSON_GetObjectItemCaseSensitive(root, "settings"))
        status = read_settings(m, root, why);
    return status;
}

static collet_status check_sanitizer(const manifest *m, refusal *why)
{
    /* A plugin without a sanitizer runs in any program; a plugin with a sanitizer needs the sanitizer's runtime. */
    if (!strcmp(m->sanitizer, "none") || !strcmp(m->sanitizer, COLLET_SANITIZER))
        return COLLET_OK;
    return REFUSE("sanitizer-mismatch",
                  "built with the sanitizer %s, but libcore with %s: build both with the same one",
                  m->sanitizer, COLLET_SANITIZER);
}

static collet_status parse(manifest *m, const notes *n, refusal *why)
{
    static const char *const codes[] = {
        [JSON_SYNTAX] = "manifest-syntax",
        [JSON_TRAILING] = "manifest-trailing",
        [JSON_DUPLICATE_KEY] = "manifest-duplicate-key",
    };
    json_problem problem;
    collet_error wrong;
    cJSON *root = NULL;
    collet_status status = json_parse(n->json, n->length, &root, &problem, &wrong);
    if (status != COLLET_OK)
        return status == COLLET_NO_MEMORY ? REFUSE_NO_MEMORY("%s", wrong.text)
                                          : REFUSE(codes[problem], "%s", wrong.text);
    m->owner = root;
    memcpy(m->sanitizer, n->sanitizer, sizeof m->sanitizer);
    memcpy(m->build_id, n->build_id, sizeof m->build_id);
    status = read_members(m, root, why);
    return status == COLLET_OK ? check_sanitizer(m, why) : status;
}

collet_status manifest_read(int fd, manifest *m, refusal *why)
{
    notes n = {.sanitizer = "none"};
    manifest_init(m);
    why->code = "ok";
    collet_status status = elf_note_walk(fd, take_note, &n, why);
    if (status == COLLET_OK && !n.json)
        status = REFUSE("no-manifest", "a shared object without a manifest, so not a plugin");
    if (status == COLLET_OK)
        status = parse(m, &n, why);
    free(n.json);
    return status;
}
