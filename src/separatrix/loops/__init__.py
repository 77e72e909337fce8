"""Compiled code, behind the one decorator `loop`.

Short functions over arrays that know nothing of files, models or people. Arrays and named tuples of arrays
flow in; results go into arrays that the caller gives, and a few numbers flow out. `compiling` has the
decorator, `rows` what all methods share (score, correct, learn, scan); each other module serves one reader or
one family of methods.
"""
