/* The Talker's positions and the Code Predictor's frame, draws included. */
#include <stdlib.h>

#include "kernels.h"

#define FEWEST_TOKENS 2

/* How one row draws its codes; temperature 0 is greedy, top_k 0 and top_p 1 are off. */
typedef struct {
    float temperature, top_p, penalty, noise;
    int32_t top_k;
} Draw;

typedef struct {
    Stack stack;
    Matrix head;
    const uint8_t *blocked; /* [vocabulary]: control ids that are never drawn */
    int32_t vocabulary, end;
} Talker;

typedef struct {
    Stack stack;
    Matrix project;      /* Talker to predictor width; k is 0 where both are one */
    const Matrix *heads; /* [groups - 1], the final norm folded in */
    const float *const *inputs; /* [groups - 1][vocabulary][hidden]: what each code becomes */
    const float *const *tables; /* [groups - 1][vocabulary][talker width] */
    int32_t groups, width, vocabulary;
} Predictor;

typedef struct {
    float score;
    int32_t id;
} Candidate;

static int ascending(const void *a, const void *b) {
    const Candidate *one = a, *other = b;
    if (one->score != other->score) return one->score < other->score ? -1 : 1;
    return one->id < other->id ? -1 : one->id > other->id;
}

/* The k-th largest of n; reorders its argument. */
static float kth_largest(float *x, int n, int k) {
    int low = 0, high = n - 1, want = k - 1;
    while (low < high) {
        float pivot = x[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (x[i] > pivot) i++;
            while (x[j] < pivot) j--;
            if (i <= j) {
                float swap = x[i];
                x[i++] = x[j];
                x[j--] = swap;
            }
        }
        if (want <= j) high = j;
        else if (want >= i) low = i;
        else break;
    }
    return x[want];
}

static void keep_top_p(Candidate *kept, int count, const float *mass, float total, float top_p,
                       float *scores) {
    qsort(kept, count, sizeof *kept, ascending);
    float sum = 0.0f;
    for (int i = 0; i < count - 1; i++) {
        sum += mass[kept[i].id] / total;
        if (sum <= 1.0f - top_p) scores[kept[i].id] = -INFINITY;
    }
}

static int greedy(const float *scores, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}

/* An id by inverse distribution from one uniform number. `spare` holds 4 n floats. */
static int draw(float *scores, int n, const Draw *how, float *spare) {
    if (how->temperature <= 0.0f) return greedy(scores, n);
    for (int i = 0; i < n; i++) scores[i] /= how->temperature;
    if (how->top_k > 0 && how->top_k < n) {
        memcpy(spare, scores, n * sizeof *scores);
        float least = kth_largest(spare, n, how->top_k);
        for (int i = 0; i < n; i++) scores[i] = scores[i] < least ? -INFINITY : scores[i];
    }
    float most = scores[greedy(scores, n)], *mass = spare;
    for (int round = 0;; round++) {
        float total = 0.0f;
        int count = 0;
        Candidate *kept = (Candidate *)(spare + n);
        for (int i = 0; i < n; i++) {
            mass[i] = 0.0f;
            if (scores[i] == -INFINITY) continue;
            mass[i] = exp_of(scores[i] - most);
            total += mass[i];
            kept[count++] = (Candidate){scores[i], i};
        }
        if (round == 0 && how->top_p < 1.0f) {
            keep_top_p(kept, count, mass, total, how->top_p, scores);
            continue;
        }
        float sum = 0.0f;
        int last = 0;
        for (int i = 0; i < n; i++) {
            if (mass[i] == 0.0f) continue;
            sum += mass[i];
            last = i;
            if (sum > how->noise * total) return i;
        }
        return last;
    }
}

long talker_scratch(const Talker *t, long rows, long length) {
    long spare = 5L * t->vocabulary;
    return stack_scratch(&t->stack, rows) + (length > spare ? length : spare) + rows * t->stack.hidden;
}

static void normal_of(const Talker *t, const float *gain, float *x, float *y) {
    rms_rows(x, 1, t->stack.hidden, t->stack.eps, y);
    for (int i = 0; i < t->stack.hidden; i++) y[i] *= gain[i];
}

/* x [rows][hidden] in, destroyed. Row r's cache starts at keys[r]; hidden and code0 are of the last
 * `sampled` rows, seen [sampled][vocabulary] and tokens [sampled] their histories, which grow. */
