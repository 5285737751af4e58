/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_launch.c, tests/opencl/test_opencl.c */
#include "source.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary_cache.h"
#include "shared/jit/texts.h"

uint32_t jit_source_texts(const jit_launch *l, const char *prelude, const char *texts[JIT_TEXTS],
                          const char ***made)
{
    const jit_source *source = l->source;
    uint32_t count = 0;
    *made = source->texts ? NULL : source->make(l->made_of);
    const char *const *more = source->texts ? source->texts : *made;
    if (!more)
        return 0;
    texts[count++] = prelude;
    texts[count++] = jit_text_runtime_view_params;
    texts[count++] = jit_text_language_common;
    for (uint32_t i = 0; more[i] && count < JIT_TEXTS; i++)
        texts[count++] = more[i];
    return count;
}

char *jit_source_key(const char *identity, const char *name, const char *options,
                     const char *const *texts, uint32_t count)
{
    uint64_t first = 1, second = 2;
    for (uint32_t i = 0; i < count; i++) {
        first = binary_hash(first, texts[i], strlen(texts[i]));
        second = binary_hash(second, texts[i], strlen(texts[i]));
    }
    size_t size = strlen(identity) + strlen(name) + strlen(options) + 64;
    char *key = malloc(size);
    if (key)
        snprintf(key, size, "%s\n%s\n%s\n%016llx%016llx", identity, name, options,
                 (unsigned long long)first, (unsigned long long)second);
    return key;
}

void jit_source_show(const char *directory, const jit_launch *l, const char *const *texts,
                     uint32_t count)
{
    char path[PATH_MAX];
    if (!directory || directory[0] != '/')
        return;
    unsigned long long hash = binary_hash(1, l->options, strlen(l->options));
    int length = snprintf(path, sizeof path, "%s/%s-%016llx.dev", directory, l->source->name, hash);
    int fits = length > 0 && (size_t)length < sizeof path;
    int fd = fits ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    (void)fprintf(file, "// %s\n", l->options);
    for (uint32_t i = 1; i < count; i++)
        (void)fputs(texts[i], file);
    (void)fclose(file);
}
