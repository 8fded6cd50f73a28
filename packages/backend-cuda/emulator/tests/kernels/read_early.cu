extern "C" __global__ void __launch_bounds__(64)
early(float *__restrict__ out, int filled)
{
    __shared__ float part[64];
    if (threadIdx.x < filled) part[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = part[63 - threadIdx.x];
}
