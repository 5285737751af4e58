#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the ternary classifier of 16 x 16 digits in this directory.

    python3 train.py DIR

writes W1.npy b1.npy W2.npy b2.npy held_out.npy labels.npy to the directory DIR;

    collet-ternary pack --absmean W1.npy --bias b1.npy --relu W2.npy --bias b2.npy -o digits.t2

writes digits.t2 from them.

Digits come from the four small bitmap fonts below. Each is made thicker or thinner, moved and slanted; noise is added.
A digit has 256 pixels with values from 0 to 16. The network is 256 -> 256 -> 10, so that every row of weights fills
whole blocks of 256 and a weight takes 2 bits. In every step the weights are quantized in the same way as in
`collet-ternary pack --absmean`, with a straight-through gradient. Needs only NumPy. Results are reproducible on one
machine.
"""
import pathlib
import sys

import numpy as np

SIDE, HIDDEN, CLASSES = 16, 256, 10
TRAINING, HELD_OUT = 20000, 1000
EPOCHS, BATCH, RATE = 60, 100, 2e-3

# Ten digits in a row, '#' is ink.
FONTS = [
    """
.###. ..#.. .###. ####. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ..##. .#.#. ####. ####. ...#. .###. .####
##..# ..#.. ..##. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. .#... .###. .##..
""",
    """
.##. .#. .##. ###. #.#. #### .##. #### .##. .##.
#..# ##. #..# ...# #.#. #... #... ...# #..# #..#
#..# .#. ...# .##. #.#. ###. ###. ..#. .##. .###
#..# .#. ..#. ...# #### ...# #..# ..#. #..# ...#
#..# .#. .#.. ...# ..#. #..# #..# .#.. #..# ...#
.##. ### #### ###. ..#. .##. .##. .#.. .##. .##.
""",
    """
#### ..#. #### #### #..# #### #### #### #### ####
#..# ..#. ...# ...# #..# #... #... ...# #..# #..#
#..# ..#. ...# ...# #..# #... #... ...# #..# #..#
#..# ..#. #### #### #### #### #### ...# #### ####
#..# ..#. #... ...# ...# ...# #..# ...# #..# ...#
#..# ..#. #... ...# ...# ...# #..# ...# #..# ...#
#### ..#. #### #### ...# #### #### ...# #### ####
""",
    """
..##. ...#. ..##. .###. ....#. .#### ...## ##### ..##. ..##.
.#..# ..##. .#..# ....# ...#.. .#... ..#.. ....# .#..# .#..#
#...# .#.#. ....# ...#. ..#... #.... .#... ...#. .#.#. .#..#
#...# ...#. ...#. ..##. .#..#. ####. #.##. ..#.. ..#.. ..###
#...# ...#. ..#.. ....# ###### ....# ##..# .###. .#.#. ....#
#..#. ..#.. .#... #...# ....#. #...# #...# .#... #..#. ...#.
.##.. ..#.. ##### .###. ....#. .###. .###. #.... .##.. .##..
""",
]


def glyphs(font):
    """The ten digits of a font as small arrays of 0 and 1."""
    lines = [line.split() for line in font.strip().split("\n")]
    digits = [np.array([[c == "#" for c in row] for row in digit], float) for digit in zip(*lines)]
    return [digit[:, digit.any(axis=0)] for digit in digits]


def draw(glyph, random):
    """A picture of one digit. Each ink cell of the glyph becomes a smooth spot, whose width is the thickness of the
    strokes. Lengths are in eighths of the picture."""
    height, width = glyph.shape
    scale_y = random.uniform(6.0, 7.6) / height
    scale_x = random.uniform(4.2, 6.6) / width
    slant, turn = random.uniform(-0.2, 0.2, 2)
    move = random.uniform(-0.6, 0.6, 2)
    y, x = (np.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2) * (8 / SIDE)
    y, x = y - move[0], x - move[1]
    y, x = y + 0.5 * turn * x, x + slant * y
    y, x = y / scale_y + (height - 1) / 2, x / scale_x + (width - 1) / 2
    thickness = random.uniform(0.45, 0.75)
    gy, gx = np.nonzero(glyph)
    near = np.exp(-(((y[..., None] - gy) ** 2 + (x[..., None] - gx) ** 2) / (2 * thickness**2)))
    picture = np.clip(1.1 * near.max(axis=-1), 0, 1) + random.normal(0, 0.16, (SIDE, SIDE))
    return np.clip(np.rint(16 * picture), 0, 16).astype(np.int8).ravel()


def make(count, random):
    fonts = [glyphs(font) for font in FONTS]
    labels = random.integers(0, CLASSES, count)
    pictures = [draw(fonts[random.integers(len(fonts))][label], random) for label in labels]
    return np.array(pictures), labels.astype(np.int8)


def ternary(weights):
    """Codes times scale, as ternary_quantize computes them in the mode `absmean`."""
    scale = np.abs(weights).mean(axis=1, keepdims=True)
    return (np.sign(weights) * (np.abs(weights) > scale / 2)) * scale


def forward(x, parameters):
    w1, b1, w2, b2 = parameters
    hidden = np.maximum(x @ ternary(w1).T + b1, 0)
    return hidden, hidden @ ternary(w2).T + b2


def gradients(x, labels, parameters):
    hidden, y = forward(x, parameters)
    chance = np.exp(y - y.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    chance[np.arange(len(labels)), labels] -= 1
    chance /= len(labels)
    back = (chance @ ternary(parameters[2])) * (hidden > 0)
    return back.T @ x, back.sum(axis=0), chance.T @ hidden, chance.sum(axis=0)


def train(x, labels, random):
    parameters = [random.normal(0, 0.1, (HIDDEN, SIDE * SIDE)), np.zeros(HIDDEN),
                  random.normal(0, 0.1, (CLASSES, HIDDEN)), np.zeros(CLASSES)]
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(x))
        for at in range(0, len(x), BATCH):
            chosen = order[at:at + BATCH]
            step += 1
            for p, g, m, v in zip(parameters, gradients(x[chosen], labels[chosen], parameters),
                                  first, second):  # Adam
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return parameters


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir()  # must be new, so that no file is overwritten
    random = np.random.default_rng(20261121)
    x, labels = make(TRAINING, random)
    held_out, held_labels = make(HELD_OUT, random)
    parameters = train(x.astype(float), labels.astype(int), random)
    _, y = forward(held_out.astype(float), parameters)
    print(f"held out: {100 * (y.argmax(axis=1) == held_labels).mean():.2f} % right")
    for name, array in zip(("W1", "b1", "W2", "b2"), parameters):
        np.save(directory / (name + ".npy"), array.astype(np.float32))
    np.save(directory / "held_out.npy", held_out)
    np.save(directory / "labels.npy", held_labels)


if __name__ == "__main__":
    main()
