extern "C" __global__ void __launch_bounds__(64)
indexed(float *__restrict__ out, const float *__restrict__ x, int shift)
{
    __shared__ float part[64];
    part[threadIdx.x + shift] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[63 - threadIdx.x];
}
