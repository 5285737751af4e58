/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_probe.c */
#include "capabilities.h"

#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>

#include "util/json.h"
#include "util/numerals.h"
#include "util/text.h"

#define FIRST_TRY 8192

#define MALFORMED(...) collet_fail(err, COLLET_FORMAT, "capabilities: " __VA_ARGS__)
#define INVALID(...) REFUSE("capabilities-invalid", "capabilities: " __VA_ARGS__)

static collet_status check_members(const cJSON *root, int32_t *device_count, int32_t *lasting,
                                   collet_error *err)
{
    int32_t flag, lasts = 0;
    int64_t count;
    if (!cJSON_IsObject(root))
        return MALFORMED("not an object");
    if (!json_boolean(root, "jit", &flag) || !json_boolean(root, "parallel", &flag) ||
        !json_boolean(root, "gpu", &flag))
        return MALFORMED("jit, parallel and gpu must be booleans");
    if (!json_integer(root, "device_count", 0, CAPABILITIES_MAX_DEVICES, &count))
        return MALFORMED("device_count must be an integer from 0 to %d", CAPABILITIES_MAX_DEVICES);
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    if ((devices || count) &&
        (!cJSON_IsArray(devices) || cJSON_GetArraySize(devices) != (int)count))
        return MALFORMED("devices must be a list of device_count (%d) objects", (int)count);
    const cJSON *device;
    cJSON_ArrayForEach(
        device,
        devices) if (!cJSON_IsObject(device) ||
                     !json_string(device, "name")) return MALFORMED("every device must be an "
                                                                    "object with a \"name\"");
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");
    if (choices && !cJSON_IsObject(choices))
        return MALFORMED("choices must be an object");
    const cJSON *choice;
    cJSON_ArrayForEach(choice, choices) if (!cJSON_IsString(choice)) return MALFORMED(
        "every choice must be a string");
    if (cJSON_GetObjectItemCaseSensitive(root, "lasting") && !json_boolean(root, "lasting", &lasts))
        return MALFORMED("lasting must be a boolean");
    if (device_count)
        *device_count = (int32_t)count;
    if (lasting)
        *lasting = lasts || count > 0;
    return COLLET_OK;
}

collet_status capabilities_verify(const char *json, int32_t *device_count, int32_t *lasting,
                                  collet_error *err)
{
    collet_error wrong;
    cJSON *root = NULL;
    size_t length = strlen(json);
    if (length > CAPABILITIES_MAX_BYTES)
        return MALFORMED("the text has %zu bytes; at most %d are allowed", length,
                         CAPABILITIES_MAX_BYTES);
    collet_status status = json_parse(json, length, &root, NULL, &wrong);
    if (status != COLLET_OK)
        return status == COLLET_NO_MEMORY ? collet_fail(err, status, "%s", wrong.text)
                                          : MALFORMED("%s", wrong.text);
    status = check_members(root, device_count, lasting, err);
    cJSON_Delete(root);
    return status;
}

/* Calls the slot once with a buffer of *capacity bytes; sets *capacity to the bytes needed. */
static collet_status call_slot(const collet_plugin *plugin, const collet_host *host, char *json,
                               uint64_t *capacity, refusal *why)
{
    collet_error failed = {.status = COLLET_OK, .text = ""};
    uint64_t needed = 0;
    json[0] = '\0';
    locale_t before = numerals_begin();
    collet_status status = plugin->capabilities(plugin, json, *capacity, &needed, host, &failed);
    numerals_end(before);
    failed.text[sizeof failed.text - 1] = '\0';
    if (status != COLLET_OK)
        return refuse_with(
            why, COLLET_UNAVAILABLE, "capabilities-failed", "capabilities failed: %s (%s)",
            failed.text[0] ? failed.text : "no reason given", collet_status_name(status));
    if (needed == 0 || needed > CAPABILITIES_MAX_BYTES)
        return INVALID("%llu bytes needed; 1 to %d are allowed", (unsigned long long)needed,
                       CAPABILITIES_MAX_BYTES);
    if (needed <= *capacity && !memchr(json, '\0', needed))
        return INVALID("the text has no NUL within its %llu bytes", (unsigned long long)needed);
    *capacity = needed;
    return COLLET_OK;
}

/* The character of an escape sequence "\\uNNNN"; 0: another escape sequence. */
static unsigned long escaped(const char *text)
{
    char digits[5] = "";
    if (strncmp(text, "\\u", 2) || strspn(text + 2, "0123456789abcdefABCDEF") < 4)
        return 0;
    memcpy(digits, text + 2, 4);
    return strtoul(digits, NULL, 16);
}

/* A driver's description of its device may contain any bytes: invalid UTF-8 becomes '?'; control
 * and invisible characters, which JSON may escape, become '?' or blanks. */
static void replace_invalid(char *text)
{
    size_t length = strlen(text);
    int in_string = 0;
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bytes = text_character(text + at, length - at);
        if (!bytes && text[at] & 0x80)
            text[at] = '?';
        bytes += !bytes;
        in_string ^= text[at] == '"';
        if (!in_string || text[at] != '\\')
            continue;
        bytes++;
        unsigned long code = escaped(text + at);
        if (text[at + 1] && strchr("bfnrt", text[at + 1]))
            memset(text + at, ' ', 2);
        else if (code &&
                 (code < ' ' || (code >= 0x7f && code < 0xa0) || text_hidden((uint32_t)code)))
            memcpy(text + at, "\\u003f", 6);
    }
}

collet_status capabilities_get(const collet_plugin *plugin, const collet_host *host, char **json,
                               refusal *why)
{
    uint64_t capacity = FIRST_TRY, needed = FIRST_TRY;
    char *text = NULL;
    collet_status status = COLLET_OK;
    collet_error wrong;
    /* The text may grow between two calls, for instance when a device appears: up to three
     * tries. */
    for (int attempt = 0; attempt < 3; attempt++) {
        capacity = needed;
        free(text);
        text = malloc(capacity);
        if (!text)
            return REFUSE_NO_MEMORY("out of memory for capabilities");
        status = call_slot(plugin, host, text, &needed, why);
        if (status != COLLET_OK || needed <= capacity)
            break;
    }
    if (status == COLLET_OK && needed > capacity)
        status = INVALID("the text needs more bytes at each call");
    if (status == COLLET_OK)
        replace_invalid(text);
    if (status == COLLET_OK &&
        (status = capabilities_verify(text, NULL, NULL, &wrong)) != COLLET_OK)
        status = status == COLLET_NO_MEMORY ? REFUSE_NO_MEMORY("%s", wrong.text)
                                            : REFUSE("capabilities-invalid", "%s", wrong.text);
    if (status != COLLET_OK) {
        free(text);
        return status;
    }
    *json = text;
    return COLLET_OK;
}
