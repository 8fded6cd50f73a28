"""The digits network: three linear layers, 64 pixels to 10 scores."""

from __future__ import annotations

from realta import F, Tensor, nn

__all__ = ["DigitClassifier"]


class DigitClassifier(nn.Module):
    """A multi-layer perceptron for 8 by 8 images; its weights are in ``data/mlp.safetensors``."""

    def __init__(self) -> None:
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Class probabilities of images of shape (n, 64): shape (n, 10)."""
        hidden = F.relu(self.fc1(images))
        hidden = F.relu(self.fc2(hidden))
        return F.softmax(self.fc3(hidden), axis=-1)
