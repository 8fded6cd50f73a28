"""Digits data: writes the images and the weights that the digits example reads.

Run once; the two small files are kept in the repository, and nothing else imports this.
It needs scikit-learn 1.9.1 and safetensors 0.8.0, which no member depends on:

    uv run --no-project --with scikit-learn==1.9.1 --with safetensors==0.8.0 tools/make_digits.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "digits" / "data"
HIDDEN = (128, 64)
SEED = 0
REQUIRED_ACCURACY = 0.975
ORIGIN = {
    "origin": "UCI Machine Learning Repository: Optical Recognition of Handwritten Digits "
    "(E. Alpaydin, C. Kaynak, 1998), through scikit-learn's load_digits",
    "licence": "CC BY 4.0",
    "made_by": "tools/make_digits.py",
}


def split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns training images, test images, training labels, test labels; 360 of 1797 are test."""
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    labels = digits.target.astype(np.int64)
    parts = train_test_split(images, labels, test_size=360, stratify=labels, random_state=0)
    train_images, test_images, train_labels, test_labels = parts
    return train_images, test_images, train_labels, test_labels


def predict(weights: dict[str, np.ndarray], images: np.ndarray) -> np.ndarray:
    """Classifies with the stored float32 weights, as the example does."""
    layer = images
    for name in ("fc1", "fc2"):
        layer = np.maximum(layer @ weights[f"{name}.weight"].T + weights[f"{name}.bias"], 0)
    scores = layer @ weights["fc3.weight"].T + weights["fc3.bias"]
    labels: np.ndarray = np.argmax(scores, axis=1)
    return labels


def main() -> None:
    """Trains, checks the accuracy of what is stored, and writes both files."""
    train_images, test_images, train_labels, test_labels = split()
    model = MLPClassifier(
        HIDDEN, activation="relu", alpha=1e-3, max_iter=500, random_state=SEED
    ).fit(train_images, train_labels)
    weights = {}
    for number, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True), 1):
        weights[f"fc{number}.weight"] = np.ascontiguousarray(weight.T, dtype=np.float32)
        weights[f"fc{number}.bias"] = bias.astype(np.float32)

    correct = int((predict(weights, test_images) == test_labels).sum())
    accuracy = correct / len(test_labels)
    if accuracy < REQUIRED_ACCURACY:
        raise SystemExit(f"accuracy is {accuracy:.4f}, {REQUIRED_ACCURACY} is required")

    FOLDER.mkdir(parents=True, exist_ok=True)
    test_part = {"images": np.ascontiguousarray(test_images), "labels": test_labels}
    save_file(test_part, FOLDER / "digits_test.safetensors", metadata=ORIGIN)
    save_file(weights, FOLDER / "mlp.safetensors", metadata=ORIGIN)
    print(f"{correct} of {len(test_labels)} test images right ({accuracy:.4f})")


if __name__ == "__main__":
    main()
