// The sums of rows: halving in shared memory, the last steps within a warp.
extern "C" __global__ void __launch_bounds__(128)
tree(float *__restrict__ out, const float *__restrict__ x, int n)
{
    __shared__ float part[128];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += 128) sum += x[blockIdx.x * n + i];
    part[t] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
