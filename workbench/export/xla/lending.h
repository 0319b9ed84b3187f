/* XLA's threads and memory, lent to kernels while a call lasts. */

#ifndef WORKBENCH_LENDING_H
#define WORKBENCH_LENDING_H

#include "c_api.h"
#include "host.h"

extern const wb_threads wb_lent_threads;

/* Whether something went wrong; the caller goes on without. */
int wb_failed(const XLA_FFI_Api *api, XLA_FFI_Error *error);

typedef struct {
    const XLA_FFI_CallFrame *frame;
    char *scratch;
    int64_t scratch_bytes;
} wb_loan;

/* From here on this thread's loops and memory are those of a call; what `wb_leave` has to be given. */
wb_loan *wb_enter(wb_loan *loan, int most_threads, wb_host *host);
void wb_leave(wb_loan *outer);

#endif
