"""Sentences: 64 of different lengths, and their token numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

__all__ = ["SENTENCES", "tokenized"]

LONGEST: Final = 256
"""Tokens of a sentence beyond which it is cut, as the model was trained."""

SENTENCES: Final = tuple(
    line.strip()
    for line in """
    The cat sleeps on the warm stone wall.
    A cat is lying asleep on a wall in the sun.
    Rain is expected in the west by evening.
    The forecast says it will be wet towards the coast tonight.
    How do I change the oil in a small car?
    What is the right way to replace engine oil?
    The orchestra played the slow movement twice.
    Tickets for the concert are sold out.
    She planted three apple trees behind the house.
    The garden has room for a few fruit trees.
    Water boils at a lower temperature on high mountains.
    At altitude, the boiling point of water drops because the pressure of the air is smaller.
    He missed the last bus and walked home.
    There was no bus any more, so he went on foot.
    The theorem holds for every finite group.
    Prime numbers become rarer as they grow, but they never end.
    My phone does not charge any more.
    The battery of my mobile is empty and the charger seems to be broken.
    Please send the invoice to the accounting department.
    The bill should go to accounting.
    Whales are mammals that live in the sea.
    Dolphins breathe air, and so do all whales.
    The bridge was closed for repairs in spring.
    Traffic is led around the bridge while it is being mended.
    I would like a table for two at eight.
    Could we book a table for this evening?
    The library opens at nine and closes at six.
    When does the library close on weekdays?
    Bread needs flour, water, salt and time.
    Leave the dough to rise overnight in a cool place, then fold it and bake it in a very hot oven.
    The committee postponed its decision.
    No decision was taken at the meeting; it will be on the agenda again next month.
    Light travels faster than sound.
    You see the lightning before you hear the thunder.
    The train to the airport leaves from platform four.
    Which platform does the airport train use?
    Her first novel was translated into twelve languages.
    The book has been published in many countries.
    Turn left after the church and follow the river.
    Go along the river once you have passed the church on your right-hand side.
    The patient was given antibiotics for ten days.
    The doctor prescribed a medicine against the infection.
    Stars twinkle because the air above us moves.
    Telescopes in space see sharper pictures, since there is no air between them and the stars.
    The vase broke into a hundred pieces.
    Somebody has knocked over the old vase.
    Our team won by a single point.
    It was a close game, decided in the last minute by a free throw.
    The museum shows paintings of the seventeenth century.
    Admission to the gallery is free on Sundays.
    Bees tell each other where flowers are by dancing.
    The dance of a bee shows direction and distance of food.
    Copper conducts electricity better than iron.
    Wires are made of copper because its resistance is low.
    He speaks four languages and is learning a fifth.
    She is studying Portuguese in the evenings.
    The shop is closed on public holidays.
    Yes.
    Snow fell on the hills during the night, and in the morning all the valley was white and still.
    The roads were icy this morning.
    Save the file before you close the program.
    Unsaved changes are lost when the window is closed.
    The moon pulls on the sea, and twice a day the tide comes in and goes out again.
    Tides follow the moon.
    """.strip().splitlines()
)


def tokenized(sentences: tuple[str, ...], tokenizer: Path) -> tuple[NDArray, NDArray]:
    """Token numbers of sentences, padded to the longest.

    Args:
        sentences: texts.
        tokenizer: a ``tokenizer.json``.

    Returns:
        Token numbers (int64) and where they are words (bool), both of shape (sentences, length).
    """
    words = Tokenizer.from_file(str(tokenizer))
    words.enable_truncation(LONGEST)
    words.enable_padding()
    found = words.encode_batch(list(sentences))
    tokens = np.array([sentence.ids for sentence in found], np.int64)
    return tokens, np.array([sentence.attention_mask for sentence in found], bool)
