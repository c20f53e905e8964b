/* What the C files share: vectors as wide as the machine has them, packed matrices, small functions.
 *
 * Every sum has one order that depends on the widths of the model alone, never on how many rows or
 * frames come together: a stream's numbers are its own to the last bit. */
#ifndef PARLANCE_KERNELS_H
#define PARLANCE_KERNELS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float vec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

#define LONGEST_HEAD 256

/* A matrix [taps * k, n] in panels of `panel` columns: [n / panel][taps * k][panel], zeros behind n. */
typedef struct {
    const float *weight, *bias;
    int32_t taps, k, n, panel;
} Matrix;

/* One transformer layer; norm weights in front of a matrix are folded into it. */
typedef struct {
    Matrix qkv, out, gate_up, down;
    const float *q_gain, *k_gain; /* [head_dim], or null where heads are not normalised */
} Layer;

typedef struct {
    const Layer *layers;
    int32_t count, hidden, inner, heads, kv_heads, head_dim;
    float eps;
    const float *cos, *sin; /* [positions][head_dim], sin with the minus of the half-split turn */
} Stack;

/* y[row] = sum over taps of x[row + tap] times the matrix, plus bias and `residual` where given.
 * Rows of x are `stride` floats apart, taps of one row `tap_stride`. */
void product(const Matrix *m, const float *x, long stride, long tap_stride, long rows,
             const float *residual, float *y);

void rms_rows(const float *x, long rows, long width, float eps, float *y);

/* Rows that each are one position of one sequence. keys and values: where each row's cache lies,
 * [kv_heads][length][head_dim]; a position beyond `length` overwrites the oldest. */
void run_stack(const Stack *s, float *x, long rows, float *const *keys, float *const *values,
               long layer_stride, long length, const int64_t *positions, float *scratch);

long stack_scratch(const Stack *s, long rows);

static inline float pick_max(float a, float b) { return a > b ? a : b; }

/* e^x to about one unit in the last place; written so that loops over it become vectors. */
static inline float exp_of(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float whole = x * 1.44269504f + 12582912.0f;
    int32_t bits;
    memcpy(&bits, &whole, 4);
    whole -= 12582912.0f;
    float r = x - whole * 0.693359375f;
    r += whole * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    bits = ((bits - 0x4B400000) + 127) << 23;
    float power;
    memcpy(&power, &bits, 4);
    return p * power;
}

#endif
