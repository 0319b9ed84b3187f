/* The entry of a kernel that is one step of a model: everything it takes is in memory, also what it takes by value. */

typedef struct {
    char kind;
    int8_t bytes, rank, by_value;
} wb_border_parameter;

typedef union {
    double real;
    int64_t integer;
    uint64_t natural;
} wb_border_value;

/* @KERNEL@ */

static wb_border_value wb_step_value(const wb_border_parameter *parameter, const void *from) {
    wb_border_value value;
    switch (parameter->kind) {
        case 'f':
            value.real = parameter->bytes == 4 ? (double)*(const float *)from : *(const double *)from;
            break;
        case 'h': value.natural = *(const uint16_t *)from; break;
        case 'i':
            value.integer = parameter->bytes == 1 ? *(const int8_t *)from : parameter->bytes == 2 ? *(const int16_t *)from
                          : parameter->bytes == 4 ? *(const int32_t *)from : *(const int64_t *)from;
            break;
        default:
            value.natural = parameter->bytes == 1 ? *(const uint8_t *)from : parameter->bytes == 2 ? *(const uint16_t *)from
                          : parameter->bytes == 4 ? *(const uint32_t *)from : *(const uint64_t *)from;
    }
    return value;
}

__attribute__((visibility("default")))
int64_t wb_step(void *const *data, void *workspace, int threads) {
    wb_border_value values[WB_BORDER_INPUTS + 1];
    for (int p = 0; p < WB_BORDER_INPUTS; ++p) {
        if (wb_border_parameters[p].by_value) values[p] = wb_step_value(&wb_border_parameters[p], data[p]);
    }
    return wb_border_kernel(data, values, (const int64_t *)0, workspace, threads);
}

__attribute__((visibility("default")))
int64_t wb_step_workspace(int threads) {
    return wb_border_workspace((const int64_t *)0, threads);
}
