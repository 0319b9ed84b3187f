/* Machine code that stands in a library: several for one text, of which a GPU takes one. */

#ifndef WORKBENCH_GPU_IMAGES_H
#define WORKBENCH_GPU_IMAGES_H

#include "gpu.h"
#include "host.h"

const wb_entries *wb_open(const wb_threads *threads);
int wb_gpu_load(int number, const void *image, int device);

typedef struct {
    int number; /* of the text */
    const void *code;
} wb_gpu_image;

typedef struct {
    const wb_entries *(*open)(const wb_threads *threads);
    int (*load)(int number, const void *image, int device);
    const wb_gpu_image *images;
    int count, texts;
} wb_gpu_table;

#endif
