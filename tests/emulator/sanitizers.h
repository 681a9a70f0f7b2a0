/* SPDX-License-Identifier: MIT
 *
 * Which sanitizers this is compiled with: GCC has macros, Clang has features.
 */
#ifndef EMU_SANITIZERS_H
#define EMU_SANITIZERS_H

#ifdef __has_feature
#define EMU_FEATURE(name) __has_feature(name)
#else
#define EMU_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || EMU_FEATURE(thread_sanitizer)
#define EMU_THREADS 1
#else
#define EMU_THREADS 0
#endif

#if defined(__SANITIZE_ADDRESS__) || EMU_FEATURE(address_sanitizer)
#define ADDRESS_SANITIZED 1
#else
#define ADDRESS_SANITIZED 0
#endif

#if EMU_THREADS
#define EMU_NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#else
#define EMU_NO_THREAD_SANITIZER
#endif

#define SANITIZED (EMU_THREADS || ADDRESS_SANITIZED)

#endif
