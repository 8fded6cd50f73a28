extern "C" __global__ void __launch_bounds__(64)
vectors(float *__restrict__ out, const float *__restrict__ x)
{
    const float4 four = *(const float4 *)(x + 4 * threadIdx.x + OFFSET);
    out[threadIdx.x] = four.x + four.w;
}
