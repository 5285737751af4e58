/* SPDX-License-Identifier: Apache-2.0 */
#include "capabilities.h"

#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>

#include "util/json.h"

#define FIRST_TRY 8192

#define REFUSE(...) collet_fail(err, COLLET_FORMAT, "capabilities: " __VA_ARGS__)

static collet_status check_members(const cJSON *root, int32_t *device_count, collet_error *err)
{
    int32_t flag;
    int64_t count;
    if (!cJSON_IsObject(root))
        return REFUSE("not an object");
    if (!json_boolean(root, "jit", &flag) || !json_boolean(root, "parallel", &flag) ||
        !json_boolean(root, "gpu", &flag))
        return REFUSE("jit, parallel and gpu must be booleans");
    if (!json_integer(root, "device_count", 0, CAPABILITIES_MAX_DEVICES, &count))
        return REFUSE("device_count must be an integer from 0 to %d", CAPABILITIES_MAX_DEVICES);
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    if (!cJSON_IsArray(devices) || cJSON_GetArraySize(devices) != (int)count)
        return REFUSE("devices must be a list of device_count (%d) objects", (int)count);
    for (const cJSON *device = devices->child; device; device = device->next)
        if (!cJSON_IsObject(device) || !json_string(device, "name"))
            return REFUSE("every device must be an object with a \"name\"");
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");
    if (choices && !cJSON_IsObject(choices))
        return REFUSE("choices must be an object");
    for (const cJSON *choice = choices ? choices->child : NULL; choice; choice = choice->next)
        if (!cJSON_IsString(choice))
            return REFUSE("choices must hold strings alone");
    if (device_count)
        *device_count = (int32_t)count;
    return COLLET_OK;
}

collet_status capabilities_verify(const char *json, int32_t *device_count, collet_error *err)
{
    collet_error why;
    cJSON *root = NULL;
    size_t length = strlen(json);
    if (length > CAPABILITIES_MAX_BYTES)
        return REFUSE("%zu bytes, %d are allowed", length, CAPABILITIES_MAX_BYTES);
    collet_status status = json_parse(json, length, &root, NULL, &why);
    if (status != COLLET_OK)
        return REFUSE("%s", why.text);
    status = check_members(root, device_count, err);
    cJSON_Delete(root);
    return status;
}

/* One call of the slot with a buffer of *capacity bytes; *capacity becomes the bytes needed. */
static collet_status ask_once(const collet_plugin *plugin, const collet_host *host, char *json,
                              uint64_t *capacity, const char **code, collet_error *err)
{
    collet_error why = {.status = COLLET_OK, .text = ""};
    uint64_t needed = 0;
    json[0] = '\0';
    collet_status status = plugin->capabilities(host, json, *capacity, &needed, &why);
    why.text[sizeof why.text - 1] = '\0';
    if (status != COLLET_OK) {
        *code = "capabilities-failed";
        return collet_fail(err, COLLET_UNAVAILABLE, "capabilities failed: %s (%s)",
                           why.text[0] ? why.text : "no reason given", collet_status_name(status));
    }
    *code = "capabilities-invalid";
    if (needed == 0 || needed > CAPABILITIES_MAX_BYTES)
        return REFUSE("%llu bytes wanted; 1 to %d are allowed", (unsigned long long)needed,
                      CAPABILITIES_MAX_BYTES);
    if (needed <= *capacity && !memchr(json, '\0', needed))
        return REFUSE("the text has no end within the %llu bytes wanted",
                      (unsigned long long)needed);
    *capacity = needed;
    return COLLET_OK;
}

collet_status capabilities_ask(const collet_plugin *plugin, const collet_host *host, char **json,
                               const char **code, collet_error *err)
{
    uint64_t capacity = FIRST_TRY, needed = FIRST_TRY;
    char *text = NULL;
    collet_status status = COLLET_OK;
    /* The text may grow between two calls (a device appears): three tries, then it is refused. */
    for (int attempt = 0; attempt < 3; attempt++) {
        capacity = needed;
        free(text);
        text = malloc(capacity);
        if (!text) {
            *code = "no-memory";
            return collet_fail(err, COLLET_NO_MEMORY, "out of memory for capabilities");
        }
        status = ask_once(plugin, host, text, &needed, code, err);
        if (status != COLLET_OK || needed <= capacity)
            break;
    }
    if (status == COLLET_OK && needed > capacity)
        status = REFUSE("the text wants more bytes each time");
    if (status == COLLET_OK)
        status = capabilities_verify(text, NULL, err);
    if (status != COLLET_OK) {
        free(text);
        return status;
    }
    *code = "ok";
    *json = text;
    return COLLET_OK;
}
