// Graphs of the stand-in driver: what a stream is given during capture, in that order.

#include "driver.h"

namespace emu {
namespace {

CUresult do_cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
    Stream &stream = stream_of(handle);
    if (&stream == &legacy || stream.capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    stream.capture = new Graph;
    stream.origin = true;
    stream.mode = mode;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    Stream &stream = stream_of(handle);
    if (!stream.capture || !stream.origin) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    *graph = (CUgraph)stream.capture;
    leave_capture(stream.capture);
    stream.origin = false;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    *status = stream_of(handle).capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                        : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
CUresult do_cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **nodes,
                                   const CUgraphEdgeData **edges, size_t *count) {
    Graph *capture = stream_of(handle).capture;
    do_cuStreamIsCapturing(handle, status);
    if (id) *id = (cuuint64_t)(uintptr_t)capture;
    if (graph) *graph = (CUgraph)capture;
    if (nodes) *nodes = nullptr;
    if (edges) *edges = nullptr;
    if (count) *count = 0;
    return CUDA_SUCCESS;
}
CUresult do_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    static thread_local CUstreamCaptureMode present = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::swap(*mode, present);
    return CUDA_SUCCESS;
}

CUresult instantiate(CUgraphExec *made, CUgraph graph) {
    auto *copy = new Graph(*(Graph *)graph);
    copy->owned.clear();
    *made = (CUgraphExec)copy;
    return CUDA_SUCCESS;
}
CUresult do_cuGraphInstantiate(CUgraphExec *made, CUgraph graph, unsigned long long) {
    return instantiate(made, graph);
}
CUresult do_cuGraphInstantiateWithParams(CUgraphExec *made, CUgraph graph,
                                         CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return instantiate(made, graph);
}
CUresult do_cuGraphUpload(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
CUresult do_cuGraphLaunch(CUgraphExec graph, CUstream handle) {
    Graph &launched = *(Graph *)graph;
    counters.graph_launches++;
    if (settings.skip) {
        counters.launches += (unsigned long long)launched.launches;
        return CUDA_SUCCESS;
    }
    for (const Work &work : launched.work)
        if (const CUresult result = enqueue(stream_of(handle), work)) return result;
    return CUDA_SUCCESS;
}
CUresult do_cuGraphExecUpdate(CUgraphExec graph, CUgraph from, CUgraphExecUpdateResultInfo *info) {
    Graph &updated = *(Graph *)graph;
    const Graph &given = *(Graph *)from;
    const bool same = updated.work.size() == given.work.size();
    if (info) {
        *info = {};
        info->result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                            : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    if (!same) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    updated.work = given.work;
    return CUDA_SUCCESS;
}
CUresult do_cuGraphCreate(CUgraph *graph, unsigned) {
    *graph = (CUgraph) new Graph;
    return CUDA_SUCCESS;
}
CUresult do_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (nodes) return CUDA_ERROR_NOT_SUPPORTED;
    *count = ((Graph *)graph)->work.size();
    return CUDA_SUCCESS;
}
CUresult do_cuGraphDestroy(CUgraph graph) {
    for (const auto &call : ((Graph *)graph)->owned) call();
    delete (Graph *)graph;
    return CUDA_SUCCESS;
}
CUresult do_cuGraphExecDestroy(CUgraphExec graph) {
    delete (Graph *)graph;
    return CUDA_SUCCESS;
}

struct Owned {
    void *data;
    CUhostFn call;
    unsigned references;
};
CUresult do_cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn call,
                               unsigned references, unsigned) {
    *object = (CUuserObject) new Owned{data, call, references};
    return CUDA_SUCCESS;
}
CUresult do_cuUserObjectRetain(CUuserObject object, unsigned count) {
    ((Owned *)object)->references += count;
    return CUDA_SUCCESS;
}
CUresult do_cuUserObjectRelease(CUuserObject object, unsigned count) {
    auto *owned = (Owned *)object;
    owned->references -= count;
    if (owned->references) return CUDA_SUCCESS;
    owned->call(owned->data);
    delete owned;
    return CUDA_SUCCESS;
}
CUresult do_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                    unsigned flags) {
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) do_cuUserObjectRetain(object, count);
    ((Graph *)graph)->owned.push_back([object, count] { do_cuUserObjectRelease(object, count); });
    return CUDA_SUCCESS;
}
CUresult do_cuGraphReleaseUserObject(CUgraph, CUuserObject object, unsigned count) {
    return do_cuUserObjectRelease(object, count);
}

}  // namespace

std::vector<Entry> graph_entries() {
    return {STRICT(cuStreamBeginCapture), STRICT(cuStreamEndCapture),
            STRICT(cuStreamIsCapturing), STRICT(cuStreamGetCaptureInfo),
            STRICT(cuThreadExchangeStreamCaptureMode), STRICT(cuGraphInstantiate),
            STRICT(cuGraphInstantiateWithParams), STRICT(cuGraphUpload), STRICT(cuGraphLaunch),
            STRICT(cuGraphExecUpdate), STRICT(cuGraphCreate), STRICT(cuGraphGetNodes),
            ALWAYS(cuGraphDestroy), ALWAYS(cuGraphExecDestroy), STRICT(cuUserObjectCreate),
            STRICT(cuUserObjectRetain), ALWAYS(cuUserObjectRelease),
            STRICT(cuGraphRetainUserObject), ALWAYS(cuGraphReleaseUserObject)};
}

}  // namespace emu
