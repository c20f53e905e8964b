// The Code Predictor's frame as one kernel: fifteen passes, draws included.
//
// At few rows a frame costs what its weights cost to read, and what its hundreds of steps cost to
// wait for one another. So one warp of each block does nothing but bring the block's weights, in the
// order of their use, into a ring in shared memory: it never waits for a result, only for room. The
// other eight warps multiply. Between two steps all blocks meet at a counter; the ring fills on.
//
// Matrices are cut into tiles of 16 outputs, and each block owns the same tiles in every pass. A tile's
// 16x16 squares lie in the order of the tensor core's registers: a lane reads its part with one load.
// Columns of a product are rows of the batch (in pass 0 two a row: hidden state and code 0). Products
// whose depth is large are cut in two slices along it; whoever reads their sums adds the slices.
#ifdef FRAME_ON_HOST
#include "host.h"
#else
#include "gpu.h"
#endif

// HIDDEN, INNER, HEADS, KV_HEADS, HEAD_DIM, LAYERS, GROUPS, VOCAB, COLUMNS, CHUNK, STAGES, BLOCKS
constexpr int TILE = 16, WARPS = 8, CONSUMERS = 256, THREADS = 288, SLICES = 2;
constexpr int QKV = (HEADS + 2 * KV_HEADS) * HEAD_DIM, WIDE = HEADS * HEAD_DIM;
constexpr int SHARE = HEADS / KV_HEADS, HALF = HEAD_DIM / 2, PAIRS = HEAD_DIM / 64;
constexpr int OUT_DEPTH = WIDE / SLICES, DOWN_DEPTH = INNER / SLICES;
constexpr int QKV_UNITS = QKV / TILE / BLOCKS, GATE_UNITS = INNER / 8 / BLOCKS;
constexpr int SPLIT_UNITS = SLICES * HIDDEN / TILE / BLOCKS, HEAD_UNITS = VOCAB / TILE / BLOCKS;
constexpr int CHUNK_BYTES = TILE * CHUNK * 2;
constexpr int N_TILES = COLUMNS / 8;
constexpr int DEPTH = DOWN_DEPTH > OUT_DEPTH ? (DOWN_DEPTH > HIDDEN ? DOWN_DEPTH : HIDDEN)
                                             : (OUT_DEPTH > HIDDEN ? OUT_DEPTH : HIDDEN);
constexpr int LINE = DEPTH + 8;  // a column of activations, padded against bank conflicts
constexpr int cmax(int a, int b) { return a > b ? a : b; }
constexpr int HIDDEN_CHUNKS = HIDDEN / CHUNK, OUT_CHUNKS = OUT_DEPTH / CHUNK;
constexpr int DOWN_CHUNKS = DOWN_DEPTH / CHUNK;
constexpr int BODY_CHUNKS =
    LAYERS * ((QKV_UNITS + GATE_UNITS) * HIDDEN_CHUNKS + SPLIT_UNITS * (OUT_CHUNKS + DOWN_CHUNKS));
constexpr int MOST_CHUNKS =
    cmax(cmax(QKV_UNITS, cmax(GATE_UNITS, HEAD_UNITS)) * HIDDEN_CHUNKS,
         SPLIT_UNITS * cmax(OUT_CHUNKS, DOWN_CHUNKS));

static_assert(QKV % (TILE * BLOCKS) == 0 && INNER % (8 * BLOCKS) == 0, "blocks own whole tiles");
static_assert(SLICES * HIDDEN % (TILE * BLOCKS) == 0 && VOCAB % (TILE * BLOCKS) == 0, "whole tiles");
static_assert(HIDDEN % CHUNK == 0 && OUT_DEPTH % CHUNK == 0 && DOWN_DEPTH % CHUNK == 0, "chunks");
static_assert(HIDDEN / BLOCKS % 4 == 0 && HEAD_DIM % 64 == 0 && CHUNK % 16 == 0, "widths");
static_assert(VOCAB % CONSUMERS == 0 || VOCAB < CONSUMERS, "scores a thread");

