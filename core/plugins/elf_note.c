/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_loader.c, tests/fault/test_failing_calls.c */
#include "elf_note.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <collet/collet.h>

#define MAX_HEADERS 512
#define MAX_NOTES ((uint64_t)1 << 20) /* bytes in all segments, which may overlap */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OWN_MACHINE EM_S390
#else
#error "elf_note.c: unknown ELF machine number of this processor"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ENCODING ELFDATA2LSB
#else
#define OWN_ENCODING ELFDATA2MSB
#endif

#define MACHINE_TEXT 48
#define LOONGARCH 258 /* EM_LOONGARCH, which older headers lack */

static collet_status read_exactly(int fd, void *target, uint64_t offset, uint64_t bytes,
                                  refusal *why)
{
    ssize_t n = TEMP_FAILURE_RETRY(pread(fd, target, bytes, (off_t)offset));
    if (n < 0)
        return refuse_with(why, COLLET_IO, "unreadable", "cannot be read: %s", strerror(errno));
    return (uint64_t)n == bytes ? COLLET_OK
                                : REFUSE("truncated", "it became shorter while it was read");
}

static const char *machine_name(unsigned machine, char text[MACHINE_TEXT])
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_386, "x86"},       {EM_X86_64, "x86-64"},
                 {EM_ARM, "ARM"},       {EM_AARCH64, "AArch64 (ARM)"},
                 {EM_RISCV, "RISC-V"},  {EM_PPC, "PowerPC"},
                 {EM_PPC64, "PowerPC"}, {EM_S390, "S/390"},
                 {EM_MIPS, "MIPS"},     {EM_SPARCV9, "SPARC"},
                 {EM_IA_64, "Itanium"}, {LOONGARCH, "LoongArch"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    snprintf(text, MACHINE_TEXT, "the processor with ELF number %u", machine);
    return text;
}

/* Refuses another class or byte order. Up to e_machine the header has the same layout in all classes. */
static collet_status wrong_kind(const Elf64_Ehdr *h, uint64_t have, refusal *why)
{
    char name[MACHINE_TEXT], own[MACHINE_TEXT];
    int swapped = h->e_ident[EI_DATA] != OWN_ENCODING;
    int big = swapped == (OWN_ENCODING == ELFDATA2LSB);
    unsigned bits = h->e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    unsigned machine = swapped ? __builtin_bswap16(h->e_machine) : h->e_machine;
    if (h->e_ident[EI_CLASS] != ELFCLASS32 && h->e_ident[EI_CLASS] != ELFCLASS64)
        return REFUSE("wrong-class", "ELF class %u; this program is 64-bit", h->e_ident[EI_CLASS]);
    if (h->e_ident[EI_DATA] != ELFDATA2LSB && h->e_ident[EI_DATA] != ELFDATA2MSB)
        return REFUSE("wrong-class", "unknown byte order %u", h->e_ident[EI_DATA]);
    if (have < offsetof(Elf64_Ehdr, e_version))
        return REFUSE("truncated", "the ELF header is cut off after %llu bytes",
                      (unsigned long long)have);
    return REFUSE("wrong-class",
                  "built for %s, %u-bit, %s-endian; this program runs on %s, 64-bit, %s-endian",
                  machine_name(machine, name), bits, big ? "big" : "little",
                  machine_name(OWN_MACHINE, own), OWN_ENCODING == ELFDATA2LSB ? "little" : "big");
}

static collet_status check_header(const Elf64_Ehdr *h, uint64_t have, uint64_t size, refusal *why)
{
    char name[MACHINE_TEXT], own[MACHINE_TEXT];
    if (have < SELFMAG || memcmp(h->e_ident, ELFMAG, SELFMAG))
        return REFUSE("not-elf", "not an ELF file");
    if (have < EI_NIDENT)
        return REFUSE("truncated", "the ELF header is cut off after %llu bytes",
                      (unsigned long long)have);
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != OWN_ENCODING)
        return wrong_kind(h, have, why);
    if (have < sizeof *h)
        return REFUSE("truncated", "the ELF header is cut off after %llu bytes",
                      (unsigned long long)have);
    if (h->e_machine != OWN_MACHINE)
        return REFUSE("wrong-machine", "built for %s; this program runs on %s",
                      machine_name(h->e_machine, name), machine_name(OWN_MACHINE, own));
    if (h->e_type != ET_DYN)
        return REFUSE("not-shared-object", "ELF type %u, not a shared object", h->e_type);
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > MAX_HEADERS)
        return REFUSE("malformed-elf", "the header states %u program headers of %u bytes",
                      h->e_phnum, h->e_phentsize);
    if (h->e_phoff > size || (uint64_t)h->e_phnum * sizeof(Elf64_Phdr) > size - h->e_phoff)
        return REFUSE("truncated", "the file ends before its program headers");
    return COLLET_OK;
}

