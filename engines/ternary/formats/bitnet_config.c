/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_safetensors.c */
#include "bitnet_config.h"

#include "io/json/json.h"
#include "io/mapping.h"

#include <stdlib.h>
#include <string.h>

#define NAME "config.json"
#define BYTES_MOST ((uint64_t)1 << 24)
#define NEEDED                                                                                     \
    "quantization_config.linear_class says whether layers divide by weight_scale (bitlinear) or "  \
    "multiply (autobitlinear)"

static void set_fault(ternary_bitnet_config *out, collet_status status, const char *why)
{
    out->fault = why;
    out->fault_status = status;
}

static void read_class(const cJSON *root, ternary_bitnet_config *out)
{
    const cJSON *quantization = cJSON_GetObjectItemCaseSensitive(root, "quantization_config");
    const cJSON *method = cJSON_GetObjectItemCaseSensitive(quantization, "quant_method");
    const cJSON *class = cJSON_GetObjectItemCaseSensitive(quantization, "linear_class");

    if (!cJSON_IsObject(quantization))
        set_fault(
            out, COLLET_FORMAT,
            "config.json beside the file has no quantization_config, but the weights are packed: "
            "use the "
            "config.json of this model; " NEEDED);
    else if (method && (!cJSON_IsString(method) || strcmp(method->valuestring, "bitnet") != 0))
        set_fault(out, COLLET_UNSUPPORTED,
                  "quantization_config.quant_method in config.json is not bitnet; packed weights "
                  "of other methods are not read");
    else if (!method && !class)
        set_fault(out, COLLET_FORMAT,
                  "quantization_config in config.json has neither quant_method nor "
                  "linear_class; " NEEDED);
    else if (!class || (cJSON_IsString(class) && strcmp(class->valuestring, "bitlinear") == 0))
        out->divides = 1;
    else if (!cJSON_IsString(class) || strcmp(class->valuestring, "autobitlinear") != 0)
        set_fault(out, COLLET_UNSUPPORTED,
                  "quantization_config.linear_class in config.json is neither bitlinear nor "
                  "autobitlinear, so it is not known what weight_scale "
                  "means");
}

static collet_status read_file(const char *name, ternary_bitnet_config *out, collet_error *err)
{
    io_mapping *mapping;
    cJSON *root = NULL;

    collet_status status = io_mapping_open(name, &mapping, err);
    if (status == COLLET_NO_MEMORY)
        return status;
    if (status != COLLET_OK) {
        set_fault(
            out, status,
            "config.json of the model is not beside the file, or cannot be read: copy it into the "
            "file's folder; " NEEDED);
        return COLLET_OK;
    }
    if (io_mapping_size(mapping) > BYTES_MOST ||
        io_json_parse(name, (const char *)io_mapping_data(mapping),
                      (size_t)io_mapping_size(mapping), &root, err) != COLLET_OK)
        set_fault(out, COLLET_FORMAT,
                  "config.json beside the file is not JSON, repeats a key or has more than 16 MiB; "
                  "use the "
                  "config.json of this model");
    else
        read_class(root, out);
    cJSON_Delete(root);
    io_mapping_close(mapping);
    return COLLET_OK;
}

collet_status ternary_bitnet_config_read(const char *path, ternary_bitnet_config *out,
                                         collet_error *err)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(folder + sizeof NAME);

    *out = (ternary_bitnet_config){0};
    if (!name)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the name of its " NAME, path);
    memcpy(name, path, folder);
    memcpy(name + folder, NAME, sizeof NAME);
    collet_status status = read_file(name, out, err);
    free(name);
    return status;
}