// Shared memory, in this order.
constexpr int RING_AT = 0;
constexpr int INPUT_AT = RING_AT + STAGES * CHUNK_BYTES;
constexpr int SUMS_AT = INPUT_AT + COLUMNS * LINE * 2;
constexpr int SQUARES_AT = SUMS_AT + MOST_CHUNKS * TILE * COLUMNS * 4;
constexpr int BARRIERS_AT = SQUARES_AT + COLUMNS * WARPS * 4;
constexpr int SCRATCH_AT = BARRIERS_AT + 2 * STAGES * 8;
constexpr int SHARED_BYTES = SCRATCH_AT + 256 * 8 + 256;
static_assert(SHARED_BYTES <= 232448, "fits a multiprocessor");
// A warp may only wait for the lap after the one that it knows to be over.
static_assert(MOST_CHUNKS <= STAGES, "the chunks of a step fit the ring");
static_assert(GROUPS <= 32, "a lane a position");
static_assert(SUMS_AT % 16 == 0 && BARRIERS_AT % 8 == 0 && SCRATCH_AT % 8 == 0, "aligned");

struct Arguments {
  const u8* body;        // [blocks][BODY_CHUNKS][CHUNK_BYTES]
  const u8* heads;       // [GROUPS - 1][blocks][HEAD_UNITS * HIDDEN_CHUNKS][CHUNK_BYTES]
  const u16* gains;      // [LAYERS][2 HIDDEN + 2 HEAD_DIM], then [HIDDEN]
  const float* turns;    // cos, sin: [2][GROUPS][HALF]
  const u16* tables;     // [GROUPS - 1][VOCAB][HIDDEN]
  u16* input;            // [COLUMNS][HIDDEN]
  float* residual;       // [2][COLUMNS][HIDDEN]
  float* slices;         // [2][SLICES][COLUMNS][HIDDEN]: of attention, of the MLP
  float* qkv;            // [COLUMNS][QKV]
  u16* context;          // [COLUMNS][WIDE]
  u16* inner;            // [COLUMNS][INNER]
  float* logits;         // [COLUMNS][VOCAB]
  u16* cache;            // [LAYERS][2][rows][GROUPS][KV_HEADS][HEAD_DIM]
  i64* codes;            // [rows][GROUPS]
  const i64* slots;      // [rows]
  const float* heat;     // [slots] temperature, 0 greedy
  const int* top_k;      // [slots]
  const float* top_p;    // [slots]
  const i64* seed;       // [slots]
  const i64* frames;     // [slots]
  u32* counter;          // zero before the kernel
  float eps, scaling;
  int rows;
};

struct Block {
  u8* ring;
  u16* input;
  float* sums;
  float* squares;
  u64 *full, *empty;
  u64* scratch;
  int thread, warp, lane, block;
  u32 sequence;  // chunks this block has gone through, the same in every warp
  u32 meetings;
};

