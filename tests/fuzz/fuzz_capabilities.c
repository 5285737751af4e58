/* SPDX-License-Identifier: Apache-2.0 */
/* Any text that a plugin returns as its capabilities (it may contain a driver's text) is refused
 * with a code and a message, or corrected to JSON that is valid when it is read from the cache. */
#include "plugins/capabilities.h"

#include <stdlib.h>
#include <string.h>

#include <collet/plugin.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input;
static size_t input_size;

static collet_status answer(const collet_plugin *self, char *json, uint64_t capacity,
                            uint64_t *needed, const collet_host *host, collet_error *err)
{
    *needed = input_size + 1;
    if (*needed <= capacity) {
        memcpy(json, input, input_size);
        json[input_size] = '\0';
    }
    return COLLET_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const collet_plugin plugin = {.capabilities = answer};
    refusal why = {.text = ""};
    char *json = NULL;
    int32_t devices = -1;

    input = data;
    input_size = size;
    if (capabilities_get(&plugin, NULL, &json, &why) != COLLET_OK) {
        if (json || !why.code || !why.text[0])
            abort();
    } else if (capabilities_verify(json, &devices, NULL, NULL) != COLLET_OK || devices < 0) {
        abort();
    }
    free(json);
    return 0;
}
