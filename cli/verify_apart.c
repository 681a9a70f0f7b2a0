/* SPDX-License-Identifier: MIT */
#include "verify_apart.h"

#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "text.h"

enum { ALIGNMENT = 256 };

enum mxq_status verify_apart_add(struct verify_runner *runner, uint64_t offset, uint64_t bytes,
                                 int input) {
  struct verify_piece piece = {.offset = offset, .bytes = bytes, .shift = offset % ALIGNMENT};
  if (!bytes) return MXQ_OK;
  MXQ_TRY(mxq_device_allocate(runner->device, (size_t)(bytes + piece.shift), &piece.base));
  runner->pieces =
      text_grow(runner->pieces, runner->piece_count, &runner->piece_room, sizeof *runner->pieces);
  runner->pieces[runner->piece_count++] = piece;
  if (!input) return MXQ_OK;
  return mxq_device_upload(runner->device, verify_device_at(runner, offset),
                           runner->expected + offset, (size_t)bytes);
}

void *verify_device_at(const struct verify_runner *runner, uint64_t offset) {
  for (size_t i = 0; i < runner->piece_count; i++)
    if (runner->pieces[i].offset == offset)
      return (unsigned char *)runner->pieces[i].base + runner->pieces[i].shift;
  return (unsigned char *)runner->there + offset;
}

enum mxq_status verify_apart_download(struct verify_runner *runner, uint64_t bytes) {
  memcpy(runner->actual, runner->expected, (size_t)bytes);
  for (size_t i = 0; i < runner->piece_count; i++) {
    const struct verify_piece *piece = &runner->pieces[i];
    MXQ_TRY(mxq_device_download(runner->device, runner->actual + piece->offset,
                                verify_device_at(runner, piece->offset), (size_t)piece->bytes));
  }
  return MXQ_OK;
}

void verify_apart_free(struct verify_runner *runner) {
  for (size_t i = 0; i < runner->piece_count; i++)
    mxq_device_free(runner->device, runner->pieces[i].base);
  free(runner->pieces);
  runner->pieces = NULL;
  runner->piece_count = runner->piece_room = 0;
}