DEVICE u16 to_bf16(float x) {
  u32 b = bits(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (u16)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
DEVICE float from_bf16(u32 x) { return number(x << 16); }
DEVICE float rounded(float x) { return from_bf16(to_bf16(x)); }

DEVICE float warp_sum(float v) {
  for (int mask = 16; mask; mask >>= 1) v += shuffle_xor(v, mask);
  return v;
}

DEVICE float warp_max(float v) {
  for (int mask = 16; mask; mask >>= 1) {
    float other = shuffle_xor(v, mask);
    v = v > other ? v : other;
  }
  return v;
}

// All blocks: what was written before is read after. The ring's warp takes no part.
DEVICE void meet(Block& b, const Arguments& a) {
  consumer_sync();
  b.meetings++;
  if (b.thread == 0) {
    grid_arrive(a.counter);
    grid_wait(a.counter, b.meetings * BLOCKS);
  }
  consumer_sync();
}

// ---- the ring's warp

DEVICE void feed(Block& b, const Arguments& a) {
  const u8* body = a.body + (i64)b.block * BODY_CHUNKS * CHUNK_BYTES;
  constexpr int head_chunks = HEAD_UNITS * HIDDEN_CHUNKS;
  u32 sequence = 0;
  for (int pass = 0; pass < GROUPS - 1; pass++) {
    const u8* head = a.heads + ((i64)pass * BLOCKS + b.block) * head_chunks * CHUNK_BYTES;
    for (int chunk = 0; chunk < BODY_CHUNKS + head_chunks; chunk++, sequence++) {
      const u8* from = chunk < BODY_CHUNKS ? body + (i64)chunk * CHUNK_BYTES
                                           : head + (i64)(chunk - BODY_CHUNKS) * CHUNK_BYTES;
      u32 stage = sequence % STAGES, lap = sequence / STAGES;
      if (lap) barrier_wait(b.empty + stage, (lap - 1) & 1);
      barrier_expect(b.full + stage, CHUNK_BYTES);
      bulk_copy(b.ring + stage * CHUNK_BYTES, from, CHUNK_BYTES, b.full + stage);
    }
  }
}

// ---- products

// Columns whose norm is still to be applied: the root's reciprocal of column `c`.
DEVICE float root_of(const Block& b, const Arguments& a, int c) {
  float total = 0;
  for (int w = 0; w < WARPS; w++) total += b.squares[c * WARPS + w];
  return root_reciprocal(total / HIDDEN + a.eps);
}

// Takes the next units * chunks chunks off the ring; sums [chunk][TILE][COLUMNS] afterwards.
DEVICE void multiply(Block& b, int units, int chunks, int columns) {
  int total = units * chunks;
  for (int chunk = b.warp; chunk < total; chunk += WARPS) {
    u32 at = b.sequence + chunk, stage = at % STAGES;
    barrier_wait(b.full + stage, (at / STAGES) & 1);
    float d[2 * N_TILES][4] = {};
    const uint4* squares = (const uint4*)(b.ring + stage * CHUNK_BYTES) + b.lane;
    const u16* column = b.input + (b.lane / 4) * LINE + (chunk % chunks) * CHUNK + b.lane % 4 * 2;
#pragma unroll 4
    for (int k = 0; k < CHUNK / 16; k++) {
      uint4 square = squares[k * 32];
#pragma unroll
      for (int n = 0; n < N_TILES; n++) {
        if (n * 8 < columns) {
          const u16* x = column + n * 8 * LINE + k * 16;
          mma(d[2 * n + (k & 1)], square, *(const u32*)x, *(const u32*)(x + 8));
        }
      }
    }
    warp_sync();
    if (b.lane == 0) barrier_arrive(b.empty + stage);
    float* sums = b.sums + chunk * TILE * COLUMNS + (b.lane / 4) * COLUMNS + b.lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < N_TILES; n++)
      for (int i = 0; i < 4; i++)
        sums[(i / 2) * 8 * COLUMNS + n * 8 + i % 2] = d[2 * n][i] + d[2 * n + 1][i];
  }
  b.sequence += total;
  consumer_sync();
}

DEVICE float sum_of(const Block& b, int unit, int chunks, int row, int column) {
  float total = 0;
  for (int chunk = 0; chunk < chunks; chunk++)
    total += b.sums[((unit * chunks + chunk) * TILE + row) * COLUMNS + column];
  return total;
}

// ---- what products read

DEVICE u32 pair(float low, float high) { return to_bf16(low) | (u32)to_bf16(high) << 16; }

DEVICE float4 residual_at(const Arguments& a, const float* from, const float* slices, int c, int i) {
  float4 v;
  if (!slices) {
    uint2 raw = load_bf16x4(a.input + c * HIDDEN + i);
    v.x = from_bf16(raw.x & 0xffff), v.y = from_bf16(raw.x >> 16);
    v.z = from_bf16(raw.y & 0xffff), v.w = from_bf16(raw.y >> 16);
    return v;
  }
  v = load4(from + c * HIDDEN + i);
  for (int s = 0; s < SLICES; s++) {
    float4 more = load4(slices + (s * COLUMNS + c) * HIDDEN + i);
    v.x += more.x, v.y += more.y, v.z += more.z, v.w += more.w;
  }
  return v;
}

// x = residual + both slices (or the pass's input), times the gain, into shared memory; squares for
// the norm aside. Each block keeps its share of x for the next time.
DEVICE void load_residual(Block& b, const Arguments& a, const float* from, const float* slices,
                          float* keep, const u16* gain, int columns) {
  int first = b.block * (HIDDEN / BLOCKS), last = first + HIDDEN / BLOCKS;
  constexpr int together = 4;  // columns whose loads are in flight at once
#pragma unroll 1
  for (int base = 0; base < columns; base += together) {
    float square[together] = {};
    for (int i = 4 * b.thread; i < HIDDEN; i += 4 * CONSUMERS) {
      float4 v[together] = {};
#pragma unroll
      for (int j = 0; j < together; j++)
        if (base + j < columns) v[j] = residual_at(a, from, slices, base + j, i);
      uint2 raw = *(const uint2*)(gain + i);
#pragma unroll
      for (int j = 0; j < together; j++) {
        int c = base + j;
        if (c >= columns) break;
        if (keep && i >= first && i < last) *(float4*)(keep + c * HIDDEN + i) = v[j];
        square[j] += v[j].x * v[j].x + v[j].y * v[j].y + v[j].z * v[j].z + v[j].w * v[j].w;
        u16* to = b.input + c * LINE + i;
        *(u32*)to = pair(v[j].x * from_bf16(raw.x & 0xffff), v[j].y * from_bf16(raw.x >> 16));
        *(u32*)(to + 2) = pair(v[j].z * from_bf16(raw.y & 0xffff), v[j].w * from_bf16(raw.y >> 16));
      }
    }
#pragma unroll
    for (int j = 0; j < together; j++) {
      float total = warp_sum(square[j]);
      if (b.lane == 0 && base + j < columns) b.squares[(base + j) * WARPS + b.warp] = total;
    }
  }
  consumer_sync();
}

// `depth` numbers of each column from `at` on.
DEVICE void load_columns(Block& b, const u16* from, int width, int at, int depth, int columns) {
  for (int i = b.thread; i < columns * (depth / 8); i += CONSUMERS) {
    int c = i / (depth / 8), k = i % (depth / 8) * 8;
    *(uint4*)(b.input + c * LINE + k) = load16(from + (i64)c * width + at + k);
  }
  consumer_sync();
}

// ---- attention

// A head of one column in a warp: lane l has dimensions l * PAIRS + j and those HALF above.
struct Part {
  float low[PAIRS], high[PAIRS];
};

DEVICE Part turned(const Block& b, const Arguments& a, const float* head, const u16* gain,
                   int position) {
  Part p;
  float square = 0;
  for (int j = 0; j < PAIRS; j++) {
    int i = b.lane * PAIRS + j;
    p.low[j] = load1(head + i), p.high[j] = load1(head + HALF + i);
    square += p.low[j] * p.low[j] + p.high[j] * p.high[j];
  }
  float root = root_reciprocal(warp_sum(square) / HEAD_DIM + a.eps);
  for (int j = 0; j < PAIRS; j++) {
    int i = b.lane * PAIRS + j;
    float c = a.turns[position * HALF + i], s = a.turns[(GROUPS + position) * HALF + i];
    float low = rounded(rounded(p.low[j] * root) * from_bf16(gain[i]));
    float high = rounded(rounded(p.high[j] * root) * from_bf16(gain[HALF + i]));
    p.low[j] = rounded(low * c - high * s), p.high[j] = rounded(high * c + low * s);
  }
  return p;
}

DEVICE float product(const Part& p, const Part& q) {
  float total = 0;
  for (int j = 0; j < PAIRS; j++) total += p.low[j] * q.low[j] + p.high[j] * q.high[j];
  return warp_sum(total);
}

DEVICE void add(Part& sum, float mass, const Part& p) {
  for (int j = 0; j < PAIRS; j++) sum.low[j] += mass * p.low[j], sum.high[j] += mass * p.high[j];
}

DEVICE Part cached(const Block& b, const u16* head) {
  Part p;
  for (int j = 0; j < PAIRS; j++) {
    if (PAIRS % 2 == 0) {
      u32 low = load_pair(head + b.lane * PAIRS + (j & ~1));
      u32 high = load_pair(head + HALF + b.lane * PAIRS + (j & ~1));
      p.low[j] = from_bf16(j & 1 ? low >> 16 : low & 0xffff);
      p.high[j] = from_bf16(j & 1 ? high >> 16 : high & 0xffff);
    } else {
      u32 low = load_pair(head + (b.lane & ~1)), high = load_pair(head + HALF + (b.lane & ~1));
      p.low[j] = from_bf16(b.lane & 1 ? low >> 16 : low & 0xffff);
      p.high[j] = from_bf16(b.lane & 1 ? high >> 16 : high & 0xffff);
    }
  }
  return p;
}

DEVICE void store_part(const Block& b, u16* head, const Part& p) {
  for (int j = 0; j < PAIRS; j++) {
    head[b.lane * PAIRS + j] = to_bf16(p.low[j]);
    head[HALF + b.lane * PAIRS + j] = to_bf16(p.high[j]);
  }
}

// One warp: the new positions (one, in pass 0 two) of a row and key head. `to` [count][...] takes the
// context of the head's queries, `stride` from column to column; `keep` writes keys and values.
DEVICE void attend(const Block& b, const Arguments& a, int layer, int pass, int row, int kv_head,
                   u16* to, int stride, bool keep) {
  const u16* gain = a.gains + layer * (2 * HIDDEN + 2 * HEAD_DIM) + 2 * HIDDEN;
  int count = pass == 0 ? 2 : 1, start = pass == 0 ? 0 : pass + 1;
  i64 line = KV_HEADS * HEAD_DIM;
  u16* keys = a.cache + (((i64)(layer * 2) * a.rows + row) * GROUPS * KV_HEADS + kv_head) * HEAD_DIM;
  u16* values = keys + (i64)a.rows * GROUPS * line;
  Part new_keys[2], new_values[2];
#pragma unroll
  for (int n = 0; n < count; n++) {
    const float* qkv = a.qkv + (i64)(row * count + n) * QKV;
    const float* v = qkv + (HEADS + KV_HEADS + kv_head) * HEAD_DIM;
    new_keys[n] = turned(b, a, qkv + (HEADS + kv_head) * HEAD_DIM, gain + HEAD_DIM, start + n);
    for (int j = 0; j < PAIRS; j++) {
      new_values[n].low[j] = rounded(load1(v + b.lane * PAIRS + j));
      new_values[n].high[j] = rounded(load1(v + HALF + b.lane * PAIRS + j));
    }
    if (keep) {
      store_part(b, keys + (start + n) * line, new_keys[n]);
      store_part(b, values + (start + n) * line, new_values[n]);
    }
  }
#pragma unroll 1
  for (int task = 0; task < count * SHARE; task++) {
    int n = task / SHARE, g = task % SHARE;
    const float* query = a.qkv + (i64)(row * count + n) * QKV + (kv_head * SHARE + g) * HEAD_DIM;
    Part q = turned(b, a, query, gain, start + n);
    float score = -1e30f;  // lane t: of position t
#pragma unroll 4
    for (int t = 0; t < start; t++) {
      float value = product(q, cached(b, keys + t * line)) * a.scaling;
      if (b.lane == t) score = value;
    }
    for (int t = 0; t <= n; t++) {
      float value = product(q, new_keys[t]) * a.scaling;
      if (b.lane == start + t) score = value;
    }
    float mass = exponential(score - warp_max(score));
    mass = b.lane <= start + n ? mass : 0;
    mass /= warp_sum(mass);
    Part context = {};
#pragma unroll 4
    for (int t = 0; t < start; t++) add(context, shuffle_from(mass, t), cached(b, values + t * line));
    for (int t = 0; t <= n; t++) add(context, shuffle_from(mass, start + t), new_values[t]);
    store_part(b, to + n * stride + g * HEAD_DIM, context);
  }
}

// ---- drawing a code

DEVICE u32 ordered(float x) {
  u32 b = bits(x);
  return b & 0x80000000u ? ~b : b | 0x80000000u;
}

DEVICE float uniform(i64 seed, i64 frame, u32 group) {
  u32 a = (u32)frame, b = group, c = 0, d = 0;
  u32 low = (u32)(u64)seed, high = (u32)((u64)seed >> 32);
  for (int round = 0; round < 10; round++) {
    u32 left_high = high_product(a, 0xD2511F53u), left_low = a * 0xD2511F53u;
    u32 right_high = high_product(c, 0xCD9E8D57u), right_low = c * 0xCD9E8D57u;
    a = right_high ^ b ^ low, b = right_low, c = left_high ^ d ^ high, d = left_low;
    low += 0x9E3779B9u, high += 0xBB67AE85u;
  }
  return (float)(a >> 9) * 1.1920928955078125e-07f;
}

constexpr int SCORES = VOCAB < CONSUMERS ? 1 : VOCAB / CONSUMERS;

// The smallest key such that what lies at or above it weighs at least `wanted` (the mass of each
// score, or one each): digit by digit of eight bits, counted in shared memory.
DEVICE u32 threshold(Block& b, const u32 (&key)[SCORES], const u64 (&weight)[SCORES], u64 wanted) {
  u32 found = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    b.scratch[b.thread] = 0;
    consumer_sync();
    for (int j = 0; j < SCORES; j++)
      if (weight[j] && (shift == 24 || key[j] >> (shift + 8) == found >> (shift + 8)))
        add_shared(b.scratch + (key[j] >> shift & 255), weight[j]);
    consumer_sync();
    u64 above = 0;  // every thread walks alike: short, and without another round of waiting
    int digit = 255;
    for (; digit > 0 && above + b.scratch[digit] < wanted; digit--) above += b.scratch[digit];
    wanted -= above;
    found |= (u32)digit << shift;
    consumer_sync();
  }
  return found;
}

