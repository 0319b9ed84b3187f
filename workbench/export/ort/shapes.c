/* Shapes of results before a model runs: numbers where they are known, else the names of symbolic dimensions.

   ONNX Runtime ignores what shape inference answers: what does not fit is refused once more when the node runs. */

#include "operators.h"

#include <stdio.h>
#include <string.h>

enum { WB_NAME = 128 };

/* An input: its type and shape, -1 where only a name is known; `ranked` says whether anything is known of the shape. */
typedef struct {
    int64_t shape[WB_MOST_RANK];
    const char *names[WB_MOST_RANK];
    int type, ranked;
} wb_known;

static OrtStatus *wb_read_shape(const OrtShapeInferContext *context, size_t n, int place, wb_known *known)
{
    const wb_family *f = wb_the_operator.families[0];
    OrtTensorTypeAndShapeInfo *info = NULL;
    size_t rank = 0;
    OrtStatus *status = ORT(ShapeInferContext_GetInputTypeShape)(context, n, &info);
    if (!status && info) status = ORT(GetTensorElementType)(info, &known->type);
    if (!status && info) status = ORT(GetDimensionsCount)(info, &rank);
    if (status || !info) return status;
    if (rank == 0 && f->parameters[place].rank) return NULL; /* so does it say that the shape is not known */
    if (wb_check_rank(f, place, (int)rank)) return wb_status(ORT_INVALID_ARGUMENT);
    status = ORT(GetDimensions)(info, known->shape, rank);
    if (!status) status = ORT(GetSymbolicDimensions)(info, known->names, rank);
    known->ranked = !status;
    return status;
}

/* The choice of element types that the inputs have. */
static const wb_family *wb_typed(const wb_known *known)
{
    for (int t = 0; t < wb_the_operator.types; ++t) {
        const wb_family *f = wb_the_operator.families[t];
        int fits = 1;
        for (int n = 0; n < f->arguments; ++n)
            fits &= f->call[n].kind == 's' || known[n].type == wb_type_of(&f->parameters[f->call[n].place]);
        if (fits) return f;
    }
    return wb_the_operator.families[0];
}

static OrtStatus *wb_write_shape(OrtShapeInferContext *context, int output, int type, const int64_t *shape,
                                 const char **names, size_t rank)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtStatus *status = ORT(CreateTensorTypeAndShapeInfo)(&info);
    if (status) return status;
    status = ORT(SetTensorElementType)(info, type);
    if (!status) status = ORT(SetDimensions)(info, shape, rank);
    if (!status) status = ORT(SetSymbolicDimensions)(info, names, rank);
    if (!status) status = ORT(ShapeInferContext_SetOutputTypeShape)(context, (size_t)output, info);
    ORT(ReleaseTensorTypeAndShapeInfo)(info);
    return status;
}

/* Sizes that some input's dimension tells: their values, or their names. */
static uint64_t wb_told(const wb_family *f, const wb_known *known, int64_t *sizes, const char **names)
{
    uint64_t found = 0;
    for (int s = 0; s < f->sizes; ++s) {
        const wb_origin at = wb_the_operator.origins[s];
        sizes[s] = 0;
        names[s] = "";
        if (at.input < 0 || !known[at.input].ranked) continue;
        if (known[at.input].shape[at.dimension] >= 0) {
            sizes[s] = known[at.input].shape[at.dimension];
            found |= (uint64_t)1 << s;
        } else if (known[at.input].names[at.dimension]) {
            names[s] = known[at.input].names[at.dimension];
        }
    }
    return found;
}

/* Where all shapes are numbers, what does not fit is found before anything runs. */
static int wb_check(const wb_family *f, const wb_known *known, int64_t *sizes)
{
    wb_array arrays[WB_MOST_ARRAYS];
    memset(arrays, 0, sizeof arrays);
    for (int n = 0; n < f->arguments; ++n) {
        if (f->call[n].kind == 's') return 0;
        if (f->call[n].kind != 'a') continue;
        for (int d = 0; d < f->parameters[f->call[n].place].rank; ++d)
            if (!known[n].ranked || known[n].shape[d] < 0) return 0;
        arrays[f->call[n].place].shape = known[n].shape;
    }
    return f->solve(arrays, sizes) ? -1 : 1;
}

/* A dimension of which nothing is known has a name that no other has: equal names mean equal sizes. */
static const char *wb_fresh(char *name, const wb_family *f, int output, int dimension)
{
    static unsigned count;
    unsigned own = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    snprintf(name, WB_NAME, "%.64s.%d.%d.%u", f->name, output, dimension, own);
    return name;
}

OrtStatus *wb_infer(OrtShapeInferContext *context)
{
    const wb_family *f = wb_the_operator.families[0];
    wb_known known[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS] = {0}, exact[WB_MOST_ARRAYS] = {0}, shape[WB_MOST_RANK];
    const char *names[WB_MOST_ARRAYS], *spelt[WB_MOST_RANK];
    char fresh[WB_MOST_RANK][WB_NAME];
    const wb_dimension *dimension = wb_the_operator.dimensions;
    memset(known, 0, sizeof known);
    for (int n = 0; n < f->arguments; ++n) {
        OrtStatus *status = f->call[n].kind == 's' ? NULL : wb_read_shape(context, (size_t)n, f->call[n].place, &known[n]);
        if (status) return status;
    }
    f = wb_typed(known);
    uint64_t found = wb_told(f, known, sizes, names);
    int all = wb_check(f, known, exact);
    if (all < 0) return wb_status(ORT_INVALID_ARGUMENT);
    for (int p = f->inputs; p < f->inputs + f->outputs; ++p) {
        int rank = f->parameters[p].rank;
        f->shape(p, all ? exact : sizes, shape);
        for (int d = 0; d < rank; ++d, ++dimension) {
            int number = all || (dimension->uses & ~found) == 0;
            spelt[d] = number || dimension->size < 0 ? "" : names[dimension->size];
            if (!number) shape[d] = -1;
            if (!number && !*spelt[d]) spelt[d] = wb_fresh(fresh[d], f, p - f->inputs, d);
        }
        OrtStatus *status = wb_write_shape(context, p - f->inputs, wb_type_of(&f->parameters[p]), shape, spelt, (size_t)rank);
        if (status) return status;
    }
    return NULL;
}
