// What the frame kernel asks of a GPU, in PTX. host.h has the same names for a test without one.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE __device__ __forceinline__

extern __shared__ __align__(128) u8 shared_memory[];

DEVICE u32 address(const void* shared) { return (u32)__cvta_generic_to_shared(shared); }

DEVICE void consumer_sync() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

DEVICE float shuffle_xor(float v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }
DEVICE float shuffle_up(float v, int by) { return __shfl_up_sync(0xffffffffu, v, by); }
DEVICE float shuffle_from(float v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
DEVICE void warp_sync() { __syncwarp(); }

// Memory that other blocks write is read past the first-level cache.
DEVICE float4 load4(const float* p) { return __ldcg((const float4*)p); }
DEVICE uint2 load_bf16x4(const u16* p) { return __ldcg((const uint2*)p); }
DEVICE uint4 load16(const void* p) { return __ldcg((const uint4*)p); }
DEVICE float load1(const float* p) { return __ldcg(p); }
DEVICE u32 load_pair(const u16* p) { return __ldcg((const u32*)p); }
DEVICE i64 load_code(const i64* p) { return __ldcg(p); }

DEVICE void mma(float (&d)[4], uint4 a, u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

DEVICE void barrier_init(u64* barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(count));
}
DEVICE void barriers_ready() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void barrier_arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}
DEVICE void barrier_expect(u64* barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)),
               "r"(bytes)
               : "memory");
}
DEVICE void barrier_wait(u64* barrier, u32 parity) {
  u32 done = 0;
  while (!done)
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address(barrier)), "r"(parity)
        : "memory");
}

// A stretch of device memory into shared memory by the copy engine; the L2 need not keep it.
DEVICE void bulk_copy(void* to, const void* from, u32 bytes, u64* barrier) {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1], %2, [%3], %4;" ::"r"(address(to)),
      "l"(from), "r"(bytes), "r"(address(barrier)), "l"(policy)
      : "memory");
}

DEVICE void grid_arrive(u32* counter) {
  __threadfence();
  atomicAdd(counter, 1u);
}
DEVICE void grid_wait(u32* counter, u32 target) {
  u32 seen = 0;
  while (seen < target) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  }
  __threadfence();
}

DEVICE float exponential(float x) { return __expf(x); }
DEVICE float root_reciprocal(float x) { return rsqrtf(x); }
DEVICE u32 bits(float x) { return __float_as_uint(x); }
DEVICE float number(u32 x) { return __uint_as_float(x); }
DEVICE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
DEVICE void add_shared(u32* p, u32 v) { atomicAdd(p, v); }
DEVICE void add_shared(u64* p, u64 v) { atomicAdd(p, v); }
DEVICE void max_shared(u32* p, u32 v) { atomicMax(p, v); }
