"""What report and plot both need to show a model; no matplotlib.

A model and its data flow in; scores, the plane that shows them, and colors flow out.
"""