DEVICE float block_sum(Block& b, float v) {
  v = warp_sum(v);
  if (b.lane == 0) b.squares[b.warp] = v;
  consumer_sync();
  float total = 0;
  for (int w = 0; w < WARPS; w++) total += b.squares[w];
  consumer_sync();
  return total;
}

DEVICE void draw(Block& b, const Arguments& a, int row, int column, int group) {
  i64 slot = a.slots[row];
  float heat = a.heat[slot], keep_mass = a.top_p[slot];
  int most = a.top_k[slot];
  float score[SCORES];
  u32 key[SCORES], best = 0;
  u64 one[SCORES];
  bool mine = b.thread * SCORES < VOCAB;
  u32* peak = (u32*)(b.scratch + 256);
  if (b.thread == 0) peak[0] = 0, peak[1] = 0xffffffffu, peak[2] = 0;
  consumer_sync();
  for (int j = 0; j < SCORES; j++) {
    int id = b.thread * SCORES + j;
    score[j] = mine ? load1(a.logits + (i64)column * VOCAB + id) / (heat > 0 ? heat : 1.0f) : -1e30f;
    key[j] = ordered(score[j]), one[j] = mine;
    best = mine && key[j] > best ? key[j] : best;
  }
  max_shared(peak, best);
  consumer_sync();
  u32 top = peak[0];
  u32 code = VOCAB;
  if (heat <= 0) {
    for (int j = SCORES - 1; j >= 0; j--)
      if (mine && key[j] == top) code = b.thread * SCORES + j;
    // The first of equal best scores, as the CPU takes it.
    max_shared(peak + 2, ~code);
    consumer_sync();
    code = ~peak[2];
  } else {
    u32 floor = most > 0 ? threshold(b, key, one, most < VOCAB ? most : VOCAB) : 0;
    float highest = number(top & 0x80000000u ? top & 0x7fffffffu : ~top), mass[SCORES], sum = 0;
    for (int j = 0; j < SCORES; j++) {
      mass[j] = mine && key[j] >= floor ? exponential(score[j] - highest) : 0;
      sum += mass[j];
    }
    float total = block_sum(b, sum);
    if (keep_mass < 1.0f) {
      u64 parts[SCORES], needed = (u64)(keep_mass * 1099511627776.0f);
      for (int j = 0; j < SCORES; j++) parts[j] = (u64)(mass[j] / total * 1099511627776.0f);
      u32 least = threshold(b, key, parts, needed ? needed : 1);
      sum = 0;
      for (int j = 0; j < SCORES; j++) {
        if (key[j] < least) mass[j] = 0;
        sum += mass[j];
      }
    }
    // Running sums in the order of ids, and how many of them the uniform number has passed.
    float risen = sum;
    for (int by = 1; by < 32; by <<= 1) {
      float before = shuffle_up(risen, by);
      if (b.lane >= by) risen += before;
    }
    if (b.lane == 31) b.squares[b.warp] = risen;
    consumer_sync();
    float before = risen - sum, whole = 0;
    for (int w = 0; w < WARPS; w++) {
      if (w < b.warp) before += b.squares[w];
      whole += b.squares[w];
    }
    float limit = uniform(a.seed[slot], a.frames[slot], group) * whole;
    u32 passed = 0;
    for (int j = 0; j < SCORES; j++) {
      before += mass[j];
      passed += mine && before <= limit;
    }
    add_shared(peak + 2, passed);
    consumer_sync();
    code = peak[2];
  }
  code = code < VOCAB ? code : VOCAB - 1;
  if (b.thread == 0) a.codes[(i64)row * GROUPS + group] = code;
  if (group + 1 < GROUPS) {
    const u16* entry = a.tables + ((i64)(group - 1) * VOCAB + code) * HIDDEN;
    for (int i = b.thread * 8; i < HIDDEN; i += CONSUMERS * 8)
      *(uint4*)(a.input + (i64)row * HIDDEN + i) = *(const uint4*)(entry + i);
  }
}

