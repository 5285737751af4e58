/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a plugin's file or, if it does not start with the ELF magic, the manifest of a valid
 * plugin's file. Any input is refused with a code and a message, or read as manifest.h specifies.
 */
#include "fuzz_file.h"

#include "plugins/manifest.h"

#include <stdlib.h>
#include <string.h>

#include <collet/plugin.h>

#include "common/elf_image.h"

static void check(const manifest *m, collet_status status, const char *code, const char *text)
{
    if (status != COLLET_OK && (!strcmp(code, "ok") || !text[0]))
        abort();
    if (status != COLLET_OK)
        return;
    if (strcmp(code, "ok") != 0 || !manifest_name_valid(m->name) || !m->version[0] ||
        m->abi >> 16 != COLLET_ABI_MAJOR || m->abi > COLLET_ABI || m->kernel_count > MANIFEST_MAX_KERNELS)
        abort();
    for (size_t i = 0; i < m->kernel_count; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(m->kernels[i], m->kernels[k]))
                abort();
}

static void read_file(const void *bytes, size_t size)
{
    manifest m;
    refusal why = {.text = ""};

    fuzz_file_begin(bytes, size, NULL);
    collet_status status = manifest_read(FUZZ_DESCRIPTOR, &m, &why);
    check(&m, status, why.code, why.text);
    manifest_clear(&m);
    fuzz_file_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static elf_image image;
    read_file(data, size);
    if (size >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG))
        return 0;
    if (size > ELF_IMAGE_MAX - 4096)
        return 0;
    elf_image_start(&image, 4);
    elf_image_note(&image, COLLET_NOTE_OWNER, COLLET_NOTE_MANIFEST, data, size);
    read_file(image.bytes, image.size);
    return 0;
}
