/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_statics.c, tests/cpu_openmp/test_exit.c,
 * tests/opencl/test_opencl_end.c */
#include "statics.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The tables that a loaded library's dynamic section points to, and the pages that are read-only
 * once the library has been relocated. */
typedef struct image {
    uintptr_t base, protected_from, protected_to;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2];
    size_t count[2], relative; /* the first `relative` relocations of relocations[0] have no symbol */
} image;

/* Replaces __cxa_atexit. */
static int forget(void (*destroy)(void *), void *object, void *library)
{
    (void)destroy, (void)object, (void)library;
    return 0;
}

static int find_protected(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    image *m = argument;
    if (info->dlpi_addr != m->base)
        return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_GNU_RELRO)
            continue;
        m->protected_from = (m->base + segment->p_vaddr) & -page;
        m->protected_to = (m->base + segment->p_vaddr + segment->p_memsz) & -page;
    }
    return 1;
}

/* Some C libraries relocate the addresses in a dynamic section, others do not. */
static const void *address(const image *m, const ElfW(Dyn) * entry)
{
    uintptr_t at = entry->d_un.d_ptr;
    return (const void *)(at < m->base ? m->base + at : at);
}

static image image_of(const struct link_map *library)
{
    image m = {.base = library->l_addr};
    for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            m.symbols = address(&m, entry);
        else if (entry->d_tag == DT_STRTAB)
            m.names = address(&m, entry);
        else if (entry->d_tag == DT_RELA)
            m.relocations[0] = address(&m, entry);
        else if (entry->d_tag == DT_RELASZ)
            m.count[0] = entry->d_un.d_val / sizeof *m.relocations[0];
        else if (entry->d_tag == DT_RELACOUNT)
            m.relative = entry->d_un.d_val;
        else if (entry->d_tag == DT_JMPREL)
            m.relocations[1] = address(&m, entry);
        else if (entry->d_tag == DT_PLTRELSZ)
            m.count[1] = entry->d_un.d_val / sizeof *m.relocations[1];
    }
    (void)dl_iterate_phdr(find_protected, &m);
    return m;
}

/* The caller has `lock`: another thread would make the page read-only again between the two calls of mprotect. */
static int replace(const image *m, uintptr_t slot)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)(slot & -(uintptr_t)bytes);
    int protected = slot >= m->protected_from && slot < m->protected_to;
    if (*(uintptr_t *)slot == (uintptr_t)forget)
        return 1;
    if (protected && mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0)
        return 0;
    __atomic_store_n((uintptr_t *)slot, (uintptr_t)forget, __ATOMIC_RELEASE);
    return !protected || mprotect(page, bytes, PROT_READ) == 0;
}

static int replace_all(const image *m)
{
    for (int list = 0; list < 2; list++) {
        for (size_t i = list ? 0 : m->relative; i < m->count[list]; i++) {
            const ElfW(Rela) *r = &m->relocations[list][i];
            const char *name = m->names + m->symbols[ELF64_R_SYM(r->r_info)].st_name;
            if (!strcmp(name, "__cxa_atexit") && !replace(m, m->base + r->r_offset))
                return 0;
        }
    }
    return 1;
}

int statics_keep(void *handle)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct link_map *library;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0)
        return 0;
    image m = image_of(library);
    pthread_mutex_lock(&lock);
    int kept = replace_all(&m);
    pthread_mutex_unlock(&lock);
    return kept;
}

static int wanted(const char *name, const char *const *prefixes)
{
    while (*prefixes && strncmp(name, *prefixes, strlen(*prefixes)) != 0)
        prefixes++;
    return *prefixes != NULL;
}

int statics_keep_needed(void *address, const char *const *prefixes)
{
    Dl_info info;
    struct link_map *library = NULL;
    void *handle = dladdr(address, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &library) || !statics_keep(handle))
        return 0;
    int kept = 1;
    image m = image_of(library);
    for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++) {
        const char *name = m.names + entry->d_un.d_val;
        if (entry->d_tag != DT_NEEDED || !wanted(name, prefixes))
            continue;
        void *needed = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        kept &= needed && statics_keep(needed);
    }
    return kept;
}
