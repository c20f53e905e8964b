// The names of gpu.h on a CPU: every CUDA thread is a fiber of one system thread, so a run is the
// same every time. Barriers, shuffles, the tensor core and the copy engine are written out; a thread
// that waits for what never comes ends the run with a message. For tests.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
struct float4 { float x = 0, y = 0, z = 0, w = 0; };
struct uint2 { u32 x, y; };
struct uint4 { u32 x, y, z, w; };
struct Index { int x; };

#define DEVICE static inline

struct Fiber;
typedef std::vector<Fiber*> Waiting;

struct Warp {
  float sent[32];
  uint4 a[32];
  u32 b[32][2];
  int arrived = 0;
  Waiting waiting;
};
struct HostBlock {
  std::vector<u8> shared;
  Warp warps[9];
  int arrived[2] = {0, 0};
  Waiting waiting[2];
};
struct Fiber {
  ucontext_t context;
  std::vector<u8> stack;
  HostBlock* block;
  Index thread, block_index;
  bool done = false;
};

static std::deque<Fiber*> ready;
static std::map<const void*, Waiting> waiting_at;
static Fiber* current;
static ucontext_t scheduler;

#define threadIdx (current->thread)
#define blockIdx (current->block_index)
#define shared_memory (current->block->shared.data())

static void wait_in(Waiting& waiting) {
  waiting.push_back(current);
  swapcontext(&current->context, &scheduler);
}
static void wake(Waiting& waiting) {
  for (Fiber* fiber : waiting) ready.push_back(fiber);
  waiting.clear();
}
static void gather(int& arrived, int all, Waiting& waiting) {
  if (++arrived == all) {
    arrived = 0;
    wake(waiting);
  } else {
    wait_in(waiting);
  }
}

DEVICE void consumer_sync() { gather(current->block->arrived[1], 256, current->block->waiting[1]); }
DEVICE void __syncthreads() { gather(current->block->arrived[0], 288, current->block->waiting[0]); }
static Warp& warp() { return current->block->warps[threadIdx.x / 32]; }
DEVICE void warp_sync() { gather(warp().arrived, 32, warp().waiting); }

static float exchanged(float v, int from) {
  Warp& w = warp();
  w.sent[threadIdx.x % 32] = v;
  warp_sync();
  float got = w.sent[from];
  warp_sync();
  return got;
}
DEVICE float shuffle_from(float v, int lane) { return exchanged(v, lane); }
DEVICE float shuffle_xor(float v, int mask) { return exchanged(v, threadIdx.x % 32 ^ mask); }
DEVICE float shuffle_up(float v, int by) {
  int lane = threadIdx.x % 32;
  return exchanged(v, lane < by ? lane : lane - by);
}

DEVICE float4 load4(const float* p) { float4 v; memcpy(&v, p, 16); return v; }
DEVICE uint2 load_bf16x4(const u16* p) { uint2 v; memcpy(&v, p, 8); return v; }
DEVICE uint4 load16(const void* p) { uint4 v; memcpy(&v, p, 16); return v; }
DEVICE float load1(const float* p) { return *p; }
DEVICE u32 load_pair(const u16* p) { u32 v; memcpy(&v, p, 4); return v; }
DEVICE i64 load_code(const i64* p) { return *p; }

static float half_of(u32 word, int which) {
  u32 wide = which ? word & 0xffff0000u : word << 16;
  float v;
  memcpy(&v, &wide, 4);
  return v;
}
// m16n8k16, registers as the PTX manual lays them out.
DEVICE void mma(float (&d)[4], uint4 a, u32 b0, u32 b1) {
  Warp& w = warp();
  int lane = threadIdx.x % 32;
  w.a[lane] = a, w.b[lane][0] = b0, w.b[lane][1] = b1;
  warp_sync();
  for (int i = 0; i < 4; i++) {
    int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; k++) {
      int of = k % 8 / 2, upper = k / 8;
      const uint4& from = w.a[row % 8 * 4 + of];
      u32 left = row < 8 ? (upper ? from.z : from.x) : (upper ? from.w : from.y);
      d[i] += half_of(left, k % 2) * half_of(w.b[column * 4 + of][upper], k % 2);
    }
  }
  warp_sync();
}

struct HostBarrier { short pending, count; int state; };  // state: bytes to come * 2 + parity
static std::map<const void*, int> bytes_to_come;
static void turn(u64* barrier) {
  HostBarrier* b = (HostBarrier*)barrier;
  if (b->pending || bytes_to_come[barrier]) return;
  b->pending = b->count;
  b->state ^= 1;
  wake(waiting_at[barrier]);
}
DEVICE void barrier_init(u64* barrier, u32 count) {
  *(HostBarrier*)barrier = {(short)count, (short)count, 0};
}
DEVICE void barriers_ready() {}
DEVICE void barrier_arrive(u64* barrier) {
  if (--((HostBarrier*)barrier)->pending < 0) { printf("a barrier of too many\n"); abort(); }
  turn(barrier);
}
DEVICE void barrier_expect(u64* barrier, u32 bytes) {
  bytes_to_come[barrier] += bytes;
  barrier_arrive(barrier);
}
DEVICE void barrier_wait(u64* barrier, u32 parity) {
  while ((u32)((HostBarrier*)barrier)->state == parity) wait_in(waiting_at[barrier]);
}
DEVICE void bulk_copy(void* to, const void* from, u32 bytes, u64* barrier) {
  memcpy(to, from, bytes);
  bytes_to_come[barrier] -= bytes;
  turn(barrier);
}

DEVICE void grid_arrive(u32* counter) { ++*counter; wake(waiting_at[counter]); }
DEVICE void grid_wait(u32* counter, u32 target) {
  while (*counter < target) wait_in(waiting_at[counter]);
}

DEVICE float exponential(float x) { return std::exp(x); }
DEVICE float root_reciprocal(float x) { return 1.0f / std::sqrt(x); }
DEVICE u32 bits(float x) { u32 v; memcpy(&v, &x, 4); return v; }
DEVICE float number(u32 x) { float v; memcpy(&v, &x, 4); return v; }
DEVICE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
DEVICE void add_shared(u32* p, u32 v) { *p += v; }
DEVICE void add_shared(u64* p, u64 v) { *p += v; }
DEVICE void max_shared(u32* p, u32 v) { *p = *p > v ? *p : v; }

struct Arguments;
static void frame(const Arguments& arguments);
static const Arguments* host_arguments;

static void enter() {
  frame(*host_arguments);
  current->done = true;
  swapcontext(&current->context, &scheduler);
}

// 0, or 1 where threads wait for what never comes.
static int run_blocks(const Arguments& arguments, int blocks, int threads, int shared_bytes) {
  host_arguments = &arguments;
  std::vector<HostBlock> every(blocks);
  std::vector<Fiber> fibers(blocks * threads);
  for (int i = 0; i < blocks * threads; i++) {
    Fiber& fiber = fibers[i];
    fiber.block = &every[i / threads];
    if (i % threads == 0) fiber.block->shared.assign(shared_bytes + 128, 0xff);
    fiber.thread.x = i % threads, fiber.block_index.x = i / threads;
    fiber.stack.resize(64 * 1024);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
    ready.push_back(&fiber);
  }
  while (!ready.empty()) {
    current = ready.front();
    ready.pop_front();
    swapcontext(&scheduler, &current->context);
  }
  waiting_at.clear();
  bytes_to_come.clear();
  for (Fiber& fiber : fibers)
    if (!fiber.done) return 1;
  return 0;
}
