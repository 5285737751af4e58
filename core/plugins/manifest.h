/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest - the description of a plugin, read from its file before any of its code runs.
 *
 * The manifest is JSON in an ELF note (plugin.h describes it). The file is read with pread through
 * a descriptor and not trusted: every offset and size is checked against the file's size, and
 * nothing larger than MANIFEST_MAX_BYTES is kept.
 */
#pragma once

#include <collet/types.h>

#include "record.h"
#include "util/setting.h"

#define MANIFEST_MAX_BYTES 65536  /* bytes of JSON */
#define MANIFEST_MAX_KERNELS 4096 /* names in "kernels" */
#define MANIFEST_MAX_DEPENDS 64   /* names in "depends" */
#define MANIFEST_MAX_SETTINGS 64

/* Strings are never NULL: "" when unknown. The strings belong to the manifest and live until manifest_clear. */
typedef struct manifest {
    const char *name; /* [a-z0-9_]{1,63} */
    const char *version;
    const char *description;
    uint32_t abi;  /* major << 16 | minor; 0 when unknown */
    int32_t layer; /* 1: a layer, which has none of the next seven members */
    int32_t priority;
    int32_t jit, parallel, gpu; /* 0 or 1 */
    int32_t named_devices;      /* 1: device_open takes names */
    const char **kernels;       /* distinct names of ops */
    size_t kernel_count;
    const char **depends; /* names that the capabilities depend on: see plugin.h */
    size_t depends_count;
    setting *settings; /* settings that the plugin reads: see plugin.h; `environment` is "" */
    size_t setting_count;
    char sanitizer[16]; /* "none", "address", ... */
    char build_id[129]; /* hexadecimal GNU build-id */
    void *owner;        /* private: the JSON tree with the strings */
} manifest;

void manifest_init(manifest *m);
/* Frees what *m owns and leaves it empty. */
void manifest_clear(manifest *m);

/*
 * Reads and verifies the manifest of the ELF file open at `fd`, without changing its offset. *m
 * needs no initialisation. The caller clears *m after a failure, too: *m then has the members that could be read,
 * such as the name. The text of *why does not name the file. IO, FORMAT, ABI, NO_MEMORY. Any thread.
 */
collet_status manifest_read(int fd, manifest *m, refusal *why);

/* The declaration of the key ("backend.word"), or NULL. */
const setting *manifest_setting(const manifest *m, const char *key);

/* 1 if `name` is a valid backend name: 1 to 63 characters of a-z, 0-9 and _. */
int manifest_name_valid(const char *name);
