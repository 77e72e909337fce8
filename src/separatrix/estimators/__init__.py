"""The scikit-learn face: fit translates, solves, stores."""
