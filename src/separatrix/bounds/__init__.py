"""Mistake bounds: a run and its data flow in; a `BoundReport` with what each theorem allows flows out."""
