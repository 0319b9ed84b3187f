/* Each region has one thing in it that is not read; the text around them is as it may be. */
struct grain { double x, y; };
struct grain sand[40];
double A[40], B[40];
double *from = A, *to = B;
int count;

double noise(double);

void shaken(FILE *log, struct grain *which)
{
    int i;
    fprintf(log, "starts {");
#pragma scop a_structure
    for (i = 0; i < 40; i++)
        A[i] = sand[i].x;
#pragma endscop
#pragma scop an_unknown_function
    for (i = 0; i < 40; i++)
        A[i] = noise(B[i]);
#pragma endscop
#pragma scop a_while_loop
    while (count > 0)
        A[count] = 0;
#pragma endscop
#pragma scop a_product_of_counters
    for (i = 1; i < 6; i++)
        for (int j = 1; j < 6; j++)
            A[i * j] = 0;
#pragma endscop
#pragma scop swapped_pointers
    for (i = 0; i < 9; i++) {
        A[i] = B[i];
        double *kept = from;
        from = to;
        to = kept;
    }
#pragma endscop
}
