"""What report and plot both need to show a model; no matplotlib.

A model and its data flow in; scores, the plane to see them in, regions as polygons and colours flow out.
"""
