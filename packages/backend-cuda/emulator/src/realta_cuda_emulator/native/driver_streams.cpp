// Streams and events of the stand-in driver.
//
// A lazy stream keeps its work until somebody waits for it, so that nothing is done which the
// program did not ask to be done: where an event is missing, the other stream sees fresh memory.

#include <stdio.h>
#include <time.h>

#include <set>

#include "driver.h"

namespace emu {

Stream &legacy = *new Stream(1, true);

namespace {

auto &streams = *new std::set<Stream *>;
unsigned long long next_id = 3;

double milliseconds() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

std::vector<Stream *> all_streams() {
    std::vector<Stream *> found(streams.begin(), streams.end());
    found.push_back(&legacy);
    return found;
}

}  // namespace

Stream &stream_of(CUstream handle) { return (uintptr_t)handle <= 2 ? legacy : *(Stream *)handle; }

bool capturing() {
    for (Stream *stream : streams)
        if (stream->capture) return true;
    return false;
}

void leave_capture(const Graph *graph) {
    for (Stream *stream : streams)
        if (stream->capture == graph) stream->capture = nullptr;
}

CUresult enqueue(Stream &stream, Work work) {
    if (stream.capture) {
        stream.capture->work.push_back(std::move(work));
        return CUDA_SUCCESS;
    }
    if (!settings.lazy) {
        if (stream.issued != stream.completed) advance(stream, stream.issued);
        stream.issued++;
        const CUresult result = work();
        stream.completed++;
        return result;
    }
    // The legacy stream and those that block wait for what the other has been given.
    std::vector<std::pair<Stream *, uint64_t>> before;
    if (&stream == &legacy) {
        for (Stream *other : streams)
            if (other->blocking && other->completed < other->issued)
                before.push_back({other, other->issued});
    } else if (stream.blocking && legacy.completed < legacy.issued) {
        before.push_back({&legacy, legacy.issued});
    }
    if (!before.empty()) {
        work = [before, work] {
            for (const auto &[other, position] : before)
                if (other == &legacy || streams.count(other)) advance(*other, position);
            return work();
        };
    }
    stream.queue.push_back(std::move(work));
    stream.issued++;
    return sticky;
}

CUresult advance(Stream &stream, uint64_t position) {
    while (stream.completed < position && !stream.queue.empty()) {
        Work work = std::move(stream.queue.front());
        stream.queue.pop_front();
        const CUresult result = sticky ? sticky : work();
        stream.completed++;
        if (result && !sticky) poison(result, "work on a stream failed");
    }
    return sticky;
}

CUresult synchronize(Stream &stream) {
    if (&stream == &legacy)
        for (Stream *other : std::vector<Stream *>(streams.begin(), streams.end()))
            if (other->blocking) advance(*other, other->issued);
    return advance(stream, stream.issued);
}

CUresult synchronize_all() {
    for (Stream *stream : all_streams()) advance(*stream, stream->issued);
    return sticky;
}

void forget_streams() {
    for (Stream *stream : all_streams()) {
        stream->queue.clear();
        stream->completed = stream->issued;
    }
}

namespace {

CUresult do_cuStreamCreate(CUstream *stream, unsigned flags) {
    if (current_device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    auto *made = new Stream(next_id++, !(flags & CU_STREAM_NON_BLOCKING));
    made->device = current_device;
    streams.insert(made);
    *stream = (CUstream)made;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
    return do_cuStreamCreate(stream, flags);
}
CUresult do_cuStreamDestroy(CUstream handle) {
    // A stream that is destroyed still does what it was given.
    Stream &stream = stream_of(handle);
    if (&stream == &legacy || !streams.count(&stream)) return CUDA_ERROR_INVALID_HANDLE;
    advance(stream, stream.issued);
    streams.erase(&stream);
    delete &stream;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamSynchronize(CUstream handle) {
    counters.synchronizations++;
    Stream &stream = stream_of(handle);
    return stream.capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : synchronize(stream);
}
CUresult do_cuStreamQuery(CUstream handle) {
    Stream &stream = stream_of(handle);
    if (stream.completed == stream.issued) return CUDA_SUCCESS;
    // Whoever asks again and again gets there: one piece of work is done each time.
    advance(stream, stream.completed + 1);
    return sticky ? sticky : CUDA_ERROR_NOT_READY;
}
CUresult do_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    Stream &stream = stream_of(handle);
    const Event &waited = *(Event *)event;
    if (waited.capture) {  // joins the capture
        if (stream.capture && stream.capture != waited.capture)
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        stream.capture = waited.capture;
        return CUDA_SUCCESS;
    }
    if (!waited.stream) return CUDA_SUCCESS;
    if (stream.capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    Stream *other = waited.stream;
    const uint64_t position = waited.position;
    return enqueue(stream, [other, position] {
        return other == &legacy || streams.count(other) ? advance(*other, position) : CUDA_SUCCESS;
    });
}
CUresult do_cuStreamGetFlags(CUstream handle, unsigned *flags) {
    *flags = stream_of(handle).blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamGetPriority(CUstream, int *priority) {
    *priority = 0;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamGetId(CUstream handle, unsigned long long *id) {
    *id = stream_of(handle).id;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamGetDevice(CUstream handle, CUdevice *device) {
    *device = stream_of(handle).device;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamGetCtx(CUstream handle, CUcontext *context) {
    *context = (CUcontext)(uintptr_t)(0x1000 + 16 * (stream_of(handle).device + 1));
    return CUDA_SUCCESS;
}
CUresult do_cuStreamGetCtx_v2(CUstream handle, CUcontext *context, CUgreenCtx *green) {
    if (green) *green = nullptr;
    return do_cuStreamGetCtx(handle, context);
}
CUresult do_cuStreamAddCallback(CUstream handle, CUstreamCallback call, void *data, unsigned) {
    return enqueue(stream_of(handle), [=] {
        call(handle, sticky, data);
        return CUDA_SUCCESS;
    });
}
CUresult do_cuLaunchHostFunc(CUstream handle, CUhostFn call, void *data) {
    return enqueue(stream_of(handle), [=] {
        call(data);
        return CUDA_SUCCESS;
    });
}

CUresult do_cuEventCreate(CUevent *event, unsigned flags) {
    auto *made = new Event;
    made->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    *event = (CUevent)made;
    return CUDA_SUCCESS;
}
CUresult do_cuEventRecord(CUevent event, CUstream handle) {
    Stream &stream = stream_of(handle);
    Event &recorded = *(Event *)event;
    recorded.stream = &stream;
    recorded.capture = stream.capture;
    if (stream.capture) return CUDA_SUCCESS;
    if (recorded.timed) {
        Event *kept = &recorded;
        const CUresult result = enqueue(stream, [kept] {
            kept->milliseconds = milliseconds();
            return CUDA_SUCCESS;
        });
        recorded.position = stream.issued;
        return result;
    }
    recorded.position = stream.issued;
    return sticky;
}
CUresult do_cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned) {
    return do_cuEventRecord(event, handle);
}
bool finished(const Event &event) {
    if (!event.stream || (event.stream != &legacy && !streams.count(event.stream))) return true;
    return event.stream->completed >= event.position;
}
CUresult do_cuEventSynchronize(CUevent event) {
    counters.synchronizations++;
    const Event &waited = *(Event *)event;
    if (waited.capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return finished(waited) ? sticky : advance(*waited.stream, waited.position);
}
CUresult do_cuEventQuery(CUevent event) {
    const Event &asked = *(Event *)event;
    if (finished(asked)) return CUDA_SUCCESS;
    advance(*asked.stream, asked.stream->completed + 1);
    return sticky ? sticky : CUDA_ERROR_NOT_READY;
}
CUresult do_cuEventElapsedTime(float *result, CUevent start, CUevent end) {
    const Event &from = *(Event *)start, &to = *(Event *)end;
    if (!from.timed || !to.timed || !from.stream || !to.stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!finished(from) || !finished(to)) return CUDA_ERROR_NOT_READY;
    *result = (float)(to.milliseconds - from.milliseconds);
    return CUDA_SUCCESS;
}
CUresult do_cuEventDestroy(CUevent event) {
    Event *gone = (Event *)event;
    if (gone->timed && !finished(*gone)) advance(*gone->stream, gone->position);
    delete gone;
    return CUDA_SUCCESS;
}

}  // namespace

std::vector<Entry> stream_entries() {
    return {STRICT(cuStreamCreate), STRICT(cuStreamCreateWithPriority), ALWAYS(cuStreamDestroy),
            STRICT(cuStreamSynchronize), STRICT(cuStreamQuery), STRICT(cuStreamWaitEvent),
            ALWAYS(cuStreamGetFlags), ALWAYS(cuStreamGetPriority), ALWAYS(cuStreamGetId),
            ALWAYS(cuStreamGetDevice), ALWAYS(cuStreamGetCtx), ALWAYS(cuStreamGetCtx_v2), STRICT(cuStreamAddCallback),
            STRICT(cuLaunchHostFunc), STRICT(cuEventCreate), STRICT(cuEventRecord),
            STRICT(cuEventRecordWithFlags), STRICT(cuEventSynchronize), STRICT(cuEventQuery),
            STRICT(cuEventElapsedTime), ALWAYS(cuEventDestroy)};
}

}  // namespace emu
