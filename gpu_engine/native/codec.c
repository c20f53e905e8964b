/* The codec decoder: some frames of one stream to audio, its memory brought up to date in place. */
#include "kernels.h"

/* A causal convolution behind an optional Snake. `columns` rows of memory lie at `memory`.
 * A kept input is what the next convolution with a residual adds to. */
typedef struct {
    Matrix matrix;
    const float *rate, *gain; /* of the Snake in front, or null */
    int32_t columns, dilation, grows, keeps, adds;
    int64_t memory;
} Convolution;

/* ConvNeXt; gamma is folded into `narrow`. */
typedef struct {
    Matrix widen, narrow;
    const float *taps, *bias, *norm_weight, *norm_bias; /* taps [kernel][width] */
    int32_t kernel, width;
    float eps;
    int64_t memory;
} Mix;

typedef struct {
    Stack stack;
    Matrix into, out;
    const float *norm;
    const float *table; /* [groups * size][codebook_dim] */
    const Convolution *convolutions; /* the one before the transformer, then the rest in order */
    const Mix *mixes;
    int32_t groups, size, codebook_dim, window, convolution_count, mix_count;
    int64_t keys, values, layer_stride; /* places in the memory of a stream */
} Codec;

/* sin^2 has the period pi: reduced to half a period, a polynomial finds it to a unit or two. */
static inline float snake(float x, float rate, float gain) {
    float z = x * rate;
    float n = z * 0.318309886f + 12582912.0f;
    n -= 12582912.0f;
    float r = z - n * 3.140625f;
    r -= n * 9.67502593994140625e-4f;
    r -= n * 1.509957990978376432e-7f;
    float r2 = r * r;
    float p = -2.3889859e-8f;
    p = p * r2 + 2.7525562e-6f;
    p = p * r2 - 1.9840874e-4f;
    p = p * r2 + 8.3333310e-3f;
    p = p * r2 - 1.6666667e-1f;
    float s = p * r2 * r + r;
    return x + s * s * gain;
}

static void snake_rows(const float *x, long rows, int width, const float *rate, const float *gain,
                       float *y) {
    for (long row = 0; row < rows; row++, x += width, y += width)
        for (int i = 0; i < width; i++) y[i] = snake(x[i], rate[i], gain[i]);
}

/* Memory and new rows behind one another in `joined`; the newest become the memory. */
static float *join(float *memory, long columns, int width, float *joined) {
    memcpy(joined, memory, columns * width * sizeof *joined);
    return joined + columns * width;
}

static void remember(float *memory, long columns, long rows, int width, const float *joined) {
    memcpy(memory, joined + rows * width, columns * width * sizeof *memory);
}

static void convolve(const Convolution *c, float *state, const float *x, long rows, float *joined,
                     const float *residual, float *y) {
    int width = c->matrix.k;
    float *memory = state + c->memory, *fresh = join(memory, c->columns, width, joined);
    if (c->rate) snake_rows(x, rows, width, c->rate, c->gain, fresh);
    else memcpy(fresh, x, rows * width * sizeof *x);
    remember(memory, c->columns, rows, width, joined);
    product(&c->matrix, joined, width, (long)c->dilation * width, rows, residual, y);
}

static void mix(const Mix *m, float *state, float *x, long rows, float *joined, float *h,
                float *wide) {
    int width = m->width;
    long columns = m->kernel - 1;
    float *memory = state + m->memory, *fresh = join(memory, columns, width, joined);
    memcpy(fresh, x, rows * width * sizeof *x);
    remember(memory, columns, rows, width, joined);
    for (long row = 0; row < rows; row++) {
        float *y = h + row * width;
        memcpy(y, m->bias, width * sizeof *y);
        for (int tap = 0; tap < m->kernel; tap++) {
            const float *from = joined + (row + tap) * width, *weight = m->taps + tap * width;
            for (int i = 0; i < width; i++) y[i] += from[i] * weight[i];
        }
        float mean = 0.0f, square = 0.0f;
        for (int i = 0; i < width; i++) mean += y[i];
        mean /= width;
        for (int i = 0; i < width; i++) square += (y[i] - mean) * (y[i] - mean);
        float scale = 1.0f / sqrtf(square / width + m->eps);
        for (int i = 0; i < width; i++)
            y[i] = (y[i] - mean) * scale * m->norm_weight[i] + m->norm_bias[i];
    }
    product(&m->widen, h, width, 0, rows, 0, wide);
    for (long i = 0; i < rows * m->widen.n; i++)
        wide[i] = 0.5f * wide[i] * (1.0f + erff(wide[i] * 0.70710678f));
    product(&m->narrow, wide, m->widen.n, 0, rows, x, x);
}

static void look_up(const Codec *c, const int64_t *codes, long frames, float *x) {
    for (long frame = 0; frame < frames; frame++, x += c->codebook_dim) {
        memset(x, 0, c->codebook_dim * sizeof *x);
        for (int group = 0; group < c->groups; group++) {
            const float *row = c->table + (group * c->size + codes[frame * c->groups + group]) * c->codebook_dim;
            for (int i = 0; i < c->codebook_dim; i++) x[i] += row[i];
        }
    }
}

static void transform(const Codec *c, float *state, int64_t position, long frames, const float *x,
                      float *hidden, float *y, float *scratch) {
    float *keys[8], *values[8];
    int64_t positions[8];
    int width = c->stack.hidden;
    for (long i = 0; i < frames; i++) {
        keys[i] = state + c->keys;
        values[i] = state + c->values;
        positions[i] = position + i;
    }
    product(&c->into, x, c->into.k, 0, frames, 0, hidden);
    run_stack(&c->stack, hidden, frames, keys, values, c->layer_stride, c->window, positions, scratch);
    rms_rows(hidden, frames, width, c->stack.eps, scratch);
    for (long i = 0; i < frames * width; i++) scratch[i] *= c->norm[i % width];
    product(&c->out, scratch, width, 0, frames, 0, y);
}

/* At most 8 frames: codes [frames][groups] to `samples`, clamped. `space` is five buffers of `room`
 * floats each. The caller counts `position`, the frames before these. */
void decode(const Codec *c, float *state, int64_t position, const int64_t *codes, long frames,
            float *samples, float *space, long room) {
    float *one = space, *other = one + room, *joined = other + room, *spare = joined + room;
    const Convolution *conv = c->convolutions, *end = conv + c->convolution_count;
    long rows = frames;
    look_up(c, codes, frames, one);
    convolve(conv++, state, one, rows, joined, 0, other);
    transform(c, state, position, frames, other, joined, one, spare);
    for (int i = 0; conv < end; conv++) {
        if (conv->adds) {
            convolve(conv, state, other, rows, joined, one, one);
            continue;
        }
        convolve(conv, state, one, rows, joined, 0, other);
        rows *= conv->grows;
        if (conv->keeps) continue;
        float *swap = one;
        one = other;
        other = swap;
        if (i < c->mix_count) mix(c->mixes + i++, state, one, rows, joined, other, spare);
    }
    for (long i = 0; i < rows; i++) {
        float sample = one[i];
        sample = sample < -1.0f ? -1.0f : sample;
        samples[i] = sample > 1.0f ? 1.0f : sample;
    }
}
