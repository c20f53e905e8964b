/* Matrix products for few and many rows, and the transformer layers made of them. */
#include "kernels.h"

#if LANES == 16
#define MOST_ROWS 6
#else
#define MOST_ROWS 3
#endif

/* R rows times one panel of V vectors: every output is one chain of additions over taps and k. */
#define TILE(R, V)                                                                                 \
    static void tile_##R##_##V(const float *x, long stride, int taps, long tap_stride, int k,      \
                               const float *w, const float *bias, float *out) {                    \
        vec acc[R][V];                                                                             \
        for (int r = 0; r < R; r++)                                                                \
            for (int v = 0; v < V; v++)                                                            \
                acc[r][v] = *(const vec *)(bias + v * LANES);                                      \
        for (int tap = 0; tap < taps; tap++, x += tap_stride)                                      \
            for (int i = 0; i < k; i++, w += V * LANES) {                                          \
                vec part[V];                                                                       \
                for (int v = 0; v < V; v++) part[v] = *(const vec *)(w + v * LANES);               \
                for (int r = 0; r < R; r++) {                                                      \
                    float f = x[r * stride + i];                                                   \
                    for (int v = 0; v < V; v++) acc[r][v] += f * part[v];                          \
                }                                                                                  \
            }                                                                                      \
        for (int r = 0; r < R; r++)                                                                \
            for (int v = 0; v < V; v++) *(vec *)(out + (r * V + v) * LANES) = acc[r][v];           \
    }

#if LANES == 16
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2)
TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1)
#elif LANES == 8
TILE(1, 4) TILE(2, 4) TILE(3, 4)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(6, 2)
#else
TILE(1, 8) TILE(2, 8) TILE(3, 8)
TILE(1, 4) TILE(2, 4) TILE(3, 4)
#endif

typedef void (*Tile)(const float *, long, int, long, int, const float *, const float *, float *);

#if LANES == 16
static const Tile wide[] = {0, tile_1_2, tile_2_2, tile_3_2, tile_4_2, tile_5_2, tile_6_2};
static const Tile narrow[] = {0, tile_1_1, tile_2_1, tile_3_1, tile_4_1, tile_5_1, tile_6_1};
#elif LANES == 8
static const Tile wide[] = {0, tile_1_4, tile_2_4, tile_3_4};
static const Tile narrow[] = {0, tile_1_2, tile_2_2, tile_3_2, 0, 0, tile_6_2};
#else
static const Tile wide[] = {0, tile_1_8, tile_2_8, tile_3_8};
static const Tile narrow[] = {0, tile_1_4, tile_2_4, tile_3_4};
#endif

static float sum_of(vec v) {
    float total = 0.0f;
    for (int i = 0; i < LANES; i++) total += v[i];
    return total;
}

static float dot(const float *a, const float *b, long n) {
    vec first = {0}, second = {0};
    long i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        first += *(const vec *)(a + i) * *(const vec *)(b + i);
        second += *(const vec *)(a + i + LANES) * *(const vec *)(b + i + LANES);
    }
    float total = sum_of(first + second);
    for (; i < n; i++) total += a[i] * b[i];
    return total;
}

/* One output column: the taps of a row lie side by side where they are one row apart. */
static void column(const Matrix *m, const float *x, long stride, long tap_stride, long rows,
                   const float *residual, float *y) {
    for (long row = 0; row < rows; row++) {
        const float *from = x + row * stride;
        float total = m->bias[0];
        if (tap_stride == m->k) {
            total += dot(from, m->weight, (long)m->taps * m->k);
        } else {
            for (int tap = 0; tap < m->taps; tap++)
                total += dot(from + tap * tap_stride, m->weight + tap * m->k, m->k);
        }
        y[row] = residual ? residual[row] + total : total;
    }
}

void product(const Matrix *m, const float *x, long stride, long tap_stride, long rows,
             const float *residual, float *y) {
    if (m->n == 1) {
        column(m, x, stride, tap_stride, rows, residual, y);
        return;
    }
    const Tile *tiles = m->panel == 32 ? wide : narrow;
    int most = MOST_ROWS;
    if (LANES == 8 && m->panel == 16) most = 6;
    long depth = (long)m->taps * m->k;
    float out[6 * 32] __attribute__((aligned(64)));
    for (int at = 0; at < m->n; at += m->panel) {
        const float *w = m->weight + at * depth;
        int width = m->n - at < m->panel ? m->n - at : m->panel;
        for (long row = 0; row < rows;) {
            int count = rows - row < most ? (int)(rows - row) : most;
            while (!tiles[count]) count--;
            tiles[count](x + row * stride, stride, m->taps, tap_stride, m->k, w, m->bias + at, out);
            for (int r = 0; r < count; r++, row++) {
                const float *from = out + r * m->panel, *old = residual + row * m->n + at;
                float *to = y + row * m->n + at;
                if (residual)
                    for (int i = 0; i < width; i++) to[i] = old[i] + from[i];
                else
                    for (int i = 0; i < width; i++) to[i] = from[i];
            }
        }
    }
}

void rms_rows(const float *x, long rows, long width, float eps, float *y) {
    for (long row = 0; row < rows; row++, x += width, y += width) {
        float scale = 1.0f / sqrtf(dot(x, x, width) / width + eps);
        for (long i = 0; i < width; i++) y[i] = x[i] * scale;
    }
}

