"""Stage 2: perceptrons stacked by sequential learning.

Input: a matrix and class codes without conflicts. Output: half-spaces with labels and a default class.
`directions` searches for good half-spaces in floats; `sequential` keeps only what is exactly true, and cuts a
vertex off if nothing better was found.
"""
