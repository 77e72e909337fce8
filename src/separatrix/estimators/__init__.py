"""The estimators, with the interface of scikit-learn: fit reads, solves and stores."""
