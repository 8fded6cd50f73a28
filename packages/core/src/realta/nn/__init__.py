"""Layers: modules with parameters, built lazily or at once."""

from typing import TYPE_CHECKING

from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.nn.activation import GELU, ReLU, Sigmoid, SiLU, Softmax, Tanh
    from realta.nn.attention import MultiHeadAttention
    from realta.nn.container import ModuleList, Sequential
    from realta.nn.convolution import Conv1d, Conv2d, ConvTranspose2d
    from realta.nn.dataclass_modules import module_dataclass
    from realta.nn.dropout import Dropout
    from realta.nn.embedding import Embedding
    from realta.nn.group_norm import GroupNorm
    from realta.nn.kv_cache import KVCache
    from realta.nn.linear import Linear
    from realta.nn.module import Module
    from realta.nn.normalization import GemmaRMSNorm, LayerNorm, RMSNorm
    from realta.nn.rotary import (
        RotaryEmbedding,
        TransposedRotaryEmbedding,
        positional_embedding,
        yarn,
    )
    from realta.nn.shared_module import as_subgraph

__all__ = [
    "GELU", "Conv1d", "Conv2d", "ConvTranspose2d", "Dropout", "Embedding", "GemmaRMSNorm",
    "GroupNorm",
    "KVCache", "LayerNorm", "Linear", "Module", "ModuleList", "MultiHeadAttention", "RMSNorm",
    "ReLU", "RotaryEmbedding", "Sequential", "SiLU", "Sigmoid", "Softmax", "Tanh",
    "TransposedRotaryEmbedding", "as_subgraph", "module_dataclass", "positional_embedding", "yarn",
]  # fmt: skip

__getattr__ = on_demand(
    __name__,
    {
        "activation": ("GELU", "ReLU", "SiLU", "Sigmoid", "Softmax", "Tanh"),
        "attention": ("MultiHeadAttention",),
        "container": ("ModuleList", "Sequential"),
        "convolution": ("Conv1d", "Conv2d", "ConvTranspose2d"),
        "dataclass_modules": ("module_dataclass",),
        "dropout": ("Dropout",),
        "embedding": ("Embedding",),
        "group_norm": ("GroupNorm",),
        "kv_cache": ("KVCache",),
        "linear": ("Linear",),
        "module": ("Module",),
        "normalization": ("GemmaRMSNorm", "LayerNorm", "RMSNorm"),
        "rotary": (
            "RotaryEmbedding", "TransposedRotaryEmbedding", "positional_embedding", "yarn",
        ),
        "shared_module": ("as_subgraph",),
    },
)  # fmt: skip