void talk(const Talker *t, const float *gain, float *x, long rows, float *const *keys,
          float *const *values, long layer_stride, long length, const int64_t *positions,
          long sampled, uint8_t *const *seen, int64_t *const *tokens, const Draw *draws,
          float *hidden, int64_t *code0, float *scratch) {
    run_stack(&t->stack, x, rows, keys, values, layer_stride, length, positions, scratch);
    float *logits = scratch;
    for (long i = 0; i < sampled; i++) {
        long row = rows - sampled + i;
        float *state = hidden + i * t->stack.hidden;
        normal_of(t, gain, x + row * t->stack.hidden, state);
        product(&t->head, state, t->stack.hidden, 0, 1, 0, logits);
        for (int id = 0; id < t->vocabulary; id++) {
            float rate = draws[i].penalty;
            if (seen[i][id]) logits[id] = logits[id] < 0.0f ? logits[id] * rate : logits[id] / rate;
            if (t->blocked[id]) logits[id] = -INFINITY;
        }
        if (*tokens[i] < FEWEST_TOKENS) logits[t->end] = -INFINITY;
        code0[i] = draw(logits, t->vocabulary, draws + i, logits + t->vocabulary);
        seen[i][code0[i]] = 1;
        *tokens[i] += 1;
    }
}

long predictor_scratch(const Predictor *p, long rows) {
    const Stack *s = &p->stack;
    long cache = 2L * s->count * rows * s->kv_heads * p->groups * s->head_dim;
    long scores = rows * (s->hidden + p->vocabulary) + 5L * p->vocabulary;
    return cache + 2 * rows * s->hidden + stack_scratch(s, 2 * rows) + p->groups + scores;
}

/* hidden and first [rows][talker width]: the Talker's states and code 0's embeddings. noise [rows]
 * [groups]. codes [rows][groups - 1] come out, and next [rows][talker width]: the sum of the frame's
 * embeddings. `places` is space for 4 * rows pointers and `positions` for 2 * rows numbers. */
void predict(const Predictor *p, const float *hidden, const float *first, long rows,
             const Draw *draws, const float *noise, int64_t *codes, float *next, float **places,
             int64_t *positions, float *scratch) {
    const Stack *s = &p->stack;
    long head_cache = (long)p->groups * s->head_dim, row_cache = s->kv_heads * head_cache;
    long layer_cache = rows * row_cache;
    float *keys = scratch, *values = keys + s->count * layer_cache;
    float *x = values + s->count * layer_cache, *rest = x + 2 * rows * s->hidden;
    float **key_of = places, **value_of = places + 2 * rows;
    for (long row = 0; row < rows; row++) {
        const float *pair[2] = {hidden + row * p->width, first + row * p->width};
        memcpy(next + row * p->width, pair[1], p->width * sizeof *next);
        for (int i = 0; i < 2; i++) {
            long at = 2 * row + i;
            if (p->project.k) product(&p->project, pair[i], p->width, 0, 1, 0, x + at * s->hidden);
            else memcpy(x + at * s->hidden, pair[i], s->hidden * sizeof *x);
            key_of[at] = keys + row * row_cache;
            value_of[at] = values + row * row_cache;
            positions[at] = i;
        }
    }
    run_stack(s, x, 2 * rows, key_of, value_of, layer_cache, p->groups, positions, rest);
    for (long row = 0; row < rows; row++) {
        memmove(x + row * s->hidden, x + (2 * row + 1) * s->hidden, s->hidden * sizeof *x);
        key_of[row] = keys + row * row_cache;
        value_of[row] = values + row * row_cache;
    }
    for (int group = 0; group < p->groups - 1; group++) {
        if (group) {
            for (long row = 0; row < rows; row++) positions[row] = group + 1;
            run_stack(s, x, rows, key_of, value_of, layer_cache, p->groups, positions, rest);
        }
        float *normal = rest, *all = rest + rows * s->hidden, *spare = all + rows * p->vocabulary;
        rms_rows(x, rows, s->hidden, s->eps, normal);
        product(p->heads + group, normal, s->hidden, 0, rows, 0, all);
        for (long row = 0; row < rows; row++) {
            Draw how = draws[row];
            how.noise = noise[row * p->groups + group + 1];
            long code = draw(all + row * p->vocabulary, p->vocabulary, &how, spare);
            codes[row * (p->groups - 1) + group] = code;
            memcpy(x + row * s->hidden, p->inputs[group] + code * s->hidden, s->hidden * sizeof *x);
            const float *table = p->tables[group] + code * p->width;
            float *sum = next + row * p->width;
            for (int i = 0; i < p->width; i++) sum[i] += table[i];
        }
    }
}
