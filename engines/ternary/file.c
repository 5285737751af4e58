/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_files.c, tests/engines/test_ternary_safetensors.c */
#include "ternary/file.h"

#include "io/struct.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <collet/floating.h>

/* ---- Names ----------------------------------------------------------------------------------- */

static int exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

/* Splits "FILE:TENSOR", unless a file has the whole text as its name. The caller frees *path;
 * *tensor is the part after the colon, or NULL. */
static collet_status split(const char *name, char **path, const char **tensor, collet_error *err)
{
    *tensor = NULL;
    *path = strdup(name);
    if (!*path)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its name", name);
    if (exists(*path))
        return COLLET_OK;
    for (char *colon = strchr(*path, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        if (exists(*path)) {
            *tensor = name + (colon - *path) + 1;
            return COLLET_OK;
        }
        *colon = ':';
    }
    return COLLET_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Safetensors files have no magic number; the ending of the name leads to a better message if such a file is
 * damaged. */
static int is_safetensors(const char *path, const uint8_t *bytes, uint64_t size)
{
    static const char ending[] = ".safetensors";
    size_t length = strlen(path), n = sizeof ending - 1;

    return ternary_safetensors_recognise(bytes, size) ||
           (length > n && strcmp(path + length - n, ending) == 0);
}

static collet_status recognise(const char *path, uint32_t *kind, collet_error *err)
{
    io_mapping *mapping;

    collet_status status = io_mapping_open(path, &mapping, err);
    if (status != COLLET_OK)
        return status;
    const uint8_t *bytes = io_mapping_data(mapping);
    uint64_t size = io_mapping_size(mapping);
    if (ternary_t2_recognise(bytes, size))
        *kind = COLLET_TERNARY_FILE_T2;
    else if (ternary_gguf_recognise(bytes, size))
        *kind = COLLET_TERNARY_FILE_GGUF;
    else if (io_npy_recognise(bytes, size))
        *kind = COLLET_TERNARY_FILE_NPY;
    else if (is_safetensors(path, bytes, size))
        *kind = COLLET_TERNARY_FILE_SAFETENSORS;
    else
        status =
            collet_fail(err, COLLET_FORMAT, "%s: not a .t2, .npy, GGUF or safetensors file", path);
    io_mapping_close(mapping);
    return status;
}

static collet_status find_tensor(const collet_ternary_file *file, const char *name, int64_t *index,
                                 collet_error *err)
{
    const ternary_gguf_tensor *tensor;
    const ternary_safetensors_tensor *other;

    if (file->kind == COLLET_TERNARY_FILE_GGUF) {
        collet_status status = ternary_gguf_find(&file->gguf, name, &tensor, err);
        if (status == COLLET_OK)
            *index = tensor - file->gguf.tensors;
        return status;
    }
    collet_status status = ternary_safetensors_find(&file->safetensors, name, &other, err);
    if (status == COLLET_OK)
        *index = other - file->safetensors.tensors;
    return status;
}

static collet_status open_path(collet_ternary_file *file, const char *path, const char *tensor,
                               int64_t *index, collet_error *err)
{
    collet_status status = recognise(path, &file->kind, err);
    if (status != COLLET_OK)
        return status;
    if (tensor && !ternary_file_has_tensors(file))
        return collet_fail(err, COLLET_FORMAT,
                           "%s: not a GGUF or safetensors file, so it has no tensor '%s'; give "
                           "only the file's name",
                           path, tensor);
    if (file->kind == COLLET_TERNARY_FILE_T2) {
        status = ternary_t2_open(path, &file->t2, err);
        file->mapping = file->t2.mapping;
        file->count = file->t2.count;
    } else if (file->kind == COLLET_TERNARY_FILE_NPY) {
        status = io_npy_open(path, &file->npy, err);
        file->mapping = file->npy.mapping;
        file->count = 1;
    } else if (file->kind == COLLET_TERNARY_FILE_SAFETENSORS) {
        status = ternary_safetensors_open(path, &file->safetensors, err);
        file->mapping = file->safetensors.mapping;
        file->count = (int64_t)file->safetensors.count;
    } else {
        status = ternary_gguf_open(path, &file->gguf, err);
        file->mapping = file->gguf.mapping;
        file->count = (int64_t)file->gguf.count;
    }
    return status == COLLET_OK && tensor ? find_tensor(file, tensor, index, err) : status;
}

collet_status collet_ternary_file_open(collet_ternary_file **out, int64_t *index, const char *name,
                                       collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    const char *tensor;
    int64_t named = -1;
    char *path;

    if (!out || !name)
        return collet_fail(err, COLLET_INVALID, "ternary file: an argument is NULL");
    collet_status status = split(name, &path, &tensor, err);
    if (status != COLLET_OK)
        return status;
    collet_ternary_file *file = calloc(1, sizeof *file);
    if (file)
        status = open_path(file, path, tensor, &named, err);
    else
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to open it", path);
    free(path);
    if (status != COLLET_OK) {
        collet_ternary_file_destroy(file);
        return status;
    }
    *out = file;
    if (index)
        *index = named;
    return COLLET_OK;
}

void collet_ternary_file_destroy(collet_ternary_file *file)
{
    if (!file)
        return;
    ternary_t2_close(&file->t2);
    ternary_gguf_close(&file->gguf);
    ternary_safetensors_close(&file->safetensors);
    io_npy_close(&file->npy);
    free(file);
}

/* ---- Contents -------------------------------------------------------------------------------- */

const char *ternary_file_path(const collet_ternary_file *file)
{
    return io_mapping_path(file->mapping);
}

collet_status ternary_file_check_index(const collet_ternary_file *file, int64_t index,
                                       collet_error *err)
{
    if (index >= 0 && index < file->count)
        return COLLET_OK;
    return collet_fail(err, COLLET_NOT_FOUND,
                       "%s: there is no %s %lld; the file has %lld, counted from 0",
                       ternary_file_path(file), ternary_file_has_tensors(file) ? "tensor" : "layer",
                       (long long)index, (long long)file->count);
}

void collet_ternary_file_get_info(const collet_ternary_file *file, collet_ternary_file_info *info)
{
    const collet_ternary_file_info all = {.kind = file->kind,
                                          .version = file->gguf.version,
                                          .count = file->count,
                                          .bytes = io_mapping_size(file->mapping),
                                          .path = ternary_file_path(file),
                                          .part = file->gguf.part,
                                          .parts = file->gguf.parts};

    io_struct_out(info, &all, sizeof all);
}