// ---- the frame

DEVICE void attention_phase(Block& b, const Arguments& a, int layer, int pass, int columns) {
  int count = pass == 0 ? 2 : 1;
  constexpr int heads = KV_HEADS / SLICES;
  int slice = b.block * SPLIT_UNITS / (HIDDEN / TILE);
  if (columns <= 2 && SPLIT_UNITS == 1) {
    // Few rows: each block attends for all it needs, which is faster than to meet once more.
    for (int task = b.warp; task < a.rows * heads; task += WARPS) {
      int row = task / heads, head = task % heads;
      u16* to = b.input + row * count * LINE + head * SHARE * HEAD_DIM;
      bool keep = b.block % (HIDDEN / TILE) == 0;
      attend(b, a, layer, pass, row, slice * heads + head, to, LINE, keep);
    }
    consumer_sync();
    return;
  }
  for (int task = b.block * WARPS + b.warp; task < a.rows * KV_HEADS; task += BLOCKS * WARPS) {
    int row = task / KV_HEADS, head = task % KV_HEADS;
    u16* to = a.context + (i64)row * count * WIDE + head * SHARE * HEAD_DIM;
    attend(b, a, layer, pass, row, head, to, WIDE, true);
  }
  meet(b, a);
}

// Sums of split products: [slice][column][output].
DEVICE void store_slices(Block& b, float* to, int unit, int chunks, int local, int columns) {
  int tile = unit % (HIDDEN / TILE), slice = unit / (HIDDEN / TILE);
  for (int i = b.thread; i < TILE * columns; i += CONSUMERS) {
    int row = i % TILE, c = i / TILE;
    to[(slice * COLUMNS + c) * HIDDEN + tile * TILE + row] = sum_of(b, local, chunks, row, c);
  }
}

