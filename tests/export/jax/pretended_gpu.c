/* A GPU as XLA tells of it, on a processor: a stream, a device and memory there; what it calls is the handler for GPUs. */

#include <stdlib.h>

#include "c_api.h"

#define VISIBLE __attribute__((visibility("default")))
typedef XLA_FFI_Error *(*Handler)(XLA_FFI_CallFrame *);

static Handler handler;
static long blocks, left;

static XLA_FFI_Error *stream_of(XLA_FFI_Stream_Get_Args *args)
{
    args->stream = (void *)0x99; /* the one that the stand-in for the driver knows */
    return NULL;
}

static XLA_FFI_Error *device_of(XLA_FFI_DeviceOrdinal_Get_Args *args)
{
    args->device_ordinal = 0;
    return NULL;
}

static XLA_FFI_Error *allocate(XLA_FFI_DeviceMemory_Allocate_Args *args)
{
    ++blocks;
    ++left;
    args->data = args->alignment > 16 ? NULL : malloc(args->size);
    return NULL;
}

static XLA_FFI_Error *release(XLA_FFI_DeviceMemory_Free_Args *args)
{
    --left;
    free(args->data);
    return NULL;
}

VISIBLE XLA_FFI_Error *pretended(XLA_FFI_CallFrame *frame)
{
    if (!frame->api) return handler(frame);
    XLA_FFI_Api api = *frame->api;
    XLA_FFI_CallFrame own = *frame;
    api.XLA_FFI_Stream_Get = stream_of;
    api.XLA_FFI_DeviceOrdinal_Get = device_of;
    api.XLA_FFI_DeviceMemory_Allocate = allocate;
    api.XLA_FFI_DeviceMemory_Free = release;
    own.api = &api;
    return handler(&own);
}

VISIBLE void pretend(Handler real)
{
    handler = real;
}

VISIBLE long taken(void)
{
    return blocks;
}

VISIBLE long kept(void)
{
    return left;
}
