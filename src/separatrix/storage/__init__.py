"""Models in files.

A fitted estimator flows in and a file flows out, or vice versa: `models` writes and reads them without
executing anything, `registry` has the names of types in files, `onnx` turns models into graphs.
"""