/* The file must contain every byte that the dynamic linker maps: reading a missing byte raises SIGBUS. */
static collet_status check_segments(const Elf64_Phdr *p, size_t count, uint64_t size, refusal *why)
{
    for (size_t i = 0; i < count; i++)
        if ((p[i].p_type == PT_LOAD || p[i].p_type == PT_NOTE || p[i].p_type == PT_DYNAMIC) &&
            (p[i].p_offset > size || p[i].p_filesz > size - p[i].p_offset))
            return REFUSE("truncated", "the file has %llu bytes, but segment %zu ends at byte %llu",
                          (unsigned long long)size, i,
                          (unsigned long long)(p[i].p_offset + p[i].p_filesz));
    return COLLET_OK;
}

static uint64_t align_up(uint64_t n, uint64_t alignment)
{
    return (n + alignment - 1) & ~(alignment - 1);
}

/* Owner and content are aligned like the segment: to 8 bytes if p_align is 8, else to 4. */
static collet_status walk_segment(const unsigned char *bytes, uint64_t size, uint64_t p_align,
                                  elf_note_fn visit, void *user, refusal *why)
{
    uint64_t alignment = p_align == 8 ? 8 : 4, at = 0;
    while (size - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, bytes + at, sizeof note);
        uint64_t content = align_up(sizeof note + (uint64_t)note.n_namesz, alignment);
        uint64_t end = content + note.n_descsz;
        if (end > size - at)
            return REFUSE("malformed-elf", "a note at byte %llu runs over the end of its segment",
                          (unsigned long long)at);
        const char *owner = (const char *)bytes + at + sizeof note;
        if (note.n_namesz && !owner[note.n_namesz - 1]) {
            collet_status status =
                visit(user, owner, note.n_type, bytes + at + content, note.n_descsz, why);
            if (status != COLLET_OK)
                return status;
        }
        uint64_t next = align_up(end, alignment);
        if (next > size - at)
            break;
        at += next;
    }
    return COLLET_OK;
}

static collet_status read_segment(int fd, const Elf64_Phdr *p, elf_note_fn visit, void *user,
                                  refusal *why)
{
    if (!p->p_filesz)
        return COLLET_OK;
    unsigned char *bytes = malloc(p->p_filesz);
    if (!bytes)
        return REFUSE_NO_MEMORY("out of memory for %llu bytes of notes",
                                (unsigned long long)p->p_filesz);
    collet_status status = read_exactly(fd, bytes, p->p_offset, p->p_filesz, why);
    if (status == COLLET_OK)
        status = walk_segment(bytes, p->p_filesz, p->p_align, visit, user, why);
    free(bytes);
    return status;
}

collet_status elf_note_walk(int fd, elf_note_fn visit, void *user, refusal *why)
{
    struct stat st;
    if (fstat(fd, &st))
        return refuse_with(why, COLLET_IO, "unreadable", "cannot be examined: %s", strerror(errno));
    if (st.st_size <= 0)
        return REFUSE("empty", "the file is empty");
    uint64_t size = (uint64_t)st.st_size;
    Elf64_Ehdr header;
    uint64_t have = size < sizeof header ? size : sizeof header;
    memset(&header, 0, sizeof header);
    collet_status status = read_exactly(fd, &header, 0, have, why);
    if (status == COLLET_OK)
        status = check_header(&header, have, size, why);
    if (status != COLLET_OK)
        return status;
    Elf64_Phdr *segments = calloc(header.e_phnum, sizeof *segments);
    if (!segments)
        return REFUSE_NO_MEMORY("out of memory for program headers");
    status = read_exactly(fd, segments, header.e_phoff, (uint64_t)header.e_phnum * sizeof *segments,
                          why);
    if (status == COLLET_OK)
        status = check_segments(segments, header.e_phnum, size, why);
    uint64_t left = MAX_NOTES;
    for (size_t i = 0; status == COLLET_OK && i < header.e_phnum; i++) {
        const Elf64_Phdr *p = &segments[i];
        if (p->p_type != PT_NOTE)
            continue;
        status = p->p_filesz <= left ? read_segment(fd, p, visit, user, why)
                                     : REFUSE("malformed-elf", "more than %llu bytes of notes",
                                              (unsigned long long)MAX_NOTES);
        left -= p->p_filesz;
    }
    free(segments);
    return status;
}

int elf_note_is_foreign(int fd, refusal *why)
{
    Elf64_Ehdr header;
    memset(&header, 0, sizeof header);
    ssize_t n = TEMP_FAILURE_RETRY(pread(fd, &header, sizeof header, 0));
    return n > 0 && check_header(&header, (uint64_t)n, UINT64_MAX, why) != COLLET_OK &&
           (!strcmp(why->code, "wrong-machine") || !strcmp(why->code, "wrong-class"));
}
