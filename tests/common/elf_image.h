/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image - a minimal shared object with notes, built in memory for tests of the manifest.
 */
#ifndef TESTS_COMMON_ELF_IMAGE_H
#define TESTS_COMMON_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ELF_IMAGE_MAX ((size_t)256 * 1024)

/* An ELF header, two program headers (PT_LOAD over everything, PT_NOTE), then notes. */
typedef struct elf_image {
    size_t size;
    size_t alignment; /* alignment of the notes in bytes: 4 or 8 */
    unsigned char bytes[ELF_IMAGE_MAX];
} elf_image;

#if defined(__x86_64__)
#define ELF_IMAGE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_IMAGE_MACHINE EM_AARCH64
#elif defined(__riscv)
#define ELF_IMAGE_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define ELF_IMAGE_MACHINE EM_PPC64
#else
#define ELF_IMAGE_MACHINE EM_S390
#endif

/* The headers, writable in place; `bytes` is aligned for them. */
static inline Elf64_Ehdr *elf_image_header(elf_image *image)
{
    return (Elf64_Ehdr *)(void *)image->bytes;
}

static inline Elf64_Phdr *elf_image_segment(elf_image *image, size_t index)
{
    return (Elf64_Phdr *)(void *)(image->bytes + sizeof(Elf64_Ehdr)) + index;
}

static inline void elf_image_start(elf_image *image, size_t alignment)
{
    image->alignment = alignment;
    image->size = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
    image->size = (image->size + 7) / 8 * 8;
    memset(image->bytes, 0, image->size);
    Elf64_Ehdr *header = elf_image_header(image);
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_DYN;
    header->e_machine = ELF_IMAGE_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_phoff = sizeof(Elf64_Ehdr);
    header->e_ehsize = sizeof(Elf64_Ehdr);
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 2;
    *elf_image_segment(image, 0) = (Elf64_Phdr){.p_type = PT_LOAD, .p_align = 4096};
    *elf_image_segment(image, 1) =
        (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = image->size, .p_align = alignment};
}

static inline void elf_image_pad(elf_image *image)
{
    size_t start = elf_image_segment(image, 1)->p_offset;
    while ((image->size - start) % image->alignment)
        image->bytes[image->size++] = 0;
}

/* Appends a note and updates the segments' sizes. */
static inline void elf_image_note(elf_image *image, const char *owner, uint32_t type,
                                  const void *content, size_t count)
{
    elf_image_pad(image);
    Elf64_Nhdr note = {(Elf64_Word)strlen(owner) + 1, (Elf64_Word)count, type};
    memcpy(image->bytes + image->size, &note, sizeof note);
    image->size += sizeof note;
    memcpy(image->bytes + image->size, owner, note.n_namesz);
    image->size += note.n_namesz;
    elf_image_pad(image);
    memcpy(image->bytes + image->size, content, count);
    image->size += count;
    elf_image_segment(image, 1)->p_filesz = image->size - elf_image_segment(image, 1)->p_offset;
    elf_image_segment(image, 0)->p_filesz = image->size;
}

#endif
