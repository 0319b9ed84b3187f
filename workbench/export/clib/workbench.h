/* What the libraries of all exported operators share: a tensor, and what their functions answer. */

#ifndef WORKBENCH_H
#define WORKBENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Laid out as DLPack's DLTensor: a pointer to one is a pointer to the other. */
typedef struct {
    void *data;
    int32_t device_type, device_id;      /* 1: memory of the processor */
    int32_t ndim;
    uint8_t type_code, type_bits;        /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
    uint16_t type_lanes;                 /* 1 */
    int64_t *shape, *strides;            /* strides count elements; NULL: dense, row after row */
    uint64_t byte_offset;
} workbench_tensor;

/* Functions answer 0, or one of these, or a number above 0: an index found in the data is out of range. */
enum {
    WORKBENCH_NO_MEMORY = -2,
    WORKBENCH_BAD_SHAPE = -10,
    WORKBENCH_BAD_SIZE = -11,
    WORKBENCH_BAD_TYPE = -12,
    WORKBENCH_BAD_DEVICE = -13,
    WORKBENCH_BAD_POINTER = -14,
    WORKBENCH_NO_KERNEL = -15,
    WORKBENCH_ALIASED = -16,
    WORKBENCH_BROKEN_PROMISE = -17
};

#ifdef __cplusplus
}
#endif

#endif
