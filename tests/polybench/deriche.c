/* a recursive smoothing filter: forwards and backwards along the rows, then along the columns */
#include <math.h>

void deriche(int w, int h, float alpha, float in[w][h], float out[w][h], float y1[w][h], float y2[w][h])
{
    float k, a1, a2, a3, a4, b1, b2;
    float xm1, ym1, ym2, xp1, xp2, yp1, yp2;
    k = (1.0f - expf(-alpha)) * (1.0f - expf(-alpha)) / (1.0f + 2.0f * alpha * expf(-alpha) - expf(2.0f * alpha));
    a1 = k;
    a2 = k * expf(-alpha) * (alpha - 1.0f);
    a3 = k * expf(-alpha) * (alpha + 1.0f);
    a4 = -k * expf(-2.0f * alpha);
    b1 = powf(2.0f, -alpha);
    b2 = -expf(-2.0f * alpha);

    for (int i = 0; i < w; i++) {
        ym1 = 0.0f;
        ym2 = 0.0f;
        xm1 = 0.0f;
        for (int j = 0; j < h; j++) {
            y1[i][j] = a1 * in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = in[i][j];
            ym2 = ym1;
            ym1 = y1[i][j];
        }
    }
    for (int i = 0; i < w; i++) {
        yp1 = 0.0f;
        yp2 = 0.0f;
        xp1 = 0.0f;
        xp2 = 0.0f;
        for (int j = h - 1; j >= 0; j--) {
            y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = in[i][j];
            yp2 = yp1;
            yp1 = y2[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = y1[i][j] + y2[i][j];
    for (int j = 0; j < h; j++) {
        xm1 = 0.0f;
        ym1 = 0.0f;
        ym2 = 0.0f;
        for (int i = 0; i < w; i++) {
            y1[i][j] = a1 * out[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = out[i][j];
            ym2 = ym1;
            ym1 = y1[i][j];
        }
    }
    for (int j = 0; j < h; j++) {
        xp1 = 0.0f;
        xp2 = 0.0f;
        yp1 = 0.0f;
        yp2 = 0.0f;
        for (int i = w - 1; i >= 0; i--) {
            y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = out[i][j];
            yp2 = yp1;
            yp1 = y2[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = y1[i][j] + y2[i][j];
}
