/* XLA's threads and memory, lent to kernels while a call lasts. */

#ifndef WORKBENCH_LENDING_H
#define WORKBENCH_LENDING_H

#include "c_api.h"
#include "host.h"

extern const wb_threads wb_lent_threads;

/* From here on this thread's loops and memory are those of a call; what `wb_leave` has to be given. */
const XLA_FFI_CallFrame *wb_enter(const XLA_FFI_CallFrame *frame, wb_host *host);
void wb_leave(const XLA_FFI_CallFrame *outer);

#endif