DEVICE void store_outputs(Block& b, const Arguments& a, float* to, int width, int units,
                          int columns) {
  for (int i = b.thread; i < units * TILE * columns; i += CONSUMERS) {
    int row = i % TILE, unit = i / TILE % units, c = i / TILE / units;
    float v = sum_of(b, unit, HIDDEN_CHUNKS, row, c) * root_of(b, a, c);
    to[(i64)c * width + (b.block * units + unit) * TILE + row] = rounded(v);
  }
}

DEVICE void split_product(Block& b, const u16* from, int width, int depth, int chunks, float* to,
                          int columns, bool loaded) {
  // A block's units may lie in two slices: each unit is multiplied with its own.
  for (int local = 0; local < SPLIT_UNITS; local++) {
    int unit = b.block * SPLIT_UNITS + local, slice = unit / (HIDDEN / TILE);
    if (!loaded) load_columns(b, from, width, slice * depth, depth, columns);
    multiply(b, 1, chunks, columns);
    store_slices(b, to, unit, chunks, 0, columns);
    if (local + 1 < SPLIT_UNITS) consumer_sync();
  }
}

DEVICE void layer_phases(Block& b, const Arguments& a, int layer, int pass, int columns) {
  const u16* gains = a.gains + layer * (2 * HIDDEN + 2 * HEAD_DIM);
  constexpr int plane = COLUMNS * HIDDEN;
  float *before = a.residual, *between = a.residual + plane;
  float *attended = a.slices, *mixed = a.slices + SLICES * plane;

  load_residual(b, a, between, layer ? mixed : nullptr, before, gains, columns);
  multiply(b, QKV_UNITS, HIDDEN_CHUNKS, columns);
  store_outputs(b, a, a.qkv, QKV, QKV_UNITS, columns);
  meet(b, a);

  attention_phase(b, a, layer, pass, columns);
  bool loaded = columns <= 2 && SPLIT_UNITS == 1;
  split_product(b, a.context, WIDE, OUT_DEPTH, OUT_CHUNKS, attended, columns, loaded);
  meet(b, a);

  load_residual(b, a, before, attended, between, gains + HIDDEN, columns);
  multiply(b, GATE_UNITS, HIDDEN_CHUNKS, columns);
  for (int i = b.thread; i < GATE_UNITS * 8 * columns; i += CONSUMERS) {
    int row = i % 8, unit = i / 8 % GATE_UNITS, c = i / 8 / GATE_UNITS;
    float root = root_of(b, a, c);
    float gate = sum_of(b, unit, HIDDEN_CHUNKS, row, c) * root;
    float up = sum_of(b, unit, HIDDEN_CHUNKS, row + 8, c) * root;
    int at = (b.block * GATE_UNITS + unit) * 8 + row;
    a.inner[(i64)c * INNER + at] = to_bf16(gate / (1.0f + exponential(-gate)) * up);
  }
  meet(b, a);

  split_product(b, a.inner, INNER, DOWN_DEPTH, DOWN_CHUNKS, mixed, columns, false);
  meet(b, a);
}

