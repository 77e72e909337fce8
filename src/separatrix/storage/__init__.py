"""Models in files.

A fitted estimator flows in and a file out, or the other way: `models` writes and reads them without executing
anything, `onnx` turns them into graphs.
"""
