from realta.fusion import bytes_read, bytes_written
from realta.fusion.traffic import bytes_of, unfused_bytes


def test_a_kernel_reads_its_inputs_once_and_writes_its_outputs(write, planned):
    b, x = write(f32=(100,))
    plan = planned(b, b.mul(b.exp(x), b.neg(x)))
    (group,) = plan.groups
    assert (bytes_read(group), bytes_written(group)) == (400, 400)
    # exp 400 + 400, neg 400 + 400, mul 800 + 400
    assert unfused_bytes(plan) == 2800


def test_a_slice_is_read_in_part_and_a_broadcast_once(write, planned):
    b, x = write(f32=(100,))
    part = b.slice(x, start=(0,), stop=(10,), step=(1,))
    one = b.broadcast(b.slice(x, start=(0,), stop=(1,), step=(1,)), shape=(10,))
    plan = planned(b, b.add(part, one))
    (group,) = plan.groups
    assert bytes_of(group.inputs[0], group) == 44
    assert bytes_of(group.inputs[0]) == 400


def test_what_is_read_by_slices_and_whole_is_read_whole(write, planned):
    b, x = write(f32=(10,))
    reverse = b.slice(x, start=(9,), stop=(-1,), step=(-1,))
    (group,) = planned(b, b.add(x, reverse)).groups
    assert bytes_of(group.inputs[0], group) == 40