/* Normalises where there is a gain, then turns: x cos + roll(x) sin. */
static void turn(float *x, int dim, const float *gain, float eps, const float *cos,
                 const float *sin) {
    float was[LONGEST_HEAD];
    if (gain) {
        rms_rows(x, 1, dim, eps, was);
        for (int i = 0; i < dim; i++) was[i] *= gain[i];
    } else {
        memcpy(was, x, dim * sizeof *x);
    }
    int half = dim / 2;
    for (int i = 0; i < half; i++) {
        x[i] = was[i] * cos[i] + was[i + half] * sin[i];
        x[i + half] = was[i + half] * cos[i + half] + was[i] * sin[i + half];
    }
}

static void attend(const float *q, const float *keys, const float *values, long count, int dim,
                   float *scores, float *context) {
    float scale = 1.0f / sqrtf((float)dim), most = -INFINITY;
    for (long at = 0; at < count; at++) {
        scores[at] = dot(q, keys + at * dim, dim) * scale;
        most = pick_max(most, scores[at]);
    }
    for (long at = 0; at < count; at++) scores[at] = exp_of(scores[at] - most);
    float total = 0.0f;
    vec sums[LONGEST_HEAD / LANES];
    for (int v = 0; v < dim / LANES; v++) sums[v] = (vec){0};
    for (long at = 0; at < count; at++) {
        total += scores[at];
        for (int v = 0; v < dim / LANES; v++)
            sums[v] += scores[at] * *(const vec *)(values + at * dim + v * LANES);
    }
    for (int v = 0; v < dim / LANES; v++) *(vec *)(context + v * LANES) = sums[v] / total;
}

static void attend_rows(const Stack *s, const Layer *layer, float *mixed, long rows,
                        float *const *keys, float *const *values, long offset, long length,
                        const int64_t *positions, float *scores, float *context) {
    int dim = s->head_dim, share = s->heads / s->kv_heads;
    long width = (long)(s->heads + 2 * s->kv_heads) * dim;
    for (long row = 0; row < rows; row++, mixed += width, context += s->heads * dim) {
        long at = positions[row], place = at % length;
        const float *cos = s->cos + at * dim, *sin = s->sin + at * dim;
        for (int head = 0; head < s->heads + s->kv_heads; head++)
            turn(mixed + head * dim, dim, head < s->heads ? layer->q_gain : layer->k_gain, s->eps,
                 cos, sin);
        long count = at < length ? at + 1 : length;
        for (int kv = 0; kv < s->kv_heads; kv++) {
            float *key = keys[row] + offset + kv * length * dim;
            float *value = values[row] + offset + kv * length * dim;
            memcpy(key + place * dim, mixed + (s->heads + kv) * dim, dim * sizeof *key);
            memcpy(value + place * dim, mixed + (s->heads + s->kv_heads + kv) * dim,
                   dim * sizeof *value);
            for (int head = kv * share; head < (kv + 1) * share; head++)
                attend(mixed + head * dim, key, value, count, dim, scores, context + head * dim);
        }
    }
}

static void gate(const float *both, long rows, int inner, float *y) {
    for (long row = 0; row < rows; row++, both += 2 * inner, y += inner)
        for (int i = 0; i < inner; i++)
            y[i] = both[i] / (1.0f + exp_of(-both[i])) * both[inner + i];
}

long stack_scratch(const Stack *s, long rows) {
    long mixed = (long)(s->heads + 2 * s->kv_heads) * s->head_dim;
    long widest = mixed > 2L * s->inner ? mixed : 2L * s->inner;
    return rows * (s->hidden + widest + (s->inner > s->heads * s->head_dim ? s->inner : s->heads * s->head_dim));
}

/* `scratch` holds stack_scratch floats, and behind them a score for every position of a cache. */
void run_stack(const Stack *s, float *x, long rows, float *const *keys, float *const *values,
               long layer_stride, long length, const int64_t *positions, float *scratch) {
    long mixed_width = (long)(s->heads + 2 * s->kv_heads) * s->head_dim;
    long widest = mixed_width > 2L * s->inner ? mixed_width : 2L * s->inner;
    float *normal = scratch, *wide_rows = normal + rows * s->hidden;
    float *narrow_rows = wide_rows + rows * widest;
    float *scores = scratch + stack_scratch(s, rows);
    int context = s->heads * s->head_dim;
    for (int i = 0; i < s->count; i++) {
        const Layer *layer = s->layers + i;
        rms_rows(x, rows, s->hidden, s->eps, normal);
        product(&layer->qkv, normal, s->hidden, 0, rows, 0, wide_rows);
        attend_rows(s, layer, wide_rows, rows, keys, values, i * layer_stride, length, positions,
                    scores, narrow_rows);
        product(&layer->out, narrow_rows, context, 0, rows, x, x);
        rms_rows(x, rows, s->hidden, s->eps, normal);
        product(&layer->gate_up, normal, s->hidden, 0, rows, 0, wide_rows);
        gate(wide_rows, rows, s->inner, narrow_rows);
        product(&layer->down, narrow_rows, s->inner, 0, rows, x, x);
    }
}
