"""Trusted: which rows decide whether the maximum-likelihood estimate of a regression exists.

For each regression, a builder makes *signed* rows Z and *equal* rows T from the data. Let C be the directions
d with ``Zd >= 0`` and ``Td = 0``. A finite estimate exists if and only if ``Zd = 0`` for all d in C.
"""
