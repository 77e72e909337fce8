"""What report and plot both need to show a model, without matplotlib.

A model and its data flow in. Scores, the plane that shows them, colors and the style sheet flow out.
"""
