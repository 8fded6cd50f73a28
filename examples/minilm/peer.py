"""Peer: the same model in transformers on torch, in a process of its own.

Reads one JSON request a line from standard input and answers each with one line:
``{"embed": "eager", "to": "path.npy"}`` and ``{"time": "eager" | "compiled"}``.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TQDM_DISABLE="1")

import numpy as np
import torch
import transformers


class Peer:
    """The model, eager and compiled, with the tokens it embeds.

    Args:
        folder: the checkpoint.
        tokens: a ``.npz`` with ``tokens`` and ``mask``.
        threads: how many threads torch may use.
    """

    def __init__(self, folder: str, tokens: str, threads: int) -> None:
        torch.set_num_threads(threads)
        self.model = transformers.AutoModel.from_pretrained(folder).eval()
        given = np.load(tokens)
        self.tokens = torch.from_numpy(given["tokens"])
        self.mask = torch.from_numpy(given["mask"])
        self.kinds: dict[str, Any] = {
            "eager": self.embed,
            "compiled": torch.compile(self.embed),
        }

    def embed(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Vectors of length one, from the mean over the words of each sentence."""
        states = self.model(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
        counted = mask[..., None].float()
        mean = (states * counted).sum(1) / counted.sum(1)
        return mean / mean.norm(dim=-1, keepdim=True)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What one request asks for."""
        function = self.kinds[request.get("embed") or request["time"]]
        start = time.perf_counter()
        with torch.inference_mode():
            found = function(self.tokens, self.mask).numpy()
        seconds = time.perf_counter() - start
        if "to" in request:
            np.save(request["to"], found)
        return {"seconds": seconds}


def main() -> None:
    """Answers requests until standard input ends."""
    logging.disable(logging.WARNING)
    folder, tokens, threads = sys.argv[1:]
    peer = Peer(folder, tokens, int(threads))
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        print(json.dumps(peer.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