DEVICE void work(Block& b, const Arguments& a) {
  constexpr int plane = COLUMNS * HIDDEN;
  for (int pass = 0; pass < GROUPS - 1; pass++) {
    int columns = pass == 0 ? 2 * a.rows : a.rows;
    for (int layer = 0; layer < LAYERS; layer++) layer_phases(b, a, layer, pass, columns);
    const u16* gain = a.gains + LAYERS * (2 * HIDDEN + 2 * HEAD_DIM);
    load_residual(b, a, a.residual + plane, a.slices + SLICES * plane, nullptr, gain, columns);
    multiply(b, HEAD_UNITS, HIDDEN_CHUNKS, columns);
    store_outputs(b, a, a.logits, VOCAB, HEAD_UNITS, columns);
    meet(b, a);
    for (int row = b.block; row < a.rows; row += BLOCKS) {
      draw(b, a, row, pass == 0 ? 2 * row + 1 : row, pass + 1);
      consumer_sync();
    }
    if (pass + 1 < GROUPS - 1) meet(b, a);
  }
}

#ifdef FRAME_ON_HOST
static void frame(const Arguments& a) {
#else
extern "C" __global__ void __launch_bounds__(THREADS, 1) frame(const __grid_constant__ Arguments a) {
#endif
  Block b;
  b.ring = shared_memory + RING_AT, b.input = (u16*)(shared_memory + INPUT_AT);
  b.sums = (float*)(shared_memory + SUMS_AT), b.squares = (float*)(shared_memory + SQUARES_AT);
  b.full = (u64*)(shared_memory + BARRIERS_AT), b.empty = b.full + STAGES;
  b.scratch = (u64*)(shared_memory + SCRATCH_AT);
  b.thread = threadIdx.x, b.warp = threadIdx.x / 32, b.lane = threadIdx.x % 32;
  b.block = blockIdx.x, b.sequence = 0, b.meetings = 0;
  if (b.thread == 0) {
    for (int stage = 0; stage < STAGES; stage++) {
      barrier_init(b.full + stage, 1);
      barrier_init(b.empty + stage, 1);
    }
    barriers_ready();
  }
  // Columns that no row fills are multiplied too: they must hold numbers.
  for (int i = b.thread; i < COLUMNS * LINE; i += THREADS) b.input[i] = 0;
  __syncthreads();
  if (b.warp == WARPS) {
    if (b.lane == 0) feed(b, a);
  } else {
    work(b, a);
  }
}

#ifdef FRAME_ON_HOST
extern "C" int run_frame(const Arguments* a) { return run_blocks(*a, BLOCKS, THREADS, SHARED_BYTES); }
#else
// What a launch has to know: shared bytes, and the arguments' size as a check of the layout.
extern "C" __constant__ int frame_facts[4] = {SHARED_BYTES, THREADS, BLOCKS, sizeof(Arguments)};
#endif
