/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.h - ADDRESS_SANITIZER, THREAD_SANITIZER: 1 in a program that is compiled for it by GCC
 * or clang, else 0. */
#ifndef TESTS_COMMON_SANITIZER_H
#define TESTS_COMMON_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

#endif
