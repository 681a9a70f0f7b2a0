/* SPDX-License-Identifier: MIT */
#include "ledger.h"

#include <stdlib.h>

struct block {
  size_t size;
  _Alignas(max_align_t) char data[];
};

static int refuses(struct ledger *ledger) {
  ++ledger->calls;
  if (!ledger->refuse_from || ledger->calls < ledger->refuse_from) return 0;
  return !ledger->once || ledger->calls == ledger->refuse_from;
}

void *ledger_resize(void *user, void *pointer, size_t size) {
  struct ledger *ledger = user;
  struct block *old = NULL;
  if (pointer) old = (struct block *)(void *)((char *)pointer - offsetof(struct block, data));
  if (size && refuses(ledger)) return NULL;
  if (old) ledger->bytes -= old->size;
  if (!size) {
    ledger->live -= old != NULL;
    free(old);
    return NULL;
  }
  ledger->live += old == NULL;
  ledger->bytes += size;
  struct block *made = realloc(old, sizeof *made + size);
  if (!made) abort(); /* the machine's memory is out, not the test's */
  made->size = size;
  return made->data;
}
