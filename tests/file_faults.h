/* SPDX-License-Identifier: MIT
 *
 * A shim between the library and the file system, put in at link time (--wrap): lets the n-th call
 * of a function fail, write less than it was given, or end the process with SIGKILL.
 */
#ifndef MXQ_TESTS_FILE_FAULTS_H
#define MXQ_TESTS_FILE_FAULTS_H

/* The functions that are wrapped; the numbers are those of file_faults_calls. */
#define FILE_FAULTS_TABLE(ROW) \
  ROW(open)                    \
  ROW(openat)                  \
  ROW(read)                    \
  ROW(write)                   \
  ROW(fsync)                   \
  ROW(close)                   \
  ROW(rename)                  \
  ROW(renameat)                \
  ROW(link)                    \
  ROW(unlink)                  \
  ROW(unlinkat)                \
  ROW(flock)                   \
  ROW(mkdir)                   \
  ROW(fstat)                   \
  ROW(fstatat)                 \
  ROW(futimens)

enum file_function {
#define FILE_FAULTS_ENUMERATOR(name) FILE_##name,
  FILE_FAULTS_TABLE(FILE_FAULTS_ENUMERATOR)
#undef FILE_FAULTS_ENUMERATOR
      FILE_FUNCTIONS,
  FILE_ANY = -1
};

enum file_effect {
  FILE_NONE,
  FILE_FAILS,       /* with `error` */
  FILE_FAILS_AFTER, /* does it, and says that it failed: a reply that a network lost */
  FILE_SHORT,       /* write and read: one byte; others: nothing happens */
  FILE_KILL,        /* before the call */
  FILE_KILL_AFTER
};

struct file_fault {
  int function;              /* or FILE_ANY */
  unsigned long first, last; /* calls that have the effect, from 1 */
  enum file_effect effect;
  int error;
};

/* Counts anew, for the thread's process; NULL: nothing goes wrong. */
void file_faults_set(const struct file_fault *fault);
/* Calls since then, of FILE_ANY all. */
unsigned long file_faults_calls(int function);
const char *file_faults_name(int function);

#endif
